//! Hooks of the host.

use std::cell::{Cell, RefCell};

use framestep::durable::Door;

/// Receives reports.
pub(crate) type HookFn<A> = Box<dyn FnMut(&A)>;

/// A hook of a runtime. It may replace itself, and its destructor may do anything.
pub(crate) struct Hook<A> {
    /// Empty while it is called.
    hook: RefCell<Option<HookFn<A>>>,
    is_closed: Cell<bool>,
}

impl<A> Hook<A> {
    pub(crate) fn new() -> Self {
        Hook {
            hook: RefCell::default(),
            is_closed: Cell::default(),
        }
    }

    pub(crate) fn set(&self, hook: HookFn<A>) {
        drop(self.hook.replace(Some(hook)));
    }

    /// The runtime is being dropped: nothing more is reported. A hook may own a handle of it.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        drop(self.hook.take());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Calls it, and returns whether there is one. `name` is that of the method that sets it. What it reports itself is
    /// printed.
    pub(crate) fn call(&self, door: &Door, name: &'static str, report: &A) -> bool {
        let Some(mut hook) = self.hook.take() else {
            return false;
        };
        door.call_hook(name, || hook(report));
        let is_kept = !self.is_closed() && self.hook.borrow().is_none();
        if is_kept {
            self.hook.replace(Some(hook));
        } else {
            // It has replaced itself.
            door.call_hook(name, || drop(hook));
        }
        true
    }
}
