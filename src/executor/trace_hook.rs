//! The handle of a trace hook, to remove it.

use std::fmt;
use std::rc::Rc;

use crate::core::Core;
use crate::core::observe;
use crate::inspect::TraceClosure;

#[cfg(doc)]
use super::Executor;
use super::Handle;

/// The handle of a hook for traces: [`remove`](TraceHook::remove) removes the hook. Returned by
/// [`Executor::on_trace`] and [`Executor::on_full_trace`].
///
/// Dropping the handle leaves the hook in place, for as long as the executor exists. The
/// handle does not keep the executor alive.
///
/// # Examples
///
/// To trace one frame:
///
/// ```
/// use std::{cell::Cell, rc::Rc};
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let events = Rc::new(Cell::new(0));
/// let count = events.clone();
/// executor.spawn(async {
///     loop {
///         next_frame().await;
///     }
/// });
///
/// let hook = executor.on_trace(move |_| count.set(count.get() + 1));
/// executor.run_frame(0.25);
/// assert!(hook.remove());
/// executor.run_frame(0.25);
/// assert_eq!(events.get(), 1);
/// assert!(!hook.remove());
/// ```
#[derive(Clone)]
pub struct TraceHook {
    /// `None` if it had been dropped.
    executor: Option<Handle>,
    id: u64,
}

impl TraceHook {
    /// Adds a hook to an executor. If it has been dropped, drops the hook.
    pub(super) fn add(core: Option<&Rc<Core>>, hook: TraceClosure, is_full: bool) -> Self {
        TraceHook {
            executor: core.map(Handle::new),
            id: core.map_or(0, |core| observe::add_trace(core, hook, is_full)),
        }
    }

    /// Removes the hook, and drops it. Returns `false` if it has been removed before, or if
    /// the executor has been dropped.
    ///
    /// The hook receives no further event, not even one of before this call. Without any hook,
    /// and without [`inspect`](super::Builder::inspect), [`profile`](super::Builder::profile)
    /// and [`slow_poll`](super::Builder::slow_poll), the executor does not observe its
    /// coroutines any more: a resume takes as few instructions as without a hook, and what was
    /// noted about the coroutines is dropped: their lines, and what they say of themselves.
    ///
    /// Coroutines and hooks may call this, too, and a hook may remove itself: then it is
    /// dropped as soon as it returns.
    ///
    /// # Panics
    ///
    /// If the destructor of the hook panics. If it is dropped as it returns, or if the stack
    /// is unwinding, that panic is discarded.
    pub fn remove(&self) -> bool {
        let core = self.executor.as_ref().and_then(Handle::core);
        core.is_some_and(|core| observe::remove_trace(&core, self.id))
    }
}

impl fmt::Debug for TraceHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceHook").finish_non_exhaustive()
    }
}
