//! What waits compare themselves with: the latest run of their phase.

use crate::context::Level;
use crate::phase::PhaseIndex;
use crate::ticket::Ticket;
use crate::timers::ClockIndex;

use super::Core;
use super::phases::PhaseState;

impl Core {
    /// Whether a run of `phase` has begun in a later frame than `frame`.
    #[inline]
    pub(crate) fn has_begun_since_frame(
        &self,
        level: &Level,
        phase: PhaseIndex,
        frame: u64,
    ) -> bool {
        if level.phase == Some(phase) {
            // The usual case: this very run.
            self.frame.get() > frame
        } else {
            let phases = self.phases.borrow();
            phases.get(phase).is_some_and(|state| state.frame > frame)
        }
    }

    /// How many runs of `phase` have begun.
    #[inline]
    pub(crate) fn runs_begun(&self, phase: PhaseIndex) -> u64 {
        self.phases
            .borrow()
            .get(phase)
            .map_or(0, |state| state.serial)
    }

    /// What a clock read in the latest run of `phase`, if that was in a later
    /// frame than `frame`.
    #[inline]
    pub(crate) fn reading_since_frame(
        &self,
        level: &Level,
        phase: PhaseIndex,
        frame: u64,
        clock: ClockIndex,
    ) -> Option<u64> {
        if !self.has_begun_since_frame(level, phase, frame) {
            return None;
        }
        let phases = self.phases.borrow();
        phases.get(phase).map(|state| state.reading(clock))
    }

    /// Whether somebody is ready, waits for a phase or counts frames.
    pub(crate) fn has_ready(&self) -> bool {
        if self.inbox.has_messages() {
            return true;
        }
        let mut phases = self.phases.borrow_mut();
        let mut phases = phases.iter_mut();
        phases.any(|(_, state)| {
            !state.arrivals.is_empty()
                || !state.queue.is_empty()
                || state
                    .frames
                    .earliest(|key| self.is_live(Ticket::from_bits(key)))
                    .is_some()
        })
    }

    /// How much dt it takes until the earliest timer is due.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let mut phases = self.phases.borrow_mut();
        let phases = phases.iter_mut();
        phases
            .flat_map(|(phase, state)| {
                [ClockIndex::GAME, ClockIndex::REALTIME]
                    .map(|clock| self.time_until_due(phase, state, clock))
            })
            .flatten()
            .min()
    }

    fn time_until_due(
        &self,
        phase: PhaseIndex,
        state: &mut PhaseState,
        clock: ClockIndex,
    ) -> Option<u64> {
        let deadline = state
            .timers
            .earliest(clock, |ticket| self.is_live(ticket))?;
        let clocks = self.clock.borrow();
        if clock != ClockIndex::GAME {
            return Some(deadline.saturating_sub(clocks.real_ns()));
        }
        let reached_at = if phase == PhaseIndex::FIXED_UPDATE {
            clocks.end_of_step_at(deadline)
        } else {
            deadline
        };
        Some(reached_at.saturating_sub(clocks.frame_game_ns()))
    }
}
