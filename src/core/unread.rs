//! Outputs that nothing can read any more, and the host's hooks for them.
//!
//! A hook is user code, and may make more outputs unread. So a task with such
//! an output goes onto a list, which one call at a time works off. The output
//! stays in the task's block until then. Readers that come after the task has
//! returned use the same list.

#![forbid(unsafe_code)]

use std::any::TypeId;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::inspect::Hook;

use super::Core;
use super::call;
use super::cell::Guarded;
use super::outside::Telling;
use super::task::{Flags, Reference, Task};

/// The hooks for unread outputs, and the tasks whose outputs they have yet to
/// receive.
#[derive(Default)]
pub(super) struct Unread {
    hooks: Guarded<HashMap<TypeId, Rc<dyn Receive>>>,
    /// Whether there is a hook, or something on the list.
    is_on: Cell<bool>,
    waiting: Guarded<VecDeque<Reference>>,
    /// Whether a call is working off the list.
    is_telling: Cell<bool>,
}

/// A hook for the outputs of one type.
trait Receive {
    /// Takes the output of a task, and calls the hook with it.
    fn receive(&self, core: &Core, task: Task<'_>);

    /// Drops the hook.
    fn close(&self);
}

/// The hook takes the value out of the cell.
impl<T: 'static> Receive for Hook<Cell<Option<T>>> {
    fn receive(&self, core: &Core, task: Task<'_>) {
        let output = Cell::new(core.tasks.take_unread::<T>(task));
        if let Err(payload) = self.call(&output) {
            core.hook_panicked("on_unread", payload);
        }
        // Only if the hook has been dropped.
        call::quietly(|| drop(output));
    }

    fn close(&self) {
        Hook::close(self);
    }
}

impl Unread {
    /// Whether there is a hook, or something on the list.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get()
    }
}

impl Core {
    /// Sets the hook for unread outputs of type `T`.
    pub(crate) fn on_unread<T: 'static>(&self, mut hook: impl FnMut(T) + 'static) {
        let receive = Hook::<Cell<Option<T>>>::default();
        if self.is_closed() {
            receive.close();
        }
        receive.set(Box::new(move |output| {
            if let Some(output) = output.take() {
                hook(output);
            }
        }));
        if !self.is_closed() {
            self.unread.is_on.set(true);
            let mut hooks = self.unread.hooks.borrow_mut();
            let earlier = hooks.insert(TypeId::of::<T>(), Rc::new(receive));
            drop(hooks);
            if let Some(earlier) = earlier {
                earlier.close();
            }
        }
    }

    /// Whether the output of an ended task goes to a hook or a reader if no handle
    /// can take it.
    #[inline]
    pub(super) fn hears_unread(&self, task: Task<'_>) -> bool {
        self.unread.is_on.get() && self.has_listener(task)
    }

    #[cold]
    fn has_listener(&self, task: Task<'_>) -> bool {
        let has_readers = self.tasks.cold(task, |cold| !cold.readers.is_empty());
        has_readers.unwrap_or(false) || self.hook_for(task).is_some()
    }

    /// The hook for the output of a task, if the output is there and unread.
    fn hook_for(&self, task: Task<'_>) -> Option<Rc<dyn Receive>> {
        let output = self.tasks.output_type(task)?;
        let is_read = self.tasks.cold(task, |cold| cold.is_read);
        if is_read.unwrap_or(false) {
            return None;
        }
        self.unread.hooks.borrow().get(&output).cloned()
    }

    /// Calls the readers of a task that has returned before, now or as soon as hooks
    /// may be called. Calls user code.
    pub(super) fn read_soon(&self, reference: Reference) {
        self.unread.is_on.set(true);
        self.put_unread(reference);
    }

    /// Sends the output of a task to its hook, now or as soon as hooks may be
    /// called. Calls user code.
    #[cold]
    pub(super) fn put_unread(&self, reference: Reference) {
        self.unread.waiting.borrow_mut().push_back(reference);
        self.tell_unread();
    }

    /// Sends the outputs on the list to their hooks, unless another call does so, or
    /// a closure that borrows lent state is being called. Calls user code.
    #[inline]
    pub(super) fn tell_unread(&self) {
        if self.unread.is_on.get() && !self.unread.is_telling.get() && !self.holds_starts() {
            self.work_off_unread();
        }
    }

    #[cold]
    fn work_off_unread(&self) {
        struct Told<'a>(&'a Cell<bool>);
        impl Drop for Told<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        let _telling = Telling(self);
        self.unread.is_telling.set(true);
        let _told = Told(&self.unread.is_telling);
        // A hook may start coroutines that fail at once, without end.
        for _ in 0..self.most_closures() {
            let next = self.unread.waiting.borrow_mut().pop_front();
            let Some(reference) = next else {
                return;
            };
            let task = self.tasks.of(&reference);
            self.tell_readers(task);
            // Joins that began while a reader had the output.
            self.complete(task);
            if !task.has(Flags::HANDLE) {
                match self.hook_for(task) {
                    Some(hook) => self.as_host(|| hook.receive(self, task)),
                    None => self.drop_unwanted_output(task),
                }
            }
            self.drop_reference(reference);
            self.wake_joiners();
        }
        if !self.unread.waiting.borrow().is_empty() {
            self.call_at_next_run(Core::tell_unread);
            self.report_runaway();
        }
    }

    /// Drops the hooks when the executor ends, after the last outputs have gone to
    /// them.
    pub(super) fn close_unread(&self) {
        self.tell_unread();
        self.unread.is_on.set(false);
        for hook in self.unread.hooks.take().into_values() {
            hook.close();
        }
        while let Some(reference) = { self.unread.waiting.borrow_mut().pop_front() } {
            let task = self.tasks.of(&reference);
            if !task.has(Flags::HANDLE) {
                self.drop_unwanted_output(task);
            }
            self.drop_reference(reference);
        }
    }
}
