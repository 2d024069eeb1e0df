//! The rooms of a shard: the state that its log is folded into. No clock, no network.

mod apply;
mod endings;
mod fold;
mod slot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::Runtime;
use serde::{Deserialize, Serialize};

use crate::entry::Player;
use crate::live::{self, Asked, Kind};
use crate::news::{Absence, AllNews, News};
use crate::room::{EffectKey, Room};
use endings::Endings;
use slot::{Slot, State};

pub use slot::RoomStatus;
pub(crate) use slot::{Shown, TURNS};

/// Limits on what players may send. They are the same on all nodes: part of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) rooms: usize,
    /// Bytes of an input.
    pub(crate) size: usize,
    /// Inputs of a player to a room in a second, and ten times as many at once.
    pub(crate) rate: u32,
}

/// Which shard it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shard: u32,
    /// How many there are. 0: any room may be in it.
    pub(crate) shards: u32,
}

/// Why a part of the log has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refused {
    /// Inputs to rooms that do not exist, or are broken.
    pub no_room: u64,
    /// Inputs that could not be read.
    pub unreadable: u64,
    /// Inputs that were too long.
    pub too_long: u64,
    /// Inputs of players that have sent too many.
    pub too_many: u64,
    /// Inputs that were in the log before.
    pub doubles: u64,
    /// Inputs that are so old that it is not known whether they were in the log before, or that are for an earlier
    /// room of the name.
    #[serde(default)]
    pub too_old: u64,
    /// Rooms that were not opened: of an unknown kind, too many, or by a late copy of what has opened an earlier one.
    pub not_opened: u64,
    /// Inputs of players that the operator has removed.
    #[serde(default)]
    pub kicked: u64,
    /// Inputs to rooms that are in another shard.
    #[serde(default)]
    pub wrong_shard: u64,
}

impl Refused {
    /// How often each reason counted, without what was in the log before.
    pub fn by_reason(&self) -> [(&'static str, u64); 8] {
        [
            ("to no room", self.no_room),
            ("unreadable", self.unreadable),
            ("too long", self.too_long),
            ("too many", self.too_many),
            ("too old", self.too_old),
            ("not opened", self.not_opened),
            ("removed player", self.kicked),
            ("wrong shard", self.wrong_shard),
        ]
    }
}

/// Of how many rooms a node knows why there are none.
const ABSENT: usize = 256;

/// After so many frames, players are forgotten that have left.
const FORGETS: u64 = 64;

/// The content of an entry that says that a player is there.
pub(crate) const HERE: &[u8] = b"here";

/// Is called with frame and room.
type Before = Box<dyn FnMut(u64, &str)>;

/// The frames in which rooms were closed by the operator, the newest ones.
type Closed = BTreeMap<Arc<str>, u64>;

/// How many of them are remembered.
const CLOSED: usize = 1_024;

/// Why a room that is taken out does not run.
const OUT: &str = "it ended or hung the process";

/// The frames in which rooms have ended or hung the process: from there on they are not run.
pub(crate) type Out = BTreeMap<Arc<str>, BTreeSet<u64>>;

/// The rooms of a shard.
pub(crate) struct Shard {
    kinds: Arc<[Kind]>,
    place: Place,
    step: Duration,
    ticks_per_second: u32,
    limits: Limits,
    frame: u64,
    rooms: BTreeMap<Arc<str>, Slot>,
    refused: Refused,
    closed: Closed,
    endings: Endings,
    /// Rooms that are not run any more from a frame on: they end or hang every process.
    taken_out: Out,
    /// A number of the log, as it is in this frame.
    log: u64,
    /// Called with the room that is run next.
    before: Option<Before>,
    /// Inputs that had an effect, since the last time that was asked.
    applied: u64,
    /// The last entry that was applied.
    last_entry: u64,
    news: AllNews,
    absent: Absent,
    /// The rooms that were over in the last frame, with their last views.
    over: Vec<Ended>,
}

/// A room that is over, with its last views: those of its players, or that of all.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) room: Arc<str>,
    pub(crate) views: Vec<(Option<Player>, Shown)>,
}

/// Why rooms are not there that were, or were to be: of the newest ones.
#[derive(Debug, Default)]
struct Absent {
    why: BTreeMap<Arc<str>, Absence>,
    order: VecDeque<Arc<str>>,
}

impl Absent {
    fn add(&mut self, room: &Arc<str>, why: Absence) {
        if self.why.insert(room.clone(), why).is_some() {
            return;
        }
        self.order.push_back(room.clone());
        if self.order.len() > ABSENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.why.remove(&oldest);
        }
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("frame", &self.frame)
            .field("rooms", &self.rooms.len())
            .finish_non_exhaustive()
    }
}

impl Shard {
    pub(crate) fn new(
        kinds: Arc<[Kind]>,
        place: Place,
        ticks_per_second: u32,
        limits: Limits,
    ) -> Self {
        Shard {
            kinds,
            place,
            step: step_of(ticks_per_second),
            ticks_per_second,
            limits,
            frame: 0,
            rooms: BTreeMap::new(),
            refused: Refused::default(),
            closed: Closed::new(),
            endings: Endings::default(),
            taken_out: Out::new(),
            log: 0,
            before: None,
            applied: 0,
            last_entry: 0,
            news: AllNews::default(),
            absent: Absent::default(),
            over: Vec::new(),
        }
    }

    /// Sets the rooms that are not run any more, each from a frame on.
    pub(crate) fn take_out(&mut self, rooms: Out) {
        self.taken_out = rooms;
    }

    /// Calls `before` with frame and room before each room is run or shown.
    pub(crate) fn call_before(&mut self, before: impl FnMut(u64, &str) + 'static) {
        self.before = Some(Box::new(before));
    }

    /// The rooms that are not run any more, each from a frame on.
    pub(crate) fn taken_out(&self) -> &Out {
        &self.taken_out
    }

    /// Whether a room is not run in a frame. A room that was opened under the name since the operator
    /// has closed it is another one.
    fn is_out(&self, room: &str, frame: u64) -> bool {
        let closed = self.closed.get(room).copied().unwrap_or(0);
        let frames = self.taken_out.get(room);
        frames.is_some_and(|frames| frames.range(closed..=frame).next().is_some())
    }

    pub(crate) fn refused(&self) -> Refused {
        self.refused
    }

    pub(crate) fn status(&self) -> Vec<RoomStatus> {
        let status = |(name, slot): (&Arc<str>, &Slot)| {
            let (scripts, broken) = match &slot.state {
                State::Live(live) => (live.scripts(), None),
                State::Broken(why) => (0, Some(why.to_string())),
            };
            RoomStatus {
                name: name.to_string(),
                kind: slot.kind.to_string(),
                frames: slot.frame,
                scripts,
                players: slot.senders.len(),
                here: slot.senders.values().filter(|it| it.is_here()).count(),
                broken,
                panics: slot.panics,
                last_panic: slot.last_panic.clone(),
            }
        };
        self.rooms.iter().map(status).collect()
    }

    /// Looks at a room of a kind.
    pub(crate) fn look<R: Room, T>(
        &self,
        room: &str,
        look: impl FnOnce(&R, &Runtime) -> T,
    ) -> Option<T> {
        match &self.rooms.get(room)?.state {
            State::Live(live) => live::look(&**live, look),
            State::Broken(_) => None,
        }
    }

    /// Computes what all see, and what each player does who is there.
    pub(crate) fn views(&mut self) {
        let names: Vec<Arc<str>> = self.rooms.keys().cloned().collect();
        for name in names {
            self.view(&name, None);
        }
        for (room, player) in self.here() {
            if self.has_own_views(&room) {
                self.view(&room, Some(&player));
            }
        }
    }

    /// The view of a room: that of a player, or what all see.
    pub(crate) fn view(&mut self, room: &str, player: Option<&Player>) -> Option<Shown> {
        if let Some(before) = &mut self.before {
            before(self.frame, room);
        }
        let slot = self.rooms.get_mut(room)?;
        slot.view(&mut self.news, self.frame, room, player)
    }

    /// Whether each player of a room has a view of its own.
    pub(crate) fn has_own_views(&self, room: &str) -> bool {
        let slot = self.rooms.get(room);
        let kind = slot.and_then(|slot| self.kind(&slot.kind));
        kind.is_some_and(|kind| kind.view_per_player)
    }

    /// An input to a room in JSON, for people. `None` if there is no such room, or it cannot be read.
    pub(crate) fn input_text(&self, room: &str, input: &[u8]) -> Option<String> {
        let kind = self.kind(&self.rooms.get(room)?.kind)?;
        (kind.show_input)(input)
    }

    /// A kind of rooms, by its name.
    fn kind(&self, name: &str) -> Option<Kind> {
        self.kinds.iter().find(|kind| kind.name == name).copied()
    }

    /// Who is there, in live rooms.
    pub(crate) fn here(&self) -> BTreeSet<(Arc<str>, Player)> {
        let live = self.rooms.iter().filter(|it| it.1.is_live());
        live.flat_map(|(room, slot)| {
            let here = slot.senders.iter().filter(|(_, sender)| sender.is_here());
            here.map(|(player, _)| (room.clone(), player.clone()))
        })
        .collect()
    }

    /// Whether a room hears that a player comes.
    pub(crate) fn may_come(&self, room: &str, player: &Player) -> bool {
        let slot = self.rooms.get(room);
        slot.is_some_and(|slot| slot.is_live() && !slot.kicked.contains(player))
    }

    /// Why a room has no view, and the last entry up to which that is so. `None` if it is there.
    pub(crate) fn absence(&self, room: &str) -> Option<(u64, Absence)> {
        let why = match self.rooms.get(room).map(|slot| &slot.state) {
            Some(State::Live(_)) => return None,
            Some(State::Broken(_)) => Absence::Broken,
            None => self.absent.why.get(room).cloned().unwrap_or(Absence::None),
        };
        Some((self.last_entry, why))
    }

    /// The last entry that was applied.
    pub(crate) fn last_entry(&self) -> u64 {
        self.last_entry
    }

    /// How many inputs had an effect since the last call.
    pub(crate) fn take_applied(&mut self) -> u64 {
        std::mem::take(&mut self.applied)
    }

    /// The view of a room in JSON, for people.
    pub(crate) fn view_text(&self, room: &str) -> Option<String> {
        match &self.rooms.get(room)?.state {
            State::Live(live) => live.view_text().ok(),
            State::Broken(_) => None,
        }
    }

    /// What there is to say about a frame.
    pub(crate) fn take_news(&mut self, frame: u64) -> Option<News> {
        self.news.take(frame)
    }

    /// Takes the rooms that were over in the last frame.
    pub(crate) fn take_over(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.over)
    }

    /// The rooms whose turn it is to be in the hash after a frame.
    pub(crate) fn in_turn(&self, frame: u64) -> Vec<String> {
        let rooms = self.rooms.iter().filter(|(_, slot)| slot.is_in_turn(frame));
        rooms.map(|(name, _)| name.to_string()).collect()
    }

    /// The questions to the outside that are open, with their rooms.
    pub(crate) fn asked(&mut self) -> Vec<(EffectKey, Asked)> {
        let mut all = Vec::new();
        for (name, slot) in &mut self.rooms {
            let (opened, log) = (slot.opened, slot.log);
            let key = |number| EffectKey {
                room: name.clone(),
                opened,
                number,
                log,
            };
            if let Some(asked) = slot.state.with(|live| live.asked()) {
                all.extend(asked.into_iter().map(|asked| (key(asked.number), asked)));
            }
        }
        all
    }
}

/// The length of a frame.
pub(crate) fn step_of(ticks_per_second: u32) -> Duration {
    Duration::from_nanos(1_000_000_000 / u64::from(ticks_per_second))
}
