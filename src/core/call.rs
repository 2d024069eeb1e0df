//! The one way out into user code.
//!
//! A poll, a destructor, a waker's functions, a hook and the payload of a panic
//! may all come back: they may spawn, stop, run another executor, or panic. So
//! every call of them goes through [`out`], which checks that nothing of the
//! executor's is borrowed, in builds with debug assertions.

#![forbid(unsafe_code)]

use std::any::Any;
use std::mem::{self, ManuallyDrop};
use std::panic::{self, AssertUnwindSafe};

use super::cell;

/// What a panic was raised with.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Calls user code.
#[inline(always)]
pub(crate) fn out<R>(f: impl FnOnce() -> R) -> R {
    debug_assert!(
        !cell::is_borrowed(),
        "user code was called while state of the executor was borrowed"
    );
    f()
}

/// Calls user code; returns what it panicked with.
#[inline]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(|| out(f)))
}

/// Calls user code where a panic is of no use to anybody.
pub(crate) fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch(f) {
        dispose(payload);
    }
}

/// Drops what a panic was raised with, which may panic itself.
pub(crate) fn dispose(payload: Payload) {
    // A payload whose destructor panics raises another payload, which may do the
    // same: this one leaks.
    if let Err(payload) = catch(|| drop(payload)) {
        mem::forget(payload);
    }
}

/// What a panic said, if it was raised with a text.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    let literal = payload.downcast_ref::<&'static str>();
    literal
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
}

/// A value of the user's whose destructor nobody sees in the source: a foreign
/// waker, a payload, a message from another thread. Wherever it is dropped, its
/// destructor runs through [`out`], and cannot unwind.
#[derive(Debug)]
pub(crate) struct Foreign<T>(ManuallyDrop<Option<T>>);

impl<T> Foreign<T> {
    #[inline]
    pub(crate) fn new(value: T) -> Self {
        Foreign(ManuallyDrop::new(Some(value)))
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        self.0.as_ref().expect("it is taken with the wrapper")
    }

    /// Takes the value out, for a call that consumes it.
    #[inline]
    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect("it is taken once")
    }
}

impl<T> Drop for Foreign<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            quietly(|| drop(value));
        }
    }
}
