//! The end of an executor.
//!
//! A script may own another executor, which ends with the script. Such ends nest
//! to a depth of [`MAX_DEPTH`] on a thread. Deeper ones go onto a list, which the
//! outermost one works off. An executor on the list polls nothing any more.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, take};
use std::rc::Rc;

use super::Core;
use super::call::Payload;
use super::end::Deeper;

/// Each of them may have a hundred nested ends of coroutines.
const MAX_DEPTH: u32 = 10;

thread_local! {
    /// How many executors are ending on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Those that are put off. Without a destructor, so that executors can end in
    /// the destructors of other thread-locals. It is empty then.
    static PUT_OFF: ManuallyDrop<RefCell<Vec<Rc<Core>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Counts the end of one executor. The outermost one works off the list, also when
/// unwinding.
struct Closing;

impl Drop for Closing {
    fn drop(&mut self) {
        if DEPTH.get() == 1 {
            while let Some(core) = PUT_OFF.with(|put_off| put_off.borrow_mut().pop()) {
                // This is a destructor: it raises no panic.
                core.end_all(false);
            }
            // Frees its memory.
            PUT_OFF.with(|put_off| drop(take(&mut *put_off.borrow_mut())));
        }
        DEPTH.set(DEPTH.get() - 1);
    }
}

impl Core {
    /// Ends all coroutines of an executor that is being dropped. Returns a panic that
    /// the drop has to raise.
    pub(crate) fn close(&self) -> Option<Payload> {
        self.closed.set(true);
        if DEPTH.get() == MAX_DEPTH {
            PUT_OFF.with(|put_off| put_off.borrow_mut().push(self.rc()));
            return None;
        }
        DEPTH.set(DEPTH.get() + 1);
        let _closing = Closing;
        self.end_all(true)
    }

    fn end_all(&self, may_raise: bool) -> Option<Payload> {
        // Pending messages are dropped on this thread, outside of the lock.
        drop(self.inbox.close());
        self.refuse_calls();
        {
            let _deeper = Deeper::new(self);
            // Nothing is inserted any more, so the loop ends.
            let mut indices = 0..self.tasks.len();
            while let Some(task) = indices.next().map(|index| self.tasks.at(index)) {
                if self.tasks.stop(task).is_none() {
                    self.end(task, None);
                }
            }
            // All of them, even if this call is nested in other ends.
            self.work_off_all_ends();
        }
        self.lent.close();
        self.close_unread();
        let panic = self.close_panics(may_raise);
        // The hooks and the stopwatch may own handles that keep this core alive.
        self.reports.close();
        self.watch.close();
        panic
    }
}
