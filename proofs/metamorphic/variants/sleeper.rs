//! A host that sleeps until a wait is due or something happens.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framestep::Executor;
use framestep_testkit::program::{Drive, Length, Real, Step, System, World};

pub(super) struct Sleeper {
    /// How long it may sleep, counted from the last frame. `None`: until something
    /// happens.
    until: Cell<Option<Duration>>,
    slept: Cell<Duration>,
    /// The executor has woken the host.
    woken: Arc<AtomicBool>,
}

impl Sleeper {
    pub(super) fn new(executor: &Executor) -> Self {
        let woken = Arc::new(AtomicBool::new(false));
        let wake = woken.clone();
        executor.on_wake(move || wake.store(true, Ordering::Relaxed));
        Sleeper {
            until: Cell::new(executor.idle_until()),
            slept: Cell::default(),
            woken,
        }
    }

    /// Does a step of the host. A frame is left out while it sleeps.
    pub(super) fn step(&self, world: &Rc<World<Real>>, step: &Step) {
        let frame = |dt: Option<Duration>| {
            if let Some(dt) = dt {
                let dt = Length::Nanos(dt.as_nanos().try_into().expect("it is short"));
                _ = world.system().run_frame(false, dt);
                world
                    .system()
                    .with_executor(|executor| self.look(executor, true));
            }
        };
        if let Step::Drive(_, Drive::Frame(Length::Nanos(dt))) = step {
            return frame(self.sleep(*dt));
        }
        frame(self.wake_up());
        world.perform(step);
        world
            .system()
            .with_executor(|executor| self.look(executor, false));
    }

    /// Asks how long it may sleep: after a run, and when the executor has woken it.
    fn look(&self, executor: &Executor, after_run: bool) {
        if self.woken.swap(false, Ordering::Relaxed) || after_run {
            self.until.set(executor.idle_until());
        }
    }

    /// The time of a frame passes. If something is due, returns the length of the
    /// frame to run.
    fn sleep(&self, dt: u64) -> Option<Duration> {
        let slept = self.slept.get() + Duration::from_nanos(dt);
        self.slept.set(slept);
        let is_due = self.until.get().is_some_and(|until| until <= slept);
        is_due.then(|| self.slept.take())
    }

    /// The host is about to act, and first runs a frame of the time that it has slept.
    fn wake_up(&self) -> Option<Duration> {
        let slept = self.slept.take();
        (!slept.is_zero()).then_some(slept)
    }
}
