//! Ending the coroutines of owners.

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::owners::OwnerKey;

/// Stops all present coroutines of an owner and of the owners below it.
pub(crate) fn stop_owned(core: &Core, owner: OwnerKey) {
    let mut tasks = core.owned.take();
    core.owners.borrow().tasks(owner, &mut tasks);
    stop_all(core, tasks);
}

/// Removes an owner. Stops all its coroutines, and those of the owners below it.
pub(crate) fn remove_owner(core: &Core, owner: OwnerKey) {
    let mut tasks = core.owned.take();
    core.owners.borrow_mut().remove(owner, &mut tasks);
    stop_all(core, tasks);
}

fn stop_all(core: &Core, mut tasks: Vec<TaskKey>) {
    for task in tasks.drain(..) {
        end::stop(core, task);
    }
    core.owned.replace(tasks);
}
