//! Panics that must not go any further.

#![forbid(unsafe_code)]

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

/// Drops what a panic was raised with, which may be hostile itself.
pub(crate) fn dispose(payload: Box<dyn Any + Send>) {
    let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(payload)));
    // A payload whose destructor panics gives another one, without end; this
    // one leaks.
    if let Err(payload) = dropped {
        mem::forget(payload);
    }
}

/// Drops what belongs to the user, where nobody could make use of a panic.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch(|| drop(value)) {
        dispose(payload);
    }
}

/// What a panic said, if it was raised with a text.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    let literal = payload.downcast_ref::<&'static str>();
    literal
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
}

/// Runs `f`; gives what it panicked with.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    panic::catch_unwind(AssertUnwindSafe(f))
}
