//! The guard of a permit.

use std::fmt;
use std::rc::Rc;

use crate::durable::RuntimePermit;

use super::Shared;

/// A permit of [`Semaphore`](super::Semaphore), or [several](super::Semaphore::acquire_many).
/// Dropping it returns it. The first coroutine that waits gets it.
///
/// It keeps the permits alive, and borrows nothing. [`std::mem::forget`] on it removes
/// one permit for good.
#[must_use = "dropping the permit returns it: bind it, as in `let _permit = permits.acquire().await`"]
pub struct Permit {
    inner: Inner,
}

enum Inner {
    Executor(Taken),
    Runtime(RuntimePermit),
}

struct Taken {
    shared: Rc<Shared>,
    count: usize,
}

impl Permit {
    pub(super) fn new(shared: Rc<Shared>, count: usize) -> Self {
        Permit {
            inner: Inner::Executor(Taken { shared, count }),
        }
    }

    pub(super) fn of_runtime(permit: RuntimePermit) -> Self {
        Permit {
            inner: Inner::Runtime(permit),
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.shared.release(self.count);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = match &self.inner {
            Inner::Executor(taken) => taken,
            Inner::Runtime(permit) => return permit.fmt(f),
        };
        let source = taken.shared.state.borrow().waiters.source();
        let mut shown = f.debug_struct("Permit");
        if let Some(source) = source {
            shown.field("of", &source.name());
        }
        shown.finish_non_exhaustive()
    }
}
