//! Waking an app that sleeps while nothing happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use bevy_app::{App, Main};
use bevy_ecs::prelude::*;

use crate::executor::{Shared, next_frame_in};

/// Makes the callback, when the app has all its plugins.
pub(crate) type MakeWake = dyn Fn(&World) -> Box<WakeApp> + Send + Sync;

/// Requests a frame, from any thread.
pub(crate) type WakeApp = dyn Fn() + Send + Sync;

/// The shortest time of an alarm. For a timer on a clock that is paused or slowed down,
/// alarms come too early: this limits the number of extra frames.
const SHORTEST: Duration = Duration::from_millis(16);

/// Calls `wake` when the scripts of `app` need a frame.
pub(crate) fn install(app: &mut App, wake: Box<WakeApp>) {
    let bell = Arc::new(Bell {
        wake,
        in_frame: AtomicBool::new(false),
    });
    Shared::of(app.world()).on_wake(Waker::from(bell.clone()));
    app.insert_resource(Watch {
        alarm: Alarm::new(bell.clone()),
        bell,
    });
    app.add_systems(
        Main,
        (
            begin.before(Main::run_main),
            ask_for_frame.after(Main::run_main),
        ),
    );
}

/// Requests the frames of an app.
#[derive(Resource)]
struct Watch {
    bell: Arc<Bell>,
    alarm: Alarm,
}

/// Wakes the app, unless it is awake.
struct Bell {
    wake: Box<WakeApp>,
    /// Scripts that become ready now run in this frame, or are noticed at its end.
    in_frame: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.in_frame.load(Ordering::SeqCst) {
            (self.wake)();
        }
    }
}

fn begin(watch: Res<Watch>) {
    watch.bell.in_frame.store(true, Ordering::SeqCst);
}

fn ask_for_frame(world: &mut World) {
    let watch = world.resource::<Watch>();
    // This comes first, so that no wake from another thread is lost.
    watch.bell.in_frame.store(false, Ordering::SeqCst);
    match next_frame_in(world) {
        Some(Duration::ZERO) => watch.bell.wake_by_ref(),
        due => watch.alarm.set(due),
    }
}

/// A thread that wakes the app at a given time.
struct Alarm {
    shared: Arc<Ringing>,
}

/// What the alarm and its thread share.
struct Ringing {
    bell: Arc<Bell>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: Option<Instant>,
    has_thread: bool,
    is_over: bool,
}

impl Alarm {
    fn new(bell: Arc<Bell>) -> Self {
        Alarm {
            shared: Arc::new(Ringing {
                bell,
                state: Mutex::default(),
                changed: Condvar::new(),
            }),
        }
    }

    /// Wakes the app once after this time, and not at the time set before.
    fn set(&self, after: Option<Duration>) {
        // Where there are no threads, the app stays awake.
        if cfg!(target_family = "wasm") {
            if after.is_some() {
                self.shared.bell.wake_by_ref();
            }
            return;
        }
        let due = after.and_then(|after| Instant::now().checked_add(after.max(SHORTEST)));
        let mut state = self.shared.lock();
        state.due = due;
        if due.is_some() && !state.has_thread {
            let shared = self.shared.clone();
            let name = "framestep alarm".to_string();
            let thread = thread::Builder::new().name(name);
            state.has_thread = thread.spawn(move || shared.run()).is_ok();
        }
        drop(state);
        self.shared.changed.notify_one();
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
    }
}

impl Ringing {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(self: Arc<Self>) {
        let mut state = self.lock();
        while !state.is_over {
            let Some(due) = state.due else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.due = None;
                drop(state);
                // A panic of the callback, which the panic hook reports, must not be the end
                // of the alarm.
                _ = catch_unwind(AssertUnwindSafe(|| self.bell.wake_by_ref()));
                state = self.lock();
            } else {
                let waited = self.changed.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
