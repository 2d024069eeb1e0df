//! The clocks that coroutines count on: arithmetic on whole nanoseconds.
//!
//! ```text
//! dt -+- realtime - child
//!     `- max_delta - game clock -+- fixed steps
//!                                +- child - grandchild
//!                                `- child
//! ```
//!
//! Nothing here reads the wall clock; the host says how long a frame was.

#![forbid(unsafe_code)]

mod frame;
mod gear;
mod index;
mod rate;
mod state;

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

pub(crate) use frame::{FrameClock, Step, View};
use gear::Gear;
pub(crate) use index::ClockIndex;
use state::Reading;
pub(crate) use state::{AwaitedClock, ClockState};

/// A clock that may be slowed down, sped up and paused.
///
/// [`Executor::clock`](crate::Executor::clock) is the game clock, which
/// [`wait_seconds`](crate::wait_seconds) counts on and the fixed steps follow.
/// [`Executor::realtime`](crate::Executor::realtime) goes by the frames' dt alone, and
/// nothing slows it down. [`child`](Clock::child) makes one that follows another: what slows the parent
/// down slows the child down, and its own scale comes on top.
///
/// A change of scale or pause shows from the next
/// [`Executor::begin_frame`](crate::Executor::begin_frame) on; within a frame
/// every reading stays what it was. Waits that are pending go along: two
/// seconds, of which one passes at half speed, end after three.
///
/// This is a handle, cheap to clone; all clones are the same clock. It lives as
/// long as anybody holds it, a wait included. Clocks that nobody has waited on
/// lately cost nothing, however many there are. Once the executor is gone, a clock keeps
/// its last reading.
///
/// # Precision
///
/// The scale counts exactly as the float it is. What a clock reads is rounded
/// to the nearest nanosecond as a whole, from the last change of its scale on,
/// and not in each frame: frames do not add up to an error, however short they
/// are.
///
/// # Examples
///
/// Slow motion for the enemies, and not for the player:
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
#[doc(alias = "timeScale")]
#[derive(Clone)]
pub struct Clock(Rc<ClockState>);

impl Clock {
    /// The game clock over `frames`.
    pub(crate) fn game(frames: &Rc<FrameClock>) -> Self {
        Clock(Rc::new(ClockState::game(frames.clone())))
    }

    /// Realtime over `frames`.
    pub(crate) fn realtime(frames: &Rc<FrameClock>) -> Self {
        Clock(Rc::new(ClockState::realtime(frames.clone())))
    }

    pub(crate) fn awaited(&self) -> AwaitedClock {
        AwaitedClock::new(&self.0)
    }

    /// What an owner notes that is bound to this clock in the executor with
    /// `frames`: nothing for the game clock.
    #[track_caller]
    pub(crate) fn state_for(&self, frames: &Rc<FrameClock>) -> Option<Rc<ClockState>> {
        assert!(
            self.0.is_of(frames),
            "an owner was to count on a clock of another executor: take one from \
             `executor.clock()` of its own"
        );
        (self.0.index() != ClockIndex::GAME).then(|| self.0.clone())
    }

    /// Makes a clock that follows this one. It begins at zero, with a scale of
    /// 1, and stands still while this one does.
    ///
    /// Timers of several clocks that are due in one run resume in the order in
    /// which the clocks were made.
    #[must_use = "a clock that nobody holds has no use"]
    pub fn child(&self) -> Clock {
        Clock(Rc::new(ClockState::child(&self.0)))
    }

    /// Sets how fast the clock goes, relative to its parent: 1 is as fast, 0.5
    /// half as fast, and at 0 it stands still.
    ///
    /// For the game clock, relative to the frames' dt, each cut to the
    /// executor's [`max_delta`](crate::Builder::max_delta). Fixed steps stay as
    /// long as they are, so slow motion makes fewer of them, and a scale of 10 ten
    /// times as many, up to what `max_delta` has room for in a frame.
    ///
    /// # Panics
    ///
    /// If the scale is negative, infinite or NaN, or if the clock is
    /// [realtime](crate::Executor::realtime). Then nothing has changed.
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
            bad_scale(scale);
        }
        let Some(gear) = self.0.gear() else {
            realtime_goes_on("set_scale");
        };
        let scale = scale + 0.0; // no minus zero
        self.0
            .shift(gear, |gear, at_ns| gear.set_scale(scale, at_ns));
    }

    /// The scale it was given last, relative to its parent, paused or not.
    pub fn scale(&self) -> f64 {
        self.0.gear().map_or(1.0, Gear::scale)
    }

    /// How fast it goes in this frame: its own scale times those of its parents,
    /// up to the game clock or realtime, and 0 if one of them is paused.
    ///
    /// Like all readings it stays the same within a frame; what was set in this
    /// frame shows in the next.
    pub fn effective_scale(&self) -> f64 {
        self.0.effective_scale()
    }

    /// Has the clock stand still from the next frame on, and those that follow
    /// it; its scale is kept. `false`: it was paused already, and has to be
    /// resumed only once.
    ///
    /// # Panics
    ///
    /// If the clock is [realtime](crate::Executor::realtime). Pause a
    /// [`child`](Clock::child) of it instead.
    #[track_caller]
    pub fn pause(&self) -> bool {
        let Some(gear) = self.0.gear() else {
            realtime_goes_on("pause");
        };
        self.set_paused(gear, true)
    }

    /// Has the clock go on from the next frame on, unless a parent is paused.
    /// `false`: it was not paused.
    pub fn resume(&self) -> bool {
        let gear = self.0.gear();
        gear.is_some_and(|gear| self.set_paused(gear, false))
    }

    fn set_paused(&self, gear: &Gear, paused: bool) -> bool {
        let changed = gear.is_paused() != paused;
        if changed {
            self.0
                .shift(gear, |gear, at_ns| gear.set_paused(paused, at_ns));
        }
        changed
    }

    /// Whether it is paused itself, whatever its parents are.
    pub fn is_paused(&self) -> bool {
        self.0.gear().is_some_and(Gear::is_paused)
    }

    /// What the clock reads. Inside a fixed step the game clock reads the time
    /// of the step, other clocks that of the frame.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.0.now_ns())
    }

    /// How far the clock went in this frame; inside a fixed step, in the step.
    #[doc(alias = "deltaTime")]
    pub fn delta(&self) -> Duration {
        Duration::from_nanos(self.0.delta_ns())
    }
}

#[cold]
#[track_caller]
fn bad_scale(scale: f64) -> ! {
    panic!(
        "a clock cannot have a scale of {scale}: give it a finite number of zero or more \
         (0 stands still, 1 is the speed of its parent)"
    )
}

#[cold]
#[track_caller]
fn realtime_goes_on(call: &str) -> ! {
    panic!(
        "`{call}` was called on the realtime clock, which nothing slows down or pauses: \
         call it on the game clock, or on a child of realtime"
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
            .field("now", &self.now())
            .field("scale", &self.scale())
            .field("paused", &self.is_paused())
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

impl ClockRef<'_> {
    #[inline]
    pub(crate) fn index(self) -> ClockIndex {
        match self {
            ClockRef::Game => ClockIndex::GAME,
            ClockRef::Realtime => ClockIndex::REALTIME,
            ClockRef::Child(clock) => clock.index(),
        }
    }
}
