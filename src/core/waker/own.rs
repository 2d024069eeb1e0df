//! The waker of a coroutine, for the executor's thread and fit for others.
//!
//! All of one coroutine point to a [`Bell`]. Its *home* is the executor's
//! thread; there the executor has an [`OwnWaker`], the handle of the bell, for
//! as long as the coroutine lives.
//!
//! How many wakers there are is counted in two parts: on the home thread in
//! `at_home`, with plain loads and stores, and elsewhere in `away`, which begins
//! at [`CREDIT`], more than there can ever be. Either may go below where it
//! began, since wakers wander. When the coroutine ends, its handle moves what
//! was counted at home to `away`, less the credit, and the bell has no home any
//! more: from then on it is counted like an `Arc`, and the last waker that is
//! dropped frees it.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::core::scope;
use crate::coroutine::TaskKey;

use super::inbox::Inbox;
use super::sync::{Arc, AtomicU64, OnceLock, Ordering, fence};
use super::{outside, thread};

/// What the own wakers of one coroutine point to.
///
/// What each wake touches stands together, in one line of the cache: that is
/// what wakes wait for, once there are many coroutines.
#[repr(C, align(64))]
struct Bell {
    /// The executor's thread; [`thread::NONE`] once the coroutine has ended.
    home: AtomicU64,
    at_home: AtomicU64,
    /// The number of the executor.
    executor: u32,
    away: AtomicU64,
    key: TaskKey,
    inbox: Arc<Inbox>,
    /// What other threads use, once one of them had to.
    outside: OnceLock<Waker>,
}

const CREDIT: u64 = 1 << 63;

impl Bell {
    #[inline]
    fn is_at_home(&self) -> bool {
        thread::is_here(self.home.load(Ordering::Relaxed))
    }

    /// Counts at home, where nobody else does.
    #[inline]
    fn count_at_home(&self, more: u64) {
        let count = self.at_home.load(Ordering::Relaxed);
        self.at_home
            .store(count.wrapping_add(more), Ordering::Relaxed);
    }

    /// The short way from one coroutine to another. `false`: there is none.
    #[inline(always)]
    fn wake_soon(&self) -> bool {
        // An executor that is at work here is at home.
        scope::with(|scope| {
            scope.is_some_and(|scope| {
                scope.core().id == self.executor && scope.core().wake_soon(self.key, scope)
            })
        })
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        if self.is_at_home() {
            scope::with_executor(self.executor, |core| core.wake(self.key));
        } else if !self.has_ended() {
            self.outside().wake_by_ref();
        }
    }

    fn has_ended(&self) -> bool {
        self.home.load(Ordering::Relaxed) == thread::NONE
    }

    #[cold]
    fn clone_from_outside(&self) -> Waker {
        if self.has_ended() {
            // There is nothing to wake any more.
            return Waker::noop().clone();
        }
        self.outside().clone()
    }

    fn outside(&self) -> &Waker {
        self.outside
            .get_or_init(|| outside(self.inbox.clone(), self.key))
    }
}

/// Takes so many off what is counted away. `true`: nobody has the bell any more.
/// If somebody has, it may be gone when this returns.
#[inline]
fn count_off(away: &AtomicU64, less: u64) -> bool {
    let last = away.fetch_sub(less, Ordering::Release) == less;
    if last {
        // What others did with it comes before it is freed.
        fence(Ordering::Acquire);
    }
    last
}

/// The executor's handle of a coroutine's own waker.
#[derive(Debug)]
pub(crate) struct OwnWaker(NonNull<Bell>);

impl OwnWaker {
    /// Of a task of the executor that has the inbox.
    pub(crate) fn new(executor: u32, key: TaskKey, inbox: Arc<Inbox>) -> Self {
        let bell = Box::new(Bell {
            home: AtomicU64::new(thread::here()),
            at_home: AtomicU64::new(0),
            executor,
            away: AtomicU64::new(CREDIT),
            key,
            inbox,
            outside: OnceLock::new(),
        });
        OwnWaker(NonNull::from(Box::leak(bell)))
    }

    fn bell(&self) -> &Bell {
        // SAFETY: it is not freed before the handle has given its home up.
        unsafe { self.0.as_ref() }
    }

    /// One that may go anywhere.
    #[inline]
    pub(crate) fn to_waker(&self) -> Waker {
        // This is the home thread: the handle stays there.
        self.bell().count_at_home(1);
        let data = self.0.as_ptr().cast_const().cast();
        // SAFETY: the functions of the table uphold the contract of `RawWaker`
        // while the bell is there, which this waker has just been counted for.
        unsafe { Waker::new(data, &OWN) }
    }
}

impl Drop for OwnWaker {
    fn drop(&mut self) {
        let bell = self.bell();
        bell.home.store(thread::NONE, Ordering::Relaxed);
        let at_home = bell.at_home.load(Ordering::Relaxed);
        if count_off(&bell.away, CREDIT.wrapping_sub(at_home)) {
            // SAFETY: nobody has it any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

static OWN: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// # Safety
///
/// `bell` must be the data of an own waker that lives as long as the result.
#[inline]
unsafe fn bell<'a>(bell: *const ()) -> &'a Bell {
    // SAFETY: a bell is freed with its last waker.
    unsafe { &*bell.cast() }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: whoever clones borrows the waker.
    let bell = unsafe { bell(data) };
    if bell.is_at_home() {
        bell.count_at_home(1);
        RawWaker::new(data, &OWN)
    } else {
        let waker = ManuallyDrop::new(bell.clone_from_outside());
        RawWaker::new(waker.data(), waker.vtable())
    }
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker is counted until this has counted it off.
    let bell = unsafe { bell(data) };
    if bell.wake_soon() {
        bell.count_at_home(1_u64.wrapping_neg());
    } else {
        // SAFETY: passed on.
        unsafe { wake_and_drop(data) };
    }
}

/// # Safety
///
/// `data` must be that of an own waker that is being dropped.
#[cold]
unsafe fn wake_and_drop(data: *const ()) {
    // SAFETY: the waker is dropped only after that.
    unsafe { bell(data) }.wake();
    // SAFETY: passed on. Home is looked for anew, since the executor may have
    // ended in a call of the host's waker.
    unsafe { drop_waker(data) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: whoever wakes borrows the waker.
    let bell = unsafe { bell(data) };
    if !bell.wake_soon() {
        bell.wake();
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker is counted until this has counted it off.
    let bell = unsafe { bell(data) };
    if bell.is_at_home() {
        bell.count_at_home(1_u64.wrapping_neg());
    } else {
        // SAFETY: it is counted.
        unsafe { drop_away(data) };
    }
}

/// # Safety
///
/// `data` must be that of an own waker, away from home, that is being dropped.
#[cold]
unsafe fn drop_away(data: *const ()) {
    // SAFETY: as above.
    if count_off(&unsafe { bell(data) }.away, 1) {
        // SAFETY: nobody has it any more.
        drop(unsafe { Box::from_raw(data.cast_mut().cast::<Bell>()) });
    }
}
