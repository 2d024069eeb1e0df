//! The one way out into user code.
//!
//! Polls, destructors, the functions of wakers, hooks and the destructors of panic
//! payloads are user code. Each may call back: it may spawn, stop, run another
//! executor, or panic. So every call of user code goes through [`out`]. In builds with
//! debug assertions, `out` checks that no state of the executor is borrowed.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use crate::core::base::cell;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Calls user code.
#[inline(always)]
pub(crate) fn out<R>(f: impl FnOnce() -> R) -> R {
    expect_no_borrow();
    f()
}

/// Checks that user code may be called. Does nothing in builds without debug assertions.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn expect_no_borrow() {
    debug_assert!(
        !cell::is_borrowed(),
        "user code was called while state of the executor was borrowed"
    );
}

/// Calls user code. Returns the payload if the call panics.
#[inline]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    panic::catch_unwind(AssertUnwindSafe(|| out(f)))
}

/// Calls user code and discards its panic.
pub(crate) fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch(f) {
        dispose(payload);
    }
}

/// Calls user code, maybe from a destructor. Passes a panic on to the caller, unless the
/// stack is unwinding already: then a second panic would end the program.
pub(crate) fn in_drop(f: impl FnOnce()) {
    if std::thread::panicking() {
        quietly(f);
    } else {
        out(f);
    }
}

/// Drops the payload of a panic. Its destructor may panic.
pub(crate) fn dispose(payload: Payload) {
    // If the destructor panics, there is a second payload, whose destructor may panic,
    // too. The second payload leaks.
    if let Err(payload) = catch(|| drop(payload)) {
        mem::forget(payload);
    }
}

/// The message of a panic, if its payload is a string.
pub(crate) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    let literal = payload.downcast_ref::<&'static str>();
    literal
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
}

/// A user's value that is dropped in a call of other code: a foreign waker, a payload, a
/// message from another thread. A panic of its destructor is discarded.
pub(crate) type Foreign<T> = UserValue<T, false>;

/// A user's value that this crate stores and returns, such as the value of an event. The
/// call that removes the value passes on a panic of its destructor, unless the stack is
/// unwinding.
pub(crate) type Value<T> = UserValue<T, true>;

/// A value whose destructor is user code, and always runs through [`out`].
#[derive(Debug)]
pub(crate) struct UserValue<T, const PASSES_ON: bool>(Option<T>);

impl<T, const PASSES_ON: bool> UserValue<T, PASSES_ON> {
    #[inline]
    pub(crate) fn new(value: T) -> Self {
        UserValue(Some(value))
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        self.0
            .as_ref()
            .expect("the value is taken only with the wrapper")
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0
            .as_mut()
            .expect("the value is taken only with the wrapper")
    }

    /// Takes the value out, for a call that consumes it, or to return it to the user.
    #[inline]
    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect("the value is taken only once")
    }
}

impl<T, const PASSES_ON: bool> Drop for UserValue<T, PASSES_ON> {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            if PASSES_ON {
                in_drop(|| drop(value));
            } else {
                quietly(|| drop(value));
            }
        }
    }
}
