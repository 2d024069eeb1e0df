//! Tasks that are ready: spawned, woken, resumed from a pause, or deferred. Their lists, and adding to them.

use crate::core::base::list::{Fifo, List};
use crate::core::phase::state::PhaseState;
use crate::core::task::{Flags, Task};
use crate::core::{Core, pause};
use crate::time::PhaseIndex;

/// Names a task in a list of ready tasks. The key is stale once a run has polled the
/// task since, or the task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyKey {
    pub(crate) index: u32,
    stamp: u32,
}

/// A list that a ready task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The list of the run under way.
    Run,
    /// The list of its home phase, for the run of this number.
    Home(u64),
    /// The list of another phase.
    Away,
}

/// The ready tasks of the next run of a phase, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct ReadyList {
    pub(crate) keys: List<ReadyKey>,
    /// The buffer of a list that was taken earlier.
    spare: List<ReadyKey>,
}

impl ReadyList {
    /// Takes the list for a run that begins now.
    pub(crate) fn take(&self) -> Vec<ReadyKey> {
        self.keys.replace(self.spare.take())
    }

    /// Takes back the buffer of a list that was taken.
    pub(crate) fn give_back(&self, mut keys: Vec<ReadyKey>) {
        keys.clear();
        self.spare.replace(keys);
    }
}

/// The ready tasks of an executor. The list of the run under way is here; the
/// list for the next run of each phase is in its `PhaseState`.
///
/// A task may be ready in several phases, and is then in several lists. The first poll
/// serves all of them: it makes the other keys stale.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// For each task, by index: how often it has become ready, and which lists it is in.
    ///
    /// ```text
    /// 31          3 2               1      0
    /// [ count     ] [odd run number] [home] [run under way]
    /// ```
    stamps: List<u32>,
    /// The ready tasks of the run under way.
    run: Fifo<ReadyKey>,
}

const IN_RUN: u32 = 1;
const IN_HOME: u32 = 1 << 1;
const ODD: u32 = 1 << 2;
const COUNT_BITS: u32 = 3;
const COUNT: u32 = 1 << COUNT_BITS;

impl Listing {
    /// The bits that say that a task is in the list.
    fn bits(self) -> u32 {
        match self {
            Listing::Run => IN_RUN,
            Listing::Home(run) if run % 2 == 1 => IN_HOME | ODD,
            Listing::Home(_) => IN_HOME,
            Listing::Away => 0,
        }
    }

    /// The bits that the list determines.
    fn mask(self) -> u32 {
        match self {
            Listing::Run => IN_RUN,
            Listing::Home(_) => IN_HOME | ODD,
            Listing::Away => 0,
        }
    }
}

impl Ready {
    /// Returns a key for a task that is about to be added to `list`. If the task `becomes`
    /// ready now, its earlier keys go stale.
    #[inline(always)]
    pub(crate) fn key(&self, index: u32, becomes: bool, list: Listing) -> ReadyKey {
        let Some(stamp) = self.stamps.get(index as usize) else {
            return self.first_key(index, list);
        };
        let before = if becomes {
            (stamp | (COUNT - 1)).wrapping_add(1)
        } else {
            stamp & !list.mask()
        };
        self.note(index, before | list.bits())
    }

    /// Stores the stamp of a task that is in the table. Returns a key with it.
    #[inline]
    fn note(&self, index: u32, stamp: u32) -> ReadyKey {
        self.stamps.set(index as usize, stamp);
        let stamp = stamp >> COUNT_BITS;
        ReadyKey { index, stamp }
    }

    #[cold]
    #[inline(never)]
    fn first_key(&self, index: u32, list: Listing) -> ReadyKey {
        let len = self.stamps.len();
        self.stamps
            .grow_to((index as usize + 1).max(len + len / 4), 0);
        self.note(index, COUNT | list.bits())
    }

    /// Whether a key is not stale. Its task must be ready.
    #[inline]
    pub(crate) fn is_current(&self, key: ReadyKey) -> bool {
        let stamp = self.stamps.get(key.index as usize);
        stamp.is_some_and(|stamp| stamp >> COUNT_BITS == key.stamp)
    }

    /// Whether a ready task is in `list`, which is not [`Listing::Away`].
    #[inline]
    pub(crate) fn is_in(&self, index: u32, list: Listing) -> bool {
        let stamp = self.stamps.get(index as usize);
        stamp.is_some_and(|stamp| stamp & list.mask() == list.bits())
    }

    /// Notes that a ready task is neither in the list of the run under way nor in that of
    /// its home phase.
    pub(crate) fn leave(&self, index: u32) {
        if let Some(stamp) = self.stamps.get(index as usize) {
            self.note(index, stamp & !(COUNT - 1));
        }
    }

    /// Adds a task to the list of the run under way.
    #[inline]
    pub(crate) fn push(&self, index: u32, becomes: bool) {
        let key = self.key(index, becomes, Listing::Run);
        self.run.push(key);
    }

    /// Takes the first key from the list of the run under way.
    #[inline]
    pub(crate) fn pop(&self) -> Option<ReadyKey> {
        self.run.pop()
    }

    /// How many keys [`pop`](Self::pop) has taken. Tells the turns of a run apart.
    pub(crate) fn turns(&self) -> u64 {
        self.run.taken()
    }
}

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

#[cfg(test)]
mod tests {
    use super::{Listing, Ready};

    #[test]
    fn the_keys_of_a_task_count_until_it_becomes_ready_again() {
        let ready = Ready::default();
        let home = ready.key(7, true, Listing::Home(4));
        let away = ready.key(7, false, Listing::Away);
        let other = ready.key(3, true, Listing::Home(4));
        assert!([home, away, other].iter().all(|&key| ready.is_current(key)));
        ready.push(7, true);
        assert!(!ready.is_current(home) && !ready.is_current(away));
        assert!(ready.pop().is_some_and(|key| ready.is_current(key)));
        assert_eq!(ready.pop(), None);
        assert!(ready.is_current(other));
    }

    #[test]
    fn a_task_knows_in_which_lists_it_is() {
        let ready = Ready::default();
        ready.key(0, true, Listing::Home(4));
        assert!(ready.is_in(0, Listing::Home(4)) && !ready.is_in(0, Listing::Home(5)));
        ready.push(0, false);
        assert!(ready.is_in(0, Listing::Home(4)) && ready.is_in(0, Listing::Run));
        ready.key(0, false, Listing::Home(5));
        assert!(ready.is_in(0, Listing::Home(5)) && !ready.is_in(0, Listing::Home(4)));
        ready.leave(0);
        assert!(!ready.is_in(0, Listing::Home(5)) && !ready.is_in(0, Listing::Run));
        ready.key(0, true, Listing::Away);
        assert!(!ready.is_in(0, Listing::Home(4)) && !ready.is_in(0, Listing::Run));
    }
}
