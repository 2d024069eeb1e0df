//! The kinds of waits, each of which has a colour.

use framestep::inspect::{State, Wait};

/// What a script is doing, in one word. The views give each kind a colour, and filter
/// by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// It runs in every frame or step, or waits for a number of them.
    Frames,
    /// It waits for a time.
    Time,
    /// It checks a condition in every run.
    Condition,
    /// It waits for the end of another script.
    Join,
    /// It waits for a signal, a watch or a permit that has a name.
    Event,
    /// It waits for something that the executor does not know: a channel, a socket.
    Wake,
    /// It is due, or runs.
    Ready,
    /// It is paused.
    Paused,
    /// Nothing can resume it.
    Never,
}

impl Kind {
    /// All kinds, in the order of the legend.
    pub const ALL: [Kind; 9] = [
        Kind::Frames,
        Kind::Time,
        Kind::Condition,
        Kind::Join,
        Kind::Event,
        Kind::Wake,
        Kind::Ready,
        Kind::Paused,
        Kind::Never,
    ];

    /// The word in the legend.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Frames => "frames",
            Kind::Time => "time",
            Kind::Condition => "condition",
            Kind::Join => "join",
            Kind::Event => "signal",
            Kind::Wake => "wake",
            Kind::Ready => "ready",
            Kind::Paused => "paused",
            Kind::Never => "never",
        }
    }

    /// The position in [`ALL`](Kind::ALL).
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn of_wait(wait: &Wait) -> Self {
        match wait {
            Wait::Timer { .. } => Kind::Time,
            Wait::Condition { .. } => Kind::Condition,
            Wait::Join { .. } => Kind::Join,
            Wait::Signal { .. }
            | Wait::Watch { .. }
            | Wait::Permit { .. }
            | Wait::Answer { .. }
            | Wait::Other { .. } => Kind::Event,
            Wait::Wake { .. } => Kind::Wake,
            Wait::Never => Kind::Never,
            // Kinds of waits that a later framestep adds probably count something.
            _ => Kind::Frames,
        }
    }

    /// The kind of a script. Among several waits, a wake counts last, because snapshots
    /// list it beside other waits even if nothing can call the waker.
    pub(crate) fn of<'a>(state: State, waits: impl Iterator<Item = &'a Wait>) -> Self {
        match state {
            State::Paused => Kind::Paused,
            State::Waiting => {
                let kinds = waits.map(Kind::of_wait);
                kinds
                    .min_by_key(|kind| *kind == Kind::Wake)
                    .unwrap_or(Kind::Ready)
            }
            _ => Kind::Ready,
        }
    }
}
