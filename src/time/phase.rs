//! The phases of a frame, and their dense numbering inside the executor.

use std::fmt;

/// A point of the frame where coroutines resume.
///
/// [`Executor::run_frame`](crate::Executor::run_frame) runs the named phases in the
/// order of this list, `FixedUpdate` once for each fixed step. The host runs custom
/// phases with [`Executor::run_phase`](crate::Executor::run_phase), at any point of
/// its loop.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// const PHYSICS: Phase = Phase::Custom(0);
///
/// let mut executor = Executor::new();
/// let coroutine = executor.start(async {
///     in_phase(PHYSICS).await;
///     time().phase
/// });
/// executor.begin_frame(0.5);
/// executor.run_phase(Phase::Update);
/// assert!(!coroutine.is_finished());
/// executor.run_phase(PHYSICS);
/// assert!(coroutine.is_finished());
/// ```
///
/// # Source
///
/// Order of execution for event functions, Unity manual. In Unity,
/// `WaitForEndOfFrame` and `WaitForFixedUpdate` also have separate phases; early
/// update, late update and custom phases follow `PlayerLoopTiming` of UniTask.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Before the fixed steps of the frame.
    EarlyUpdate,
    /// After the host's own fixed update, once for each fixed step.
    FixedUpdate,
    /// After the host's own update. Waits resume here unless they name another
    /// phase.
    Update,
    /// After the host's own late update.
    LateUpdate,
    /// The last phase of the frame, after rendering.
    EndOfFrame,
    /// A phase that the host defines.
    Custom(u8),
}

impl Phase {
    /// The named phases, in the order of a frame.
    pub const NAMED: [Phase; 5] = [
        Phase::EarlyUpdate,
        Phase::FixedUpdate,
        Phase::Update,
        Phase::LateUpdate,
        Phase::EndOfFrame,
    ];
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// A [`Phase`] as a number: the named ones from 1 on, then the custom ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhaseIndex(u16);

impl PhaseIndex {
    pub(crate) const FIXED_UPDATE: PhaseIndex = PhaseIndex::new(Phase::FixedUpdate);
    pub(crate) const UPDATE: PhaseIndex = PhaseIndex::new(Phase::Update);
    /// A placeholder for the home phase of the coroutine that begins a wait. No
    /// phase has this index.
    pub(crate) const HOME: PhaseIndex = PhaseIndex(0);
    /// How many phases every executor has from the start.
    pub(crate) const NAMED: usize = Phase::NAMED.len();
    #[expect(clippy::cast_possible_truncation, reason = "a handful of phases")]
    const FIRST_CUSTOM: u16 = 1 + Self::NAMED as u16;
    /// The named phases, in the order of their indices, which is that of a frame.
    pub(crate) const ALL_NAMED: [PhaseIndex; Self::NAMED] = {
        let mut all = [PhaseIndex::HOME; Self::NAMED];
        let mut at = 0;
        while at < Self::NAMED {
            all[at] = PhaseIndex::new(Phase::NAMED[at]);
            at += 1;
        }
        all
    };

    pub(crate) const fn new(phase: Phase) -> Self {
        PhaseIndex(match phase {
            Phase::EarlyUpdate => 1,
            Phase::FixedUpdate => 2,
            Phase::Update => 3,
            Phase::LateUpdate => 4,
            Phase::EndOfFrame => 5,
            Phase::Custom(number) => Self::FIRST_CUSTOM + number as u16,
        })
    }

    pub(crate) const fn is_home(self) -> bool {
        self.0 == Self::HOME.0
    }

    pub(crate) const fn is_named(self) -> bool {
        self.0 < Self::FIRST_CUSTOM
    }

    /// The position of the phase among all phases.
    #[inline]
    pub(crate) const fn as_usize(self) -> usize {
        (self.0 as usize).wrapping_sub(1)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "an index comes from a phase, and a custom phase has eight bits"
    )]
    pub(crate) const fn phase(self) -> Phase {
        match self.0 {
            0 => Phase::Update,
            named if named < Self::FIRST_CUSTOM => Phase::NAMED[named as usize - 1],
            custom => Phase::Custom((custom - Self::FIRST_CUSTOM) as u8),
        }
    }

    /// The phase at this position among all phases. `None` if there is none.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        let index = u16::try_from(number).ok()?.checked_add(1)?;
        (index < Self::FIRST_CUSTOM + 256).then_some(PhaseIndex(index))
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, PhaseIndex};

    #[test]
    fn an_index_reads_back_as_its_phase() {
        let all = Phase::NAMED.into_iter().chain((0..=255).map(Phase::Custom));
        for (at, phase) in all.enumerate() {
            let index = PhaseIndex::new(phase);
            assert_eq!((index.as_usize(), index.phase()), (at, phase));
            assert_eq!(PhaseIndex::from_number(at as u64), Some(index));
        }
        let behind = PhaseIndex::new(Phase::Custom(255)).as_usize() as u64 + 1;
        assert_eq!(PhaseIndex::from_number(behind), None);
    }
}
