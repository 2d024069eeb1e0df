//! The clocks that every executor has.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::time::Duration;

use crate::time::ClockIndex;
use crate::time::Nanos;
use crate::time::{Phase, Time};

use super::Reading;
use super::gear::Gear;

/// Frame count, game clock, fixed clock and realtime.
///
/// In cells, not behind one: a wait that reads the time and throws it away
/// then costs nothing.
#[derive(Debug)]
pub(crate) struct FrameClock {
    frame: Cell<u64>,
    /// The sum of the dt that count for the game, before they are scaled.
    source_ns: Cell<u64>,
    gear: Gear,
    game_ns: Cell<u64>,
    real_ns: Cell<u64>,
    fixed_ns: Cell<u64>,
    delta_ns: Cell<u64>,
    /// The game clock's scale in this frame.
    scale: Cell<f64>,
    unscaled_delta_ns: Cell<u64>,
    fixed_delta_ns: u64,
    max_delta_ns: u64,
    in_fixed_step: Cell<bool>,
    /// How many fixed steps a frame may have: more than a frame at scale 1 ever
    /// needs, if those before have had theirs.
    most_steps: u64,
    /// How many more this frame may have.
    steps_left: Cell<u64>,
    next_index: Cell<ClockIndex>,
    /// Whether the time reads as in `view` for the coroutine being polled, and
    /// not as on the game clock.
    has_view: Cell<bool>,
    view: Cell<View>,
}

/// What differs in a [`Time`] that is read on another clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    pub(super) delta_ns: u64,
    pub(super) elapsed_ns: u64,
    pub(super) scale: f64,
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
            source_ns: Cell::new(0),
            gear: Gear::new(0),
            game_ns: Cell::new(0),
            real_ns: Cell::new(0),
            fixed_ns: Cell::new(0),
            delta_ns: Cell::new(0),
            scale: Cell::new(1.0),
            unscaled_delta_ns: Cell::new(0),
            fixed_delta_ns,
            max_delta_ns,
            in_fixed_step: Cell::new(false),
            most_steps: max_delta_ns.div_ceil(fixed_delta_ns),
            steps_left: Cell::new(0),
            next_index: Cell::new(ClockIndex::FIRST_CHILD),
            has_view: Cell::new(false),
            view: Cell::default(),
        }
    }

    pub(crate) fn begin_frame(&self, dt: Nanos) -> Irregularity {
        let (dt_ns, invalid) = match dt {
            Nanos::Finite(ns) => (ns, false),
            Nanos::Negative | Nanos::NotANumber => (0, true),
            Nanos::Overflow => (u64::MAX, false),
            Nanos::Infinite => (u64::MAX, true),
        };
        let counted_ns = dt_ns.min(self.max_delta_ns);
        self.frame.set(self.frame.get() + 1);
        self.in_fixed_step.set(false);
        self.steps_left.set(self.most_steps);
        self.unscaled_delta_ns.set(dt_ns);
        self.real_ns.set(self.real_ns.get().saturating_add(dt_ns));
        self.source_ns
            .set(self.source_ns.get().saturating_add(counted_ns));
        let game_ns = self.gear.reading_at(self.source_ns.get());
        self.delta_ns.set(game_ns - self.game_ns.replace(game_ns));
        self.scale.set(self.gear.factor());
        Irregularity {
            invalid,
            dropped_ns: dt_ns - counted_ns,
        }
    }

    /// Advances the fixed clock by one step if the game clock has got that far,
    /// and the frame has not had all the steps it may have.
    pub(crate) fn begin_fixed_step(&self) -> bool {
        let left = self.steps_left.get();
        let next = self.fixed_ns.get().checked_add(self.fixed_delta_ns);
        let next = next.filter(|&next| next <= self.game_ns.get() && left > 0);
        self.in_fixed_step.set(next.is_some());
        if let Some(next) = next {
            self.fixed_ns.set(next);
            self.steps_left.set(left - 1);
        }
        next.is_some()
    }

    /// Moves the fixed clock past the steps that are due and not to be run in
    /// this frame; gives how far that was.
    pub(crate) fn drop_fixed_steps(&self) -> u64 {
        let behind_ns = self.game_ns.get() - self.fixed_ns.get();
        let dropped_ns = behind_ns - behind_ns % self.fixed_delta_ns;
        self.fixed_ns.set(self.fixed_ns.get() + dropped_ns);
        dropped_ns
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

    /// The same as children of the game clock see it.
    pub(super) fn game_reading(&self) -> Reading {
        Reading {
            now_ns: self.game_ns.get(),
            delta_ns: self.delta_ns.get(),
            scale: 1.0,
        }
    }

    /// How the dt become game time.
    pub(super) fn gear(&self) -> &Gear {
        &self.gear
    }

    /// What the game clock is geared to.
    pub(super) fn source_ns(&self) -> u64 {
        self.source_ns.get()
    }

    /// The game clock's scale in this frame: 0 while paused.
    #[inline]
    pub(super) fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// How far the fixed steps have come.
    pub(crate) fn fixed_ns(&self) -> u64 {
        self.fixed_ns.get()
    }

    /// The length of the fixed step that the executor is in.
    #[inline]
    pub(super) fn fixed_step_ns(&self) -> Option<u64> {
        self.in_fixed_step.get().then_some(self.fixed_delta_ns)
    }

    /// A number for another clock, larger than all before.
    ///
    /// # Panics
    ///
    /// After four billion of them.
    pub(super) fn take_index(&self) -> ClockIndex {
        let index = self.next_index.get();
        self.next_index.set(index.next());
        index
    }

    #[inline]
    pub(crate) fn real_ns(&self) -> u64 {
        self.real_ns.get()
    }

    /// How much dt is missing until there is a fixed step, not before
    /// `deadline_ns`. `None`: the game clock stands still.
    pub(crate) fn dt_until_step_at(&self, deadline_ns: u64) -> Option<u64> {
        let ahead_ns = deadline_ns.saturating_sub(self.fixed_ns.get());
        let steps = ahead_ns.div_ceil(self.fixed_delta_ns).max(1);
        let steps_ns = steps.saturating_mul(self.fixed_delta_ns);
        self.dt_until_game_at(self.fixed_ns.get().saturating_add(steps_ns))
    }

    /// How much dt is missing until the game clock reads `deadline_ns`.
    pub(crate) fn dt_until_game_at(&self, deadline_ns: u64) -> Option<u64> {
        let source_ns = self.gear.source_at(deadline_ns)?;
        Some(source_ns.saturating_sub(self.source_ns.get()))
    }

    /// How much dt is missing until realtime is `deadline_ns`.
    pub(crate) fn dt_until_real_at(&self, deadline_ns: u64) -> u64 {
        deadline_ns.saturating_sub(self.real_ns.get())
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

    /// Has the time read as on another clock than the game clock, or not any
    /// more; gives what it was.
    pub(crate) fn set_view(&self, view: Option<View>) -> Option<View> {
        let had_view = self.has_view.replace(view.is_some());
        let had = self.view.replace(view.unwrap_or_default());
        had_view.then_some(had)
    }

    /// Whether the time reads as on another clock than the game clock.
    #[inline]
    pub(crate) fn has_view(&self) -> bool {
        self.has_view.get()
    }

    /// The time for whoever is being polled.
    ///
    /// Chosen number by number and from cells alone, so that nothing is left of
    /// it where it is not used.
    #[inline]
    pub(crate) fn time_seen(&self, phase: Option<Phase>) -> Time {
        let (has_view, view) = (self.has_view.get(), self.view.get());
        let delta_ns = if has_view {
            view.delta_ns
        } else {
            self.delta_ns()
        };
        let elapsed_ns = if has_view {
            view.elapsed_ns
        } else {
            self.game_ns()
        };
        let scale = if has_view {
            view.scale
        } else {
            self.scale.get()
        };
        Time {
            delta: Duration::from_nanos(delta_ns),
            elapsed: Duration::from_nanos(elapsed_ns),
            scale,
            ..self.time(phase)
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
            scale: self.scale.get(),
            phase,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameClock, Irregularity};
    use crate::time::Nanos;
    use crate::time::Phase;

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
    fn a_frame_has_no_more_steps_than_the_longest_dt_at_scale_one() {
        for (max_delta, most) in [(20, 1), (21, 2), (60, 3), (5, 1)] {
            let clock = FrameClock::new(20, max_delta);
            clock.gear().set_scale(1e9, 0);
            for _ in 0..2 {
                clock.begin_frame(Nanos::Finite(5));
                let steps = std::iter::repeat_with(|| clock.begin_fixed_step());
                assert_eq!(steps.take_while(|&begun| begun).count(), most);
                let behind = clock.frame_game_ns() - clock.fixed_ns();
                assert_eq!(clock.drop_fixed_steps(), behind - behind % 20);
                assert!(clock.frame_game_ns() - clock.fixed_ns() < 20);
                assert!(!clock.begin_fixed_step());
            }
        }
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
