//! Hooks for outputs that nothing can read any more.

use std::any::TypeId;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::core::call::{self, Payload};
use crate::core::cell::Guarded;
use crate::core::task::{Reference, Task, Tasks};
use crate::inspect::Hook;

/// The hooks for unread outputs, and a list of tasks with outputs for the hooks.
#[derive(Default)]
pub(crate) struct Unread {
    pub(crate) hooks: Guarded<HashMap<TypeId, Rc<dyn Receive>>>,
    /// Whether there is a hook, or a task on the list.
    pub(crate) is_on: Cell<bool>,
    /// The list.
    pub(crate) waiting: Guarded<VecDeque<Reference>>,
    /// Whether a call is going through the list.
    pub(crate) is_telling: Cell<bool>,
}

/// A hook for the outputs of one type.
pub(crate) trait Receive {
    /// Takes the output of a task, and calls the hook with it. Returns the payload if
    /// the hook panics.
    fn receive(&self, tasks: &Tasks, task: Task<'_>) -> Result<(), Payload>;

    /// Drops the hook.
    fn close(&self);
}

/// The cell holds the output. The hook takes it out.
impl<T: 'static> Receive for Hook<Cell<Option<T>>> {
    fn receive(&self, tasks: &Tasks, task: Task<'_>) -> Result<(), Payload> {
        let output = Cell::new(tasks.take_unread::<T>(task));
        let called = self.call(&output);
        // The output is still there only if the hook has been dropped.
        call::quietly(|| drop(output));
        called.map(drop)
    }

    fn close(&self) {
        Hook::close(self);
    }
}

impl Unread {
    /// Whether there is a hook, or a task on the list.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.get()
    }
}
