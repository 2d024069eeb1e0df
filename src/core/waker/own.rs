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

use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
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

/// Points to a bell that is counted for the holder, one way or the other.
#[derive(Clone, Copy, Debug)]
struct BellPtr(NonNull<Bell>);

impl Deref for BellPtr {
    type Target = Bell;

    #[inline(always)]
    fn deref(&self) -> &Bell {
        // SAFETY: it is freed in `count_off` alone, with the last that is counted.
        unsafe { self.0.as_ref() }
    }
}

impl BellPtr {
    /// Takes so many off what is counted away, which the holder gives up. The last
    /// one frees the bell; until then it may be gone when this returns.
    #[inline]
    fn count_off(self, less: u64) {
        if self.away.fetch_sub(less, Ordering::Release) == less {
            // What others did with it comes before it is freed.
            fence(Ordering::Acquire);
            // SAFETY: nobody has it any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// The executor's handle of a coroutine's own waker.
#[derive(Debug)]
pub(crate) struct OwnWaker(BellPtr);

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
        OwnWaker(BellPtr(NonNull::from(Box::leak(bell))))
    }

    /// One that may go anywhere.
    #[inline]
    pub(crate) fn to_waker(&self) -> Waker {
        // This is the home thread: the handle stays there.
        self.0.count_at_home(1);
        let data = self.0.0.as_ptr().cast_const().cast();
        // SAFETY: the functions of the table uphold the contract of `RawWaker`
        // while the bell is there, which this waker has just been counted for.
        unsafe { Waker::new(data, &OWN) }
    }
}

impl Drop for OwnWaker {
    fn drop(&mut self) {
        let bell = self.0;
        bell.home.store(thread::NONE, Ordering::Relaxed);
        let at_home = bell.at_home.load(Ordering::Relaxed);
        bell.count_off(CREDIT.wrapping_sub(at_home));
    }
}

/// What an own waker holds: a bell in which it is counted.
struct Counted(BellPtr);

impl Counted {
    /// # Safety
    ///
    /// `data` must be that of an own waker, which is consumed by this, or else the
    /// result must not be dropped, and must not outlive it.
    #[inline(always)]
    unsafe fn of(data: *const ()) -> Self {
        // SAFETY: the data of an own waker points to its bell.
        Counted(BellPtr(unsafe {
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
            // So it is at home.
            self.0.count_at_home(1_u64.wrapping_neg());
            mem::forget(self);
        } else {
            self.wake_and_drop();
        }
    }

    /// Home is looked for anew when it is dropped: the executor may end in a call
    /// of the host's waker.
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
    // SAFETY: the waker is borrowed by the caller.
    ManuallyDrop::new(unsafe { Counted::of(data) }).clone_as(data)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker is consumed.
    unsafe { Counted::of(data) }.wake();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker is borrowed by the caller.
    ManuallyDrop::new(unsafe { Counted::of(data) }).wake_by_ref();
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker is consumed.
    drop(unsafe { Counted::of(data) });
}
