//! Adding tasks to the lists of ready tasks.

use crate::core::Core;
use crate::core::pause;
use crate::core::phase::ready::{Listing, ReadyKey, ReadyList};
use crate::core::phase::state::PhaseState;
use crate::core::task::{Flags, Task};
use crate::time::PhaseIndex;

/// Makes a task that is not paused ready in the run under way, unless it is already.
pub(crate) fn soon_once(core: &Core, task: Task<'_>) {
    if !is_in_run(core, task) {
        soon(core, task);
    }
}

/// Adds a task that yields to the ready tasks of the run under way, unless it is one.
pub(crate) fn yields(core: &Core, task: Task<'_>) {
    if !is_in_run(core, task) {
        soon(core, task);
        task.set(Flags::YIELDED);
    }
}

/// Whether a task is known to be ready in the run under way: from the list of the run, or
/// from that of the task's home phase. Other lists are not checked.
fn is_in_run(core: &Core, task: Task<'_>) -> bool {
    let home = task.home();
    task.has(Flags::READY)
        && (core.ready.is_in(task.index(), Listing::Run)
            || core.runs.phase() == Some(home)
                && core
                    .ready
                    .is_in(task.index(), Listing::Home(runs_of(core, home))))
}

/// Queues a new task: for the run under way if `in_run`, else for the next run of its
/// home phase. A task that is paused from the start remembers a wake instead.
#[inline(always)]
pub(crate) fn new(core: &Core, task: Task<'_>, in_run: bool) {
    if task.has(Flags::PAUSED) {
        pause::remember_wake(core, task, task.home());
    } else if in_run {
        soon(core, task);
    } else {
        let state = core.phases.get(task.home());
        add(core, state, task, true, Listing::Home(state.runs.get() + 1));
    }
}

/// Adds a task to the ready tasks of the run under way.
#[inline(always)]
pub(crate) fn soon(core: &Core, task: Task<'_>) {
    core.ready.push(task.index(), !task.has(Flags::READY));
    task.set(Flags::READY);
}

/// Adds a task to the ready tasks of the next run of `phase`. If `phase` is the task's
/// home, does so only once.
#[inline]
pub(crate) fn later(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    let state = core.phases.get(phase);
    let list = if phase == task.home() {
        Listing::Home(state.runs.get() + 1)
    } else {
        Listing::Away
    };
    let becomes = !task.has(Flags::READY);
    if !becomes && list != Listing::Away && core.ready.is_in(task.index(), list) {
        return;
    }
    add(core, state, task, becomes, list);
}

#[inline(always)]
fn add(core: &Core, state: &PhaseState, task: Task<'_>, becomes: bool, list: Listing) {
    task.set(Flags::READY);
    let key = core.ready.key(task.index(), becomes, list);
    core.host.note_due();
    if !state.ready.keys.push_in_place(key) {
        add_with_more_room(core, &state.ready, key);
    }
}

/// Adds a key to a list that has no room left.
#[cold]
#[inline(never)]
fn add_with_more_room(core: &Core, list: &ReadyList, key: ReadyKey) {
    // Only the list of a phase that never runs can collect stale keys without bound.
    // It becomes longer than all tasks together.
    if list.keys.len() > 2 * core.tasks.len() as usize {
        list.keys.retain(|&key| is_ready(core, key));
    }
    list.keys.push(key);
}

/// How many runs of a phase have begun.
fn runs_of(core: &Core, phase: PhaseIndex) -> u64 {
    core.phases.get(phase).runs.get()
}

/// Whether the task of `key` is ready, and has been since the key was added.
#[inline(always)]
pub(crate) fn is_ready(core: &Core, key: ReadyKey) -> bool {
    core.tasks.at(key.index).has(Flags::READY) && core.ready.is_current(key)
}

/// The task of `key`, if the key is not stale.
#[inline(always)]
pub(crate) fn task(core: &Core, key: ReadyKey) -> Option<Task<'_>> {
    is_ready(core, key).then(|| core.tasks.at(key.index))
}

/// Defers a ready task to the next run of `phase`. The run under way has taken its key.
pub(crate) fn again(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    core.ready.leave(task.index());
    task.clear(Flags::YIELDED);
    later(core, task, phase);
}
