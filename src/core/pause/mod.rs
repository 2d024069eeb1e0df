//! Pausing: a flag that a run checks, one remembered wake, and timers that stand
//! still.
//!
//! Nothing is taken out of queues and wheels when a coroutine is paused. A wait
//! that is due during the pause is served, and the coroutine remembers one wake. A timer
//! that its wheel finds due is suspended. When the pause ends, the timer is inserted again,
//! later by the length of the pause.

pub(crate) mod clocks;
pub(crate) mod counts;
pub(crate) mod own;
pub(crate) mod state;
pub(crate) mod timers;

use std::mem::take;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::inspect::{notes, observe};
use crate::core::owners::{OwnerKey, PauseChange};
use crate::core::pause::state::{Pause, Wake};
use crate::core::scope::Scope;
use crate::core::task::{Flags, Task};
use crate::core::wake;
use crate::time::{ClockIndex, ClockRef, ClockState, PhaseIndex};

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
    core.pauses
        .edit(&core.colds, task, |pause| pause.own = paused);
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
    core.pauses.note_change();
    let mut readings = core.pauses.readings.take();
    read_clocks(core, task, &mut readings);
    if paused {
        task.set(Flags::PAUSED);
        core.pauses
            .edit(&core.colds, task, |pause| pause.begin(&readings));
    } else {
        task.clear(Flags::PAUSED);
        unpause(core, task, &readings);
    }
    core.pauses.readings.replace(readings);
    if task.has(Flags::OBSERVED) {
        notes::note_pause(core, task);
    }
}

/// Resumes a task: its timers count again. If it has remembered a wake, it is ready.
fn unpause(core: &Core, task: Task<'_>, readings: &[(ClockIndex, u64)]) {
    let owed = core.colds.pause_of(task, |pause| {
        pause.end(readings);
        (take(&mut pause.suspended), pause.wake.take())
    });
    let Some((suspended, wake)) = owed else {
        return;
    };
    // The timers count again. So one may be due earlier than the host knows.
    core.host.note_due();
    for timer in suspended {
        core.paused_timers().reinsert(task, &timer);
    }
    if let Some(wake) = wake {
        wake::make_ready(core, task, wake.phase);
    }
}

/// Forgets the pause of a task that has ended. Its timers that others may share count again.
pub(crate) fn end(core: &Core, task: Task<'_>) {
    task.clear(Flags::PAUSED);
    let pause = core.colds.of(task, |cold| cold.pause.take()).flatten();
    if let Some(pause) = pause {
        core.pauses.note_ended();
        for timer in &pause.suspended {
            core.host.note_due();
            core.paused_timers().reinsert(task, timer);
        }
    }
}

/// Remembers that a paused coroutine would have been polled in a run of `phase`. The
/// first such wake counts.
#[cold]
pub(crate) fn remember_wake(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    let run = core.runs.serial();
    core.pauses.edit(&core.colds, task, |pause| {
        pause.wake.get_or_insert(Wake { phase, run });
    });
}

/// Remembers that the run under way has reached a wait of a paused coroutine. The wait has
/// been ready since the run began. So it comes before a wake of the same run.
#[cold]
pub(crate) fn remember_due(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    let run = core.runs.serial();
    core.pauses.edit(&core.colds, task, |pause| {
        if pause.wake.is_none_or(|wake| wake.run == run) {
            pause.wake = Some(Wake { phase, run });
        }
    });
}

/// Remembers that a run of `phase` has reached a paused coroutine that was ready before
/// the pause. This replaces any wake from the pause. The coroutine stays ready: it may
/// be in the list of another phase, too.
#[cold]
pub(crate) fn remember_ready(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    core.ready.leave(task.index());
    let run = core.runs.serial();
    core.pauses.edit(&core.colds, task, |pause| {
        pause.wake = Some(Wake { phase, run });
    });
}

/// Notes that the coroutine that `scope` polls has a timer on `clock`, for runs of
/// `phase`: a pause of the coroutine has to read that clock.
#[cold]
#[inline(never)]
pub(crate) fn note_clock(
    core: &Core,
    scope: &Scope<'_>,
    phase: PhaseIndex,
    clock: &Rc<ClockState>,
) {
    let own = core.shown.clock();
    let is_own = own.is_some_and(|own| Rc::ptr_eq(&own, clock));
    if let Some(task) = scope.current().filter(|_| !is_own) {
        let measure = core.phases.get(phase).measure(clock.index());
        core.colds.of_or_new(task, |cold| {
            cold.clocks.get_or_insert_default().note(measure, clock);
        });
    }
}

/// Reads the clocks of a task, each once, sorted by clock: those of the executor, that of
/// its owner, and those on which its timers and futures count.
fn read_clocks(core: &Core, task: Task<'_>, readings: &mut Vec<(ClockIndex, u64)>) {
    readings.clear();
    readings.extend([
        (ClockIndex::GAME, core.clock.frame_game_ns()),
        (ClockIndex::REALTIME, core.clock.real_ns()),
        (ClockIndex::FIXED, core.clock.fixed_ns()),
    ]);
    let mut read = |index: ClockIndex, clock: &Rc<ClockState>| {
        let now_ns = if index.is_stepped() {
            clock.stepped_ns()
        } else {
            clock.frame_ns()
        };
        readings.push((index, now_ns));
    };
    let owner = core.owners.of(task).filter(|_| task.has(Flags::CLOCK));
    if let Some(owner) = owner {
        if let Some(clock) = core.owners.borrow().clock(owner) {
            // A future may count on it without a timer.
            read(clock.index(), clock);
            read(clock.index().stepped(), clock);
        }
    }
    core.colds.of(task, |cold| {
        if let Some(clocks) = &cold.clocks {
            clocks.each(read);
        }
    });
    readings.sort_unstable();
    readings.dedup_by_key(|&mut (clock, _)| clock);
}

/// Makes the pauses of a task measure `clock`, too: a future of the task counts on it. If
/// the task has paused itself in this poll, this pause as well.
pub(crate) fn measure_clock(core: &Core, task: Task<'_>, clock: &Rc<ClockState>) {
    let ClockRef::Child(clock) = clock.as_ref() else {
        return; // It is always measured.
    };
    let (frames, steps) = (clock.index(), clock.index().stepped());
    core.colds.of_or_new(task, |cold| {
        let clocks = cold.clocks.get_or_insert_default();
        clocks.note(frames, clock);
        clocks.note(steps, clock);
    });
    if task.has(Flags::PAUSED) {
        core.pauses.edit(&core.colds, task, |pause| {
            pause.add_clock(frames, clock.frame_ns());
            pause.add_clock(steps, clock.stepped_ns());
        });
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, pending};
    use std::mem;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use crate::executor::Executor;
    use crate::wait::wait_seconds;

    #[test]
    fn a_forgotten_timer_of_a_paused_coroutine_that_was_stopped_is_no_pause() {
        let mut executor = Executor::new();
        let coroutine = executor.start(async {
            let mut timer = wait_seconds(0.25);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut timer).poll(&mut cx).is_pending());
            mem::forget(timer);
            pending::<()>().await;
        });
        coroutine.pause();
        assert!(executor.core().pauses.any());
        coroutine.stop();
        for _ in 0..3 {
            executor.run_frame(0.25);
            assert!(!executor.core().pauses.any());
        }
    }
}
