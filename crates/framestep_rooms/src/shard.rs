//! The rooms of a shard: the state that its log is folded into. No clock, no network.

mod slot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::Runtime;
use serde::{Deserialize, Serialize};

use crate::body::{Answer, OpenText, open_envelope};
use crate::doubles::{Doubles, Used};
use crate::entry::{Entry, Player, Topic};
use crate::news::{Absence, AllNews, News, Reason, shown};
use crate::role::Fold;
use crate::room::{self, Asked, Kind, Room};
use framestep_durable::StableHash;
use slot::{Sender, Slot, State, text_of};

pub use slot::RoomStatus;
pub(crate) use slot::TURNS;

/// Limits on what players may send. They are the same on all nodes: part of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) rooms: usize,
    /// Bytes of an input.
    pub(crate) size: usize,
    /// Inputs of a player to a room in a second, and at once.
    pub(crate) rate: u32,
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
    /// Inputs whose numbers are so far behind that it is not known whether they were in the log before.
    #[serde(default)]
    pub too_old: u64,
    /// Rooms that were not opened: of an unknown kind, or too many.
    pub not_opened: u64,
}

/// Of how many rooms a node knows why there are none.
const ABSENT: usize = 256;

/// Is called with frame and room.
type Before = Box<dyn FnMut(u64, &str)>;

#[derive(Serialize, Deserialize)]
struct SavedSlot {
    name: Arc<str>,
    kind: Arc<str>,
    opened: u64,
    frame: u64,
    senders: BTreeMap<Player, Sender>,
    panics: u64,
    state: Result<Vec<u8>, String>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    frame: u64,
    refused: Refused,
    slots: Vec<SavedSlot>,
}

/// Why a room that is taken out does not run.
const OUT: &str = "it ended or hung the process";

/// Whether a room is not run in a frame.
fn is_out(taken_out: &BTreeMap<Arc<str>, u64>, room: &str, frame: u64) -> bool {
    taken_out.get(room).is_some_and(|from| frame >= *from)
}

/// The rooms of a shard.
pub(crate) struct Shard {
    kinds: Arc<[Kind]>,
    step: Duration,
    ticks_per_second: u32,
    limits: Limits,
    frame: u64,
    rooms: BTreeMap<Arc<str>, Slot>,
    refused: Refused,
    /// Rooms that are not run any more from a frame on: they end or hang every process.
    taken_out: BTreeMap<Arc<str>, u64>,
    /// Called with the room that is run next.
    before: Option<Before>,
    /// The last entry that was applied.
    last_entry: u64,
    news: AllNews,
    absent: Absent,
    /// The rooms that were over in the last frame, with their last views.
    over: Vec<Ended>,
}

/// A room that is over, with its last view.
pub(crate) type Ended = (Arc<str>, Option<(u64, Vec<u8>)>);

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
    pub(crate) fn new(kinds: Arc<[Kind]>, ticks_per_second: u32, limits: Limits) -> Self {
        Shard {
            kinds,
            step: step_of(ticks_per_second),
            ticks_per_second,
            limits,
            frame: 0,
            rooms: BTreeMap::new(),
            refused: Refused::default(),
            taken_out: BTreeMap::new(),
            before: None,
            last_entry: 0,
            news: AllNews::default(),
            absent: Absent::default(),
            over: Vec::new(),
        }
    }

    /// Sets the rooms that are not run any more, each from a frame on.
    pub(crate) fn take_out(&mut self, rooms: BTreeMap<Arc<str>, u64>) {
        self.taken_out = rooms;
    }

    /// Calls `before` with frame and room before each room is run.
    pub(crate) fn call_before(&mut self, before: impl FnMut(u64, &str) + 'static) {
        self.before = Some(Box::new(before));
    }

    /// The rooms that are not run any more, each from a frame on.
    pub(crate) fn taken_out(&self) -> &BTreeMap<Arc<str>, u64> {
        &self.taken_out
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
            State::Live(live) => room::look(&**live, look),
            State::Broken(_) => None,
        }
    }

    /// The view of a room: its frame, and the bytes.
    pub(crate) fn view(&mut self, room: &str) -> Option<(u64, Vec<u8>)> {
        let slot = self.rooms.get_mut(room)?;
        slot.view(&mut self.news, self.frame, room)
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
    pub(crate) fn asked(&mut self) -> Vec<(Arc<str>, u64, Asked)> {
        let mut all = Vec::new();
        for (name, slot) in &mut self.rooms {
            let opened = slot.opened;
            if let Some(asked) = slot.state.with(|live| live.asked()) {
                all.extend(asked.into_iter().map(|asked| (name.clone(), opened, asked)));
            }
        }
        all
    }

    fn apply(&mut self, entry: &Entry) {
        let room = entry.topic.as_ref().and_then(Topic::room);
        let is_out = room.is_some_and(|room| is_out(&self.taken_out, room, self.frame));
        match &entry.topic {
            // It is shown, and not run.
            Some(Topic::Input(..) | Topic::Answer(_)) if is_out => {}
            Some(Topic::Open(room)) => self.open(room, entry.seq, &entry.body),
            Some(Topic::Input(room, player)) => {
                if let Err((reason, why)) = self.input(room, player, &entry.body) {
                    self.refuse(reason, room, Some(player), &why);
                }
            }
            Some(Topic::Answer(room)) => {
                let answer = postcard::from_bytes::<Answer>(&entry.body);
                if let (Ok(answer), Some(slot)) = (answer, self.rooms.get_mut(room))
                    && answer.opened == slot.opened
                {
                    slot.hash = None;
                    let taken = slot
                        .state
                        .with(|live| live.answer(answer.number, &answer.content));
                    if let (None, State::Broken(why)) = (taken, &slot.state) {
                        let line = format!("an answer to it has panicked: {why}");
                        self.news.of(self.frame).line(room, &line);
                    }
                }
            }
            Some(Topic::Tick) | None => {}
        }
    }

    /// Counts what has no effect.
    fn refuse(&mut self, reason: Reason, room: &Arc<str>, player: Option<&Player>, why: &str) {
        *match reason {
            Reason::NoRoom | Reason::Broken => &mut self.refused.no_room,
            Reason::Unreadable => &mut self.refused.unreadable,
            Reason::TooLong => &mut self.refused.too_long,
            Reason::TooMany => &mut self.refused.too_many,
            Reason::TooOld => &mut self.refused.too_old,
            Reason::NotOpened => &mut self.refused.not_opened,
        } += 1;
        let news = self.news.of(self.frame);
        news.refused.add(reason, room, player, why);
        if reason == Reason::NotOpened {
            self.absent.add(room, Absence::Refused(shown(why)));
        }
    }

    fn open(&mut self, name: &Arc<str>, opened: u64, body: &[u8]) {
        // It may be opened by several players at once.
        if self.rooms.contains_key(name) {
            return;
        }
        match self.opened(name, body) {
            Ok((kind, state)) => {
                self.rooms
                    .insert(name.clone(), Slot::new(kind, opened, state));
            }
            Err(why) => self.refuse(Reason::NotOpened, name, None, &why),
        }
    }

    /// A room that is opened: its kind and its state.
    fn opened(&mut self, name: &Arc<str>, body: &[u8]) -> Result<(Arc<str>, State), String> {
        let Limits { rooms, size, .. } = self.limits;
        if body.len() > size {
            return Err(too_long(body, size));
        }
        let open = serde_json::from_slice::<OpenText<'_>>(body)
            .map_err(|error| format!("it is not opened with a kind and arguments: {error}"))?;
        let kind = self.kinds.iter().find(|kind| kind.name == open.kind);
        let kind = kind.ok_or_else(|| {
            format!(
                "the server has no kind of room `{}` (`Server::room`)",
                open.kind
            )
        })?;
        if self.rooms.len() >= rooms {
            return Err(format!(
                "its shard has {rooms} rooms already (`Server::max_rooms`)"
            ));
        }
        let args = open.args.get().as_bytes();
        let state = if is_out(&self.taken_out, name, self.frame) {
            State::Broken(OUT.into())
        } else {
            match catch_unwind(AssertUnwindSafe(|| (kind.open)(args))) {
                Ok(live) => State::Live(live?),
                Err(panic) => {
                    let why = text_of(&*panic);
                    let line = format!("it is broken: `open` has panicked: {why}");
                    self.news.of(self.frame).line(name, &line);
                    State::Broken(why)
                }
            }
        };
        Ok((kind.name.into(), state))
    }

    /// Applies an input. An error says why it has no effect; an input that was in the log before has
    /// none either, and is counted.
    fn input(
        &mut self,
        room: &Arc<str>,
        player: &Player,
        body: &[u8],
    ) -> Result<(), (Reason, String)> {
        let Limits { size, rate, .. } = self.limits;
        let Some(slot) = self.rooms.get_mut(room) else {
            let why = "the room is over, or was not opened".to_owned();
            return Err((Reason::NoRoom, why));
        };
        if let State::Broken(_) = slot.state {
            return Err((Reason::Broken, "the room is broken".to_owned()));
        }
        if body.len() > size {
            return Err((Reason::TooLong, too_long(body, size)));
        }
        let unreadable = |error| (Reason::Unreadable, format!("it cannot be read: {error}"));
        let (envelope, input) = open_envelope(body).map_err(unreadable)?;
        let sender = slot.senders.entry(player.clone());
        let sender = sender.or_insert_with(|| Sender::new(self.frame, rate));
        if !sender.may_send(self.frame, rate, self.ticks_per_second) {
            let why = format!("more than {rate} in a second (`Server::inputs_per_second`)");
            return Err((Reason::TooMany, why));
        }
        match sender.take(&envelope) {
            Used::First => {}
            Used::Double => {
                self.refused.doubles += 1;
                return Ok(());
            }
            Used::Unknown => return Err((Reason::TooOld, too_old(envelope.number))),
        }
        slot.hash = None;
        let taken = slot.state.with(|live| live.input(player.clone(), &input));
        if let State::Broken(why) = &slot.state {
            let line = format!("it is broken: an input of {player} has panicked: {why}");
            self.news.of(self.frame).line(room, &line);
        }
        taken.unwrap_or(Ok(())).map_err(unreadable)
    }
}

fn too_old(number: u64) -> String {
    let window = Doubles::WINDOW;
    format!(
        "its number {number} is {window} or more behind the newest one of its session, so it may have been \
         applied already. A session counts its inputs up from 1; one that counts anew needs another number"
    )
}

fn too_long(body: &[u8], size: usize) -> String {
    let length = body.len();
    format!("{length} bytes are more than {size} (`Server::max_input`)")
}

/// The length of a frame.
pub(crate) fn step_of(ticks_per_second: u32) -> Duration {
    Duration::from_nanos(1_000_000_000 / u64::from(ticks_per_second))
}

impl Fold for Shard {
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String> {
        self.unload();
        let Some(state) = state else {
            return Ok(());
        };
        let saved: Saved = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        let frame_of_save = saved.frame;
        let mut rooms = BTreeMap::new();
        for saved in saved.slots {
            if let Some(before) = &mut self.before {
                before(frame_of_save, &saved.name);
            }
            let is_out = is_out(&self.taken_out, &saved.name, frame_of_save);
            let kind = self.kinds.iter().find(|kind| *kind.name == *saved.kind);
            let kind = kind
                .ok_or_else(|| {
                format!(
                    "this server has no rooms of the kind `{}`: the log is that of another game, or a \
                     `.room::<..>()` is missing",
                    saved.kind
                )
            })?;
            let state = match saved.state {
                Ok(_) if is_out => State::Broken(OUT.into()),
                Ok(bytes) => {
                    let restored = catch_unwind(AssertUnwindSafe(|| (kind.restore)(&bytes)));
                    let restored =
                        restored.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    State::Live(restored.map_err(|why| format!("room {}: {why}", saved.name))?)
                }
                Err(why) => State::Broken(why.into()),
            };
            let slot = Slot {
                frame: saved.frame,
                senders: saved.senders,
                panics: saved.panics,
                ..Slot::new(saved.kind, saved.opened, state)
            };
            rooms.insert(saved.name, slot);
        }
        self.rooms = rooms;
        self.frame = saved.frame;
        self.refused = saved.refused;
        Ok(())
    }

    fn load_empty(&mut self, frame: u64) {
        self.unload();
        self.frame = frame;
    }

    fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    fn unload(&mut self) {
        let rooms = std::mem::take(&mut self.rooms);
        for (_, mut slot) in rooms {
            slot.state.break_it("".into());
        }
        self.frame = 0;
        self.refused = Refused::default();
        self.last_entry = 0;
        self.news.clear();
        self.absent = Absent::default();
        self.over.clear();
    }

    fn frame(&mut self, frame: u64, entries: &[Entry]) {
        self.frame = frame;
        self.over.clear();
        if let Some(last) = entries.last() {
            self.last_entry = last.seq;
        }
        for entry in entries {
            if let (Some(before), Some(room)) =
                (&mut self.before, entry.topic.as_ref().and_then(Topic::room))
            {
                before(frame, room);
            }
            self.apply(entry);
        }
        let mut over = Vec::new();
        for (name, slot) in &mut self.rooms {
            if is_out(&self.taken_out, name, frame) {
                if let State::Live(_) = slot.state {
                    slot.state.break_it(OUT.into());
                    slot.hash = None;
                }
                continue;
            }
            if let Some(before) = &mut self.before {
                before(frame, name);
            }
            let step = self.step;
            let was_live = matches!(slot.state, State::Live(_));
            let is_over = slot.state.with(|live| {
                live.frame(step);
                live.is_over()
            });
            match (is_over, &slot.state) {
                (Some(_), _) => slot.frame += 1,
                (None, State::Broken(why)) if was_live => {
                    let line = format!("it is broken: its frame has panicked: {why}");
                    self.news.of(frame).line(name, &line);
                }
                _ => {}
            }
            slot.hash = None;
            slot.report(&mut self.news, frame, name);
            if is_over == Some(true) {
                over.push(name.clone());
            }
        }
        for name in over {
            if let Some(mut slot) = self.rooms.remove(&name) {
                let view = slot.view(&mut self.news, frame, &name);
                self.over.push((name.clone(), view));
                self.absent.add(&name, Absence::Over);
                slot.state.break_it("".into());
            }
        }
    }

    fn hash(&mut self) -> u64 {
        let mut hash = StableHash::new();
        hash.add(self.frame);
        for (name, slot) in &mut self.rooms {
            if !slot.is_in_turn(self.frame) {
                continue;
            }
            hash.add_bytes(name.as_bytes());
            hash.add(slot.opened);
            hash.add(slot.hash(&mut self.news, self.frame, name));
        }
        hash.finish()
    }

    fn out(&self) -> u32 {
        u32::try_from(self.taken_out.len()).unwrap_or(u32::MAX)
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let mut slots = Vec::new();
        for (name, slot) in &self.rooms {
            let state = match &slot.state {
                State::Live(live) => {
                    let saved = catch_unwind(AssertUnwindSafe(|| live.save()));
                    let saved = saved.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    Ok(saved.map_err(|why| format!("room {name}: {why}"))?)
                }
                State::Broken(why) => Err(why.to_string()),
            };
            slots.push(SavedSlot {
                name: name.clone(),
                kind: slot.kind.clone(),
                opened: slot.opened,
                frame: slot.frame,
                senders: slot.senders.clone(),
                panics: slot.panics,
                state,
            });
        }
        let saved = Saved {
            frame: self.frame,
            refused: self.refused,
            slots,
        };
        postcard::to_stdvec(&saved).map_err(|error| error.to_string())
    }
}
