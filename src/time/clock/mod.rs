//! The clocks that coroutines count on: arithmetic on whole nanoseconds.
//!
//! ```text
//! dt -+- realtime - child
//!     `- max_delta - game clock -+- child - grandchild
//!                                +- child
//!                                `- fixed steps, which move these clocks again,
//!                                   in stepped time
//! ```
//!
//! Nothing here reads the wall clock. The host passes the length of each frame.

mod factors;
mod frame;
mod guard;
mod index;
mod rate;
mod scaling;
mod speed;
mod state;

use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use crate::core::scope::recording;

pub(crate) use frame::{FrameClock, Step};
pub(crate) use guard::Asks;
pub use guard::ClockGuard;
pub(crate) use index::ClockIndex;
use speed::Speed;
pub(crate) use state::{AwaitedClock, ClockState};
use state::{Pace, Reading};

/// A clock that can be slowed down, sped up and paused.
///
/// [`Executor::clock`](crate::Executor::clock) is the game clock:
/// [`wait_seconds`](crate::wait_seconds) counts on it, and the fixed steps follow it.
/// [`Executor::realtime`](crate::Executor::realtime) is the sum of the frames' dt,
/// and nothing slows it down. [`child`](Clock::child) makes a clock that follows
/// another: the child slows down with its parent, and also has its own scale.
///
/// A change of scale or a pause takes effect with the next
/// [`Executor::begin_frame`](crate::Executor::begin_frame). Within a frame, readings
/// do not change. Pending waits follow their clock: a wait of two seconds, one of
/// which passes at half speed, ends after three.
///
/// # In fixed steps
///
/// Inside a fixed step, the game clock and the clocks below it read *stepped time*;
/// outside, all clocks read *frame time*. The stepped time of the game clock is fixed
/// time. In each step, a clock below it moves by the length of the step, times its
/// own scale and those of its parents below the game clock. The scales are those when
/// the step began. So a change of scale or a pause takes effect in the next step,
/// even if that is in the same frame.
///
/// A wait counts on one of the two times: on stepped time if it is for
/// [`Phase::FixedUpdate`](crate::Phase::FixedUpdate), else on frame time. So a script
/// on fixed steps does the same at every frame rate, even if it changes scales and
/// pauses clocks. The two times agree while nothing changes. Each change may move
/// them apart by up to a frame.
///
/// Realtime and the clocks below it have frame time only.
///
/// # Handles
///
/// A `Clock` is a handle that is cheap to clone; all clones are the same clock.
/// A clock lives as long as a handle, a guard or a wait keeps it. In a frame in which
/// nothing is due on a clock, it costs nothing, whatever its speed, so there may be any
/// number of them. After its executor is dropped, a clock keeps its last reading.
///
/// # Several scripts change one clock
///
/// [`set_scale`](Clock::set_scale), [`pause`](Clock::pause) and
/// [`resume`](Clock::resume) set the single scale and pause of the clock, so the last
/// call wins: they are for the options menu. A script takes a guard:
/// [`scaled`](Clock::scaled) or [`pause_guard`](Clock::pause_guard). The effects of guards add up,
/// and dropping one undoes exactly its part:
///
/// - The clock stands still while at least one guard holds it, or while it is
///   paused.
/// - Otherwise its scale is the one that was set, times the factors of all guards.
///
/// # Precision
///
/// The scale is the exact value of the float. A reading is computed in one step since
/// the last change of scale, and rounded once, to the nearest nanosecond. So errors
/// do not add up over frames, however short they are.
///
/// A clock counts up to `u64::MAX` nanoseconds, 584 years, and stands still there. A
/// wait that begins with a deadline beyond that never ends. A deadline that a pause
/// has moved beyond that is due at the end.
///
/// # Examples
///
/// Slow motion for the enemies, but not for the player:
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let enemies = executor.clock().child();
/// enemies.set_scale(0.25);
///
/// let player = executor.start(async { wait_seconds(1).await });
/// let on = enemies.clone();
/// let enemy = executor.start(async move { on.wait_seconds(1).await });
///
/// executor.run_until(player, 0.25);
/// assert_eq!(executor.time().frame, 4);
/// assert_eq!(enemies.now().as_secs_f32(), 0.25);
///
/// executor.run_until(enemy, 0.25);
/// assert_eq!(executor.time().frame, 16);
/// ```
///
/// # Source
///
/// `Time.timeScale`, Unity scripting reference, for each clock. As there, a
/// scale of zero stops the fixed steps.
#[derive(Clone)]
pub struct Clock(Rc<ClockState>);

impl Clock {
    /// The game clock of `frames`.
    pub(crate) fn game(frames: &Rc<FrameClock>) -> Self {
        Clock(Rc::new(ClockState::game(frames.clone())))
    }

    /// The realtime clock of `frames`.
    pub(crate) fn realtime(frames: &Rc<FrameClock>) -> Self {
        Clock(Rc::new(ClockState::realtime(frames.clone())))
    }

    pub(crate) fn state(&self) -> &Rc<ClockState> {
        &self.0
    }

    pub(crate) fn awaited(&self) -> AwaitedClock {
        AwaitedClock::new(&self.0)
    }

    /// The state for an owner that is bound to this clock, in the executor of
    /// `frames`. `None` for the game clock.
    #[track_caller]
    pub(crate) fn state_for(&self, frames: &Rc<FrameClock>) -> Option<Rc<ClockState>> {
        assert!(
            self.0.is_of(frames),
            "an owner was bound to a clock of another executor: bind it to a clock of its own \
             executor, such as `executor.clock().child()`"
        );
        (self.0.index() != ClockIndex::GAME).then(|| self.0.clone())
    }

    /// Makes a clock that follows this one. It begins at zero with a scale of 1,
    /// and stands still while its parent does.
    ///
    /// If timers of several clocks are due in one run, they resume in the order the
    /// clocks were made.
    #[must_use = "a clock without a handle or a wait has no use"]
    #[track_caller]
    pub fn child(&self) -> Clock {
        recording::refuse("Clock::child");
        Clock(Rc::new(ClockState::child(&self.0)))
    }

    /// Sets the clock's speed relative to its parent: 1 is the same speed, 0.5 is
    /// half of it, and at 0 the clock stands still.
    ///
    /// The scale of the game clock is relative to the frames' dt, each clamped to the
    /// executor's [`max_delta`](crate::Builder::max_delta). It changes the number of
    /// fixed steps, not their length. Slow motion makes fewer; a scale of 10 makes
    /// ten times as many, up to the frame's limit by `max_delta`.
    ///
    /// The new scale takes effect in the next frame, and in [fixed
    /// steps](Clock#in-fixed-steps) in the next step. The number of steps in the
    /// current frame does not change.
    ///
    /// # Panics
    ///
    /// If the scale is negative, infinite or NaN, or if the clock is
    /// [realtime](crate::Executor::realtime). The clock does not change then.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let clock = executor.clock();
    /// let wait = executor.start(async { wait_seconds(2).await });
    /// clock.set_scale(0.5);
    /// for _ in 0..8 {
    ///     executor.run_frame(0.25);
    /// }
    /// assert_eq!(clock.now().as_secs(), 1);
    /// clock.set_scale(1);
    /// executor.run_until(wait, 0.25);
    /// assert_eq!(executor.time().unscaled_elapsed.as_secs(), 3);
    /// ```
    ///
    /// # Source
    ///
    /// `Time.timeScale`, Unity scripting reference.
    #[doc(alias = "timeScale")]
    #[track_caller]
    pub fn set_scale(&self, scale: impl Into<f64>) {
        let scale = scale.into();
        if !scale.is_finite() || scale < 0.0 {
            bad_scale("set_scale", scale);
        }
        let scale = scale + 0.0; // no minus zero
        self.expect_speed("set_scale");
        recording::number("set_scale", Location::caller(), || {
            self.change(|speed| speed.set_scale(scale));
            0
        });
    }

    /// Scales the clock by `factor` until the guard is dropped: the guard multiplies
    /// its speed by `factor`.
    ///
    /// Several guards multiply: two of 0.5 make a quarter of the speed. They also
    /// multiply with the scale that [`set_scale`](Clock::set_scale) sets. When the
    /// last guard is dropped, in any order, the clock has exactly the scale that was
    /// set. [`scale`](Clock::scale) does not show guards;
    /// [`effective_scale`](Clock::effective_scale) does.
    ///
    /// # Panics
    ///
    /// If the factor is negative, infinite or NaN, or if the clock is
    /// [realtime](crate::Executor::realtime). The clock does not change then.
    ///
    /// # Examples
    ///
    /// A hit slows the game down for half a second of realtime, or less if the script
    /// is stopped before:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn impact() {
    ///     let _slow = clock().scaled(0.5);
    ///     wait_seconds_realtime(0.5).await;
    /// }
    ///
    /// let mut executor = Executor::new();
    /// executor.start(impact());
    /// executor.start(impact()); // at the same time: a quarter
    /// executor.run_frame(0.25);
    /// assert_eq!(executor.clock().effective_scale(), 0.25);
    /// executor.run_frame(0.25);
    /// executor.run_frame(0.25);
    /// assert_eq!(executor.clock().effective_scale(), 1.0);
    /// ```
    #[track_caller]
    pub fn scaled(&self, factor: impl Into<f64>) -> ClockGuard {
        let factor = factor.into();
        if !factor.is_finite() || factor < 0.0 {
            bad_scale("scaled", factor);
        }
        let factor = factor + 0.0; // no minus zero
        self.expect_speed("scaled");
        recording::guard("scaled", Location::caller(), self, || {
            let index = self.change(|speed| speed.add_factor(factor));
            ClockGuard::scaled(self, factor, index.unwrap_or(0))
        })
    }

    /// The scale that was set last, relative to the parent: without the factors of
    /// guards, and whether the clock stands still or not.
    #[track_caller]
    pub fn scale(&self) -> f64 {
        let scale = || self.0.speed().map_or(1.0, Speed::scale).to_bits();
        f64::from_bits(recording::number("scale", Location::caller(), scale))
    }

    /// How fast the clock runs in this frame, or in the fixed step under way: its
    /// own scale times those of its parents, up to the game clock or realtime. 0 if
    /// one of them is paused.
    ///
    /// Like all readings, it does not change within a frame or a step.
    #[track_caller]
    pub fn effective_scale(&self) -> f64 {
        let scale = || self.0.effective_scale().to_bits();
        f64::from_bits(recording::number(
            "effective_scale",
            Location::caller(),
            scale,
        ))
    }

    /// Pauses the clock from the next frame on, and in [fixed
    /// steps](Clock#in-fixed-steps) from the next step on. The clocks that follow it
    /// stand still with it. Its scale is kept. Returns `false` if it was already
    /// paused. Pauses do not nest: one [`resume`](Clock::resume) ends the pause. A
    /// script that must not end another script's pause uses [`pause_guard`](Clock::pause_guard).
    ///
    /// While the game clock is paused, no fixed step begins, unless the host [begins
    /// it itself](crate::Executor::begin_fixed_step_of). The remaining steps of the
    /// current frame follow once the clock is resumed. (After a change to scale 0,
    /// they still run in this frame.)
    ///
    /// # Panics
    ///
    /// If the clock is [realtime](crate::Executor::realtime). Pause a
    /// [`child`](Clock::child) of it instead.
    #[track_caller]
    pub fn pause(&self) -> bool {
        let speed = self.expect_speed("pause");
        let pause = || u64::from(self.set_paused(speed, true));
        recording::number("pause", Location::caller(), pause) != 0
    }

    /// Resumes the clock from the next frame on, and in [fixed
    /// steps](Clock#in-fixed-steps) from the next step on. It does not run while a
    /// parent is paused, or while a guard [holds](Clock::pause_guard) it. Returns `false` if
    /// it was not paused.
    #[track_caller]
    pub fn resume(&self) -> bool {
        let resume = || {
            let speed = self.0.speed();
            u64::from(speed.is_some_and(|speed| self.set_paused(speed, false)))
        };
        recording::number("resume", Location::caller(), resume) != 0
    }

    fn set_paused(&self, speed: &Speed, paused: bool) -> bool {
        let changed = speed.is_set_to_pause() != paused;
        if changed {
            self.0.shift(speed, |speed| speed.set_paused(paused));
        }
        changed
    }

    /// Holds the clock until the guard is dropped: it stands still, and with it the
    /// clocks that follow it.
    ///
    /// Several scripts can hold a clock independently, such as a menu and a dialogue.
    /// The clock runs again when the last guard is dropped, unless it is
    /// [paused](Clock::pause). [`resume`](Clock::resume) does not drop a guard.
    ///
    /// Like a [`pause`](Clock::pause), it takes effect in the next frame and in the
    /// next fixed step.
    ///
    /// # Panics
    ///
    /// If the clock is [realtime](crate::Executor::realtime). Hold a
    /// [`child`](Clock::child) of it instead.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let clock = executor.clock();
    /// let menu = clock.pause_guard();
    /// let dialogue = clock.pause_guard();
    /// drop(menu);
    /// executor.run_frame(0.25);
    /// assert!(clock.now().is_zero());
    /// drop(dialogue);
    /// executor.run_frame(0.25);
    /// assert_eq!(clock.now().as_millis(), 250);
    /// ```
    #[track_caller]
    pub fn pause_guard(&self) -> ClockGuard {
        self.expect_speed("pause_guard");
        recording::guard("pause_guard", Location::caller(), self, || {
            self.change(Speed::hold);
            ClockGuard::hold(self)
        })
    }

    /// Whether the clock itself is paused, or [held](Clock::pause_guard) by a guard,
    /// regardless of its parents.
    #[track_caller]
    pub fn is_paused(&self) -> bool {
        let is_paused = || u64::from(self.0.speed().is_some_and(Speed::is_paused));
        recording::number("is_paused", Location::caller(), is_paused) != 0
    }

    /// Makes the change of `call`, which realtime refuses.
    #[track_caller]
    fn expect_speed(&self, call: &str) -> &Speed {
        match self.0.speed() {
            Some(speed) => speed,
            None => not_on_realtime(call),
        }
    }

    /// Changes its speed, if it has one.
    fn change<R>(&self, change: impl FnOnce(&Speed) -> R) -> Option<R> {
        let speed = self.0.speed()?;
        Some(self.0.shift(speed, change))
    }

    /// The reading of the clock: of this frame, or, inside a fixed step, of [the
    /// step](Clock#in-fixed-steps). Realtime and the clocks below it read the time of
    /// the frame even in a step.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::builder().fixed_delta(0.25).max_delta(1).build();
    /// let enemies = executor.clock().child();
    /// let stops = enemies.clone();
    /// let seen = executor.start(async move {
    ///     let mut seen = Vec::new();
    ///     for step in 1..=4 {
    ///         fixed_update().await;
    ///         seen.push(stops.now().as_millis());
    ///         if step == 2 {
    ///             stops.pause(); // shows in the next step
    ///         }
    ///     }
    ///     seen
    /// });
    /// assert_eq!(executor.run_until(seen, 1).unwrap(), [250, 500, 500, 500]);
    /// assert_eq!(enemies.now().as_millis(), 1_000); // shows in the next frame
    /// ```
    #[track_caller]
    pub fn now(&self) -> Duration {
        let now = || self.0.now_ns();
        Duration::from_nanos(recording::number("now", Location::caller(), now))
    }

    /// How far the clock advanced in this frame. Inside a fixed step, how far it
    /// advanced in the step. On realtime and below it, that is the length of the
    /// step divided by the game clock's scale.
    #[doc(alias = "deltaTime")]
    #[track_caller]
    pub fn delta(&self) -> Duration {
        let delta = || self.0.delta_ns();
        Duration::from_nanos(recording::number("delta", Location::caller(), delta))
    }
}

#[cold]
#[track_caller]
fn bad_scale(call: &str, scale: f64) -> ! {
    panic!(
        "`{call}` at {} got {scale}, which is no scale of a clock: use a finite number of zero or more \
         (0 stops the clock, 1 is the speed of its parent)",
        Location::caller()
    )
}

#[cold]
#[track_caller]
fn not_on_realtime(call: &str) -> ! {
    panic!(
        "`{call}` at {} was called on the realtime clock, which cannot be scaled, paused or held: \
         call it on the game clock, or on a child of realtime",
        Location::caller()
    )
}

impl PartialEq for Clock {
    /// Whether both are the same clock.
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Clock {}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock")
            .field("now", &Duration::from_nanos(self.0.now_ns()))
            .field("scale", &self.0.speed().map_or(1.0, Speed::scale))
            .field("paused", &self.0.speed().is_some_and(Speed::is_paused))
            .finish_non_exhaustive()
    }
}

/// A clock that timers count on.
#[derive(Clone, Copy)]
pub(crate) enum ClockRef<'a> {
    Game,
    Realtime,
    Child(&'a Rc<ClockState>),
}

impl<'a> ClockRef<'a> {
    /// The clock that this one follows.
    pub(crate) fn parent(self) -> Option<ClockRef<'a>> {
        match self {
            ClockRef::Game | ClockRef::Realtime => None,
            ClockRef::Child(clock) => clock.parent(),
        }
    }

    #[inline]
    pub(crate) fn index(self) -> ClockIndex {
        match self {
            ClockRef::Game => ClockIndex::GAME,
            ClockRef::Realtime => ClockIndex::REALTIME,
            ClockRef::Child(clock) => clock.index(),
        }
    }
}
