//! The executor: spawns coroutines and steps them, frame by frame.

#![forbid(unsafe_code)]

mod builder;
mod handle;
mod observe;
mod remote;

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::core::Core;
use crate::coroutine::{Coroutine, CoroutineId};
use crate::owner::Owner;
use crate::time::{Clock, Phase, PhaseIndex, Seconds, Time};

pub use builder::Builder;
pub use handle::Handle;
pub use remote::Remote;

/// Runs coroutines on the thread it was made on, one frame after another.
///
/// The host decides when a frame happens and how long it was. A minimal game
/// loop is one call a frame:
///
/// ```no_run
/// # use framestep::prelude::*;
/// # fn get_frame_time() -> f32 { 0.1 }
/// let mut executor = Executor::new();
/// loop {
///     executor.run_frame(get_frame_time());
/// }
/// ```
///
/// An engine with a loop of its own calls the parts itself, its own callbacks
/// for a phase before the executor's run of it:
///
/// ```
/// # use framestep::prelude::*;
/// # let mut executor = Executor::new();
/// executor.begin_frame(0.25);
/// executor.run_phase(Phase::EarlyUpdate);
/// while executor.begin_fixed_step() {
///     // physics, the game's own fixed update
///     executor.run_phase(Phase::FixedUpdate);
/// }
/// // the game's own update
/// executor.run_phase(Phase::Update);
/// // the game's own late update
/// executor.run_phase(Phase::LateUpdate);
/// // rendering
/// executor.run_phase(Phase::EndOfFrame);
/// ```
///
/// Dropping an executor stops all its coroutines.
///
/// # Source
///
/// The player loop of Unity: coroutines resume between `Update` and
/// `LateUpdate`, after fixed updates and at the end of the frame.
pub struct Executor {
    core: Rc<Core>,
}

impl Executor {
    /// An executor with Unity's defaults: fixed steps of 20 ms, and at most a
    /// third of a second of game time in a frame.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Makes an executor with other fixed steps or limits.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_core(core: Rc<Core>) -> Self {
        Executor { core }
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.core
    }

    /// Adds a coroutine; it is first polled in the run under way, or, outside
    /// of a run, in the next run of [`Phase::Update`].
    ///
    /// Dropping the handle detaches the coroutine.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let sum = executor.spawn(async { 1 + 2 });
    /// assert!(!sum.is_finished());
    /// executor.run_frame(0.1);
    /// assert!(sum.is_finished());
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        Coroutine::spawn(self.core.clone(), future, None, None)
    }

    /// Adds a coroutine and polls it at once, up to its first wait, like
    /// Unity's `StartCoroutine`.
    ///
    /// More than a hundred coroutines that start one another are started as
    /// soon as those further up have come to their first wait: no chain of
    /// starts overflows the stack.
    ///
    /// A wait that begins between two frames counts from the time of the last one. A
    /// host that sleeps for long between frames uses [`spawn`](Self::spawn): then the
    /// wait counts from the next frame.
    ///
    /// The first line of the script runs here: if it borrows with
    /// [`with`](crate::with) what is not lent here, it panics. Use `spawn`, or start
    /// it inside the [`lend`](Self::lend).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let door = executor.start(async {
    ///     println!("opening");
    ///     next_frame().await;
    ///     println!("open");
    /// });
    /// // "opening" has been printed.
    /// executor.run_frame(0.1);
    /// assert!(door.is_finished());
    /// ```
    ///
    /// # Source
    ///
    /// `MonoBehaviour.StartCoroutine`, Unity scripting reference.
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        Coroutine::start_by_host(self.core.clone(), future, None)
    }

    /// Adds a coroutine; it is first polled in the next run of `phase` that
    /// begins after this call.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let phase = executor.spawn_in(Phase::LateUpdate, async { time().phase });
    /// assert_eq!(executor.run_until(phase, 0.1).unwrap(), Some(Phase::LateUpdate));
    /// ```
    #[track_caller]
    pub fn spawn_in<F>(&self, phase: Phase, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        Coroutine::spawn(
            self.core.clone(),
            future,
            Some(PhaseIndex::new(phase)),
            None,
        )
    }

    /// Runs one frame: begins it, then runs all five phases, the fixed one for
    /// every fixed step that is due.
    ///
    /// `dt` is the time since the last frame. See [`Seconds`] for how it is
    /// rounded and what becomes of a dt that is no length of time.
    #[track_caller]
    pub fn run_frame(&mut self, dt: impl Seconds) {
        self.core.assert_idle("run_frame");
        self.begin_frame(dt);
        self.run_phase(Phase::EarlyUpdate);
        while self.begin_fixed_step() {
            self.run_phase(Phase::FixedUpdate);
        }
        self.run_phase(Phase::Update);
        self.run_phase(Phase::LateUpdate);
        self.run_phase(Phase::EndOfFrame);
    }

    /// Begins a frame: counts it, and advances the clocks by `dt`.
    ///
    /// The game clock goes at most the executor's `max_delta` forward, times its
    /// [scale](Clock::set_scale). A dt of NaN or below zero counts as 0, an
    /// infinite one as the longest there is; both are
    /// [reported](Self::on_report).
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        self.core.assert_idle("begin_frame");
        self.core.begin_frame(dt.step_ns());
    }

    /// Begins a frame of a host that scales and clamps by itself: realtime goes on
    /// by `dt`, the game clock by `game_dt`.
    ///
    /// Neither is cut to [`max_delta`](Builder::max_delta), which does not bound the
    /// [fixed steps](Self::begin_fixed_step) of such a frame either. A
    /// [scale](Clock::set_scale) or pause of the game clock itself comes on top, and
    /// [`Time::scale`] is that alone.
    ///
    /// Both are rounded like the dt of [`begin_frame`](Self::begin_frame), and what is
    /// no length of time is reported as it is there.
    ///
    /// # Examples
    ///
    /// An engine that clamps after scaling:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let (dt, speed, longest): (f32, f32, f32) = (0.5, 2.0, 0.75);
    /// executor.begin_frame_with(dt, (dt * speed).min(longest));
    /// assert_eq!(executor.time().unscaled_elapsed.as_millis(), 500);
    /// assert_eq!(executor.time().elapsed.as_millis(), 750);
    /// ```
    #[track_caller]
    pub fn begin_frame_with(&mut self, dt: impl Seconds, game_dt: impl Seconds) {
        self.core.assert_idle("begin_frame_with");
        self.core.begin_frame_with(dt.step_ns(), game_dt.step_ns());
    }

    /// Begins the next fixed step, if the game clock has got that far.
    ///
    /// To be called in a loop, with a run of [`Phase::FixedUpdate`] in it. From
    /// a call that gave `true` until one that gives `false`, or until another
    /// named phase is run, the game clock reads the time of the step: also in
    /// custom phases that the host runs as part of it.
    ///
    /// A frame has at most as many steps as [`max_delta`](Builder::max_delta) has
    /// room for, whatever the game clock's scale, and however many are left of
    /// frames before. Fixed time goes past those beyond without a run, which is
    /// [reported](Self::on_report).
    #[track_caller]
    pub fn begin_fixed_step(&mut self) -> bool {
        self.core.assert_idle("begin_fixed_step");
        self.core.begin_fixed_step()
    }

    /// Begins a fixed step of that length, wherever the game clock stands: for hosts
    /// that decide by themselves when there is one.
    ///
    /// To be followed by a run of [`Phase::FixedUpdate`]. Fixed time goes on by
    /// `step`, also past the game clock, as in engines that do their physics before
    /// they know the dt of the frame. The length may differ from step to step;
    /// [`Time::fixed_delta`] is that of the latest one.
    ///
    /// The game clock reads the time of the step until
    /// [`end_fixed_step`](Self::end_fixed_step), or until another named phase is run
    /// or a frame begins.
    ///
    /// `step` is rounded like a dt. One of NaN or below zero counts as 0, and is
    /// [reported](Self::on_report).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let shot = executor.start(wait_seconds(0.5).in_phase(Phase::FixedUpdate));
    /// for _ in 0..2 {
    ///     executor.begin_fixed_step_of(0.25);
    ///     executor.run_phase(Phase::FixedUpdate);
    /// }
    /// assert!(shot.is_finished());
    ///
    /// // What the two steps were for is known only now.
    /// executor.begin_frame_with(0.5, 0.5);
    /// ```
    #[track_caller]
    pub fn begin_fixed_step_of(&mut self, step: impl Seconds) {
        self.core.assert_idle("begin_fixed_step_of");
        self.core.begin_fixed_step_of(step.step_ns());
    }

    /// Ends the fixed steps of this frame: the game clock reads the time of the frame
    /// again.
    ///
    /// For hosts that call [`begin_fixed_step_of`](Self::begin_fixed_step_of), between
    /// the last step and their own update, in which they may start scripts. Running
    /// another named phase and beginning a frame do the same.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// executor.begin_frame_with(0.25, 0.25);
    /// executor.begin_fixed_step_of(0.125);
    /// executor.run_phase(Phase::FixedUpdate);
    /// assert_eq!(executor.time().elapsed.as_millis(), 125);
    /// executor.end_fixed_step();
    /// assert_eq!(executor.time().elapsed.as_millis(), 250);
    /// ```
    #[track_caller]
    pub fn end_fixed_step(&mut self) {
        self.core.assert_idle("end_fixed_step");
        self.core.clock.end_fixed_step();
    }

    /// Runs one phase: resumes every coroutine that is due in it.
    ///
    /// # Order
    ///
    /// 1. Coroutines that became ready before the run, in order of arrival.
    /// 2. Those that wait for the phase, in the order in which they began to wait.
    /// 3. Those that count frames or steps, two or more, by the frame or step in
    ///    which they are due, then in the order in which they began.
    /// 4. Timers, clock by clock, by deadline, then in the order in which they
    ///    began.
    /// 5. What becomes ready during the run, in order.
    ///
    /// A coroutine that joins another resumes right after that one has ended.
    ///
    /// # Panics
    ///
    /// If a run of this executor is under way, or one of its coroutines is being
    /// polled. The same goes for [`begin_frame`](Executor::begin_frame) and
    /// whatever else steps the executor.
    #[track_caller]
    pub fn run_phase(&mut self, phase: Phase) {
        self.core.assert_idle("run_phase");
        self.core.run_phase(PhaseIndex::new(phase));
    }

    /// Starts `future` and runs frames of `dt` until it has returned.
    ///
    /// For tools and tests: nothing sleeps, and the clocks go as fast as the
    /// frames do. It returns only when the future does; one that waits for
    /// what never happens is waited for.
    ///
    /// # Panics
    ///
    /// If the future panics, with the same payload; or if it is stopped, by
    /// itself or by another coroutine.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let frame = executor.run_until(
    ///     async {
    ///         wait_seconds(1).await;
    ///         time().frame
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(frame, 4);
    /// ```
    #[track_caller]
    pub fn run_until<F>(&mut self, future: F, dt: impl Seconds) -> F::Output
    where
        F: Future + 'static,
    {
        self.core.assert_idle("run_until");
        let coroutine = self.start(future);
        while !coroutine.is_finished() {
            self.run_frame(dt);
        }
        output_of(coroutine)
    }

    /// Calls `f` so that the free functions, `spawn`, `start`, `stop` and
    /// `time`, find this executor.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let sum = executor.enter(|| spawn(async { 1 + 2 }));
    /// assert_eq!(executor.run_until(sum, 0.1).unwrap(), 3);
    /// ```
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        self.core.enter(f)
    }

    /// A handle to spawn, start and stop with, from anywhere on this thread.
    pub fn handle(&self) -> Handle {
        Handle::new(&self.core)
    }

    /// The game clock: to slow the game down, to pause it, and to make clocks
    /// that follow it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// executor.clock().pause();
    /// executor.run_frame(0.25);
    /// assert!(executor.time().elapsed.is_zero());
    /// assert_eq!(executor.time().unscaled_elapsed.as_secs_f32(), 0.25);
    /// ```
    pub fn clock(&self) -> Clock {
        self.core.game_clock().clone()
    }

    /// Realtime as a clock: the sum of the dt that the host passes in, neither
    /// scaled nor cut to `max_delta`.
    ///
    /// Bind an owner to it with [`owner_on`](Self::owner_on), and everything of that
    /// owner goes on while the game clock is paused or at scale 0: plain
    /// [`wait_seconds`](crate::wait_seconds), [`timeout`](crate::timeout()),
    /// [`interval`](crate::interval) and [`animate`](crate::animate) too. A
    /// `wait_seconds` of such a coroutine resumes in the same run as a
    /// [`wait_seconds_realtime`](crate::wait_seconds_realtime).
    ///
    /// The clock itself cannot be slowed down or paused: [`Clock::pause`] and
    /// [`Clock::set_scale`] panic. A [`child`](Clock::child) of it can.
    ///
    /// Inside a fixed step, it reads the time of the frame, and its
    /// [`delta`](Clock::delta) is the length of the step over the game clock's scale.
    ///
    /// # Examples
    ///
    /// A menu that moves while the game is paused:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let menu = executor.owner_on(&executor.realtime());
    /// executor.clock().pause();
    ///
    /// let slide = menu.start(animate(1, |t| println!("menu at {t}")));
    /// executor.run_until(slide, 0.25);
    /// assert_eq!(executor.time().frame, 4);
    /// assert!(executor.time().elapsed.is_zero());
    /// ```
    ///
    /// # Source
    ///
    /// `Time.unscaledTime` and `WaitForSecondsRealtime`, Unity scripting reference.
    #[doc(alias = "unscaledTime")]
    pub fn realtime(&self) -> Clock {
        self.core.realtime().clone()
    }

    /// A handle to spawn, stop and call with from other threads.
    pub fn remote(&self) -> Remote {
        Remote::new(self.core.inbox.clone())
    }

    /// How many coroutines are alive.
    pub fn len(&self) -> usize {
        self.core.tasks.alive()
    }

    /// Whether no coroutine is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stops a coroutine: drops its future, destructors and all, before this
    /// returns. One that is being polled goes on until it next waits.
    ///
    /// A coroutine that joins it gets a [`JoinError`](crate::JoinError). `false` if it
    /// has ended already, or belongs to another executor.
    #[doc(alias = "StopCoroutine")]
    pub fn stop(&self, id: CoroutineId) -> bool {
        self.core.key_of(id).is_some_and(|key| self.core.stop(key))
    }

    /// Pauses a coroutine, as [`Coroutine::pause`] does. `false` if it is paused
    /// itself already, has ended, or belongs to another executor.
    pub fn pause(&self, id: CoroutineId) -> bool {
        let key = self.core.key_of(id);
        key.is_some_and(|key| self.core.set_paused(key, true))
    }

    /// Ends a [`pause`](Executor::pause). `false` if the coroutine was not
    /// paused itself, has ended, or belongs to another executor.
    pub fn resume(&self, id: CoroutineId) -> bool {
        let key = self.core.key_of(id);
        key.is_some_and(|key| self.core.set_paused(key, false))
    }

    /// A new [`Owner`]: its coroutines end with it.
    #[must_use = "dropping an owner stops what it owns"]
    pub fn owner(&self) -> Owner {
        Owner::new(&self.core, None)
    }

    /// A new [`Owner`] whose coroutines count on `clock`: their plain waits do,
    /// and `time` and `delta_seconds` read as it does.
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    ///
    /// # Examples
    ///
    /// Slow motion for the enemies, and not for the player:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn draw_sword() -> u64 {
    ///     wait_seconds(1).await;
    ///     time().frame
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let slow = executor.clock().child();
    /// slow.set_scale(0.5);
    /// let enemies = executor.owner_on(&slow);
    ///
    /// let player = executor.start(draw_sword());
    /// let enemy = enemies.start(draw_sword());
    /// assert_eq!(executor.run_until(player, 0.25).unwrap(), 4);
    /// assert_eq!(executor.run_until(enemy, 0.25).unwrap(), 8);
    /// ```
    #[must_use = "dropping an owner stops what it owns"]
    #[track_caller]
    pub fn owner_on(&self, clock: &Clock) -> Owner {
        Owner::on(&self.core, None, clock)
    }

    /// Whether the coroutine has not ended yet.
    pub fn is_alive(&self, id: CoroutineId) -> bool {
        let key = self.core.key_of(id);
        key.is_some_and(|key| self.core.is_alive(key))
    }

    /// The clocks as they read now.
    pub fn time(&self) -> Time {
        self.core.game_time()
    }
}

/// What `run_until` returns, once the coroutine has ended.
#[track_caller]
pub(crate) fn output_of<T>(mut coroutine: Coroutine<T>) -> T {
    match coroutine.take_result() {
        Ok(output) => output,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => panic!(
            "{error}: `run_until` has no output to return. Whatever may be stopped is \
             better spawned, and its handle given to `run_until`"
        ),
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.core.close();
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("coroutines", &self.len())
            .field("frame", &self.core.clock.frame())
            .finish_non_exhaustive()
    }
}
