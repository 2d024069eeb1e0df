//! Ending the coroutines of owners.

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::owners::OwnerKey;
use crate::inspect::Line;

/// Stops all present coroutines of an owner and of the owners below it.
pub(crate) fn stop_owned(core: &Core, owner: OwnerKey, place: Option<Line>) {
    let mut tasks = core.owned.take();
    core.owners.borrow().tasks(owner, &mut tasks);
    stop_all(core, tasks, place);
}

/// Removes an owner. Stops all its coroutines, and those of the owners below it.
pub(crate) fn remove_owner(core: &Core, owner: OwnerKey) {
    let mut tasks = core.owned.take();
    core.owners.borrow_mut().remove(owner, &mut tasks);
    stop_all(core, tasks, None);
}

/// Asks all present coroutines of an owner and of the owners below it to stop, and wakes those
/// that wait for that.
pub(crate) fn request_stop(core: &Core, owner: OwnerKey) {
    let mut lists = Vec::new();
    let mut owners = core.owners.borrow_mut();
    owners.request_stop(owner, |asks| lists.push(asks));
    drop(owners);
    for asks in lists {
        let limit = asks.borrow().began();
        loop {
            let waiting = asks.borrow_mut().next(limit);
            let Some(waiting) = waiting else {
                break;
            };
            waiting.wake();
        }
    }
}

fn stop_all(core: &Core, mut tasks: Vec<TaskKey>, place: Option<Line>) {
    for task in tasks.drain(..) {
        end::stop(core, task, place);
    }
    core.owned.replace(tasks);
}
