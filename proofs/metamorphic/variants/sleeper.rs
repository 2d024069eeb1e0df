//! A host that sleeps until a wait is due or something happens.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framestep::Executor;

pub(in super::super) struct Sleeper {
    /// How long it may sleep, counted from the last frame. `None`: until something
    /// happens.
    until: Cell<Option<Duration>>,
    slept: Cell<Duration>,
    /// The executor has woken the host.
    woken: Arc<AtomicBool>,
}

impl Sleeper {
    pub(in super::super) fn new(executor: &Executor) -> Self {
        let woken = Arc::new(AtomicBool::new(false));
        let wake = woken.clone();
        executor.on_wake(move || wake.store(true, Ordering::Relaxed));
        Sleeper {
            until: Cell::new(executor.idle_until()),
            slept: Cell::default(),
            woken,
        }
    }

    /// Asks how long it may sleep: after a run, and when the executor has woken it.
    pub(in super::super) fn look(&self, executor: &Executor, after_run: bool) {
        if self.woken.swap(false, Ordering::Relaxed) || after_run {
            self.until.set(executor.idle_until());
        }
    }

    /// The time of a frame passes. If something is due, returns the length of the
    /// frame to run.
    pub(in super::super) fn sleep(&self, dt: u64) -> Option<Duration> {
        let slept = self.slept.get() + Duration::from_nanos(dt);
        self.slept.set(slept);
        let is_due = self.until.get().is_some_and(|until| until <= slept);
        is_due.then(|| self.slept.take())
    }

    /// The host is about to act, and first runs a frame of the time that it has slept.
    pub(in super::super) fn wake_up(&self) -> Option<Duration> {
        let slept = self.slept.take();
        (!slept.is_zero()).then_some(slept)
    }
}
