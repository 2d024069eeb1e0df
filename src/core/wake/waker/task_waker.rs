//! The task waker of a coroutine, for the executor's thread, and safe on others.
//!
//! All clones of the task waker of a coroutine share the same [`WakerState`]. The *home* of the state
//! is the executor's thread. There, the executor holds a [`TaskWaker`], the handle of the state, until
//! the coroutine ends. Then the state has no home any more, and its wakers do nothing.

use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::core::base::key::TaskKey;
use crate::core::scope::{self, Inside, Scope};
use crate::core::wake;

use super::injection::InjectionQueue;
use super::sync::{self, AtomicU64, OnceLock, Ordering};
use super::{remote_waker, thread};

/// The state that all clones of the task waker of a coroutine share.
struct WakerState {
    /// The number of the executor's thread. [`thread::NONE`] once the coroutine has
    /// ended.
    home: AtomicU64,
    /// The number of the executor.
    executor: u32,
    key: TaskKey,
    injected: sync::Arc<InjectionQueue>,
    /// The waker for other threads, made on first use.
    remote: OnceLock<Waker>,
}

impl WakerState {
    /// Wakes the coroutine the short way, from another coroutine. Returns `false` if that
    /// is not possible.
    #[inline(always)]
    fn wake_soon(&self) -> bool {
        // No check for the home thread is needed: a scope of the executor is on it.
        scope::with_inlined(WakesSoon(self))
    }

    #[cold]
    #[inline(never)]
    fn wake_from_outside(&self) {
        let home = self.home.load(Ordering::Relaxed);
        if thread::is_here(home) {
            scope::with_executor(self.executor, |core| wake::wake(core, self.key));
        } else if home != thread::NONE {
            let remote = || remote_waker(self.injected.clone(), self.key);
            self.remote.get_or_init(remote).wake_by_ref();
        }
    }
}

impl Wake for WakerState {
    #[inline]
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    #[inline(always)]
    fn wake_by_ref(self: &Arc<Self>) {
        if !self.wake_soon() {
            self.wake_from_outside();
        }
    }
}

/// Wakes the coroutine of a state the short way, if the scope is one of its executor.
struct WakesSoon<'a>(&'a WakerState);

impl Inside for WakesSoon<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self, scope: Option<&Scope<'_>>) -> bool {
        let WakesSoon(state) = self;
        match scope {
            Some(scope) if scope.core().id == state.executor => {
                wake::wake_soon(scope.core(), state.key, scope)
            }
            _ => false,
        }
    }
}

/// The executor's handle of a coroutine's task waker.
pub(crate) struct TaskWaker(Arc<WakerState>);

impl TaskWaker {
    /// Makes the handle for a task of the executor to which the injection queue belongs.
    pub(crate) fn new(executor: u32, key: TaskKey, injected: sync::Arc<InjectionQueue>) -> Self {
        TaskWaker(Arc::new(WakerState {
            home: AtomicU64::new(thread::here()),
            executor,
            key,
            injected,
            remote: OnceLock::new(),
        }))
    }

    /// Returns a waker, which may be used on any thread.
    #[inline]
    pub(crate) fn to_waker(&self) -> Waker {
        Waker::from(self.0.clone())
    }

    /// Whether somebody may have a waker.
    pub(crate) fn is_held(&self) -> bool {
        self.held() > 0
    }

    /// How many wakers there are. A wake from another thread may be on its way besides.
    pub(crate) fn held(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

impl Drop for TaskWaker {
    fn drop(&mut self) {
        self.0.home.store(thread::NONE, Ordering::Relaxed);
    }
}
