//! The clocks of an executor: pure arithmetic on whole nanoseconds.
//!
//! Nothing here reads the wall clock; the host says how long a frame was.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::time::Duration;

use crate::seconds::Nanos;
use crate::{Phase, Time};

/// Frame count, game clock, fixed clock and realtime.
///
/// In cells, not behind one: a wait that reads the time and throws it away
/// then costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct FrameClock {
    frame: Cell<u64>,
    game_ns: Cell<u64>,
    real_ns: Cell<u64>,
    fixed_ns: Cell<u64>,
    delta_ns: Cell<u64>,
    unscaled_delta_ns: Cell<u64>,
    fixed_delta_ns: u64,
    max_delta_ns: u64,
    in_fixed_step: Cell<bool>,
}

/// What was wrong with a frame's dt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Irregularity {
    /// The dt was no length of time.
    pub(crate) invalid: bool,
    /// Time that `max_delta` kept from the game clock.
    pub(crate) dropped_ns: u64,
}

impl FrameClock {
    pub(crate) fn new(fixed_delta_ns: u64, max_delta_ns: u64) -> Self {
        debug_assert!(fixed_delta_ns > 0);
        FrameClock {
            frame: Cell::new(0),
            game_ns: Cell::new(0),
            real_ns: Cell::new(0),
            fixed_ns: Cell::new(0),
            delta_ns: Cell::new(0),
            unscaled_delta_ns: Cell::new(0),
            fixed_delta_ns,
            max_delta_ns,
            in_fixed_step: Cell::new(false),
        }
    }

    pub(crate) fn begin_frame(&self, dt: Nanos) -> Irregularity {
        let (dt_ns, invalid) = match dt {
            Nanos::Finite(ns) => (ns, false),
            Nanos::Negative | Nanos::NotANumber => (0, true),
            Nanos::Overflow => (u64::MAX, false),
            Nanos::Infinite => (u64::MAX, true),
        };
        let delta_ns = dt_ns.min(self.max_delta_ns);
        self.frame.set(self.frame.get() + 1);
        self.in_fixed_step.set(false);
        self.unscaled_delta_ns.set(dt_ns);
        self.real_ns.set(self.real_ns.get().saturating_add(dt_ns));
        self.delta_ns.set(delta_ns);
        self.game_ns
            .set(self.game_ns.get().saturating_add(delta_ns));
        Irregularity {
            invalid,
            dropped_ns: dt_ns - delta_ns,
        }
    }

    /// Advances the fixed clock by one step if the game clock has got that far.
    pub(crate) fn begin_fixed_step(&self) -> bool {
        let next = self.fixed_ns.get().checked_add(self.fixed_delta_ns);
        let next = next.filter(|&next| next <= self.game_ns.get());
        self.in_fixed_step.set(next.is_some());
        if let Some(next) = next {
            self.fixed_ns.set(next);
        }
        next.is_some()
    }

    /// The host runs `phase`: fixed time is read in that of the fixed steps,
    /// and in custom ones that are part of a step, but in no other.
    pub(crate) fn enter_phase(&self, phase: Phase) {
        if !matches!(phase, Phase::Custom(_)) {
            self.in_fixed_step.set(phase == Phase::FixedUpdate);
        }
    }

    #[inline]
    pub(crate) fn frame(&self) -> u64 {
        self.frame.get()
    }

    /// The game clock as it reads now: fixed time inside a fixed step.
    #[inline]
    pub(crate) fn game_ns(&self) -> u64 {
        if self.in_fixed_step.get() {
            self.fixed_ns.get()
        } else {
            self.game_ns.get()
        }
    }

    /// The game clock of the frame, which fixed time never passes.
    #[inline]
    pub(crate) fn frame_game_ns(&self) -> u64 {
        self.game_ns.get()
    }

    #[inline]
    pub(crate) fn real_ns(&self) -> u64 {
        self.real_ns.get()
    }

    /// The end of the first fixed step at or past `deadline_ns`.
    pub(crate) fn end_of_step_at(&self, deadline_ns: u64) -> u64 {
        let ahead_ns = deadline_ns.saturating_sub(self.fixed_ns.get());
        let steps = ahead_ns.div_ceil(self.fixed_delta_ns);
        self.fixed_ns
            .get()
            .saturating_add(steps.saturating_mul(self.fixed_delta_ns))
    }

    /// What the game clock went forward by: the step's length inside one.
    #[inline]
    pub(crate) fn delta_ns(&self) -> u64 {
        if self.in_fixed_step.get() {
            self.fixed_delta_ns
        } else {
            self.delta_ns.get()
        }
    }

    #[inline]
    pub(crate) fn time(&self, phase: Option<Phase>) -> Time {
        Time {
            frame: self.frame.get(),
            delta: Duration::from_nanos(self.delta_ns()),
            elapsed: Duration::from_nanos(self.game_ns()),
            unscaled_delta: Duration::from_nanos(self.unscaled_delta_ns.get()),
            unscaled_elapsed: Duration::from_nanos(self.real_ns.get()),
            fixed_delta: Duration::from_nanos(self.fixed_delta_ns),
            fixed_elapsed: Duration::from_nanos(self.fixed_ns.get()),
            scale: 1.0,
            phase,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameClock, Irregularity};
    use crate::Phase;
    use crate::seconds::Nanos;

    #[test]
    fn fixed_steps_run_while_the_next_one_ends_by_now() {
        let clock = FrameClock::new(20, 1_000);
        assert!(!clock.begin_fixed_step());
        clock.begin_frame(Nanos::Finite(59));
        assert!(clock.begin_fixed_step());
        assert_eq!((clock.game_ns(), clock.delta_ns()), (20, 20));
        assert!(clock.begin_fixed_step());
        assert!(!clock.begin_fixed_step());
        assert_eq!((clock.game_ns(), clock.delta_ns()), (59, 59));
        clock.begin_frame(Nanos::Finite(1));
        assert!(clock.begin_fixed_step());
        clock.enter_phase(Phase::Update);
        assert_eq!(clock.game_ns(), 60);
    }

    #[test]
    fn clocks_stop_at_the_end_of_u64() {
        let clock = FrameClock::new(u64::MAX / 2, u64::MAX);
        assert!(clock.begin_frame(Nanos::Infinite).invalid);
        clock.begin_frame(Nanos::Finite(5));
        assert_eq!(clock.game_ns(), u64::MAX);
        assert!(clock.begin_fixed_step());
        assert!(clock.begin_fixed_step());
        assert!(!clock.begin_fixed_step());
    }

    #[test]
    fn bad_steps_count_as_nothing_and_long_ones_are_cut() {
        let clock = FrameClock::new(20, 100);
        assert!(clock.begin_frame(Nanos::NotANumber).invalid);
        assert!(clock.begin_frame(Nanos::Negative).invalid);
        assert_eq!(clock.real_ns(), 0);
        let irregularity = clock.begin_frame(Nanos::Finite(130));
        assert_eq!(
            irregularity,
            Irregularity {
                invalid: false,
                dropped_ns: 30
            }
        );
        assert_eq!((clock.game_ns(), clock.real_ns()), (100, 130));
        assert_eq!(clock.frame(), 3);
    }
}
