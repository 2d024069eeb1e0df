//! A closure of the host that receives events.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::core::base::call::{self, Payload};

type Closure<E> = Box<dyn FnMut(&E)>;

/// The place of such a closure.
pub struct Hook<E> {
    closure: RefCell<Option<Closure<E>>>,
    is_set: Cell<bool>,
    is_closed: Cell<bool>,
}

impl<E> Hook<E> {
    /// Sets the closure.
    pub fn set(&self, closure: Closure<E>) {
        if self.is_closed.get() {
            call::quietly(|| drop(closure));
            return;
        }
        self.is_set.set(true);
        let previous = self.closure.replace(Some(closure));
        call::in_drop(|| drop(previous));
    }

    /// Whether a closure has been set, and the executor has not ended.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.is_set.get()
    }

    /// Whether the closure was dropped, since the executor ends.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Drops the closure when the executor ends.
    pub fn close(&self) {
        self.is_set.set(false);
        self.is_closed.set(true);
        let closure = self.closure.take();
        call::quietly(|| drop(closure));
    }

    /// Calls the closure, which is user code: nothing may be borrowed. The closure
    /// does not receive events that it causes itself. Returns `Ok(false)` if there is
    /// no closure, or if it is being called.
    ///
    /// # Errors
    ///
    /// If it panics: the payload.
    #[cold]
    pub fn call(&self, event: &E) -> Result<bool, Payload> {
        // Taken out for the call, so that the closure may set another.
        let closure = self.closure.take();
        let Some(mut closure) = closure else {
            return Ok(false);
        };
        let called = call::catch(|| closure(event));
        let mut place = self.closure.borrow_mut();
        if place.is_none() && !self.is_closed.get() {
            *place = Some(closure);
        } else {
            drop(place);
            call::quietly(|| drop(closure));
        }
        called.map(|()| true)
    }
}

impl<E> Default for Hook<E> {
    fn default() -> Self {
        Hook {
            closure: RefCell::new(None),
            is_set: Cell::new(false),
            is_closed: Cell::new(false),
        }
    }
}

impl<E> fmt::Debug for Hook<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hook").field(&self.is_set()).finish()
    }
}
