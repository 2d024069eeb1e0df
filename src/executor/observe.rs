//! What a host asks an executor, and what it is told: whether there is something to do,
//! who waits for what, who ran.

#![forbid(unsafe_code)]

use std::task::Waker;
use std::time::Duration;

use crate::inspect::{Report, Snapshot, TraceEvent};

use super::Executor;
#[cfg(doc)]
use super::{Builder, Handle, Remote};
#[cfg(doc)]
use crate::owner::Owner;
#[cfg(doc)]
use crate::time::{Clock, Phase};

impl Executor {
    /// Has `waker` called when something outside of a run makes
    /// [`has_ready`](Self::has_ready) true or [`next_deadline`](Self::next_deadline)
    /// earlier, for hosts that sleep while nothing moves.
    ///
    /// That is whatever the host or its callbacks do between two runs: a spawn or start
    /// through a [`Handle`], a wake of a coroutine that waits for a [`Signal`](crate::Signal) or a
    /// channel, the resume of a coroutine, an [`Owner`] or a clock, a higher
    /// [scale](Clock::set_scale), a stop that ends a join. And it is every wake and
    /// every request of a [`Remote`] from another thread, at any time. What happens in
    /// a run on the executor's own thread does not call it: the host looks after the
    /// run.
    ///
    /// It is called once, and then not before the host has looked, with `has_ready` or
    /// `next_deadline`, or has run a phase. It may be called although nothing new is
    /// due, so the host looks again, and sleeps again.
    ///
    /// It comes on the thread that caused it, in the middle of that call, and may call
    /// back into anything. A panic of it is one of a wake or a request that caused it;
    /// other calls swallow it.
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
    /// executor.on_wake(waker_fn::waker_fn(move || request.store(true, Ordering::Relaxed)));
    ///
    /// let (sender, receiver) = futures::channel::oneshot::channel();
    /// let text = executor.start(async move { receiver.await.unwrap() });
    /// std::thread::spawn(move || sender.send("loaded").unwrap()).join().unwrap();
    ///
    /// assert!(redraw.load(Ordering::Relaxed));
    /// assert_eq!(executor.run_until(text, 0.1).unwrap(), "loaded");
    /// ```
    pub fn on_wake(&self, waker: Waker) {
        self.core.set_host(waker);
    }

    /// Has `hook` called with every [`Report`]: a bad dt, time dropped, a
    /// coroutine that keeps being woken.
    ///
    /// Until this is called, the first report of each kind is printed to
    /// standard error.
    pub fn on_report(&self, hook: impl FnMut(&Report) + 'static) {
        self.core.reports.hook.set(Box::new(hook));
    }

    /// What every coroutine waits for now, as owned data: to print, to look
    /// something up in, to compare with a later one.
    ///
    /// It looks at all coroutines and all timers: ten thousand take about a
    /// millisecond. Executors of which nobody takes one pay nothing for it.
    /// [`Snapshot`] tells what it prints.
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
    pub fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    /// Has `hook` called with every [`TraceEvent`]: when a coroutine is spawned,
    /// whenever it is resumed, and when it has ended.
    ///
    /// From then on all of them are watched, as with
    /// [`Builder::inspect`]; until then, resuming one takes not an instruction
    /// more. The hook comes before the poll that it is told of, so what is printed
    /// stands in order.
    ///
    /// The hook may spawn, start, stop and take snapshots; what that causes while
    /// it runs is not told. Panics of it are swallowed. Another hook takes the
    /// place of this one.
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
    pub fn on_trace(&self, hook: impl FnMut(&TraceEvent) + 'static) {
        self.core.trace(Box::new(hook));
    }

    /// How much time has to pass until the earliest timer is due: zero if one
    /// is due already, `None` if there is none, or none on a clock that moves.
    ///
    /// Counted from the last frame: a host subtracts what has passed since.
    /// Scales and pauses are taken as they are set now: timers of paused
    /// coroutines do not count. Once something has been paused, and until that has
    /// ended, this looks at every timer. A timer on the game clock,
    /// or on one that follows it, is due when the frames' dt, each cut to
    /// `max_delta`, add up to that: a host that sleeps until then makes the
    /// executor with a [`max_delta`](Builder::max_delta) of infinity. One in
    /// [`Phase::FixedUpdate`] is due in a step, and steps are taken to follow the game
    /// clock, each as long as the latest.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.core.next_deadline().map(Duration::from_nanos)
    }

    /// Whether frames are called for although no timer is due: a coroutine is
    /// ready, waits for a phase or a condition, or counts frames or steps.
    pub fn has_ready(&self) -> bool {
        self.core.has_ready()
    }
}
