//! Putting back what a [view](super::view) has shown: for clients that restore an executor.
//!
//! The tasks are new: none of them has run, and their waits are in no list. A client
//!
//! 1. [registers](register) each wait with its task,
//! 2. makes all phases as new ([`begin`]), and sets the [numbers](phase) of those that it knows,
//! 3. puts each wait back with [`list`], [`join`] or [`owner_end`], whichever shows where it stood,
//!    and what a task has beside its waits with [`paused`], [`own_clocks`], [`deferred_start`] and
//!    [`ready()`],
//! 4. calls [`end`], so that a sleeping host looks anew.
//!
//! It may be given wrong numbers by a damaged image. What would break the core is refused: then
//! the functions return `false`, or nothing.

use std::cell::Cell;

use crate::core::Core;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::owners::OwnerKey;
use crate::core::pause::Pause;
use crate::core::pause::own::OwnClocks;
use crate::core::pause::timers::Timer;
use crate::core::phase::ready;
use crate::core::phase::state::Listed;
use crate::core::registration::waits::Registered;
use crate::core::task::{Flags, Task};
use crate::core::timer::TimerList;
use crate::time::PhaseIndex;

/// Registers a wait of a new task. Returns its key, which is in no list yet. `None` if the
/// task has a wait of its own already.
pub(crate) fn register(core: &Core, task: Task<'_>, how: Registered) -> Option<WaitKey> {
    if how.has_entry {
        task.set(Flags::ENTRIES);
        let mut entries = core.entries.borrow_mut();
        let key = entries.insert(task.task_key(), None, how.is_for_later_frame);
        if how.asks_condition {
            entries.note_condition(key);
        }
        Some(key)
    } else if task.is_registered() {
        None
    } else {
        let key = task.free_key().register(how.is_for_later_frame);
        if how.asks_condition {
            task.note_condition();
        }
        Some(key)
    }
}

/// Makes all phases as new.
pub(crate) fn begin(core: &Core) {
    core.phases.reset();
}

/// Sets the counters and readings of a phase.
pub(crate) fn phase(core: &Core, phase: PhaseIndex, numbers: [u64; 5]) {
    let state = core.phases.get(phase);
    let cells: [&Cell<u64>; 5] = state.numbers();
    for (cell, number) in cells.into_iter().zip(numbers) {
        cell.set(number);
    }
    state.note_other();
}

/// Puts a wait into a list of a phase, behind those that are there. Of a timer that a pause
/// holds, `since_ns` is what its clock read when the pause began.
pub(crate) fn list(
    core: &Core,
    phase: PhaseIndex,
    key: WaitKey,
    listed: Listed<'_>,
    since_ns: Option<u64>,
) {
    core.phases.get(phase).list(key, listed);
    if let Listed::Timer(clock, due_ns, list) = listed {
        let since_ns = since_ns.filter(|_| !matches!(list, TimerList::Overdue(_)));
        let timer = Timer::new(phase, clock.index(), due_ns);
        core.timers().restore(key, timer, since_ns);
    }
}

/// Adds a wait to the joins of a task. `false` if it cannot be a join.
pub(crate) fn join(core: &Core, task: Task<'_>, key: WaitKey) -> bool {
    let is_join = key.is_entry() && core.entries.borrow().joins(key).is_none();
    if is_join {
        core.waits().join(task, key);
    }
    is_join
}

/// Adds a wait to those for the end of an owner, which has its coroutines. `false` if it cannot
/// be one.
pub(crate) fn owner_end(core: &Core, owner: OwnerKey, key: WaitKey) -> bool {
    let is_over = core.owners.borrow().is_empty(owner);
    if !key.is_entry() || is_over {
        return false;
    }
    let is_live = |key| core.waits().is_live(key);
    core.owners.borrow_mut().add_end(owner, key, is_live);
    true
}

/// Sets whether a task is paused. `false` if it is not, and a timer is held.
pub(crate) fn paused(core: &Core, task: Task<'_>, is_paused: bool) -> bool {
    if is_paused {
        task.set(Flags::PAUSED);
    } else {
        task.clear(Flags::PAUSED);
    }
    let holds_none = core.colds.pause_of(task, |pause| pause.held.is_empty());
    is_paused || holds_none.unwrap_or(true)
}

/// Changes the pause of a task.
pub(crate) fn pause<R>(core: &Core, task: Task<'_>, f: impl FnOnce(&mut Pause) -> R) -> R {
    core.colds.edit_pause(task, f)
}

/// Sets the clocks on which a task keeps own time.
pub(crate) fn own_clocks(core: &Core, task: Task<'_>, own: Box<OwnClocks>) {
    core.colds.of_or_new(task, |cold| cold.own = Some(own));
}

/// Defers the start of a task to the next run.
pub(crate) fn deferred_start(core: &Core, task: TaskKey) {
    core.starts.deferred.push(task);
    core.arrivals.note_news();
}

/// Makes a task ready for the next run of a phase.
pub(crate) fn ready(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    ready::later(core, task, phase);
}

/// Notes that all is put back.
pub(crate) fn end(core: &Core) {
    core.timers.note_change();
    core.host.note_due();
    core.host.notify();
}
