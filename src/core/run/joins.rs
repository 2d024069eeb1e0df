//! The joins of coroutines that have ended: which coroutine is resumed next.

use crate::core::Core;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::run::fire;
use crate::core::wake;

/// Keeps one join of each coroutine. A coroutine that joined several of the ended
/// tasks is polled once for all of them.
fn keep_one_of_each(core: &Core, ended: &mut Vec<WaitKey>) {
    let (mut seen, mut entries) = (
        core.runs.completions.seen.borrow_mut(),
        core.entries.borrow_mut(),
    );
    let mut others = Vec::new();
    ended.retain(|&key| match entries.task(key) {
        None | Some(TaskKey::NOBODY) => false,
        Some(task) if seen.insert(task) => true,
        Some(_) => {
            others.extend(entries.remove(key));
            false
        }
    });
    seen.clear();
    drop((seen, entries));
    // The wakers have been called. Dropping them is user code, and comes last.
    drop(others);
}

/// Takes the join whose coroutine is resumed next. Calls user code: foreign wakers.
pub(crate) fn next(core: &Core) -> Option<WaitKey> {
    if core.runs.completions.has_ended() {
        take_ended(core);
    }
    core.runs.completions.front.borrow_mut().pop()
}

/// Moves the joins of the tasks that ended to `front`, the first join on top. Calls
/// their foreign wakers.
fn take_ended(core: &Core) {
    let mut ended = core.runs.completions.take();
    if core.entries.borrow().has_foreign() {
        for &key in &ended {
            fire::fire(core, key);
        }
    }
    if ended.len() > 1 {
        keep_one_of_each(core, &mut ended);
    }
    core.runs
        .completions
        .front
        .borrow_mut()
        .extend(ended.iter().rev());
    ended.clear();
    let mut more = core.runs.completions.ended.borrow_mut();
    // The joins of tasks that ended while wakers were called come next.
    std::mem::swap(&mut *more, &mut ended);
    more.append(&mut ended);
}

/// Outside of a run, wakes the joiners of the tasks that ended, like an event from
/// outside. In a run it does nothing: the run polls them.
pub(in crate::core) fn wake_joiners(core: &Core) {
    if core.runs.phase().is_none() && core.runs.completions.has_ended() {
        wake_waiting_joiners(core);
    }
}

#[cold]
#[inline(never)]
fn wake_waiting_joiners(core: &Core) {
    while core.runs.completions.has_ended() {
        let ended = core.runs.completions.take();
        // All become ready before any foreign waker is called. It may run a frame.
        for task in ended.iter().filter_map(|&key| core.waits().task(key)) {
            wake::make_ready(core, task, task.home());
        }
        for key in ended {
            fire::fire(core, key);
            core.waits().take(key);
        }
    }
}
