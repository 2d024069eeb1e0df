//! Making coroutines ready: wakes from inside, wakes from outside, and yields.
//!
//! A coroutine that wakes itself continues in the next run of its phase, so that it
//! cannot prolong the present run. A yield is the exception: the script asks for it, and continues
//! later in the run under way. Polls for yields have a limit, like those for wakes by other coroutines.

pub(crate) mod calls;
pub(crate) mod host;
pub(crate) mod kept;
pub(crate) mod waker;

use std::task::Waker;

use crate::core::base::key::TaskKey;
use crate::core::observe::{self, ScriptEvent};
use crate::core::phase::ready;
use crate::core::registration::another_executor;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, Task};
use crate::core::wake::waker::{Message, TaskWaker};
use crate::core::{Core, pause};
use crate::task::coroutine::CoroutineId;
use crate::time::PhaseIndex;

/// Handles the call of a waker on this thread, in `scope`, the short way: if the task
/// can be polled later in the run under way. Returns `false` if [`wake`] must handle the
/// call.
#[inline(always)]
pub(crate) fn wake_soon(core: &Core, key: TaskKey, scope: &Scope<'_>) -> bool {
    let Some(task) = core.tasks.get(key) else {
        return false;
    };
    // Another coroutine is being polled in a run of the home phase, so the wake counts for this run. In a
    // run no messages are taken and the host is not notified: there is nothing else to do. A task that is
    // ready already, paused or observed goes the long way.
    let soon = core.runs.phase() == Some(task.home())
        && scope.is_polling_another(task)
        && task.is_alive()
        && !task.has(Flags::SLOW_WAKE);
    if soon {
        ready::soon(core, task);
    }
    soon
}

/// Handles the call of a waker on this thread.
#[inline(never)]
pub(crate) fn wake(core: &Core, key: TaskKey) {
    if let Some(task) = core.tasks.get(key).filter(|task| task.is_alive()) {
        if task.has(Flags::OBSERVED) {
            observe::tell(core, task, ScriptEvent::Woken { by: polled(core) });
        }
        let phase = woken_for(core, task);
        if core.runs.phase() == Some(phase) && !task.has(Flags::TASK_WAKER) {
            count_by_waker(core, task);
        }
        make_ready(core, task, phase);
        core.host.notify_of_wake();
    }
}

/// Gives a task its task waker if the wake of another coroutine prolongs the run. Such a wake is not
/// the call of one: a timer was moved, say. Polls for wakes are counted by that waker.
#[cold]
#[inline(never)]
fn count_by_waker(core: &Core, task: Task<'_>) {
    if !scope::is_innermost(core, task) {
        drop(task_waker(core, task));
    }
}

/// The phase for which a wake counts: home, or that of the run under way if the waker of a
/// due wait of the same coroutine is being called.
fn woken_for(core: &Core, task: Task<'_>) -> PhaseIndex {
    // `fire` calls the wakers before the first poll of the run. A wake that is not of such a call is of
    // something else, and counts at home, even if a wait of the coroutine is due in this run as well.
    let fired = core.runs.fired.get() == Some(task.task_key());
    let run = core.runs.phase().filter(|_| fired);
    run.unwrap_or_else(|| task.home())
}

/// Makes a task ready in `phase`: in the run under way, or in the next one. First takes
/// the messages that arrived earlier.
pub(crate) fn make_ready(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    // The order of the ready list is that of the wakes: what another thread has sent before this
    // call stands before it.
    take_messages_between_runs(core);
    queue_ready(core, task, phase);
}

/// The same without the messages. A paused task remembers the wake instead.
pub(crate) fn queue_ready(core: &Core, task: Task<'_>, phase: PhaseIndex) {
    if task.has(Flags::PAUSED) {
        // It is in no list while it is paused; `resume` makes it ready for what is remembered.
        pause::remember_wake(core, task, phase);
    } else if core.runs.phase() == Some(phase) && !scope::is_innermost(core, task) {
        ready::soon_once(core, task);
    } else {
        // A task that wakes itself while it is polled continues in the next run.
        // Otherwise it could prolong this run without end.
        ready::later(core, task, phase);
    }
}

/// The coroutine of `core` that is being polled.
fn polled(core: &Core) -> Option<CoroutineId> {
    scope::each_current(core, |task| Some(core.id_of(task)))
}

/// Returns a clone of the task waker of a task, for use beyond its poll. Makes the task
/// waker at the first call.
#[cold]
pub(crate) fn task_waker(core: &Core, task: Task<'_>) -> Waker {
    core.colds.of_or_new(task, |cold| {
        let own = cold.waker.get_or_insert_with(|| {
            task.set(Flags::TASK_WAKER);
            TaskWaker::new(core.id, task.task_key(), core.host.injected.clone())
        });
        own.to_waker()
    })
}

/// Takes the messages from other threads, in order of arrival. Calls no user code. The
/// caller must send the events to the trace hook later, and notify the host.
#[inline]
pub(crate) fn take_messages(core: &Core) {
    if core.host.injected.has_messages() && !core.host.is_silenced() {
        take_waiting_messages(core);
    }
}

/// The same unless a run is under way, which takes none: what arrives during a run counts
/// for the runs that have not begun.
#[inline]
pub(crate) fn take_messages_between_runs(core: &Core) {
    if core.runs.phase().is_none() {
        take_messages(core);
    }
}

#[cold]
fn take_waiting_messages(core: &Core) {
    // One batch is enough. Later messages are left to the next call: threads that
    // send without pause would keep this call from returning.
    core.host.silenced(|| {
        let mut messages = core.arrivals.messages.take();
        core.host.injected.take(&mut messages);
        for message in messages.drain(..) {
            match message {
                Message::Wake(wake) => {
                    // A thread that wakes the task from here on sends a new message. What threads did before
                    // is visible to the poll that follows.
                    wake.taken();
                    let task = core.tasks.get(wake.key);
                    if let Some(task) = task.filter(|task| task.is_alive()) {
                        if task.has(Flags::OBSERVED) {
                            observe::tell(core, task, ScriptEvent::Woken { by: polled(core) });
                        }
                        // Not `make_ready`: that would take messages in the middle of taking them.
                        queue_ready(core, task, task.home());
                    }
                }
                // Without room, it is refused when a run begins: its destructor is user code.
                Message::Spawn(spawn) if !core.has_room() => core.arrivals.add_call(spawn),
                Message::Spawn(spawn) => spawn.into_inner()(core.id),
                Message::Call(call) => core.arrivals.add_call(call),
            }
        }
        core.arrivals.messages.replace(messages);
    });
}

/// The turn in which a coroutine has yielded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    executor: u32,
    number: u64,
}

impl Turn {
    /// The present one. With each run and each turn in a run, the number grows.
    fn now(core: &Core) -> Self {
        Turn {
            executor: core.id,
            number: core.runs.serial() + core.ready.turns(),
        }
    }

    /// One that is over: no turn of a run has the number zero.
    pub(crate) fn of_earlier_run(core: &Core) -> Self {
        Turn {
            executor: core.id,
            number: 0,
        }
    }
}

/// Makes the coroutine that `scope` polls ready again, later in the run under way.
/// Returns `None` outside of a run.
pub(crate) fn yield_turn(core: &Core, scope: &Scope<'_>) -> Option<Turn> {
    core.runs.phase()?;
    yield_again(core, scope);
    Some(Turn::now(core))
}

/// Whether it is the turn of the coroutine that yielded: since then, another coroutine
/// has had a turn, or another run has begun.
///
/// # Panics
///
/// If the coroutine yielded in another executor.
pub(crate) fn has_turn(core: &Core, turn: &Turn) -> bool {
    if turn.executor != core.id {
        another_executor();
    }
    turn.number != Turn::now(core).number
}

/// Keeps up a yield that is polled before its turn: by a combinator in the same poll, by
/// another coroutine, or in a poll that used up the readiness that the yield had caused.
pub(crate) fn yield_again(core: &Core, scope: &Scope<'_>) {
    let Some(task) = scope.current() else {
        return;
    };
    match core.runs.phase() {
        // In each case the coroutine is polled again without a wake from outside: a yield is never lost.
        Some(phase) if task.has(Flags::PAUSED) => {
            pause::remember_wake(core, task, phase);
        }
        Some(_) => ready::yields(core, task),
        None => make_ready(core, task, task.home()),
    }
}
