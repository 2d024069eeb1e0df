//! The executor: spawns coroutines and runs them, frame by frame.

mod builder;
mod for_tests;
mod handle;
mod lend;
mod observe;
mod patience;
mod remote;
mod remote_call;
mod trace_hook;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::Core;
use crate::core::life::end;
use crate::core::life::end::depth;
use crate::core::pause;
use crate::core::phase::frame;
use crate::core::report::panics;
use crate::core::run;
use crate::core::scope::{self, recording};
use crate::sync::{Named, named_in};
use crate::task::coroutine::{self, Coroutine, CoroutineId, Place, ScriptBuilder};
use crate::task::owner::Owner;
use crate::time::{Clock, Phase, PhaseIndex, Seconds, Time};

pub(crate) use patience::Patience;

pub use builder::Builder;
pub use handle::Handle;
pub use remote::RemoteHandle;
pub use remote_call::{RemoteCall, RemoteCallError};
pub use trace_hook::TraceHook;

/// Runs coroutines, frame by frame, on the thread that made it.
///
/// The host decides when a frame happens, and passes in its length. A minimal game
/// loop makes one call a frame:
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
/// An engine with a loop of its own calls the parts of a frame. It makes its own
/// callbacks for a phase before the executor's run of that phase:
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
    /// Makes an executor with Unity's defaults: a fixed step is 20 ms long, and a
    /// frame advances the game clock by at most a third of a second.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a [`Builder`], to make an executor with other settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_core(core: Rc<Core>) -> Self {
        Executor { core }
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.core
    }

    /// Adds a coroutine, with [`Phase::Update`] as home. It is first polled later in the
    /// current run. Outside a run, it is first polled in the next run of Update.
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
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::spawn(&self.core, future)
    }

    /// Adds a coroutine and polls it at once, up to its first wait, like
    /// Unity's `StartCoroutine`.
    ///
    /// The first lines of the script run inside this call. If they borrow state
    /// that is not lent here, [`with`](crate::with()) panics. Use
    /// [`spawn`](Self::spawn) instead, or start the script inside the
    /// [`lend`](Self::lend).
    ///
    /// A wait that begins between two frames counts from the time of the last
    /// frame. A host that sleeps for long between frames uses `spawn` instead: then
    /// the wait counts from the next frame.
    ///
    /// Starts nest up to 100 deep on a thread, so that they do not overflow the stack. A
    /// coroutine that is started deeper begins after this call has returned: when the
    /// innermost start in this executor around it has reached its first wait, or else in
    /// the next run of any phase. Starts have a
    /// [limit](crate::Builder::max_polls_per_run) in each run. A coroutine beyond the limit
    /// begins in the next run, too. Both are [reported](crate::inspect::Report).
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
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::start(&self.core, future)
    }

    /// Names the coroutine that is about to be started or spawned. The name holds from
    /// the start: in the first poll, in the trace, in snapshots and in reports.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let boss = executor.script("boss").start(async {
    ///     assert_eq!(current_name(), "boss");
    ///     wait_seconds(60).await;
    /// });
    /// assert_eq!(executor.snapshot().get(boss.id()).unwrap().name(), "boss");
    /// ```
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        ScriptBuilder::new(name.into(), Place::of_host(Some(self.core.clone())))
    }

    /// Runs one frame: begins it, and runs the [named phases](Phase::NAMED) in order.
    /// [`Phase::FixedUpdate`] runs once for each fixed step that is due.
    ///
    /// `dt` is the time since the last frame. [`Seconds`] says how it is rounded,
    /// and [`begin_frame`](Self::begin_frame) what happens to an invalid dt.
    #[track_caller]
    pub fn run_frame(&mut self, dt: impl Seconds) {
        let core = &*self.core;
        run::assert_idle(core, "run_frame");
        frame::begin_frame(core, dt.step_ns());
        for phase in PhaseIndex::ALL_NAMED {
            if phase == PhaseIndex::FIXED_UPDATE {
                while frame::begin_fixed_step(core) {
                    run::run_phase(core, phase);
                }
            } else {
                run::run_phase(core, phase);
            }
        }
    }

    /// Runs `frames` frames of `dt`, each like [`run_frame`](Self::run_frame): for
    /// tests and tools.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let door = executor.start(wait_seconds(2));
    /// executor.run_frames(8, 0.25);
    /// assert!(door.is_finished());
    /// ```
    #[track_caller]
    pub fn run_frames(&mut self, frames: u64, dt: impl Seconds) {
        run::assert_idle(&self.core, "run_frames");
        for _ in 0..frames {
            self.run_frame(dt);
        }
    }

    /// Runs one frame while `state` is lent. It is [`lend`](Self::lend) around
    /// [`run_frame`](Self::run_frame), the line of most games.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// let mut world = World { gold: 0 };
    /// let mut executor = Executor::new();
    /// executor.spawn(async { with(|world: &mut World| world.gold += 10) });
    /// executor.run_frame_with(&mut world, 0.25);
    /// assert_eq!(world.gold, 10);
    /// ```
    #[track_caller]
    pub fn run_frame_with<S: 'static>(&mut self, state: &mut S, dt: impl Seconds) {
        run::assert_idle(&self.core, "run_frame_with");
        self.lend(state, |executor| executor.run_frame(dt));
    }

    /// Begins a frame: counts it, and advances the clocks by `dt`.
    ///
    /// The game clock advances by `dt`, cut to [`max_delta`](Builder::max_delta),
    /// times its [scale](Clock::set_scale). An invalid dt is
    /// [reported](Self::on_report): NaN and a negative dt count as 0, infinity
    /// counts as the longest length.
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        run::assert_idle(&self.core, "begin_frame");
        frame::begin_frame(&self.core, dt.step_ns());
    }

    /// Begins a frame of a host that scales and clamps time itself: realtime
    /// advances by `dt`, the game clock by `game_dt`.
    ///
    /// Neither dt is cut to [`max_delta`](Builder::max_delta), and `max_delta` does
    /// not limit the [fixed steps](Self::begin_fixed_step) of the frame. A
    /// [scale](Clock::set_scale) or pause of the game clock itself is applied to
    /// `game_dt`. [`Time::scale`] is the scale of the game clock, without the scale of the
    /// host.
    ///
    /// Both are rounded like the dt of [`begin_frame`](Self::begin_frame). An invalid dt is
    /// treated and reported in the same way.
    ///
    /// # Examples
    ///
    /// An engine that clamps after it scales:
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
        run::assert_idle(&self.core, "begin_frame_with");
        frame::begin_frame_with(&self.core, dt.step_ns(), game_dt.step_ns());
    }

    /// Begins the next fixed step, if the game clock has reached the end of that
    /// step. Returns whether a step has begun.
    ///
    /// Call it in a loop that runs [`Phase::FixedUpdate`]. After a call that returns
    /// `true`, the game clock and the clocks below it read
    /// [the time of the step](Clock#in-fixed-steps), even in custom phases that the
    /// host runs as a part of the step. They do so until a call returns `false`, or
    /// until another named phase is run.
    ///
    /// While the game clock is paused, no step begins. Steps that are due by then
    /// follow once the clock is resumed: in the same frame if the host calls this again,
    /// or else in the next frame.
    ///
    /// [`max_delta`](Builder::max_delta) limits the number of steps in a frame,
    /// whatever the scale of the game clock, and however many steps are left from
    /// earlier frames. Steps that a pause has held back do not count towards the limit.
    /// Fixed time skips the steps beyond the limit, which is [reported](Self::on_report).
    #[track_caller]
    pub fn begin_fixed_step(&mut self) -> bool {
        run::assert_idle(&self.core, "begin_fixed_step");
        frame::begin_fixed_step(&self.core)
    }

    /// Begins a fixed step of length `step`, whatever the game clock reads: for
    /// hosts that decide themselves when a step happens.
    ///
    /// Run [`Phase::FixedUpdate`] after it. Fixed time advances by `step`, even while the
    /// game clock is paused. It may even pass the game clock, as in engines that run their
    /// physics before they know the dt of the frame. The length may differ from step to
    /// step: [`Time::fixed_delta`] is the length of the latest step.
    ///
    /// The game clock reads the time of the step until
    /// [`end_fixed_step`](Self::end_fixed_step), or until another named phase is run
    /// or a frame begins.
    ///
    /// `step` is rounded like a dt. NaN and a negative length count as 0, and are
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
    /// // The dt of the frame is known only now.
    /// executor.begin_frame_with(0.5, 0.5);
    /// ```
    #[track_caller]
    pub fn begin_fixed_step_of(&mut self, step: impl Seconds) {
        run::assert_idle(&self.core, "begin_fixed_step_of");
        frame::begin_fixed_step_of(&self.core, step.step_ns());
    }

    /// Ends the fixed steps of this frame: the game clock reads the time of the frame
    /// again.
    ///
    /// For hosts that call [`begin_fixed_step_of`](Self::begin_fixed_step_of). Call this
    /// between the last step and the host's own update, which may start scripts.
    /// Running another named phase and beginning a frame have the same effect.
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
        run::assert_idle(&self.core, "end_fixed_step");
        frame::end_fixed_step(&self.core);
    }

    /// Runs one phase: polls every coroutine that is due in it, and no others.
    ///
    /// # Order
    ///
    /// The coroutines are polled in this order:
    ///
    /// 1. Coroutines that became ready before the run: spawned, woken, or resumed
    ///    from a pause. In order of arrival.
    /// 2. Coroutines that wait for the phase or for a condition, in the order they began
    ///    to wait. A condition that was false begins to wait anew.
    /// 3. Coroutines that wait for two or more frames or steps, by the frame or step at
    ///    which they are due, then in the order they began to wait.
    /// 4. Coroutines that wait for a deadline: clock by clock (the game clock, realtime,
    ///    then the others in the order they were made), then by deadline, then in the order
    ///    they began to wait.
    /// 5. Coroutines that become ready during the run, in that order.
    ///
    /// A coroutine that joins another one resumes right after the poll that ended the
    /// other. A coroutine that is due for several reasons is polled once, at its earliest
    /// place.
    ///
    /// # Panics
    ///
    /// If a run of this executor is in progress, or one of its coroutines is being
    /// polled. [`begin_frame`](Executor::begin_frame) and the other methods that step the
    /// executor panic likewise.
    #[track_caller]
    pub fn run_phase(&mut self, phase: Phase) {
        run::assert_idle(&self.core, "run_phase");
        run::run_phase(&self.core, PhaseIndex::new(phase));
    }

    /// Starts `future`, runs frames of `dt` until it has returned, and returns its
    /// output.
    ///
    /// For tools and tests: the frames run as fast as possible. It sleeps only while nothing is due
    /// and another thread may wake a coroutine.
    ///
    /// If another coroutine may stop the script, spawn it and pass its handle as
    /// `future`: then the output is a `Result`.
    ///
    /// # Panics
    ///
    /// - If the future panics, with the same payload.
    /// - If the future is stopped, by itself or by another coroutine.
    /// - If the future cannot return: nothing in the executor is due, and nothing has a waker of a
    ///   coroutine but signals, watches, semaphores and promises, which only a coroutine could serve.
    ///   This is checked every 64 frames, unless a trace hook is set.
    /// - If it has not returned after [`max_frames`](Builder::max_frames), ten million by default.
    ///
    /// The last two have the [snapshot](Self::snapshot) in their messages.
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
    pub fn run_until<F: Future + 'static>(&mut self, future: F, dt: impl Seconds) -> F::Output {
        run::assert_idle(&self.core, "run_until");
        let coroutine = self.start(future);
        let mut patience = Patience::alone(coroutine.id());
        while !coroutine.is_finished() {
            self.run_frame(dt);
            if !coroutine.is_finished() {
                patience.end_frame(self);
            }
        }
        panics::let_each_panic_through(&self.core);
        output_of(coroutine)
    }

    /// Calls `f`. Inside it, free functions such as [`spawn`](crate::spawn),
    /// [`start`](crate::start), [`stop`](crate::stop) and [`time`](crate::time()) use this
    /// executor. If a coroutine of this executor calls it, `f` is a part of that coroutine.
    ///
    /// # Panics
    ///
    /// In a durable script, except in its closures: a load would call `f` again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let sum = executor.enter(|| spawn(async { 1 + 2 }));
    /// assert_eq!(executor.run_until(sum, 0.1).unwrap(), 3);
    /// ```
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        recording::refuse("Executor::enter");
        scope::call_in(&self.core, f)
    }

    /// Returns a handle of the signal, watch or semaphore that has the name of `source` in this executor.
    /// The handle works anywhere on this thread: in the host, in callbacks, in other executors.
    ///
    /// # Panics
    ///
    /// If other code has declared the name as something else.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// const HIT: Signal<u32> = signal("hit");
    ///
    /// let mut executor = Executor::new();
    /// let hurt = executor.start(async { HIT.wait().await });
    /// executor.named(&HIT).emit(3);
    /// assert_eq!(executor.run_until(hurt, 0.25).unwrap(), 3);
    /// ```
    #[track_caller]
    pub fn named<N: Named>(&self, source: &N) -> N {
        named_in(&self.core, source)
    }

    /// Returns a weak handle. It spawns, starts and stops coroutines anywhere on this
    /// thread.
    pub fn handle(&self) -> Handle {
        Handle::new(&self.core)
    }

    /// Returns the game clock: to slow the game down, to pause it, and to make
    /// child clocks that follow it.
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

    /// Returns realtime as a clock: the sum of the dt that the host passes in,
    /// neither scaled nor cut to `max_delta`.
    ///
    /// Bind an owner to it with [`owner_on`](Self::owner_on), to keep its
    /// coroutines running while the game clock is paused or at scale 0. Their plain
    /// [`wait_seconds`](crate::wait_seconds), [`timeout`](crate::timeout()),
    /// [`interval`](crate::interval()) and [`animate`](crate::wait::animate) count on
    /// realtime. A `wait_seconds` of such a coroutine resumes in the same run as a
    /// [`wait_seconds_realtime`](crate::wait::wait_seconds_realtime).
    ///
    /// The clock itself cannot be scaled or paused: [`Clock::pause`] and
    /// [`Clock::set_scale`] panic. A [`child`](Clock::child) of it can be.
    ///
    /// Inside a fixed step, realtime reads the time of the frame. Its
    /// [`delta`](Clock::delta) is then the length of the step, divided by the game
    /// clock's scale.
    ///
    /// # Examples
    ///
    /// A menu that is animated while the game is paused:
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

    /// Returns a handle for other threads. It spawns and stops coroutines, and makes calls.
    pub fn remote(&self) -> RemoteHandle {
        RemoteHandle::new(self.core.host.injected.clone())
    }

    /// The number of coroutines that are alive.
    pub fn len(&self) -> usize {
        self.core.tasks.alive()
    }

    /// Whether no coroutine is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of panics that the executor has caught so far: of coroutines, whether a join
    /// returns the panic or not, of closures such as those of [`defer`](crate::lend::defer()), of
    /// behaviours, of hooks, and of the destructors of outputs.
    ///
    /// A host reads it after a run to know that something may have been left half done.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let script = executor.start(async { panic!("no way") });
    /// assert_eq!(executor.panics(), 1);
    /// assert!(executor.run_until(script, 0.1).is_err());
    /// ```
    pub fn panics(&self) -> u64 {
        self.core.panics.count()
    }

    /// Stops a coroutine: drops its future and runs its destructors, before this
    /// returns. A coroutine that is being polled continues to its next wait and is
    /// dropped there. If it returns first, it finishes normally.
    ///
    /// A coroutine that joins it resumes with a [`JoinError`](crate::JoinError).
    ///
    /// Returns `false` if the coroutine has already ended, or belongs to another
    /// executor.
    #[doc(alias = "StopCoroutine")]
    #[track_caller]
    pub fn stop(&self, id: CoroutineId) -> bool {
        let line = Some(Location::caller());
        self.core
            .with_key(id, |core, key| end::stop(core, key, line))
    }

    /// Pauses a coroutine, like [`Coroutine::pause`]. Returns `false` if the
    /// coroutine itself is already paused, has ended, or belongs to another
    /// executor.
    pub fn pause(&self, id: CoroutineId) -> bool {
        self.core
            .with_key(id, |core, key| pause::set_paused(core, key, true))
    }

    /// Ends a [`pause`](Executor::pause). Returns `false` if the coroutine itself
    /// was not paused, has ended, or belongs to another executor.
    pub fn resume(&self, id: CoroutineId) -> bool {
        self.core
            .with_key(id, |core, key| pause::set_paused(core, key, false))
    }

    /// Whether the coroutine is paused, itself or through an owner, like
    /// [`Coroutine::is_paused`]. Returns `false` if it has ended, or belongs to
    /// another executor.
    pub fn is_paused(&self, id: CoroutineId) -> bool {
        self.core.with_key(id, Core::is_paused)
    }

    /// Makes an [`Owner`]: dropping it stops its coroutines.
    #[must_use = "dropping an owner stops what it owns"]
    pub fn owner(&self) -> Owner {
        Owner::new(&self.core, None)
    }

    /// Makes an [`Owner`] whose coroutines count on `clock`. Their plain waits
    /// count on it, and [`time`](crate::time()) and
    /// [`delta_seconds`](crate::time::delta_seconds) read it.
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    ///
    /// # Examples
    ///
    /// Enemies in slow motion, but not the player:
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

    /// Whether the coroutine belongs to this executor and has not ended.
    pub fn is_alive(&self, id: CoroutineId) -> bool {
        self.core.with_key(id, Core::is_alive)
    }

    /// Returns the clocks as they read now.
    pub fn time(&self) -> Time {
        self.core.game_time()
    }
}

/// The output that `run_until` returns, once the coroutine has ended.
#[track_caller]
pub(crate) fn output_of<T>(mut coroutine: Coroutine<T>) -> T {
    match coroutine.take_result() {
        Ok(output) => output,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => panic!(
            "{error}: `run_until` has no output to return. If it may be stopped, spawn it and \
             pass the handle to `run_until`, which then returns a `Result`"
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
        if let Some(payload) = depth::close(&self.core) {
            std::panic::resume_unwind(payload);
        }
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
