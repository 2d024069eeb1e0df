//! The visible behaviour of a program.

use std::fmt;

use framestep::Phase;
use framestep::task::Outcome;

use super::own::Length;

pub type Trace = Vec<Event>;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub frame: u64,
    /// The reading of the game clock.
    pub now: u64,
    /// The run that is under way.
    pub phase: Option<Phase>,
    pub who: Who,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The host of an executor.
    Host(usize),
    /// A coroutine, by order of creation.
    Coroutine(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The coroutine is polled, for any reason.
    Polled,
    /// Its script begins, at this time of its clock.
    Begins(u64),
    /// A wait is over, at this time of its clock.
    Resumes(Got, u64),
    /// One of several waits is over.
    Item(Got),
    /// A condition was checked.
    Checked,
    /// An animation has this value, in 4096ths.
    Applied(u32),
    /// The result of a call.
    Gave(bool),
    /// A call has returned.
    Done,
    /// How many permits there are, and how many are available.
    Counts(usize, usize),
    /// Whether a coroutine is alive, whether it is paused, and the reading of a clock.
    Saw(bool, bool, u64),
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
pub enum Got {
    Done,
    Joined(Result<usize, Outcome>),
    Ended(Outcome),
    /// The number of an event, or a value.
    Event(u64),
    /// Several of them.
    Events(Vec<u64>),
    /// A promise was kept.
    Kept(bool),
    /// How many coroutines were left.
    Stopped(usize),
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
    pub fn sort(&mut self) {
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
pub enum Lent {
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
        write!(f, " {:?}", Length::Nanos(self.now))?;
        match self.who {
            Who::Host(executor) => write!(f, " host {executor}")?,
            Who::Coroutine(who) => write!(f, " {who}")?,
        }
        write!(f, ": {:?}", self.what)
    }
}
