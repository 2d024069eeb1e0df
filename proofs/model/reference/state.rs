//! The state of the reference.

use std::collections::VecDeque;

use framestep::Phase;
use framestep::task::Outcome;
use std::task::Waker;

use super::choices::EACH_JOIN_COUNTS;
use super::clocks::Clocks;
use super::requests::{Request, Steps};
use super::wake::Inbox;
use framestep_testkit::program::Scripted;

pub(super) struct State {
    pub(super) clocks: Clocks,
    pub(super) run: Option<Run>,
    /// By order of spawning.
    pub(super) coroutines: Vec<Coroutine>,
    /// In no order.
    pub(super) waits: Vec<Wait>,
    /// The first one is the executor's own.
    pub(super) owners: Vec<Owner>,
    /// The ready coroutines, and their phases.
    pub(super) arrivals: Vec<Arrival>,
    /// The coroutines that are being polled, from the outermost one on.
    pub(super) polling: Vec<usize>,
    /// The coroutine whose code runs, in a poll or in a destructor.
    pub(super) scopes: Vec<usize>,
    /// How many stops of this executor are nested.
    pub(super) nested: usize,
    /// The coroutines whose stops were too deep, in order.
    pub(super) deeper: VecDeque<usize>,
    pub(super) lent: bool,
    pub(super) borrowed: bool,
    /// Starts that wait for the end of a closure.
    pub(super) held: Vec<usize>,
    /// How often wakes by others count in one run.
    pub(super) limit: usize,
    /// The coroutine that is due by the wait whose waker is being called.
    pub(super) firing: Option<usize>,
    /// Wakes from other threads.
    pub(super) inbox: Inbox,
    /// The waits for a request to stop, in order.
    pub(super) asks: Vec<Ask>,
    /// The requests to stop with a time, in the order of the calls.
    pub(super) requests: Vec<Request>,
    pub(super) steps: Steps,
    /// Timers were due in an order that the contract leaves open.
    pub(super) open_ended: bool,
    next: u64,
}

/// A wait for a request to stop.
pub(super) struct Ask {
    pub(super) name: u64,
    pub(super) owner: usize,
    pub(super) waker: Waker,
}

/// A run that is under way.
pub(super) struct Run {
    pub(super) phase: Phase,
    /// The coroutines that are polled in it, in order.
    pub(super) queue: VecDeque<Place>,
    /// Joins whose coroutine has ended since the last poll, in order.
    pub(super) joins: Vec<u64>,
    /// The coroutines that were polled in it for a wake by others, one entry for
    /// each poll.
    pub(super) woken: Vec<usize>,
    /// Its number, which is later than those of all calls before it.
    pub(super) number: u64,
    /// The requests to stop whose time is over in it.
    pub(super) due: VecDeque<u64>,
    /// The paused coroutines that have remembered an event of it.
    pub(super) remembering: Vec<usize>,
}

pub(super) struct Place {
    pub(super) coroutine: usize,
    /// The event to remember if it is paused at its turn.
    pub(super) phase: Phase,
    pub(super) cause: Cause,
}

#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(super) struct Coroutine {
    /// None while it is polled, and once it has ended.
    pub(super) future: Option<Scripted>,
    pub(super) owner: usize,
    pub(super) clock: usize,
    /// Where it resumes, unless a wait names another phase.
    pub(super) home: Phase,
    pub(super) outcome: Option<Outcome>,
    pub(super) returned: Option<usize>,
    /// It ends at its next wait.
    pub(super) stopping: bool,
    /// Its destructor runs, or is about to.
    pub(super) going: bool,
    pub(super) paused: bool,
    /// The owner that was requested to stop, if that concerns it: the topmost of several.
    pub(super) asked: Option<usize>,
    /// It was made due while it was paused.
    pub(super) remembered: Option<(Phase, Cause)>,
    /// Sent from another thread, and not made yet.
    pub(super) unmade: bool,
    pub(super) waker: Waker,
}

pub(super) struct Owner {
    pub(super) above: Option<usize>,
    pub(super) clock: usize,
    pub(super) paused: bool,
    /// How many guards pause it.
    pub(super) holds: i32,
    pub(super) inactive: bool,
    pub(super) gone: bool,
    /// How often no coroutine was left on it and below it.
    pub(super) ends: u64,
}

pub(super) struct Arrival {
    pub(super) order: u64,
    pub(super) coroutine: usize,
    pub(super) phase: Phase,
}

/// Why a coroutine is ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Another coroutine, the host or a thread has woken it.
    Wake,
    /// A wait of it is due, of this name.
    Wait(u64),
    /// A coroutine that it joins has ended.
    Join(u64),
    /// It was spawned, has woken itself, or was ready before the run.
    Other,
}

impl Cause {
    fn wait(self) -> Option<u64> {
        match self {
            Cause::Wait(name) | Cause::Join(name) => Some(name),
            Cause::Wake | Cause::Other => None,
        }
    }

    /// It is a wait.
    pub(super) fn is_wait(self) -> bool {
        self.wait().is_some()
    }
}

/// A wait that was polled.
pub(super) struct Wait {
    pub(super) name: u64,
    /// The coroutine that polled it last, if it belongs to this executor.
    pub(super) coroutine: Option<usize>,
    /// The waker of its last poll, if that is not the coroutine's own.
    pub(super) waker: Option<Waker>,
    /// That was not the coroutine's own.
    pub(super) wrapped: bool,
    pub(super) kind: Kind,
    pub(super) phase: Phase,
    /// When it began: its place in the order, and the frame.
    pub(super) order: u64,
    pub(super) frame: u64,
    /// A run in which it is due has begun, or the coroutine that it joins has
    /// ended. A condition may be checked, once.
    pub(super) ready: bool,
}

pub(super) enum Kind {
    NextFrame,
    /// At least one.
    Frames(u64),
    /// At least one, and how many runs of its phase have begun since.
    Runs(u64, u64),
    Timer(Timer),
    /// Conditions: checked in every frame.
    Again,
    /// The coroutine whose end it waits for.
    Join(usize),
    /// The owner, for the end of all coroutines on it and below it.
    Ended(usize),
}

#[derive(Clone, Copy)]
pub(super) struct Timer {
    pub(super) clock: usize,
    /// `None`: never.
    pub(super) deadline: Option<u64>,
    /// The reading of its clock when it was paused.
    pub(super) paused_at: Option<u64>,
    /// The deadline at its latest poll.
    pub(super) polled: Option<u64>,
    /// How long its coroutine has been paused.
    pub(super) delay: u64,
    /// Two coroutines have polled it, so that no pause moves it any more.
    pub(super) shared: bool,
}

impl Run {
    /// Puts a coroutine at the end. A ready coroutine has one place, and another
    /// for each of its waits: it is polled at the first of them.
    pub(super) fn queue(&mut self, coroutine: usize, phase: Phase, cause: Cause) {
        let mut others = self.queue.iter().filter(|one| one.coroutine == coroutine);
        if cause.is_wait() || others.all(|other| other.cause.is_wait()) {
            self.queue.push_back(Place {
                coroutine,
                phase,
                cause,
            });
        }
    }

    /// A poll serves all places, except joins that it does not poll.
    pub(super) fn drop_place(&mut self, coroutine: usize) {
        self.queue.retain(|place| {
            let stays = EACH_JOIN_COUNTS && matches!(place.cause, Cause::Join(_));
            place.coroutine != coroutine || stays
        });
    }
}

impl State {
    pub(super) fn new(clocks: Clocks, limit: usize, inbox: Inbox) -> Self {
        let own = Owner {
            above: None,
            clock: 0,
            paused: false,
            holds: 0,
            inactive: false,
            ends: 0,
            gone: false,
        };
        State {
            clocks,
            run: None,
            coroutines: Vec::new(),
            waits: Vec::new(),
            owners: vec![own],
            arrivals: Vec::new(),
            polling: Vec::new(),
            scopes: Vec::new(),
            nested: 0,
            deeper: VecDeque::new(),
            lent: false,
            borrowed: false,
            held: Vec::new(),
            limit,
            firing: None,
            inbox,
            asks: Vec::new(),
            requests: Vec::new(),
            steps: Steps::default(),
            open_ended: false,
            next: 0,
        }
    }

    /// The next number: nothing else has it.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn phase(&self) -> Option<Phase> {
        self.run.as_ref().map(|run| run.phase)
    }

    /// Whether a place counts: not if the wait has been polled since.
    pub(super) fn stands(&mut self, place: &Place) -> bool {
        place.cause.wait().is_none_or(|name| {
            let wait = self.wait(name);
            wait.is_some_and(|wait| wait.coroutine == Some(place.coroutine) && wait.ready)
        }) && self.is_alive(place.coroutine)
    }

    /// A coroutine whose destructor runs is not.
    pub(super) fn is_alive(&self, coroutine: usize) -> bool {
        let coroutine = &self.coroutines[coroutine];
        coroutine.outcome.is_none() && !coroutine.unmade && !coroutine.going
    }

    pub(super) fn wait(&mut self, name: u64) -> Option<&mut Wait> {
        self.waits.iter_mut().find(|wait| wait.name == name)
    }

    pub(super) fn drop_wait(&mut self, name: u64) -> Option<Wait> {
        let at = self.waits.iter().position(|wait| wait.name == name)?;
        Some(self.waits.swap_remove(at))
    }
}

impl Wait {
    pub(super) fn timer(&self) -> Option<&Timer> {
        match &self.kind {
            Kind::Timer(timer) => Some(timer),
            _ => None,
        }
    }

    pub(super) fn timer_mut(&mut self) -> Option<&mut Timer> {
        match &mut self.kind {
            Kind::Timer(timer) => Some(timer),
            _ => None,
        }
    }
}
