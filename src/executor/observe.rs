//! How a host observes an executor: whether frames are needed, what each coroutine
//! waits for, and which coroutines run.

use std::time::Duration;

use crate::core::phase::idle;
use crate::core::report;
use crate::core::view::View;
use crate::inspect::{self, Report, Snapshot, TraceEvent};
use crate::task::coroutine::OutputSource;

use super::{Executor, TraceHook};

#[cfg(doc)]
use super::{Builder, Handle, RemoteHandle};
#[cfg(doc)]
use crate::task::owner::Owner;
#[cfg(doc)]
use crate::time::{Clock, Phase};

impl Executor {
    /// Calls `wake` when an event outside a run makes [`has_ready`](Self::has_ready) true or
    /// [`next_deadline`](Self::next_deadline) earlier: for a host that sleeps while nothing is
    /// due. Such events are:
    ///
    /// - between two runs, actions of the host and its callbacks: a spawn or start
    ///   through a [`Handle`], a wake of a coroutine that waits for a
    ///   [`Signal`](crate::sync::Signal) or a channel, the resume of a coroutine, an
    ///   [`Owner`] or a clock, a higher [scale](Clock::set_scale), a stop that ends
    ///   a join;
    /// - at any time, wakes and [`RemoteHandle`] requests from other threads.
    ///
    /// Events in a run on the executor's own thread do not call it, because the
    /// host checks after the run.
    ///
    /// It is called once, and not again until the host has called `has_ready`,
    /// `next_deadline` or `idle_until`, or has run a phase. It may be called although
    /// nothing new is due: then the host checks, and sleeps again.
    ///
    /// It is called on the thread of the event, inside the call that causes it. It
    /// may call any function of this crate. If it panics during a wake or a `RemoteHandle`
    /// request, the panic is passed on to the caller. Other calls discard the panic.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use std::sync::Arc;
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let redraw = Arc::new(AtomicBool::new(false));
    /// let request = redraw.clone();
    /// executor.on_wake(move || request.store(true, Ordering::Relaxed));
    ///
    /// let (sender, receiver) = futures::channel::oneshot::channel();
    /// let text = executor.start(async move { receiver.await.unwrap() });
    /// std::thread::spawn(move || sender.send("loaded").unwrap()).join().unwrap();
    ///
    /// assert!(redraw.load(Ordering::Relaxed));
    /// assert_eq!(executor.run_until(text, 0.1).unwrap(), "loaded");
    /// ```
    pub fn on_wake(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.core.host.set_waker(waker_fn::waker_fn(wake));
    }

    /// Calls `hook` with every [`Report`]: an invalid dt, dropped time, a panic, a
    /// coroutine that is woken again and again, a limit that is reached, a wait that nothing
    /// ends.
    ///
    /// Without a hook, the first report of each kind for each script is printed to
    /// standard error: see [`Report`]. Dropping the executor drops the hook, so later
    /// reports are printed, too.
    ///
    /// A panic of the hook is not passed on to the code that caused the report. It is
    /// printed, as a [`Report::HookPanicked`]. With
    /// [`propagate_panics`](Builder::propagate_panics) or [`strict`](Builder::strict), it
    /// is passed on to the host.
    pub fn on_report(&self, hook: impl FnMut(&Report) + 'static) {
        self.core.reports.hook.set(Box::new(hook));
    }

    /// Calls `hook` with every output of type `T` that no join will return any more, and with
    /// the coroutine that has returned it.
    ///
    /// An output is unobserved if the coroutine returns after its handle was dropped, or
    /// if the handle is dropped after the coroutine has returned. The losers of
    /// [`race`](crate::combine::race) and [`select!`](crate::select) are such coroutines,
    /// too. Without a hook for its type, an unobserved output is dropped.
    ///
    /// So a game hears of each error that its scripts return, wherever they are
    /// started: if all scripts return `Result<(), GameError>`, that is the type `T`.
    /// The hook then receives each unobserved `Ok(())`, too.
    ///
    /// - Each type has one hook. A second call for the same type replaces the hook.
    /// - The hook is called when the output becomes unobserved, like a call by the host:
    ///   outside of any coroutine, without an owner. It may borrow lent state, spawn,
    ///   start and stop.
    /// - While a closure borrows lent state, or a callback of a behaviour runs, the
    ///   outputs are kept. The hook is called when the outermost closure or callback
    ///   has returned.
    /// - For outputs that become unobserved while a hook is being called, the hook is called
    ///   after the first one has returned.
    /// - A panic of the hook is [reported](Report::HookPanicked). With
    ///   [`propagate_panics`](Builder::propagate_panics) or [`strict`](Builder::strict),
    ///   it is passed on to the host. So in a test, the hook may simply `unwrap`.
    /// - The hook is dropped with the executor. If a handle outlives the executor, its
    ///   unobserved output is dropped.
    ///
    /// A panic is not an output: it is [reported](crate::inspect::Report::CoroutinePanicked).
    /// An output that a join has returned is read, even if it returns it to a future that
    /// is dropped before it looks at the output, such as a
    /// [`join_all`](crate::combine::join_all()).
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct Screen {
    ///     messages: Vec<String>,
    /// }
    ///
    /// type Script = Result<(), String>;
    ///
    /// async fn load(level: &'static str) -> Script {
    ///     wait_seconds(0.5).await;
    ///     Err(format!("no such level: {level}"))
    /// }
    ///
    /// let mut screen = Screen { messages: Vec::new() };
    /// let mut executor = Executor::new();
    /// executor.on_unobserved(|result: Script, by| {
    ///     if let Err(message) = result {
    ///         let message = format!("{}: {message}", by.name());
    ///         with_deferred(|screen: &mut Screen| screen.messages.push(message));
    ///     }
    /// });
    ///
    /// executor.script("load").spawn(load("cellar"));
    /// for _ in 0..3 {
    ///     executor.lend(&mut screen, |executor| executor.run_frame(0.25));
    /// }
    /// assert_eq!(screen.messages, ["load: no such level: cellar"]);
    /// ```
    ///
    /// # Source
    ///
    /// `UniTaskScheduler.UnobservedTaskException`.
    #[doc(alias = "UnobservedTaskException")]
    pub fn on_unobserved<T: 'static>(&self, hook: impl FnMut(T, OutputSource) + 'static) {
        report::on_unobserved(&self.core, hook);
    }

    /// Returns what every coroutine waits for now, as owned data: to print it, to
    /// search it, or to compare it with a later snapshot.
    ///
    /// Its cost is linear in the number of coroutines and timers: about a
    /// millisecond for ten thousand. Without a call, there is no cost. [`Snapshot`]
    /// explains what it prints.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::new();
    /// let door = executor.start(async { wait_seconds(0.5).await }).named("door");
    /// executor.start(async { door.await }).named("hero");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 2 coroutines
    ///   id   name    state
    ///   0v1  door    500ms, until 500ms
    ///   1v1    hero  the end of 0v1 door
    /// "
    /// );
    /// ```
    #[doc(alias = "tokio-console")]
    #[doc(alias = "UniTask Tracker")]
    #[doc(alias = "TaskTracker")]
    pub fn snapshot(&self) -> Snapshot {
        inspect::snapshot(View::new(&self.core))
    }

    /// Calls `hook` with every [`TraceEvent`]: when a coroutine is spawned, each
    /// time it resumes, and when it has ended.
    ///
    /// From this call on, the executor observes all coroutines, as with
    /// [`Builder::inspect`]. Without the call, a resume takes no additional
    /// instruction. The hook is called before the poll that an event announces, so
    /// that printed lines are in order.
    ///
    /// An executor may have several hooks. Each event is passed to all of them, in the order
    /// in which they were added. So tools can listen side by side. [`TraceHook::remove`]
    /// removes a hook; otherwise it is dropped with the executor.
    ///
    /// The hook may spawn, start, stop and take snapshots, and may add and remove hooks.
    /// Events that these calls cause while a hook runs are not traced.
    ///
    /// A panic of the hook is [reported](Report::HookPanicked). With
    /// [`propagate_panics`](Builder::propagate_panics) or [`strict`](Builder::strict), it
    /// is passed on to the host.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let trace = Rc::new(RefCell::new(Vec::new()));
    /// let log = trace.clone();
    /// executor.on_trace(move |event| log.borrow_mut().push(event.to_string()));
    ///
    /// executor.spawn(async { end_of_frame().await }).named("door");
    /// executor.run_frame(0.25);
    /// assert_eq!(
    ///     trace.borrow()[1..],
    ///     [
    ///         "frame 1, Update: 0v1 door resumed",
    ///         "frame 1, EndOfFrame: 0v1 door resumed",
    ///         "frame 1, EndOfFrame: 0v1 door finished",
    ///     ]
    /// );
    /// ```
    pub fn on_trace(&self, hook: impl FnMut(&TraceEvent) + 'static) -> TraceHook {
        TraceHook::add(Some(&self.core), Box::new(hook), false)
    }

    /// Calls `hook` with every event: those of [`on_trace`](Self::on_trace), and when
    /// polls, pauses, phases and frames begin and end, what each script waits for, which script
    /// wakes which, and what events are emitted. [`TraceKind`](crate::inspect::TraceKind) lists them, and their order.
    ///
    /// A run of a phase in which nothing is due has no events. If a frame is under way that
    /// an earlier hook knows of, this one receives the begin of that frame first. Otherwise,
    /// all is as with `on_trace`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let trace = Rc::new(RefCell::new(Vec::new()));
    /// let log = trace.clone();
    /// executor.on_full_trace(move |event| log.borrow_mut().push(event.to_string()));
    ///
    /// executor.spawn(async { wait_frames(2).await }).named("door");
    /// executor.run_frame(0.25);
    /// let trace = trace.borrow();
    /// assert_eq!(trace[1], "frame 1: begins, at 250ms");
    /// assert_eq!(trace[2], "frame 1, Update: begins");
    /// assert_eq!(trace[3], "frame 1, Update: 0v1 door resumed");
    /// // The end of this line is the place of the `.await`: file, line and column.
    /// let suspended = "frame 1, Update: 0v1 door suspended, waits for 2 frames, at ";
    /// assert!(trace[4].starts_with(suspended));
    /// assert_eq!(trace[5], "frame 1, Update: ends");
    /// ```
    pub fn on_full_trace(&self, hook: impl FnMut(&TraceEvent) + 'static) -> TraceHook {
        TraceHook::add(Some(&self.core), Box::new(hook), true)
    }

    /// Returns how long the host may sleep: zero if a coroutine wants the next frame,
    /// otherwise the time until the earliest timer is due. `None` if nothing is due
    /// before [`on_wake`](Self::on_wake) is called.
    ///
    /// This combines [`has_ready`](Self::has_ready) and
    /// [`next_deadline`](Self::next_deadline), with the rules of both. The time counts from
    /// the last frame. A host with a frame rate sleeps at least for the length of a frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// assert_eq!(executor.idle_until(), None);
    /// executor.start(async {
    ///     wait_seconds(2).await;
    ///     next_frame().await;
    /// });
    /// assert_eq!(executor.idle_until(), Some(Duration::from_secs(2)));
    /// executor.run_frames(8, 0.25);
    /// assert_eq!(executor.idle_until(), Some(Duration::ZERO)); // it wants a frame
    /// executor.run_frame(0.25);
    /// assert_eq!(executor.idle_until(), None);
    /// ```
    pub fn idle_until(&self) -> Option<Duration> {
        if self.has_ready() {
            Some(Duration::ZERO)
        } else {
            self.next_deadline()
        }
    }

    /// Returns how much time has to pass until the earliest timer is due. Zero if a timer
    /// is already due. `None` if there is no timer, or no timer on a clock that moves.
    ///
    /// - The time counts from the last frame. A host subtracts the time that has passed
    ///   since then.
    /// - The time is computed from the present scales and pauses. Timers of paused
    ///   coroutines do not count.
    /// - A timer on the game clock, or on a child of it, is due when the dt of the
    ///   frames, each cut to `max_delta`, add up to the returned time. A host that
    ///   sleeps until then makes the executor with a
    ///   [`max_delta`](Builder::max_delta) of infinity.
    /// - A timer in [`Phase::FixedUpdate`] is due in a fixed step. Steps are
    ///   assumed to follow the game clock, each as long as the latest. So such a
    ///   timer does not count while the game clock is paused.
    /// - It is the length divided by the scales, to the nearest nanosecond at which the clock has
    ///   reached the deadline: 2 s for 1 s at half speed.
    /// - Timers in a phase that the host [does not run](Report::PhaseSkipped) do not count.
    /// - While any live coroutine has ever been paused, the cost is linear in the number
    ///   of timers.
    pub fn next_deadline(&self) -> Option<Duration> {
        idle::next_deadline(&self.core).map(Duration::from_nanos)
    }

    /// Whether frames are needed although no timer is due: a coroutine is ready,
    /// waits for a phase or a condition, or counts frames or steps.
    ///
    /// Waits for a fixed step do not count while no step can begin: while the game
    /// clock is paused, or at a scale of 0. Neither do waits for a phase that the host
    /// [does not run](Report::PhaseSkipped).
    pub fn has_ready(&self) -> bool {
        idle::has_ready(&self.core)
    }
}
