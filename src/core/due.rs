//! What waits compare themselves with: the latest run of their phase.

#![forbid(unsafe_code)]

use crate::clock::ClockRef;
use crate::phase::PhaseIndex;
use crate::since::Since;
use crate::ticket::Ticket;

use super::Core;

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
                    .returned
                    .borrow()
                    .iter()
                    .any(|&(_, ticket)| self.is_live(ticket))
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
            let mut timers = state.timers.borrow_mut();
            let mut due_at = |clock: ClockRef<'_>, deadline_ns| {
                let dt = self.dt_until(phase, clock, deadline_ns);
                next = next.into_iter().chain(dt).min();
            };
            if self.has_pauses() {
                // The first in a wheel need not be the first that is due.
                timers.each(&mut |clock, deadline_ns, ticket| {
                    if let Some(grown_ns) = self.growth_unless_paused(phase, clock.index(), ticket)
                    {
                        due_at(clock, deadline_ns.saturating_add(grown_ns));
                    }
                });
            } else {
                timers.each_earliest(|ticket| self.is_live(ticket), due_at);
            }
        });
        next
    }

    /// How much dt it takes until a run of `phase` has `clock` at or past
    /// `deadline_ns`. `None`: the clock stands still.
    fn dt_until(&self, phase: PhaseIndex, clock: ClockRef<'_>, deadline_ns: u64) -> Option<u64> {
        let clocks = &self.clock;
        let fixed = phase == PhaseIndex::FIXED_UPDATE;
        let dt = match clock {
            ClockRef::Game if fixed => return clocks.dt_until_step_at(deadline_ns),
            ClockRef::Game => clocks.dt_until_game_at(deadline_ns)?,
            ClockRef::Realtime => clocks.dt_until_real_at(deadline_ns),
            ClockRef::Child(clock) => clock.dt_until(deadline_ns)?,
        };
        if fixed {
            // Without a step the phase is not run.
            Some(dt.max(clocks.dt_until_step_at(0)?))
        } else {
            Some(dt)
        }
    }
}
