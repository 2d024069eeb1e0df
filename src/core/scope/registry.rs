//! The executors of this thread, found by their numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};

use crate::core::Core;
use crate::core::base::call::Foreign;
use crate::core::scope;
use crate::core::wake::waker::Order;

std::thread_local! {
    /// The executors of this thread, by number. Without a destructor, so that executors
    /// still work in the destructors of other thread-locals.
    static EXECUTORS: ManuallyDrop<RefCell<BTreeMap<u32, Weak<Core>>>> =
        const { ManuallyDrop::new(RefCell::new(BTreeMap::new())) };
    /// The executor that was found last. Hosts that wake scripts ask for the same one again and
    /// again. It leaves with its executor, like the entry above.
    static LATEST: ManuallyDrop<RefCell<(u32, Weak<Core>)>> =
        const { ManuallyDrop::new(RefCell::new((0, Weak::new()))) };
}

/// Calls `f` with the executor of number `id`. Returns `None` if this thread has no such
/// executor.
#[inline]
pub(crate) fn with_executor<R>(id: u32, f: impl FnOnce(&Core) -> R) -> Option<R> {
    scope::with(|scope| match scope {
        Some(scope) if scope.core().id == id => Some(f(scope.core())),
        _ => find(id).map(|core| f(&core)),
    })
}

/// A call of `f` with the executor that takes the order.
pub(crate) fn order(f: impl FnOnce(&Core) + Send + 'static) -> Foreign<Order> {
    let order: Order = Box::new(move |executor| {
        with_executor(executor, f);
    });
    Foreign::new(order)
}

#[inline]
fn find(id: u32) -> Option<Rc<Core>> {
    let latest = LATEST.with(|latest| {
        let (of, core) = &*latest.borrow();
        if *of == id { core.upgrade() } else { None }
    });
    latest.or_else(|| look_up(id))
}

#[cold]
fn look_up(id: u32) -> Option<Rc<Core>> {
    let found = EXECUTORS.with(|executors| executors.borrow().get(&id).cloned())?;
    let core = found.upgrade();
    // The one before is only an address: nothing is dropped but its memory.
    LATEST.with(|latest| latest.replace((id, found)));
    core
}

/// Makes an executor known to [`with_executor`] until it is dropped.
pub(crate) fn know(core: &Rc<Core>) {
    EXECUTORS.with(|executors| executors.borrow_mut().insert(core.id, Rc::downgrade(core)));
}

/// Removes an executor that is being dropped.
impl Drop for Core {
    fn drop(&mut self) {
        LATEST.with(|latest| {
            if latest.borrow().0 == self.id {
                latest.replace((0, Weak::new()));
            }
        });
        EXECUTORS.with(|executors| {
            let mut executors = executors.borrow_mut();
            executors.remove(&self.id);
            if executors.is_empty() {
                // Frees the memory of the map with the last executor.
                *executors = BTreeMap::new();
            }
        });
    }
}
