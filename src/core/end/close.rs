//! The end of an executor.
//!
//! A script may own another executor, which ends with the script. Such ends nest
//! to a depth of [`MAX_DEPTH`] on a thread. Deeper ends are deferred: the outermost end
//! carries them out. An executor with a deferred end polls nothing any more.

use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, take};
use std::rc::Rc;

use crate::core::Core;
use crate::core::call::Payload;
use crate::core::end;
use crate::core::end::Deeper;
use crate::core::report::panics;
use crate::core::report::unread;

/// Each of these executors may have a hundred nested ends of coroutines.
const MAX_DEPTH: u32 = 10;

thread_local! {
    /// How many executors are ending on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The executors with deferred ends. Without a destructor, so that executors can end
    /// in the destructors of other thread-locals. The list is empty by then.
    static DEFERRED: ManuallyDrop<RefCell<Vec<Rc<Core>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Counts the end of one executor. The outermost one carries out the deferred ends,
/// even when unwinding.
struct Closing;

impl Drop for Closing {
    fn drop(&mut self) {
        if DEPTH.get() == 1 {
            while let Some(core) = DEFERRED.with(|deferred| deferred.borrow_mut().pop()) {
                // This is a destructor: it raises no panic.
                end_all(&core, false);
            }
            // Frees its memory.
            DEFERRED.with(|deferred| drop(take(&mut *deferred.borrow_mut())));
        }
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Ends all coroutines of an executor that is being dropped. Returns the payload of a
/// panic that the drop must raise.
pub(crate) fn close(core: &Core) -> Option<Payload> {
    core.closed.set(true);
    if DEPTH.get() == MAX_DEPTH {
        DEFERRED.with(|deferred| deferred.borrow_mut().push(core.rc()));
        return None;
    }
    DEPTH.set(DEPTH.get() + 1);
    let _closing = Closing;
    end_all(core, true)
}

fn end_all(core: &Core, may_raise: bool) -> Option<Payload> {
    // Pending messages are dropped on this thread, outside of the lock.
    drop(core.host.injected.close());
    drop(core.arrivals.take_calls());
    {
        let _deeper = Deeper::new(core);
        // No task is inserted any more, so the loop ends.
        let mut indices = 0..core.tasks.len();
        while let Some(task) = indices.next().map(|index| core.tasks.at(index)) {
            if core.tasks.stop(task).is_none() {
                end::end(core, task, None);
            }
        }
        // All deferred ends, even if this call is nested in other ends.
        end::work_off_all_ends(core);
    }
    core.lent.close();
    unread::close_unread(core);
    let panic = panics::close_panics(core, may_raise);
    // The hooks and the stopwatch may own handles that keep this core alive.
    core.reports.close();
    core.instruments.close();
    panic
}
