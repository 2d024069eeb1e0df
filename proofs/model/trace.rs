//! The visible behaviour of a program.

use std::fmt;

use framestep::Phase;
use framestep::task::Outcome;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) frame: u64,
    /// The run that is under way.
    pub(super) phase: Option<Phase>,
    pub(super) who: Who,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// The host of an executor.
    Host(usize),
    /// A coroutine, by order of creation.
    Coroutine(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The coroutine is polled, for any reason.
    Polled,
    /// Its script begins, at this time of its clock.
    Begins(u64),
    /// A wait is over, at this time of its clock.
    Resumes(Got, u64),
    /// One of several waits is over.
    Item(Got),
    /// A condition was checked.
    Asked,
    /// An animation has this value, in 4096ths.
    Applied(u32),
    /// The result of a call.
    Gave(bool),
    /// A call has returned.
    Done,
    /// How many permits there are, and how many are available.
    Counts(usize, usize),
    /// Whether a coroutine is alive, and the reading of a clock.
    Saw(bool, u64),
    /// The result of a borrow of the lent state.
    Lent(Lent),
    /// An executor refused to be driven.
    Barred,
    Returns,
    /// Its locals are dropped.
    Dropped,
    /// The locals of a refused coroutine are dropped.
    Refused,
    /// How many coroutines are alive after a run, if that is certain.
    Alive(Option<usize>),
    /// The program could not be run to its end.
    Broke(String),
}

/// The output of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Got {
    Done,
    Joined(Result<usize, Outcome>),
    Ended(Outcome),
    /// The number of an event.
    Event(u64),
    /// How many other ticks a tick replaces, and how late it is.
    Tick(u64, u64),
    Elapsed,
    /// There was nothing to wait for.
    Nothing,
    /// Of several waits: which.
    One(usize, Box<Got>),
    All(Vec<Got>),
}

impl What {
    /// The same, whichever of several waits came first.
    pub(super) fn sort(&mut self) {
        if let What::Resumes(got, _) | What::Item(got) = self {
            got.sort();
        }
    }
}

impl Got {
    fn sort(&mut self) {
        match self {
            Got::All(all) => {
                all.iter_mut().for_each(Got::sort);
                all.sort_by_cached_key(|got| format!("{got:?}"));
            }
            Got::One(_, got) => got.sort(),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lent {
    Given,
    Missing,
    Borrowed,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{}", self.frame)?;
        if let Some(phase) = self.phase {
            write!(f, ".{phase}")?;
        }
        match self.who {
            Who::Host(executor) => write!(f, " host {executor}")?,
            Who::Coroutine(who) => write!(f, " {who}")?,
        }
        write!(f, ": {:?}", self.what)
    }
}
