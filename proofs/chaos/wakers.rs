//! Foreign wakers around those of the executor: each of their functions also calls
//! a function of the test.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use framestep_testkit::WakerCall;
use framestep_testkit::watched::{Token, fault};

struct Hostile {
    inner: Waker,
    hear: fn(WakerCall),
    token: Token,
}

fn raw(inner: Waker, hear: fn(WakerCall)) -> RawWaker {
    let token = Token::new("a waker");
    let hostile = Box::new(Hostile { inner, hear, token });
    RawWaker::new(Box::into_raw(hostile).cast(), &VTABLE)
}

/// Wakes when it is dropped: after the function of the test, even if that panics.
struct WakeLast(Waker);

impl Drop for WakeLast {
    fn drop(&mut self) {
        self.0.wake_by_ref();
    }
}

/// Wakes `inner` when it is woken. `hear` is called during each call, and may
/// panic.
pub(super) fn hostile(inner: &Waker, hear: fn(WakerCall)) -> Waker {
    // SAFETY: the functions keep the contract: each clone has its own box, which
    // its wake or drop frees. They act only on the thread of the world, and the
    // wakers that are sent to others are those of the executor.
    unsafe { Waker::from_raw(raw(inner.clone(), hear)) }
}

/// The waker behind `data`, which stays there.
///
/// # Safety
///
/// `data` must be that of a raw waker of this module that was not dropped.
unsafe fn look(data: *const ()) -> ManuallyDrop<Box<Hostile>> {
    // SAFETY: as the caller promises; the box is not dropped through this.
    let hostile = ManuallyDrop::new(unsafe { Box::from_raw(data.cast_mut().cast::<Hostile>()) });
    if !hostile.token.is_alive() {
        fault("a waker is used after its drop");
    }
    hostile
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: a waker is cloned while it is alive.
        let hostile = unsafe { look(data) };
        let (inner, hear) = (hostile.inner.clone(), hostile.hear);
        hear(WakerCall::Clone);
        raw(inner, hear)
    },
    |data| {
        // SAFETY: this is the only use of the waker that is consumed.
        let hostile = ManuallyDrop::into_inner(unsafe { look(data) });
        let _woken = WakeLast(hostile.inner.clone());
        (hostile.hear)(WakerCall::Wake);
    },
    |data| {
        // SAFETY: a waker is woken while it is alive.
        let hostile = unsafe { look(data) };
        let _woken = WakeLast(hostile.inner.clone());
        (hostile.hear)(WakerCall::Wake);
    },
    |data| {
        // SAFETY: a waker is dropped once, after all else.
        let hostile = ManuallyDrop::into_inner(unsafe { look(data) });
        let hear = hostile.hear;
        drop(hostile);
        hear(WakerCall::Drop);
    },
);
