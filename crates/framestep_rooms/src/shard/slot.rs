//! A room in its shard: what is known of it besides its own state, and what breaks it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::apply::broken;
use crate::body::Envelope;
use crate::doubles::{Doubles, Used};
use crate::entry::Player;
use crate::event::ServerEvent;
use crate::live::Live;
use crate::news::{AllNews, shown};
use crate::room::Presence;

/// Whether a player is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    /// It has sent inputs, and was not seen.
    #[default]
    Unseen,
    Here,
    Gone,
}

/// What is known of a player of a room.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sender {
    doubles: Doubles,
    place: Place,
    /// The last frame in which something came of the player; `budget` is that of it.
    frame: u64,
    /// Thousandths of inputs that the player may send.
    budget: u64,
}

impl Sender {
    /// With all that a player may send at once.
    pub(super) fn new(frame: u64, rate: u32) -> Self {
        Sender {
            budget: full_budget(rate),
            frame,
            ..Sender::default()
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.place == Place::Here
    }

    /// The player watches, or does not any more. Returns what the room hears of it.
    pub(super) fn come_or_go(&mut self, is_here: bool) -> Option<Presence> {
        let (place, presence) = match (self.place, is_here) {
            (Place::Unseen, true) => (Place::Here, Presence::Joined),
            (Place::Gone, true) => (Place::Here, Presence::Returned),
            (Place::Here, false) => (Place::Gone, Presence::Gone),
            _ => return None,
        };
        self.place = place;
        Some(presence)
    }

    /// The last entry with an input of the player.
    pub(super) fn last_entry(&self) -> u64 {
        self.doubles.last_entry()
    }

    /// Whether the player has left so long ago that the room need not remember it.
    pub(super) fn is_forgotten(&self, frame: u64, ticks_per_second: u32) -> bool {
        !self.is_here() && frame > self.frame + FORGOTTEN * u64::from(ticks_per_second)
    }

    /// Whether one more input may be sent in this frame.
    pub(super) fn may_send(&mut self, frame: u64, rate: u32, ticks_per_second: u32) -> bool {
        self.heard(frame, rate, ticks_per_second);
        self.budget >= 1_000
    }

    /// Something came of the player in this frame.
    pub(super) fn heard(&mut self, frame: u64, rate: u32, ticks_per_second: u32) {
        let earned = (frame - self.frame) * u64::from(rate) * 1_000 / u64::from(ticks_per_second);
        self.budget = (self.budget + earned).min(full_budget(rate));
        self.frame = frame;
    }

    /// Takes an input that may be sent, if it was not taken before.
    pub(super) fn take(&mut self, envelope: &Envelope, seq: u64, since: u64) -> Used {
        let used = self.doubles.use_input(envelope, seq, since);
        if used == Used::First {
            self.budget -= 1_000;
        }
        used
    }
}

/// For how many seconds a player is remembered who is not there and sends nothing. Later, inputs of sessions
/// that the room does not know must name a later entry than the last one of that player. Clients name one
/// that is a minute old at most.
const FORGOTTEN: u64 = 600;

/// For how many seconds inputs may wait for the next frame. While a shard stands still, its players earn nothing,
/// and those who send less than they may have saved it before.
const SAVED: u64 = 10;

fn full_budget(rate: u32) -> u64 {
    u64::from(rate) * SAVED * 1_000
}

/// Each tick names the state of every fourth room, in turns: to hash a room reads all its scripts,
/// also those that sleep, which takes four times as long as its frame. What makes nodes differ stays,
/// so it is found four frames later at most.
pub(crate) const TURNS: u64 = 4;

pub(super) enum State {
    Live(Box<dyn Live>),
    /// A panic has ended it.
    Broken(Arc<str>),
}

pub(super) struct Slot {
    pub(super) kind: Arc<str>,
    pub(super) opened: u64,
    /// A number of the log, as it was when the room was opened.
    pub(super) log: u64,
    /// The entry from which on the room knows all of its senders. Of new sessions, inputs that were made before
    /// it do not count. First the one that has opened it.
    pub(super) since: u64,
    /// Frames that the room has run.
    pub(super) frame: u64,
    pub(super) senders: BTreeMap<Player, Sender>,
    /// Players that the operator has removed.
    pub(super) kicked: BTreeSet<Player>,
    pub(super) state: State,
    /// The hash of the room after its last frame, if it was asked for since.
    pub(super) hash: Option<u64>,
    /// Scripts that have panicked.
    pub(super) panics: u64,
    /// How the last one did, if this node has computed it.
    pub(super) last_panic: Option<String>,
    /// Whether it was said that there are no views.
    pub(super) has_no_view: bool,
}

/// A view of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The entry that has opened the room.
    pub(crate) opened: u64,
    /// The frame of the room.
    pub(crate) frame: u64,
    pub(crate) view: Vec<u8>,
}

/// A room, for tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoomStatus {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Frames that it has run.
    pub frames: u64,
    /// Scripts that are alive.
    pub scripts: usize,
    /// Players that have sent something or watched, in the last minutes.
    pub players: usize,
    /// Players that watch.
    #[serde(default)]
    pub here: usize,
    /// Why it does not run any more, if it is broken.
    pub broken: Option<String>,
    /// How many of its scripts have panicked since it was opened, and no join has returned that. Only
    /// these scripts have ended.
    #[serde(default)]
    pub panics: u64,
    /// How the last one of them did, if the node was there.
    #[serde(default)]
    pub last_panic: Option<String>,
}

/// The text of a panic.
pub(super) fn text_of(panic: &(dyn std::any::Any + Send)) -> Arc<str> {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text").into()
}

impl State {
    /// Calls `f` with a live room. A panic breaks it.
    pub(super) fn with<T>(&mut self, f: impl FnOnce(&mut dyn Live) -> T) -> Option<T> {
        let State::Live(live) = self else {
            return None;
        };
        match catch_unwind(AssertUnwindSafe(|| f(&mut **live))) {
            Ok(value) => Some(value),
            Err(panic) => {
                self.break_it(text_of(&*panic));
                None
            }
        }
    }

    pub(super) fn break_it(&mut self, why: Arc<str>) {
        let state = std::mem::replace(self, State::Broken(why));
        // What a panic has left may panic once more.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
    }
}

impl Slot {
    pub(super) fn new(kind: Arc<str>, opened: u64, state: State) -> Self {
        Slot {
            kind,
            opened,
            log: 0,
            since: opened,
            frame: 0,
            senders: BTreeMap::new(),
            kicked: BTreeSet::new(),
            state,
            hash: None,
            panics: 0,
            last_panic: None,
            has_no_view: false,
        }
    }

    /// Forgets players who have left long ago.
    pub(super) fn forget(&mut self, frame: u64, ticks_per_second: u32) {
        let since = &mut self.since;
        self.senders.retain(|_, sender| {
            let is_forgotten = sender.is_forgotten(frame, ticks_per_second);
            if is_forgotten {
                *since = sender.last_entry().max(*since);
            }
            !is_forgotten
        });
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Live(_))
    }

    /// Whether the room is in the hash after a frame. Not by its place in the list: that changes when
    /// another room is over.
    pub(super) fn is_in_turn(&self, frame: u64) -> bool {
        (self.opened + frame).is_multiple_of(TURNS)
    }

    /// The view of a live room: its frame, and the bytes. Of a player, or what all see.
    pub(super) fn view(
        &mut self,
        news: &mut AllNews,
        frame: u64,
        name: &str,
        player: Option<&Player>,
    ) -> Option<Shown> {
        if player.is_some_and(|player| self.kicked.contains(player)) {
            return None;
        }
        let State::Live(live) = &self.state else {
            return None;
        };
        // A view does not change the room, so its panic breaks nothing.
        let view = catch_unwind(AssertUnwindSafe(|| match player {
            Some(player) => live.view_for(player),
            None => live.view(),
        }));
        let view = view.unwrap_or_else(|panic| Err(format!("a panic: {}", text_of(&*panic))));
        match view {
            Ok(view) => Some(Shown {
                opened: self.opened,
                frame: self.frame,
                view,
            }),
            Err(why) => {
                if !std::mem::replace(&mut self.has_no_view, true) {
                    let why = shown(&why);
                    news.of(frame).add(name, ServerEvent::NoView { why });
                }
                None
            }
        }
    }

    /// Takes what the runtime has reported.
    pub(super) fn report(&mut self, news: &mut AllNews, frame: u64, name: &str) {
        let State::Live(live) = &mut self.state else {
            return;
        };
        let Some(reported) = live.reported() else {
            return;
        };
        self.panics += reported.panics;
        if reported.last_panic.is_some() {
            self.last_panic = reported.last_panic;
        }
        for event in reported.events {
            news.of(frame).add(name, event);
        }
    }

    pub(super) fn hash(&mut self, news: &mut AllNews, frame: u64, name: &str) -> u64 {
        if let Some(hash) = self.hash {
            return hash;
        }
        // A room that cannot be saved is broken, on all nodes in the same frame: otherwise its shard
        // could not be saved.
        let hash = match self.state.with(|live| live.hash()) {
            Some(Ok(hash)) => hash,
            Some(Err(why)) => {
                news.of(frame).add(name, broken("it cannot be saved", &why));
                self.state.break_it(why.into());
                0
            }
            None => 0,
        };
        self.hash = Some(hash);
        hash
    }
}
