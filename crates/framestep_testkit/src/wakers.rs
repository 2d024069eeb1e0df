//! A waker that reports which of its functions are called.

use std::task::{RawWaker, RawWakerVTable, Waker};

/// A call of a waker's function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WakerCall {
    Clone,
    Wake,
    Drop,
}

/// A waker that wakes nothing, but calls `hear` with each call of it.
pub fn waker_that_tells(hear: fn(WakerCall)) -> Waker {
    fn tell(hear: *const (), call: WakerCall) {
        // SAFETY: the data is the function that was passed to
        // `waker_that_tells`.
        let hear = unsafe { std::mem::transmute::<*const (), fn(WakerCall)>(hear) };
        hear(call);
    }
    fn clone(hear: *const ()) -> RawWaker {
        tell(hear, WakerCall::Clone);
        RawWaker::new(hear, &VTABLE)
    }
    fn wake(hear: *const ()) {
        tell(hear, WakerCall::Wake);
    }
    fn drop_raw(hear: *const ()) {
        tell(hear, WakerCall::Drop);
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop_raw);
    // SAFETY: the data is a function, which may be called on any thread.
    unsafe { Waker::from_raw(RawWaker::new(hear as *const (), &VTABLE)) }
}

/// Calls a waker: for [`Executor::on_wake`](framestep::Executor::on_wake).
pub fn by(waker: Waker) -> impl Fn() + Send + Sync + 'static {
    move || waker.wake_by_ref()
}
