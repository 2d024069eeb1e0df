//! The clocks that every executor has.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use crate::image::{Damaged, Reader, Writer};
use crate::time::ClockIndex;
use crate::time::Nanos;
use crate::time::{Phase, PhaseIndex, Time};

use super::scaling::Scaling;
use super::speed::Speed;
use super::{Asks, ClockState, Pace, Reading};

/// Frame count, game clock, fixed clock and realtime.
///
/// Each number is in a separate cell, so that the compiler can remove a reading
/// that a wait does not use.
pub(crate) struct FrameClock {
    frame: Cell<u64>,
    /// The sum of the dt that count for the game clock, before scaling.
    source_ns: Cell<u64>,
    speed: Speed,
    scaling: Scaling,
    game_ns: Cell<u64>,
    real_ns: Cell<u64>,
    /// How far `real_ns` advanced in this frame: by the whole dt, unless it reached
    /// its limit.
    real_delta_ns: Cell<u64>,
    fixed_ns: Cell<u64>,
    /// How far `fixed_ns` advanced last: by a step, or by steps that were dropped.
    fixed_moved_ns: Cell<u64>,
    /// How often it has advanced.
    fixed_moves: Cell<u64>,
    delta_ns: Cell<u64>,
    /// The game clock's scale in this frame.
    scale: Cell<f64>,
    /// The game clock's scale when the latest fixed step began.
    step_scale: Cell<f64>,
    unscaled_delta_ns: Cell<u64>,
    fixed_delta_ns: u64,
    /// The length of the latest fixed step. Before the first, the length of the
    /// steps that the host does not begin itself.
    step_ns: Cell<u64>,
    max_delta_ns: u64,
    in_fixed_step: Cell<bool>,
    /// How many fixed steps a frame may have. A frame at scale 1 never needs more,
    /// unless earlier frames left steps over.
    most_steps: u64,
    /// How many more steps this frame may have.
    steps_left: Cell<u64>,
    /// Whether a pause of the game clock holds steps back that were due before.
    holds_steps: Cell<bool>,
    next_index: Cell<ClockIndex>,
    /// Called when the speed of a clock has changed.
    on_changed: OnceCell<Box<OnChanged>>,
}

/// Called with a clock, and whether it runs faster.
type OnChanged = dyn Fn(&ClockState, bool);

/// A dt, or the length of a fixed step, as the host passed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    ns: u64,
    /// Whether it was not a length of time.
    pub(crate) is_invalid: bool,
}

impl Step {
    pub(crate) fn of(dt: Nanos) -> Self {
        let (ns, is_invalid) = match dt {
            Nanos::Finite(ns) => (ns, false),
            Nanos::Negative | Nanos::NotANumber => (0, true),
            Nanos::Overflow => (u64::MAX, false),
            Nanos::Infinite => (u64::MAX, true),
        };
        Step { ns, is_invalid }
    }

    /// The length that it counts as.
    pub(crate) fn counted_ns(self) -> u64 {
        self.ns
    }
}

/// How many numbers an image of a frame clock begins with.
const NUMBERS: usize = 10;

impl FrameClock {
    pub(crate) fn new(fixed_delta_ns: u64, max_delta_ns: u64) -> Self {
        debug_assert!(fixed_delta_ns > 0);
        FrameClock {
            frame: Cell::new(0),
            source_ns: Cell::new(0),
            speed: Speed::new(),
            scaling: Scaling::new(0),
            game_ns: Cell::new(0),
            real_ns: Cell::new(0),
            real_delta_ns: Cell::new(0),
            fixed_ns: Cell::new(0),
            fixed_moved_ns: Cell::new(0),
            fixed_moves: Cell::new(0),
            delta_ns: Cell::new(0),
            scale: Cell::new(1.0),
            step_scale: Cell::new(1.0),
            unscaled_delta_ns: Cell::new(0),
            fixed_delta_ns,
            step_ns: Cell::new(fixed_delta_ns),
            max_delta_ns,
            in_fixed_step: Cell::new(false),
            most_steps: max_delta_ns.div_ceil(fixed_delta_ns),
            steps_left: Cell::new(0),
            holds_steps: Cell::new(false),
            next_index: Cell::new(ClockIndex::FIRST_CHILD),
            on_changed: OnceCell::new(),
        }
    }

    /// The length of fixed steps.
    pub(crate) fn fixed_delta(&self) -> Duration {
        Duration::from_nanos(self.fixed_delta_ns)
    }

    /// The longest frame that counts in full.
    pub(crate) fn max_delta(&self) -> Duration {
        Duration::from_nanos(self.max_delta_ns)
    }

    /// Begins a frame. Returns how much of the dt exceeds `max_delta`.
    pub(crate) fn begin_frame(&self, dt: Step) -> u64 {
        let counted_ns = dt.ns.min(self.max_delta_ns);
        let held = self.take_held_steps();
        self.advance(dt.ns, counted_ns);
        self.steps_left.set(self.most_steps.saturating_add(held));
        dt.ns - counted_ns
    }

    /// Begins a frame for a host that also passes the step of the game clock, and
    /// limits the number of fixed steps itself.
    pub(crate) fn begin_frame_with(&self, dt: Step, game_dt: Step) {
        self.holds_steps.set(false);
        self.advance(dt.ns, game_dt.ns);
        self.steps_left.set(u64::MAX);
    }

    /// How many steps of the ending frame a pause of the game clock has held back, even if the
    /// host asked for none. A later frame runs them, in addition to its own.
    fn take_held_steps(&self) -> u64 {
        let is_paused = self.speed.is_paused();
        if self.holds_steps.replace(is_paused) || is_paused {
            let behind_ns = self.game_ns.get().saturating_sub(self.fixed_ns.get());
            self.steps_left.get().min(behind_ns / self.fixed_delta_ns)
        } else {
            0
        }
    }

    fn advance(&self, dt_ns: u64, counted_ns: u64) {
        self.frame.set(self.frame.get() + 1);
        self.in_fixed_step.set(false);
        self.unscaled_delta_ns.set(dt_ns);
        let real_ns = self.real_ns.get().saturating_add(dt_ns);
        self.real_delta_ns
            .set(real_ns - self.real_ns.replace(real_ns));
        self.source_ns
            .set(self.source_ns.get().saturating_add(counted_ns));
        let game_ns = self.scaling.reading_at(self.source_ns.get());
        self.delta_ns.set(game_ns - self.game_ns.replace(game_ns));
        self.scale.set(self.speed.factor());
    }

    /// Advances the fixed clock by one step, if the game clock has reached the
    /// step's end and the frame may have another step. Returns whether it did.
    pub(crate) fn begin_fixed_step(&self) -> bool {
        let left = self.steps_left.get();
        let next = self.fixed_ns.get().checked_add(self.fixed_delta_ns);
        let next = next.filter(|&next| next <= self.game_ns.get() && left > 0);
        let begins = next.is_some() && !self.speed.is_paused();
        if begins {
            self.steps_left.set(left - 1);
            self.begin_step(self.fixed_delta_ns);
        } else {
            self.holds_steps.set(next.is_some());
            self.in_fixed_step.set(false);
        }
        begins
    }

    /// Advances the fixed clock by a step of the length that the host passes, at
    /// any reading of the game clock.
    pub(crate) fn begin_fixed_step_of(&self, step: Step) {
        self.begin_step(step.ns);
    }

    fn begin_step(&self, step_ns: u64) {
        self.move_fixed_to(self.fixed_ns.get().saturating_add(step_ns));
        self.step_ns.set(step_ns);
        self.step_scale.set(self.speed.factor());
        self.in_fixed_step.set(true);
    }

    fn move_fixed_to(&self, fixed_ns: u64) {
        let moved_ns = fixed_ns - self.fixed_ns.replace(fixed_ns);
        self.fixed_moved_ns.set(moved_ns);
        self.fixed_moves.set(self.fixed_moves.get() + 1);
    }

    /// Whether steps are due that this frame may not have, and no pause of the game clock
    /// holds them back.
    #[inline]
    pub(crate) fn has_steps_left_over(&self) -> bool {
        self.owes_step() && !self.holds_steps.get()
    }

    /// Whether the game clock has reached the end of the next step.
    pub(crate) fn owes_step(&self) -> bool {
        self.game_ns.get().saturating_sub(self.fixed_ns.get()) >= self.fixed_delta_ns
    }

    /// Whether a fixed step is due, and no pause of the game clock holds it back.
    pub(crate) fn may_begin_step(&self) -> bool {
        self.has_steps_left_over() && !self.speed.is_paused()
    }

    /// Ends the fixed steps until the next one begins.
    pub(crate) fn end_fixed_step(&self) {
        self.in_fixed_step.set(false);
    }

    /// Moves the fixed clock past the due steps that this frame does not run.
    /// Returns by how much.
    pub(crate) fn drop_fixed_steps(&self) -> u64 {
        let behind_ns = self.game_ns.get().saturating_sub(self.fixed_ns.get());
        if behind_ns < self.fixed_delta_ns {
            return 0;
        }
        let dropped_ns = behind_ns - behind_ns % self.fixed_delta_ns;
        if dropped_ns > 0 {
            self.move_fixed_to(self.fixed_ns.get() + dropped_ns);
        }
        dropped_ns
    }

    /// Notes that the host runs `phase`. Clocks read stepped time in
    /// `FixedUpdate`, and in custom phases that are run inside a step, but in no
    /// other phase.
    #[inline]
    pub(crate) fn enter_phase(&self, phase: PhaseIndex) {
        if phase.is_named() {
            self.in_fixed_step.set(phase == PhaseIndex::FIXED_UPDATE);
        }
    }

    /// Sets the function that is called whenever the speed of a clock has changed, because
    /// its timers are then due at another time.
    pub(crate) fn on_changed(&self, call: Box<OnChanged>) {
        let set = self.on_changed.set(call);
        debug_assert!(set.is_ok(), "the function is set once");
    }

    /// Notes that the speed of a clock has changed, and whether it runs faster now.
    pub(super) fn notify_changed(&self, clock: &ClockState, is_quicker: bool) {
        if let Some(call) = self.on_changed.get() {
            call(clock, is_quicker);
        }
    }

    #[inline]
    pub(crate) fn frame(&self) -> u64 {
        self.frame.get()
    }

    /// The current reading of the game clock: fixed time inside a fixed step.
    #[inline]
    pub(crate) fn game_ns(&self) -> u64 {
        if self.in_fixed_step.get() {
            self.fixed_ns.get()
        } else {
            self.game_ns.get()
        }
    }

    /// The game clock of the frame. Fixed time exceeds it only in steps that the
    /// host begins.
    #[inline]
    pub(crate) fn frame_game_ns(&self) -> u64 {
        self.game_ns.get()
    }

    /// The game clock at this pace, as its children read it.
    pub(super) fn game_reading(&self, pace: Pace) -> Reading {
        let (now_ns, delta_ns) = match pace {
            Pace::Frames => (&self.game_ns, &self.delta_ns),
            Pace::Steps => (&self.fixed_ns, &self.fixed_moved_ns),
        };
        Reading {
            now_ns: now_ns.get(),
            delta_ns: delta_ns.get(),
            scale: 1.0,
        }
    }

    /// A number that changes whenever readings at this pace may change.
    #[inline]
    pub(super) fn turn(&self, pace: Pace) -> u64 {
        match pace {
            Pace::Frames => self.frame.get(),
            Pace::Steps => self.fixed_moves.get(),
        }
    }

    /// Realtime, as its handles and children read it.
    pub(super) fn real_reading(&self) -> Reading {
        Reading {
            now_ns: self.real_ns.get(),
            delta_ns: self.real_delta_ns.get(),
            scale: 1.0,
        }
    }

    /// The requested speed of the game clock.
    pub(super) fn speed(&self) -> &Speed {
        &self.speed
    }

    /// The scaling from the dt to the game clock.
    pub(super) fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// The reading of the source of the game clock's scaling.
    pub(super) fn source_ns(&self) -> u64 {
        self.source_ns.get()
    }

    /// The game clock's scale in this frame: 0 while paused.
    pub(super) fn frame_scale(&self) -> f64 {
        self.scale.get()
    }

    /// The game clock's scale in this frame, or in the fixed step under way.
    #[inline]
    pub(super) fn scale(&self) -> f64 {
        if self.in_fixed_step.get() {
            self.step_scale.get()
        } else {
            self.scale.get()
        }
    }

    /// The pace that clocks below the game clock are read at now.
    #[inline]
    pub(super) fn pace(&self) -> Pace {
        if self.in_fixed_step.get() {
            Pace::Steps
        } else {
            Pace::Frames
        }
    }

    /// How far the fixed steps have advanced.
    pub(crate) fn fixed_ns(&self) -> u64 {
        self.fixed_ns.get()
    }

    /// The length of the fixed step under way.
    #[inline]
    pub(super) fn fixed_step_ns(&self) -> Option<u64> {
        self.in_fixed_step.get().then_some(self.step_ns.get())
    }

    /// A number for another clock, larger than all before.
    ///
    /// # Panics
    ///
    /// If four billion clocks have been made.
    pub(super) fn take_index(&self) -> ClockIndex {
        let index = self.next_index.get();
        self.next_index.set(index.next());
        index
    }

    #[inline]
    pub(crate) fn real_ns(&self) -> u64 {
        self.real_ns.get()
    }

    /// The dt until a fixed step is at or past `deadline_ns`, if further steps are
    /// as long as the latest. `None` if the game clock stands still: while it is
    /// paused, not even due steps begin.
    pub(crate) fn dt_until_step_at(&self, deadline_ns: u64) -> Option<u64> {
        if self.speed.is_paused() {
            return None;
        }
        let ahead_ns = deadline_ns.saturating_sub(self.fixed_ns.get());
        // Steps of length zero would never reach it.
        let step_ns = self.step_ns.get().max(1);
        let steps = ahead_ns.div_ceil(step_ns).max(1);
        let steps_ns = steps.saturating_mul(step_ns);
        self.dt_until_game_at(self.fixed_ns.get().saturating_add(steps_ns))
    }

    /// The dt until the game clock reads `deadline_ns`. `None` if it never does.
    pub(crate) fn dt_until_game_at(&self, deadline_ns: u64) -> Option<u64> {
        let source_ns = self.scaling.source_when(deadline_ns)?;
        Some(source_ns.saturating_sub(self.source_ns.get()))
    }

    /// The dt until realtime reads `deadline_ns`.
    pub(crate) fn dt_until_real_at(&self, deadline_ns: u64) -> u64 {
        deadline_ns.saturating_sub(self.real_ns.get())
    }

    /// How far the game clock advanced. Inside a fixed step, the length of the
    /// step.
    #[inline]
    pub(crate) fn delta_ns(&self) -> u64 {
        if self.in_fixed_step.get() {
            self.step_ns.get()
        } else {
            self.delta_ns.get()
        }
    }

    /// The time on the game clock.
    #[inline]
    pub(crate) fn time(&self, phase: Option<Phase>) -> Time {
        Time {
            frame: self.frame.get(),
            delta: Duration::from_nanos(self.delta_ns()),
            elapsed: Duration::from_nanos(self.game_ns()),
            unscaled_delta: Duration::from_nanos(self.unscaled_delta_ns.get()),
            unscaled_elapsed: Duration::from_nanos(self.real_ns.get()),
            fixed_delta: Duration::from_nanos(self.step_ns.get()),
            fixed_elapsed: Duration::from_nanos(self.fixed_ns.get()),
            scale: self.scale(),
            phase,
        }
    }

    /// Writes the clocks to an image. Returns how many guards change the speed of the game
    /// clock.
    pub(crate) fn save(&self, out: &mut Writer) -> usize {
        out.put_each(self.numbers().map(Cell::get));
        out.put_each([&self.frame, &self.fixed_moves].map(Cell::get));
        out.put_each([&self.scale, &self.step_scale].map(|cell| cell.get().to_bits()));
        out.put_each([&self.in_fixed_step, &self.holds_steps].map(|cell| u64::from(cell.get())));
        let guards = self.speed.save(out);
        self.scaling.save(out);
        guards
    }

    /// Reads the frame and the game time from what [`save`](Self::save) has written.
    pub(crate) fn skim(image: &[u64]) -> Option<(u64, u64)> {
        // The first of `numbers` is the source, then comes the game clock.
        Some((*image.get(NUMBERS)?, *image.get(1)?))
    }

    /// Reads what [`save`](Self::save) has written. The length of the steps and the longest
    /// dt must be the same.
    pub(crate) fn load(
        &self,
        guards: impl Iterator<Item = Asks>,
        image: &mut Reader<'_>,
    ) -> Result<(), Damaged> {
        for cell in self.numbers() {
            cell.set(image.take()?);
        }
        for count in [&self.frame, &self.fixed_moves] {
            count.set(image.take_count()?);
        }
        for cell in [&self.scale, &self.step_scale] {
            let scale = f64::from_bits(image.take()?);
            if !scale.is_finite() || scale < 0.0 {
                return Err(Damaged);
            }
            cell.set(scale);
        }
        for cell in [&self.in_fixed_step, &self.holds_steps] {
            cell.set(image.take_flag()?);
        }
        self.speed.load(guards, image)?;
        let (factor, source_ns) = (self.speed.factor(), self.source_ns.get());
        let is_in_order = self.delta_ns <= self.game_ns
            && self.real_delta_ns <= self.real_ns
            && self.fixed_moved_ns <= self.fixed_ns;
        if !is_in_order {
            return Err(Damaged);
        }
        self.scaling.load(image, factor, source_ns)?;
        let is_true = self.scaling.reading_at(source_ns) == self.game_ns.get();
        is_true.then_some(()).ok_or(Damaged)
    }

    fn numbers(&self) -> [&Cell<u64>; NUMBERS] {
        [
            &self.source_ns,
            &self.game_ns,
            &self.real_ns,
            &self.real_delta_ns,
            &self.fixed_ns,
            &self.fixed_moved_ns,
            &self.delta_ns,
            &self.unscaled_delta_ns,
            &self.step_ns,
            &self.steps_left,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameClock, Step};
    use crate::time::Nanos;
    use crate::time::PhaseIndex;

    fn ns(ns: u64) -> Step {
        Step::of(Nanos::Finite(ns))
    }

    #[test]
    fn fixed_steps_run_while_the_next_one_ends_by_now() {
        let clock = FrameClock::new(20, 1_000);
        assert!(!clock.begin_fixed_step());
        clock.begin_frame(ns(59));
        assert!(clock.begin_fixed_step());
        assert_eq!((clock.game_ns(), clock.delta_ns()), (20, 20));
        assert!(clock.begin_fixed_step());
        assert!(!clock.begin_fixed_step());
        assert_eq!((clock.game_ns(), clock.delta_ns()), (59, 59));
        clock.begin_frame(ns(1));
        assert!(clock.begin_fixed_step());
        clock.enter_phase(PhaseIndex::UPDATE);
        assert_eq!(clock.game_ns(), 60);
    }

    #[test]
    fn clocks_stop_at_the_end_of_u64() {
        let clock = FrameClock::new(u64::MAX / 2, u64::MAX);
        assert!(Step::of(Nanos::Infinite).is_invalid);
        clock.begin_frame(Step::of(Nanos::Infinite));
        clock.begin_frame(ns(5));
        assert_eq!(clock.game_ns(), u64::MAX);
        assert!(clock.begin_fixed_step());
        assert!(clock.begin_fixed_step());
        assert!(!clock.begin_fixed_step());
    }

    #[test]
    fn a_frame_has_no_more_steps_than_the_longest_dt_at_scale_one() {
        for (max_delta, most) in [(20, 1), (21, 2), (60, 3), (5, 1)] {
            let clock = FrameClock::new(20, max_delta);
            clock.scaling().shift(1e9, 0);
            for _ in 0..2 {
                clock.begin_frame(ns(5));
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
        for bad in [Nanos::NotANumber, Nanos::Negative] {
            assert!(Step::of(bad).is_invalid);
            assert_eq!(clock.begin_frame(Step::of(bad)), 0);
        }
        assert_eq!(clock.real_ns(), 0);
        assert_eq!(clock.begin_frame(ns(130)), 30);
        assert_eq!((clock.game_ns(), clock.real_ns()), (100, 130));
        assert_eq!(clock.frame(), 3);
    }

    #[test]
    fn host_steps_continue_behind_and_ahead_of_the_game_clock() {
        let clock = FrameClock::new(20, 100);
        clock.begin_frame_with(ns(500), ns(300));
        assert_eq!((clock.game_ns(), clock.real_ns()), (300, 500));
        clock.begin_fixed_step_of(ns(30));
        assert_eq!((clock.game_ns(), clock.delta_ns()), (30, 30));
        clock.begin_fixed_step_of(ns(400));
        assert_eq!((clock.game_ns(), clock.delta_ns()), (430, 400));
        clock.end_fixed_step();
        assert_eq!((clock.game_ns(), clock.delta_ns()), (300, 300));
        // The executor's own steps wait until the game clock has passed these.
        assert!(!clock.begin_fixed_step());
        assert_eq!(clock.drop_fixed_steps(), 0);
        clock.begin_frame_with(ns(0), ns(150));
        assert!(clock.begin_fixed_step());
        assert_eq!((clock.game_ns(), clock.delta_ns()), (450, 20));
        assert!(!clock.begin_fixed_step());
        clock.begin_fixed_step_of(Step::of(Nanos::Infinite));
        clock.begin_fixed_step_of(ns(1));
        assert_eq!(clock.game_ns(), u64::MAX);
    }
}
