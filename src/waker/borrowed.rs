//! The waker that costs nothing to make: its data is the [`Level`] that polls.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::context::Level;

/// The waker that a level polls with.
///
/// # Safety
///
/// `level` must be valid, and must not move, for as long as the waker lives;
/// the waker must not be dropped after it, nor handed out by value.
pub(crate) unsafe fn borrowed(level: *const Level) -> Waker {
    // SAFETY: the functions of the table uphold the contract of `RawWaker` for
    // as long as `level` is valid, which the caller promises.
    unsafe { Waker::from_raw(RawWaker::new(level.cast(), &BORROWED)) }
}

static BORROWED: RawWakerVTable = RawWakerVTable::new(clone, wake_by_ref, wake_by_ref, |_| ());

unsafe fn clone(level: *const ()) -> RawWaker {
    // SAFETY: whoever clones borrows the waker, which the level outlives.
    let level = unsafe { &*level.cast::<Level>() };
    let waker = ManuallyDrop::new(level.owned_waker());
    RawWaker::new(waker.data(), waker.vtable())
}

unsafe fn wake_by_ref(level: *const ()) {
    // SAFETY: whoever wakes borrows the waker, which the level outlives.
    let level = unsafe { &*level.cast::<Level>() };
    level.wake_current();
}
