//! What waits compare themselves with: the latest run of their phase.

#![forbid(unsafe_code)]

use crate::phase::PhaseIndex;
use crate::since::Since;
use crate::ticket::Ticket;
use crate::timers::ClockIndex;

use super::Core;
use super::phases::PhaseState;

impl Core {
    /// Whether a run of a wait's phase has begun in a later frame than the one
    /// in which the wait did.
    #[inline]
    pub(crate) fn has_run_since(&self, since: Since) -> bool {
        since.is_before(self.frame_of_run(since.phase()))
    }

    /// The frame of the latest run of `phase`.
    #[inline]
    pub(crate) fn frame_of_run(&self, phase: PhaseIndex) -> u64 {
        self.phases.get(phase).frame.get()
    }

    /// How many runs of `phase` have begun.
    #[inline]
    pub(crate) fn runs_begun(&self, phase: PhaseIndex) -> u64 {
        self.phases.get(phase).serial.get()
    }

    /// Whether somebody is ready, waits for a phase or counts frames.
    pub(crate) fn has_ready(&self) -> bool {
        if self.inbox.has_messages() {
            return true;
        }
        let mut ready = false;
        self.phases.each(|_, state| {
            ready |= !state.arrivals.borrow().is_empty()
                || !state.queue.borrow().is_empty()
                || state
                    .frames
                    .borrow_mut()
                    .earliest(|key| self.is_live(Ticket::from_bits(key)))
                    .is_some();
        });
        ready
    }

    /// How much dt it takes until the earliest timer is due.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let mut next: Option<u64> = None;
        self.phases.each(|phase, state| {
            for clock in [ClockIndex::GAME, ClockIndex::REALTIME] {
                let time = self.time_until_due(phase, state, clock);
                next = next.into_iter().chain(time).min();
            }
        });
        next
    }

    fn time_until_due(
        &self,
        phase: PhaseIndex,
        state: &PhaseState,
        clock: ClockIndex,
    ) -> Option<u64> {
        let deadline = state
            .timers
            .borrow_mut()
            .earliest(clock, |ticket| self.is_live(ticket))?;
        let clocks = &self.clock;
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
