//! The task waker of a coroutine, for the executor's thread, and safe on others.
//!
//! All clones of the task waker of a coroutine point to the same [`WakerState`]. The
//! *home* of the state is the executor's thread. There, the executor holds a
//! [`TaskWaker`], the handle of the state, until the coroutine ends.
//!
//! The wakers are counted in two parts: on the home thread in `at_home`, with
//! plain loads and stores, and elsewhere in `away`. A waker that was counted at
//! home may be dropped elsewhere, which lowers `away`. So `away` begins at
//! [`CREDIT`], which is more than the number of wakers can ever be. When the coroutine
//! ends, its handle adds `at_home` to `away` and takes the credit off. Then the state
//! has no home any more, and only `away` counts, like the count of an `Arc`: the last
//! waker that is dropped frees the state.

#![expect(
    unsafe_code,
    reason = "counts wakers without atomics on the executor's thread"
)]

use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::core::base::key::TaskKey;
use crate::core::scope::registry;
use crate::core::scope::{self, Inside, Scope};
use crate::core::wake;

use super::injection::InjectionQueue;
use super::sync::{Arc, AtomicU64, OnceLock, Ordering, fence};
use super::{remote_waker, thread};

/// The state that all clones of the task waker of a coroutine share.
///
/// The fields that each wake reads are in the same cache line. With many coroutines,
/// most of the time of a wake goes into fetching it.
#[repr(C, align(64))]
struct WakerState {
    /// The number of the executor's thread. [`thread::NONE`] once the coroutine has
    /// ended.
    home: AtomicU64,
    /// The count on the home thread. It wraps. Only the home thread accesses it.
    at_home: AtomicU64,
    /// The number of the executor.
    executor: u32,
    /// The count on all other threads, plus [`CREDIT`] while there is a home.
    away: AtomicU64,
    key: TaskKey,
    injected: Arc<InjectionQueue>,
    /// The waker for other threads, made on first use.
    remote: OnceLock<Waker>,
}

/// More than the number of wakers can ever be.
const CREDIT: u64 = 1 << 63;

impl WakerState {
    #[inline]
    fn is_at_home(&self) -> bool {
        thread::is_here(self.home.load(Ordering::Relaxed))
    }

    /// Adds to `at_home`. Must be called on the home thread.
    #[inline]
    fn count_at_home(&self, more: u64) {
        let count = self.at_home.load(Ordering::Relaxed);
        self.at_home
            .store(count.wrapping_add(more), Ordering::Relaxed);
    }

    /// Wakes the coroutine the short way, from another coroutine. Returns `false` if that
    /// is not possible.
    #[inline(always)]
    fn wake_soon(&self) -> bool {
        // No check for the home thread is needed: a scope of the executor is on it.
        scope::with_inlined(WakesSoon(self))
    }

    #[cold]
    fn wake(&self) {
        if self.is_at_home() {
            registry::with_executor(self.executor, |core| wake::wake(core, self.key));
        } else if !self.has_ended() {
            self.remote().wake_by_ref();
        }
    }

    fn has_ended(&self) -> bool {
        self.home.load(Ordering::Relaxed) == thread::NONE
    }

    #[cold]
    fn clone_from_outside(&self) -> Waker {
        if self.has_ended() {
            // The coroutine has ended, so there is nothing to wake.
            return Waker::noop().clone();
        }
        self.remote().clone()
    }

    fn remote(&self) -> &Waker {
        self.remote
            .get_or_init(|| remote_waker(self.injected.clone(), self.key))
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

/// A pointer to a state. Its holder is counted in one of the two parts, or is the
/// handle.
#[derive(Clone, Copy, Debug)]
struct StatePtr(NonNull<WakerState>);

impl Deref for StatePtr {
    type Target = WakerState;

    #[inline(always)]
    fn deref(&self) -> &WakerState {
        // SAFETY: the pointer comes from a `Box`. Only `count_off` frees the state, when
        // it takes off the last count. The holder of this pointer is counted, or is the
        // handle, whose credit counts. The state is only shared.
        unsafe { self.0.as_ref() }
    }
}

impl StatePtr {
    /// Takes `less` off `away`: the counts that the holder gives up. Frees the state if
    /// none is left. The state may be gone when this returns.
    #[inline]
    fn count_off(self, less: u64) {
        if self.away.fetch_sub(less, Ordering::Release) == less {
            // All uses of the state by other threads come before it is freed.
            fence(Ordering::Acquire);
            // SAFETY: the pointer comes from a `Box`, in `TaskWaker::new`. This was the
            // last count, so no other pointer to the state is used any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// The executor's handle of a coroutine's task waker.
#[derive(Debug)]
pub(crate) struct TaskWaker(StatePtr);

impl TaskWaker {
    /// Makes the handle for a task of the executor to which the injection queue belongs.
    pub(crate) fn new(executor: u32, key: TaskKey, injected: Arc<InjectionQueue>) -> Self {
        let state = Box::new(WakerState {
            home: AtomicU64::new(thread::here()),
            at_home: AtomicU64::new(0),
            executor,
            away: AtomicU64::new(CREDIT),
            key,
            injected,
            remote: OnceLock::new(),
        });
        TaskWaker(StatePtr(NonNull::from(Box::leak(state))))
    }

    /// Returns a counted waker, which may be used on any thread.
    #[inline]
    pub(crate) fn to_waker(&self) -> Waker {
        ManuallyDrop::into_inner(ManuallyDrop::new(self.lend()).waker())
    }

    /// Returns a counted waker for a poll on this thread.
    #[inline(always)]
    pub(crate) fn lend(&self) -> LentWaker {
        // This is the home thread: the handle never leaves it.
        self.0.count_at_home(1);
        LentWaker(self.0)
    }

    /// Whether somebody may have a waker.
    pub(crate) fn is_held(&self) -> bool {
        self.held() != Some(0)
    }

    /// How many wakers there are. `None` if it is not known: wakers for other threads are not
    /// counted, and once there has been one, there may be others.
    pub(crate) fn held(&self) -> Option<u64> {
        let at_home = self.0.at_home.load(Ordering::Relaxed);
        let away = self.0.away.load(Ordering::Relaxed);
        let is_known = self.0.remote.get().is_none();
        is_known.then(|| at_home.wrapping_add(away).wrapping_sub(CREDIT))
    }
}

/// A task waker that is lent to a poll.
pub(crate) struct LentWaker(StatePtr);

impl LentWaker {
    /// The waker. It must not be used after `self` is dropped.
    #[inline(always)]
    fn waker(&self) -> ManuallyDrop<Waker> {
        let data = self.0.0.as_ptr().cast_const().cast();
        // SAFETY: the functions of the table uphold the contract of `RawWaker` while the
        // state is alive. `self` is counted, which keeps the state alive. Callers drop
        // either `self` or the waker, not both.
        ManuallyDrop::new(unsafe { Waker::new(data, &OWN) })
    }

    /// The waker, which is not dropped with the result.
    #[inline(always)]
    pub(crate) fn borrow(&self) -> impl Deref<Target = Waker> + use<'_> {
        self.waker()
    }
}

impl Drop for LentWaker {
    #[inline(always)]
    fn drop(&mut self) {
        drop(Counted(self.0));
    }
}

impl Drop for TaskWaker {
    fn drop(&mut self) {
        let state = self.0;
        state.home.store(thread::NONE, Ordering::Relaxed);
        let at_home = state.at_home.load(Ordering::Relaxed);
        state.count_off(CREDIT.wrapping_sub(at_home));
    }
}

/// The data of a task waker: a state in which the waker is counted.
struct Counted(StatePtr);

impl Counted {
    /// # Safety
    ///
    /// `data` must be the data of a task waker. Either the result takes over that
    /// waker's count, or it must not be dropped and must not outlive the waker.
    #[inline(always)]
    unsafe fn of(data: *const ()) -> Self {
        // SAFETY: the data of a task waker is the pointer to its state, which is not
        // null.
        Counted(StatePtr(unsafe {
            NonNull::new_unchecked(data.cast_mut().cast())
        }))
    }

    #[inline(always)]
    fn clone_as(&self, data: *const ()) -> RawWaker {
        if self.0.is_at_home() {
            self.0.count_at_home(1);
            RawWaker::new(data, &OWN)
        } else {
            let waker = ManuallyDrop::new(self.0.clone_from_outside());
            RawWaker::new(waker.data(), waker.vtable())
        }
    }

    #[inline(always)]
    fn wake_by_ref(&self) {
        if !self.0.wake_soon() {
            self.0.wake();
        }
    }

    #[inline(always)]
    fn wake(self) {
        if self.0.wake_soon() {
            // The short way works on the home thread only.
            self.0.count_at_home(1_u64.wrapping_neg());
            mem::forget(self);
        } else {
            self.wake_and_drop();
        }
    }

    /// Wakes the coroutine, then drops the waker. The drop checks for the home thread
    /// again, because the executor may end in a call of the host's waker.
    #[cold]
    #[inline(never)]
    fn wake_and_drop(self) {
        self.0.wake();
    }
}

impl Drop for Counted {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_at_home() {
            self.0.count_at_home(1_u64.wrapping_neg());
        } else {
            self.0.count_off(1);
        }
    }
}

static OWN: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the caller passes the data of a task waker, and keeps that waker. The
    // result is not dropped, and does not outlive the call.
    ManuallyDrop::new(unsafe { Counted::of(data) }).clone_as(data)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the caller passes the data of a task waker, whose count the result
    // takes over.
    unsafe { Counted::of(data) }.wake();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the caller passes the data of a task waker, and keeps that waker. The
    // result is not dropped, and does not outlive the call.
    ManuallyDrop::new(unsafe { Counted::of(data) }).wake_by_ref();
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the caller passes the data of a task waker, whose count the result
    // takes over.
    drop(unsafe { Counted::of(data) });
}
