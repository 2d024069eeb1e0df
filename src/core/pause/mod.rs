//! Pausing: a flag that a run checks, one remembered wake, and timers that stand
//! still.
//!
//! Nothing is taken out of queues and wheels when a coroutine is paused. A wait
//! that is due during the pause is served, and the coroutine remembers one wake. Its timers
//! are held. When the pause ends, they are inserted again, later by what
//! their clocks have advanced meanwhile.

pub(crate) mod own;
pub(crate) mod timers;

use std::mem::take;

use crate::core::base::key::TaskKey;
use crate::core::observe::{self, ScriptEvent};
use crate::core::owners::{OwnerKey, PauseChange};
use crate::core::pause::timers::HeldTimers;
use crate::core::task::{Flags, Task};
use crate::core::{Core, wake};
use crate::image::{Damaged, Reader, Writer};
use crate::time::PhaseIndex;

/// Pauses or resumes one coroutine. Returns `false` if that changes nothing, or if the
/// coroutine has ended.
pub(crate) fn set_paused(core: &Core, key: TaskKey, paused: bool) -> bool {
    // Earlier wakes come before this.
    wake::take_messages_between_runs(core);
    let task = core.tasks.get(key);
    let Some(task) = task.filter(|task| task.is_alive()) else {
        return false;
    };
    let is_own = |pause: &mut Pause| pause.own;
    if core.colds.pause_of(task, is_own).unwrap_or(false) == paused {
        return false;
    }
    core.colds.edit_pause(task, |pause| pause.own = paused);
    update_pause(core, task);
    observe::settle(core);
    true
}

/// Makes a change to the pause of an owner. Pauses or resumes the coroutines of that
/// owner and of the owners below it, in the order they were spawned. Returns `false` if
/// that changes nothing.
pub(crate) fn change_owner_pause(core: &Core, owner: OwnerKey, change: PauseChange) -> bool {
    wake::take_messages_between_runs(core);
    let mut tasks = core.owned.take();
    let changed = {
        let mut owners = core.owners.borrow_mut();
        owners.change_pause(owner, change, &mut tasks)
    };
    let alive = |key: &TaskKey| core.tasks.get(*key);
    for task in tasks.iter().filter_map(alive) {
        if task.is_alive() {
            update_pause(core, task);
        }
    }
    tasks.clear();
    core.owned.replace(tasks);
    observe::settle(core);
    changed
}

/// Pauses a task if it was paused itself, or an owner above it is paused. Otherwise
/// resumes it.
fn update_pause(core: &Core, task: Task<'_>) {
    let owner = core.owners.of(task);
    let by_owner = owner.is_some_and(|owner| core.owners.borrow().is_paused(owner));
    let own = core.colds.pause_of(task, |pause| pause.own);
    let paused = by_owner || own.unwrap_or(false);
    if paused == task.has(Flags::PAUSED) {
        return;
    }
    core.timers.note_change();
    core.colds.of(task, |cold| {
        if let Some(own) = &mut cold.own {
            own.note_pause(&core.clock, paused);
        }
    });
    let event = if paused {
        task.set(Flags::PAUSED);
        core.timers().hold(task);
        ScriptEvent::Paused
    } else {
        task.clear(Flags::PAUSED);
        unpause(core, task);
        ScriptEvent::Unpaused
    };
    if task.has(Flags::OBSERVED) {
        observe::tell(core, task, event);
    }
}

/// Resumes a task: its timers count again. If it has remembered a wake, it is ready.
fn unpause(core: &Core, task: Task<'_>) {
    let owed = core
        .colds
        .pause_of(task, |pause| (take(&mut pause.held), pause.wake.take()));
    // The timers count again. So one may be due earlier than the host knows.
    core.host.note_due();
    let Some((mut held, wake)) = owed else {
        return;
    };
    for held in held.drain() {
        core.timers().let_go(held);
    }
    // To reuse its memory.
    core.colds.pause_of(task, |pause| pause.held = held);
    if let Some(wake) = wake {
        if wake.has_missed_turn_in_run(core) {
            // A combinator of its own may have woken it when the run began. That wake stood for the
            // turn, which has passed: the task arrives now, as one without a combinator does.
            task.clear(Flags::READY);
        }
        wake::make_ready(core, task, wake.phase);
    }
}

/// Forgets the pause of a task that has ended. A timer that others may share goes on with what is
/// left of it. A timer with the task's own waker resumes no one any more.
pub(crate) fn end(core: &Core, task: Task<'_>) {
    task.clear(Flags::PAUSED);
    let left = core
        .colds
        .of(task, |cold| (take(&mut cold.timers), cold.pause.take()));
    let Some((timers, pause)) = left else {
        return;
    };
    for key in timers {
        let is_own = {
            let entries = core.entries.borrow();
            entries.is_of(key, task.task_key())
        };
        if is_own {
            core.entries.discard(key);
        }
    }
    if let Some(mut pause) = pause {
        core.timers.note_change();
        for held in pause.held.drain() {
            core.host.note_due();
            core.timers().let_go(held);
        }
    }
}

/// Remembers that a paused coroutine would have been polled in a run of `phase`. The
/// first such wake counts.
#[cold]
pub(crate) fn remember_wake(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    core.colds.edit_pause(task, |pause| {
        pause.wake.get_or_insert(Wake::now(core, phase));
    });
}

/// Remembers that the run under way has reached a wait of a paused coroutine. The wait has
/// been ready since the run began. So it comes before a wake of the same run.
#[cold]
pub(crate) fn remember_due(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    let due = Wake {
        is_missed_turn: true,
        ..Wake::now(core, phase)
    };
    core.colds.edit_pause(task, |pause| {
        if pause.wake.is_none_or(|wake| wake.run == due.run) {
            pause.wake = Some(due);
        }
    });
}

/// Remembers that a run of `phase` has reached a paused coroutine that was ready before
/// the pause. This replaces any wake from the pause. The coroutine stays ready: it may
/// be in the list of another phase, too.
#[cold]
pub(crate) fn remember_ready(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    core.ready.leave(task.index());
    core.colds.edit_pause(task, |pause| {
        pause.wake = Some(Wake::now(core, phase));
    });
}

/// The wake and the timers that the task receives when it is resumed.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the task itself is paused, regardless of its owner.
    pub(crate) own: bool,
    /// The one wake that is remembered.
    pub(crate) wake: Option<Wake>,
    /// The timers that stand still.
    pub(crate) held: HeldTimers,
}

/// What has made a paused task ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    /// The phase in which the task will be ready when the pause ends.
    pub(crate) phase: PhaseIndex,
    /// The last run that had begun.
    pub(crate) run: u64,
    /// Whether the turn of a wait has passed in that run.
    is_missed_turn: bool,
}

impl Wake {
    fn now(core: &Core, phase: PhaseIndex) -> Self {
        Wake {
            phase,
            run: core.runs.serial(),
            is_missed_turn: false,
        }
    }

    /// Whether the turn has passed in the run under way.
    fn has_missed_turn_in_run(self, core: &Core) -> bool {
        self.is_missed_turn
            && core.runs.phase() == Some(self.phase)
            && core.runs.serial() == self.run
    }
}

impl Pause {
    /// Writes the pause without its timers to an image.
    pub(crate) fn save(&self, out: &mut Writer) {
        out.put_flag(self.own);
        out.put(self.wake.map_or(0, |wake| wake.phase.as_usize() as u64 + 1));
    }

    /// Reads what [`save`](Self::save) has written.
    pub(crate) fn load(&mut self, image: &mut Reader<'_>) -> Result<(), Damaged> {
        self.own = image.take_flag()?;
        let number = image.take()?;
        let phase = |number| PhaseIndex::from_number(number).ok_or(Damaged);
        let phase = number.checked_sub(1).map(phase).transpose()?;
        // No run to come has this number.
        self.wake = phase.map(|phase| Wake {
            phase,
            run: 0,
            is_missed_turn: false,
        });
        Ok(())
    }
}
