//! The state lent to the scripts: the rooms, and the number of requests that wait
//! for a result.

use std::collections::BTreeMap;
use std::fmt;

use framestep::lend::with_deferred;
use framestep::prelude::*;
use framestep::task::Finished;

use crate::game;

/// The rooms of a server.
#[derive(Debug, Default)]
pub(crate) struct World {
    rooms: BTreeMap<u32, Room>,
    opened: u32,
    /// How many requests wait for a result.
    pub(crate) waiting: usize,
}

/// A match and its signals.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) kicks: Signal<Side>,
    pub(crate) report: Watch<Report>,
    /// The end of the match, for any number of requests.
    pub(crate) finished: Finished,
    /// Dropping it ends the match.
    _scripts: Owner,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) state: State,
    pub(crate) left: u32,
    pub(crate) right: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    WarmUp,
    Playing,
    Over,
}

impl World {
    /// Opens a room and begins its match. A script calls this, so the match must
    /// belong to the room, not to the script's request.
    pub(crate) fn open(&mut self) -> u32 {
        let Some(scripts) = handle().owner() else {
            unreachable!("the executor runs this script");
        };
        let kicks = Signal::new();
        let report = Watch::new(Report {
            state: State::WarmUp,
            left: 0,
            right: 0,
        });
        let game = scripts.spawn(game::play(kicks.clone(), report.clone()));
        self.opened += 1;
        let room = Room {
            kicks,
            report,
            finished: game.finished(),
            _scripts: scripts,
        };
        self.rooms.insert(self.opened, room);
        self.opened
    }

    pub(crate) fn room(&self, number: u32) -> Option<&Room> {
        self.rooms.get(&number)
    }

    /// Ends the match of a room. Returns `false` if there is no such room.
    pub(crate) fn close(&mut self, number: u32) -> bool {
        self.rooms.remove(&number).is_some()
    }

    pub(crate) fn close_all(&mut self) {
        self.rooms.clear();
    }
}

/// Counts a request that waits, until the request has its answer or is dropped.
#[derive(Debug)]
pub(crate) struct Waits;

impl Waits {
    pub(crate) fn begin() -> Self {
        with(|world: &mut World| world.waiting += 1);
        Waits
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        // A request is dropped between two frames, while nothing is lent.
        with_deferred(|world: &mut World| world.waiting -= 1);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::WarmUp => "warm-up",
            State::Playing => "playing",
            State::Over => "over",
        };
        write!(f, "{state} {}:{}", self.left, self.right)
    }
}
