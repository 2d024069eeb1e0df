//! How a wait stands, in one word that is copied as a whole.

use crate::time::PhaseIndex;

/// The executor, the phase and the state of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// The number of the executor in which the wait began.
    pub(crate) executor: u32,
    /// [`PhaseIndex::HOME`] before the wait begins, unless it names a phase.
    pub(crate) phase: PhaseIndex,
    pub(crate) bound: Bound,
    pub(crate) stage: Stage,
}

const _: () = assert!(size_of::<Tag>() == 8);

/// What has to pass before a wait can be due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// A frame: the wait is due in a later frame than the one in which it began.
    Frame,
    /// A run: the wait is due in the next run of its phase.
    Run,
    /// A frame, or in the fixed phase a step, which is a run. Only before the wait begins:
    /// then it becomes `Frame` or `Run`.
    FrameOrStep,
}

/// The function that has made a wait, if several make waits of its type. Journals name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    FixedUpdate = 1,
    EndOfFrame,
    Realtime,
    Until,
    TimeoutAt,
}

impl Call {
    /// The name of the function of this number. `None` for the one that the type is named after.
    pub(crate) fn name_of(number: u64) -> Option<&'static str> {
        const NAMES: [(Call, &str); 5] = [
            (Call::FixedUpdate, "fixed_update()"),
            (Call::EndOfFrame, "end_of_frame()"),
            (Call::Realtime, "wait_seconds_realtime()"),
            (Call::Until, "wait_until()"),
            (Call::TimeoutAt, "timeout_at()"),
        ];
        let known = NAMES.iter().find(|(call, _)| *call as u64 == number);
        known.map(|(_, name)| *name)
    }
}

/// How far a wait has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The wait has not been polled yet, and names no phase.
    AtHome,
    /// The wait has not been polled yet, and names a phase.
    New,
    /// The wait had begun, and was made as new. It keeps its phase and its executor.
    Renewed,
    /// The wait has begun, and has not been ready.
    Waiting,
    /// The wait has begun in a script that records it. The executor is the number of the recorder.
    Recorded,
    /// The wait has been ready.
    Done,
}

impl Tag {
    /// The tag of a wait that has not begun.
    #[inline]
    pub(crate) const fn new(phase: PhaseIndex, bound: Bound) -> Self {
        Tag {
            executor: 0,
            phase,
            bound,
            stage: if phase.is_home() {
                Stage::AtHome
            } else {
                Stage::New
            },
        }
    }

    /// The tag of a wait that has begun in a phase of an executor.
    #[inline]
    pub(crate) const fn begun(executor: u32, phase: PhaseIndex, bound: Bound) -> Self {
        Tag {
            executor,
            phase,
            bound,
            stage: Stage::Waiting,
        }
    }
}
