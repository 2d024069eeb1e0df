//! What a program is seen to do.

use framestep::{Outcome, Phase};

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) frame: u64,
    /// The run that is under way.
    pub(super) phase: Option<Phase>,
    /// The coroutine, by order of creation. `None`: the host.
    pub(super) who: Option<usize>,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// First polled, at this time of its clock.
    Begins(u64),
    /// A wait is over, at this time of its clock.
    Resumes(Got, u64),
    /// A condition was asked.
    Asked,
    /// What a call gave.
    Gave(bool),
    /// How a request for the lent state was answered.
    Lent(Lent),
    Returns,
    /// Its locals are dropped.
    Dropped,
    /// So are those of one that no owner took.
    Refused,
    /// How many coroutines are alive after a run.
    Alive(usize),
    /// The program could not be run to its end.
    Broke(String),
}

/// The output of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Got {
    Time(u64, u64),
    Joined(Result<usize, Outcome>),
    Ended(Outcome),
    Rung,
    /// There was nothing to wait for.
    Nothing,
    /// Of several waits: which.
    One(usize, Box<Got>),
    All(Vec<Got>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lent {
    Given,
    Missing,
    Borrowed,
}
