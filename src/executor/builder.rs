//! The builder: the settings of an executor.

use std::time::Duration;

use crate::core::report::panics::PassOn;
use crate::core::{Bounds, Core, scope};
use crate::executor::Executor;
use crate::inspect::{Instruments, TimeSource};
use crate::task::offload::pool::{Job, Pool, Workers};
use crate::time::{FrameClock, Nanos, Seconds};

const MILLISECOND_NS: u64 = 1_000_000;

/// Makes an [`Executor`] with other settings than the defaults.
/// [`Executor::builder`] returns one.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let executor = Executor::builder()
///     .fixed_delta(1.0 / 30.0) // 30 steps a second
///     .max_delta(f32::INFINITY) // however long a frame takes
///     .build();
/// assert_eq!(executor.time().fixed_delta.as_millis(), 33);
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder {
    fixed_delta_ns: u64,
    max_delta_ns: u64,
    max_polls_per_run: u32,
    max_coroutines: usize,
    max_frames: u64,
    skipped_phase: u64,
    untaken_grant: u64,
    propagate_panics: bool,
    strict: bool,
    inspect: bool,
    profile: bool,
    call_chains: bool,
    slow_poll: Option<Duration>,
    time_source: TimeSource,
    workers: Workers,
    offload_in_order: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            fixed_delta_ns: 20 * MILLISECOND_NS,
            // Unity's third of a second: the value of 1.0 / 3.0 as an `f32`. So such a dt
            // is not cut.
            max_delta_ns: 333_333_340,
            max_polls_per_run: 1000,
            max_coroutines: usize::MAX,
            max_frames: 10_000_000,
            skipped_phase: 60,
            untaken_grant: 300,
            propagate_panics: false,
            strict: false,
            inspect: false,
            profile: false,
            call_chains: false,
            slow_poll: None,
            time_source: TimeSource::default(),
            workers: Workers::default(),
            offload_in_order: false,
        }
    }
}

impl Builder {
    /// Sets the length of a fixed step; 0.02 s by default. For a step that the host begins
    /// with [`begin_fixed_step_of`](Executor::begin_fixed_step_of), that call sets the
    /// length instead.
    ///
    /// # Panics
    ///
    /// If the length is not finite, or not above zero.
    #[track_caller]
    pub fn fixed_delta(mut self, seconds: impl Seconds) -> Self {
        match seconds.length_ns() {
            Nanos::Finite(ns) if ns > 0 => self.fixed_delta_ns = ns,
            _ => panic!("`fixed_delta` must be a finite length of time above zero"),
        }
        self
    }

    /// Sets the most by which the game clock advances in one frame, before its scale is
    /// applied; a third of a second by default. The rest of a longer frame is dropped from
    /// the game clock, and [reported](Executor::on_report).
    ///
    /// It also limits the fixed steps of a frame to `max_delta / fixed_delta`,
    /// rounded up, whatever the scale of the game clock: 17 steps by default, which
    /// a scale of 20 needs at 60 frames a second. Fixed time skips the steps beyond
    /// the limit, which is reported, too.
    ///
    /// With infinity, no frame is cut. A frame that begins with
    /// [`begin_frame_with`](Executor::begin_frame_with) is never cut.
    ///
    /// # Panics
    ///
    /// If the length is NaN, negative or zero.
    #[track_caller]
    pub fn max_delta(mut self, seconds: impl Seconds) -> Self {
        match seconds.length_ns() {
            Nanos::Finite(ns) if ns > 0 => self.max_delta_ns = ns,
            Nanos::Infinite | Nanos::Overflow => self.max_delta_ns = u64::MAX,
            _ => panic!("`max_delta` must be a length of time above zero, or infinity"),
        }
        self
    }

    /// Sets how often a coroutine is polled in one run because of wakes that arrive
    /// during the run, and how often because it [yields](crate::wait::yield_now); 1000 by
    /// default. A coroutine that exceeds the limit continues in the next run, and is
    /// [reported](Executor::on_report). So two coroutines that keep waking each other
    /// cannot block a frame, and neither can a coroutine that keeps yielding.
    ///
    /// A hundred times this number, 100,000 by default, is the limit of what may follow one
    /// another in a run: starts, spawns and joins, ends that cause ends, closures of
    /// [`with_deferred`](crate::lend::with_deferred) that add more. One for each coroutine that is alive comes
    /// on top. The rest continues in the next run, as [`Report::Runaway`](crate::inspect::Report::Runaway)
    /// says. So a script that starts itself without end takes bounded time in each run. To bound
    /// its memory as well, see [`max_coroutines`](Self::max_coroutines).
    ///
    /// # Panics
    ///
    /// If `polls` is zero.
    #[track_caller]
    pub fn max_polls_per_run(mut self, polls: u32) -> Self {
        assert!(polls > 0, "`max_polls_per_run` must be at least 1");
        self.max_polls_per_run = polls;
        self
    }

    /// Sets how many coroutines may be alive at the same time; no limit by default.
    ///
    /// For hosts that run code that they do not know: mods, a playground. A coroutine that would
    /// be one too many is refused: its future is dropped, its handle is that of a stopped
    /// coroutine, and a [report](crate::inspect::Report::Refused) names it, the line of the call and this
    /// limit. All others go on. Once some have ended, new ones are accepted again.
    ///
    /// Coroutines that a save state brings back are not refused.
    ///
    /// # Panics
    ///
    /// If `coroutines` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn flood() {
    ///     loop {
    ///         spawn(flood());
    ///         next_frame().await;
    ///     }
    /// }
    ///
    /// let mut executor = Executor::builder().max_coroutines(100).build();
    /// executor.on_report(|report| eprintln!("{report}"));
    /// executor.spawn(flood());
    /// executor.run_frames(20, 0.25);
    /// assert_eq!(executor.len(), 100); // without a limit: a million
    /// ```
    #[track_caller]
    pub fn max_coroutines(mut self, coroutines: usize) -> Self {
        assert!(coroutines > 0, "`max_coroutines` must be at least 1");
        self.max_coroutines = coroutines;
        self
    }

    /// Sets how many frames [`run_until`](Executor::run_until) and
    /// [`run_to_next_deadline`](Executor::run_to_next_deadline) may run in one call; ten
    /// million by default. `u64::MAX` is no limit.
    ///
    /// A call that would run more panics. The message names this limit, the coroutine and what
    /// it waits for. If nothing is due in the executor, but code that is not a coroutine, such as
    /// another thread, may wake one, `run_until` sleeps for a millisecond now and then. Each time
    /// counts as 1,000 frames. So with the default, it waits about ten seconds for an answer
    /// from another thread.
    ///
    /// # Panics
    ///
    /// If `frames` is zero.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().max_frames(1_000).build();
    /// executor.run_until(wait_until(|| 1 + 1 == 3), 0.25);
    /// ```
    #[track_caller]
    pub fn max_frames(mut self, frames: u64) -> Self {
        assert!(frames > 0, "`max_frames` must be at least 1");
        self.max_frames = frames;
        self
    }

    /// Sets after how many frames without a run of a phase it is
    /// [reported](crate::inspect::Report::PhaseSkipped) that coroutines wait for it; 60 by default.
    /// `u64::MAX` switches the report off.
    ///
    /// The phases are looked at once in so many frames. A phase is reported if coroutines waited
    /// for it at two looks, one after the other, and it was not run in between. So the report
    /// comes after one to two times that many frames, and once until the phase is run. From then
    /// on, and also until the phase is run, its waits do not count for
    /// [`has_ready`](Executor::has_ready), [`next_deadline`](Executor::next_deadline) and
    /// [`idle_until`](Executor::idle_until): a frame would not end them.
    ///
    /// - [`Phase::FixedUpdate`](crate::Phase::FixedUpdate) counts only while a fixed step is due:
    ///   not while the game clock is paused, and not between two steps.
    /// - A custom phase that has been run once is not reported any more: hosts may run such a
    ///   phase seldom, as at the end of a turn.
    /// - Paused coroutines do not count.
    ///
    /// # Panics
    ///
    /// If `frames` is zero.
    ///
    /// # Examples
    ///
    /// A server without rendering, which leaves out the end of the frame:
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep::inspect::Report;
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().skipped_phase(10).build();
    /// let reported = Rc::new(Cell::new(None));
    /// let hook = reported.clone();
    /// executor.on_report(move |report| {
    ///     if let Report::PhaseSkipped { phase, .. } = report {
    ///         hook.set(Some(*phase));
    ///     }
    /// });
    /// executor.start(end_of_frame());
    /// assert!(executor.has_ready());
    /// for _ in 0..30 {
    ///     executor.begin_frame(0.05);
    ///     executor.run_phase(Phase::Update);
    /// }
    /// assert_eq!(reported.get(), Some(Phase::EndOfFrame));
    /// assert_eq!(executor.idle_until(), None);
    /// ```
    #[track_caller]
    pub fn skipped_phase(mut self, frames: u64) -> Self {
        assert!(frames > 0, "`skipped_phase` must be at least 1 frame");
        self.skipped_phase = frames;
        self
    }

    /// Sets after how many frames it is [reported](crate::inspect::Report::GrantUntaken) that a coroutine
    /// was granted a permit, or an event of [`emit_one`](crate::sync::Signal::emit_one), and has not
    /// taken it; 300 by default. `u64::MAX` switches the report off.
    ///
    /// The grants are looked at once in so many frames. So the report comes after one to two times
    /// that many frames, once for each grant. A coroutine that is paused, or has not been polled
    /// since the grant, does not count.
    ///
    /// # Panics
    ///
    /// If `frames` is zero.
    ///
    /// # Examples
    ///
    /// A script that keeps a wait without polling it:
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep::inspect::Report;
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().untaken_grant(10).build();
    /// let reported = Rc::new(Cell::new(false));
    /// let hook = reported.clone();
    /// executor.on_report(move |report| {
    ///     hook.set(matches!(report, Report::GrantUntaken { .. }));
    /// });
    /// let tokens = Semaphore::new(1);
    /// let token = tokens.try_acquire();
    /// let mut acquire = tokens.acquire();
    /// executor.start(async move {
    ///     select! {
    ///         _token = &mut acquire => {}
    ///         () = wait_frames(2) => {}
    ///     }
    ///     wait_seconds(3600).await; // meanwhile, nobody else gets the token
    /// });
    /// executor.run_frames(3, 0.1);
    /// drop(token);
    /// executor.run_frames(20, 0.1);
    /// assert!(reported.get());
    /// ```
    #[track_caller]
    pub fn untaken_grant(mut self, frames: u64) -> Self {
        assert!(frames > 0, "`untaken_grant` must be at least 1 frame");
        self.untaken_grant = frames;
        self
    }

    /// Passes a panic that no join returns on to the host, instead of
    /// [reporting](crate::inspect::Report::CoroutinePanicked) it. Off by default.
    ///
    /// For tests and tools that should end if a script panics.
    /// If a coroutine panics during a run, the run completes: the other coroutines are
    /// polled. Then [`run_phase`](Executor::run_phase) panics with the same payload. If the
    /// panic happens outside a run, or if the handle is dropped between two runs, the next
    /// run of any phase panics.
    ///
    /// [`run_frame`](Executor::run_frame) panics after the phase with the panic, and skips
    /// the later phases. Their waits stay due. A host that catches the panic may run the
    /// next frame.
    ///
    /// If several coroutines panic before the run ends, the host receives the first
    /// panic, and the others are reported. A panic that has not been passed on when the
    /// executor is dropped is reported, too. A panic that a join returns is only an `Err`
    /// of that join. To pass on such panics as well, use [`strict`](Self::strict).
    ///
    /// A panic of a hook is passed on like that of a coroutine: of
    /// [`on_unobserved`](Executor::on_unobserved), [`on_trace`](Executor::on_trace),
    /// [`on_report`](Executor::on_report) and [`stopwatch`](Self::stopwatch).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().propagate_panics(true).build();
    /// executor.spawn(async { panic!("no such door") });
    /// let caught = catch_unwind(AssertUnwindSafe(|| executor.run_frame(0.25)));
    /// assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "no such door");
    /// executor.run_frame(0.25);
    /// ```
    pub fn propagate_panics(mut self, propagate: bool) -> Self {
        self.propagate_panics = propagate;
        self
    }

    /// Passes every panic of a coroutine on to the host, even one that a join
    /// returns. Off by default.
    ///
    /// For tests. A script that ignores the `Err` of a join, or uses
    /// [`join_all`](crate::combine::join_all()), [`select!`](crate::select) or
    /// [`race`](crate::combine::race), may swallow a panic. The test then passes although an
    /// assertion in a script has failed. With `strict`, the test fails.
    ///
    /// It includes [`propagate_panics`](Self::propagate_panics), and differs from it
    /// in three points:
    ///
    /// - The host receives the panic even if a handle exists or a join returns it.
    ///   The join returns an `Err` as usual; the payload of that
    ///   [`JoinError`](crate::JoinError) is the message of the panic, as a `String`.
    /// - If a panic has not been passed on when the executor is dropped, the drop raises
    ///   it, unless the thread is unwinding already. So a test that runs no frame after
    ///   the panic fails, too.
    /// - [`run_until`](Executor::run_until) raises such a panic before it returns.
    ///
    /// As with `propagate_panics`, panics of hooks are passed on, too. The host receives
    /// the first panic, and others are reported. If a child's panic makes its parent
    /// panic, the first panic is that of the child. A script that is expected to panic
    /// needs an executor that is not strict.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use framestep::prelude::*;
    ///
    /// async fn guard() {
    ///     assert_eq!(1 + 1, 3);
    /// }
    ///
    /// async fn level() {
    ///     let guards = [spawn(guard()), spawn(guard())];
    ///     join_all(guards).await; // ignores two errors
    /// }
    ///
    /// let mut executor = Executor::builder().strict(true).build();
    /// executor.run_until(level(), 0.25);
    /// ```
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Records more about each coroutine for a [`Snapshot`](crate::inspect::Snapshot): where
    /// it was spawned, which coroutine spawned it, and since when it waits. Off by
    /// default.
    ///
    /// This costs about 300 bytes for each coroutine, and a little time for each
    /// resume. It does not change the order in which coroutines resume.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().inspect(true).build();
    /// let door = executor.start(wait_seconds(1));
    /// let snapshot = executor.snapshot();
    /// let door = snapshot.get(door.id()).unwrap();
    /// assert!(door.spawned_at().unwrap().file().ends_with(".rs"));
    /// assert_eq!(door.since().unwrap().frame, 0);
    /// ```
    pub fn inspect(mut self, inspect: bool) -> Self {
        self.inspect = inspect;
        self
    }

    /// Notes for each wait through which `async fn`s the script has come to it, for
    /// [`CoroutineInfo::call_chains`](crate::inspect::CoroutineInfo::call_chains). Off by default. Turns
    /// [`inspect`](Self::inspect) on.
    ///
    /// Without it, a snapshot names the line of the innermost `.await`, which is often in a helper that
    /// many scripts call. It is for the waits of this crate, since they note it; those of other crates
    /// have none.
    ///
    /// For development: each wait that begins captures a backtrace, which takes microseconds, and more the deeper
    /// the stack is, and keeps some kilobytes while it waits. Names are looked up when they are shown.
    /// They need symbols; the lines need debug information, `debug = "line-tables-only"` at least, and so
    /// do functions that an optimised build has inlined. On `wasm32-unknown-unknown`, which has no
    /// backtraces, nothing is noted.
    ///
    /// It does not change what coroutines do, nor their order.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn breathe() {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// async fn sleep() {
    ///     breathe().await;
    /// }
    ///
    /// let executor = Executor::builder().call_chains(true).build();
    /// let dragon = executor.start(sleep());
    /// let snapshot = executor.snapshot();
    /// let dragon = snapshot.get(dragon.id()).unwrap();
    /// let chain = dragon.call_chains().next().unwrap().expect("this target has backtraces");
    /// let names: Vec<&str> = chain.calls().iter().map(|call| &*call.function).collect();
    /// assert!(names[0].ends_with("breathe") && names[1].ends_with("sleep"));
    /// ```
    #[doc(alias = "backtrace")]
    #[doc(alias = "async stack trace")]
    pub fn call_chains(mut self, call_chains: bool) -> Self {
        self.call_chains = call_chains;
        self
    }

    /// Counts and times the polls of each coroutine, for
    /// [`CoroutineInfo::profile`](crate::inspect::CoroutineInfo::profile). Off by default. Turns
    /// [`inspect`](Self::inspect) on.
    ///
    /// This reads the computer's clock, or the host's [`stopwatch`](Self::stopwatch),
    /// before and after each poll. It does not change what coroutines do, nor their
    /// order. If the target has no clock, nothing is counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::builder().profile(true).build();
    /// let door = executor.start(async { wait_frames(3).await });
    /// executor.run_frame(0.25);
    /// let snapshot = executor.snapshot();
    /// let profile = snapshot.get(door.id()).unwrap().profile().unwrap();
    /// assert_eq!(profile.polls, 1);
    /// assert!(profile.longest <= profile.total);
    /// ```
    pub fn profile(mut self, profile: bool) -> Self {
        self.profile = profile;
        self
    }

    /// Reports every poll of a coroutine that takes `limit` or longer, with the
    /// coroutine's name, as [`Report::SlowPoll`](crate::inspect::Report::SlowPoll). Off by
    /// default; infinity switches it off.
    ///
    /// A script that computes, loads or blocks for that long holds up the frame.
    /// Split its work over frames with a [`Budget`](crate::task::Budget), or move the
    /// work to another thread. If a poll starts other coroutines, their time counts
    /// only for them.
    ///
    /// This reads the computer's clock, or the host's
    /// [`stopwatch`](Self::stopwatch), before and after each poll. It does not
    /// change what coroutines do, nor their order. If the target has no clock,
    /// nothing is reported.
    ///
    /// # Panics
    ///
    /// If the limit is NaN or negative.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep::inspect::Report;
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().slow_poll(0.008).build();
    /// executor.on_report(|report| {
    ///     if let Report::SlowPoll { name, took, .. } = report {
    ///         println!("{name} held the frame up for {took:?}");
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn slow_poll(mut self, limit: impl Seconds) -> Self {
        self.slow_poll = match limit.length_ns() {
            Nanos::Finite(ns) => Some(Duration::from_nanos(ns)),
            Nanos::Infinite | Nanos::Overflow => None,
            _ => panic!("`slow_poll` must be a length of time, zero or more"),
        };
        self
    }

    /// Sets the clock of [`Budget::new`](crate::task::Budget::new), of the report of [slow
    /// polls](Self::slow_poll), and of [profiles](Self::profile). `stopwatch` returns the
    /// time since a fixed moment. Nothing else in an executor reads the wall-clock time.
    ///
    /// The default is [`std::time::Instant`]. A target without it, such as
    /// `wasm32-unknown-unknown`, needs a stopwatch. In a browser, use
    /// `performance.now()`, which the engine or `web-sys` provides. Without a
    /// stopwatch on such a target, each job with a budget of time makes one step a
    /// frame, no poll is reported as slow, and profiles stay empty. The same applies to
    /// a stopwatch that panics; the panic is [reported](crate::inspect::Report::HookPanicked), or
    /// passed on as [`propagate_panics`](Self::propagate_panics) says.
    ///
    /// The executor calls `stopwatch` while it polls coroutines. `stopwatch` may
    /// call any function of this crate.
    ///
    /// # Examples
    ///
    /// A test of a job that depends on time:
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc, time::Duration};
    /// use framestep::task::Budget;
    /// use framestep::prelude::*;
    ///
    /// let passed = Rc::new(Cell::new(Duration::ZERO));
    /// let stopwatch = passed.clone();
    /// let mut executor = Executor::builder().stopwatch(move || stopwatch.get()).build();
    ///
    /// let budget = Budget::new(0.005);
    /// let job = async move {
    ///     next_frame().await;
    ///     for _ in 0..10 {
    ///         budget.checkpoint().await;
    ///         passed.set(passed.get() + Duration::from_millis(1)); // a step
    ///     }
    ///     time().frame
    /// };
    /// // Nothing says how long the job took before its first checkpoint, so that takes the
    /// // first frame. Five steps in the second frame, five in the third.
    /// assert_eq!(executor.run_until(job, 0.1), 3);
    /// ```
    pub fn stopwatch(mut self, stopwatch: impl Fn() -> Duration + 'static) -> Self {
        self.time_source = TimeSource::new(stopwatch);
        self
    }

    /// Sets the pool that calls the jobs of [`offload`](crate::task::offload()). By default each job gets
    /// a thread of its own, which targets without threads cannot start.
    ///
    /// `pool` receives each job when a script calls `offload`, and calls it once, on any thread, now or
    /// later. A job never unwinds. What happens if the pool does something else:
    ///
    /// | the pool | the script |
    /// |---|---|
    /// | drops the job | gets an [`OffloadError`](crate::task::OffloadError) |
    /// | calls it at once, on the script's thread | gets its result when the next run begins, the same in every run of the program: for tests, for replays, and for a page without threads |
    /// | panics | panics in its call of `offload` |
    /// | keeps the job for good | waits until it is stopped |
    /// | calls it after the executor has been dropped | is gone, and so is the result; the job is not called |
    ///
    /// # Examples
    ///
    /// With rayon: `Executor::builder().offload(|job| rayon::spawn(job))`. Two threads of the host:
    ///
    /// ```
    /// use std::sync::{Arc, Mutex, mpsc};
    /// use framestep::prelude::*;
    /// use framestep::task::Job;
    ///
    /// let (send, jobs) = mpsc::channel::<Job>();
    /// let jobs = Arc::new(Mutex::new(jobs));
    /// for _ in 0..2 {
    ///     let jobs = jobs.clone();
    ///     std::thread::spawn(move || {
    ///         loop {
    ///             let Ok(job) = jobs.lock().unwrap().recv() else { return };
    ///             job();
    ///         }
    ///     });
    /// }
    /// let mut executor = Executor::builder().offload(move |job| send.send(job).unwrap()).build();
    /// let sum = executor.run_until(async { offload(|| (1..=100).sum::<u32>()).await }, 0.25);
    /// assert_eq!(sum.unwrap(), 5050);
    /// ```
    #[doc(alias = "thread pool")]
    pub fn offload(mut self, pool: impl Fn(Job) + 'static) -> Self {
        self.workers = Workers::pool(pool);
        self
    }

    /// Lets the results of [`offload`](crate::task::offload()) arrive in the order of the calls. Off by
    /// default: they arrive as the jobs end.
    ///
    /// A result whose job ends early waits until those of all earlier calls have arrived, or nothing
    /// waits for them any more. So the scripts resume in the same order in each run of the program,
    /// whatever the threads do. In which frame still depends on the threads. To fix that, too, for lockstep or a replay,
    /// let the [pool](Self::offload) call each job at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use framestep::prelude::*;
    /// use framestep::task::Job;
    ///
    /// // A pool that calls the last job first.
    /// let jobs = Rc::new(RefCell::new(Vec::<Job>::new()));
    /// let pool = jobs.clone();
    /// let mut executor = Executor::builder()
    ///     .offload(move |job| pool.borrow_mut().push(job))
    ///     .offload_in_order(true)
    ///     .build();
    /// let order = Rc::new(RefCell::new(Vec::new()));
    /// for number in 1..=3 {
    ///     let order = order.clone();
    ///     executor.start(async move {
    ///         let number = offload(move || number).await.unwrap();
    ///         order.borrow_mut().push(number);
    ///     });
    /// }
    /// while let Some(job) = { jobs.borrow_mut().pop() } {
    ///     job();
    /// }
    /// executor.run_frame(0.25);
    /// assert_eq!(*order.borrow(), [1, 2, 3]);
    /// ```
    pub fn offload_in_order(mut self, in_order: bool) -> Self {
        self.offload_in_order = in_order;
        self
    }

    /// Makes the executor.
    pub fn build(self) -> Executor {
        let clock = FrameClock::new(self.fixed_delta_ns, self.max_delta_ns);
        let instruments = Instruments::new(
            self.inspect,
            self.profile,
            self.call_chains,
            self.slow_poll,
            self.time_source,
        );
        let bounds = Bounds {
            max_polls_per_run: self.max_polls_per_run,
            max_coroutines: self.max_coroutines,
            max_frames: self.max_frames,
            skipped_phase: self.skipped_phase,
            untaken_grant: self.untaken_grant,
        };
        let pass_on = match (self.strict, self.propagate_panics) {
            (true, _) => PassOn::All,
            (false, true) => PassOn::Unobserved,
            (false, false) => PassOn::Nothing,
        };
        let pool = Pool::new(self.workers, self.offload_in_order);
        let core = Core::new(clock, bounds, pass_on, instruments, pool);
        scope::know(&core);
        Executor::with_core(core)
    }
}
