//! Waits that several coroutines have polled: clones of `futures`' `Shared`, or a
//! combinator that has moved.
//!
//! The entry of a wait names one coroutine, its *holder*. The wait resumes the
//! holder, and a timer counts on the holder's time. The others are woken through
//! their wakers. The holder is the last coroutine that polled the wait, among those
//! that are not paused. When it is paused or ends, the next one holds the wait. If
//! all are paused, the wait stands still until one is resumed.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::core::task::TaskKey;
use crate::time::{ClockIndex, PhaseIndex};

use super::Core;
use super::key::WaitKey;
use super::registration::Place;
use super::task::{Flags, Task};

/// How long a coroutine has been paused, as a clock counts in runs of a phase.
type PausedNs = fn(&Core, Task<'_>, PhaseIndex, ClockIndex) -> u64;

/// One wait that several coroutines have polled.
#[derive(Debug)]
struct SharedWait {
    key: WaitKey,
    /// The phase and the clock of a timer.
    timer: Option<(PhaseIndex, ClockIndex)>,
    /// The coroutines, by the number of their latest poll.
    polls: BTreeMap<u64, TaskKey>,
    /// Those of the polls whose coroutines are not paused.
    running: BTreeSet<u64>,
    /// The number of the holder's latest poll.
    holder: u64,
    /// What is added to the pauses of the holder, so that the time of the wait
    /// continues where it stood with the holder before. It wraps.
    offset_ns: u64,
}

/// All such waits of an executor, by index of their entries.
#[derive(Debug, Default)]
pub(super) struct SharedWaits {
    waits: HashMap<u32, SharedWait>,
    /// The number of each coroutine's latest poll of each wait.
    of_task: HashMap<TaskKey, HashMap<u32, u64>>,
    polls: u64,
}

impl SharedWaits {
    pub(super) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// What is added to the pauses of the holder of a wait.
    pub(super) fn offset_ns(&self, key: WaitKey) -> u64 {
        let wait = self.waits.get(&key.index());
        wait.map_or(0, |wait| wait.offset_ns)
    }

    /// Notes that `task` polls the wait that `holder` holds. Both come with whether they
    /// run, and are not paused.
    fn note_poll(
        &mut self,
        key: WaitKey,
        timer: Option<(PhaseIndex, ClockIndex)>,
        holder: (TaskKey, bool),
        task: (TaskKey, bool),
    ) {
        let index = key.index();
        let (holder, holder_runs) = holder;
        let (task, task_runs) = task;
        let wait = self.waits.entry(index).or_insert_with(|| {
            self.polls += 1;
            let entries = self.of_task.entry(holder).or_default();
            entries.insert(index, self.polls);
            SharedWait {
                key,
                timer,
                polls: BTreeMap::from([(self.polls, holder)]),
                running: holder_runs.then_some(self.polls).into_iter().collect(),
                holder: self.polls,
                offset_ns: 0,
            }
        });
        self.polls += 1;
        let entries = self.of_task.entry(task).or_default();
        if let Some(earlier) = entries.insert(index, self.polls) {
            wait.polls.remove(&earlier);
            wait.running.remove(&earlier);
            if wait.holder == earlier {
                wait.holder = self.polls;
            }
        }
        wait.polls.insert(self.polls, task);
        if task_runs {
            wait.running.insert(self.polls);
        }
    }

    /// Notes whether the coroutine of a poll runs.
    fn set_running(&mut self, index: u32, poll: u64, runs: bool) {
        if let Some(wait) = self.waits.get_mut(&index) {
            if runs {
                wait.running.insert(poll);
            } else {
                wait.running.remove(&poll);
            }
        }
    }

    /// Removes a wait that has been served or dropped.
    #[cold]
    pub(super) fn remove(&mut self, key: WaitKey) {
        let Some(wait) = self.waits.remove(&key.index()) else {
            return;
        };
        for task in wait.polls.values() {
            if let Some(entries) = self.of_task.get_mut(task) {
                entries.remove(&key.index());
                if entries.is_empty() {
                    self.of_task.remove(task);
                }
            }
        }
    }

    /// The waits that `task` has polled, each with the number of its latest poll.
    fn of(&self, task: TaskKey) -> Vec<(u32, u64)> {
        let polls = self.of_task.get(&task).into_iter().flatten();
        polls.map(|(&index, &poll)| (index, poll)).collect()
    }

    /// The number and the coroutine of the latest poll that `accepts`, of coroutines that
    /// run.
    fn latest_running(
        &self,
        index: u32,
        accepts: impl Fn(TaskKey) -> bool,
    ) -> Option<(u64, TaskKey)> {
        let wait = self.waits.get(&index)?;
        let mut latest = wait.running.iter().rev();
        latest.find_map(|poll| Some((*poll, *wait.polls.get(poll).filter(|&&task| accepts(task))?)))
    }

    /// The number and the coroutine of the latest poll by another coroutine than `task`.
    fn latest_of_others(&self, index: u32, task: TaskKey) -> Option<(u64, TaskKey)> {
        let mut latest = self.waits.get(&index)?.polls.iter().rev();
        latest.find_map(|(&poll, &other)| (other != task).then_some((poll, other)))
    }
}

impl Core {
    /// Notes that `task` polls the wait of `key`, whose entry names another
    /// coroutine.
    #[cold]
    pub(super) fn share(&self, key: WaitKey, task: Task<'_>, phase: PhaseIndex, place: Place) {
        let timer = match place {
            Place::Timer(clock) => Some((phase, clock)),
            _ => None,
        };
        let Some(holder) = self.entries.borrow_mut().set_shared(key) else {
            return;
        };
        let holder_runs = self.runs_on(holder);
        let poll = {
            let shared = &mut self.entries.borrow_mut().shared;
            let task = (task.task_key(), !task.has(Flags::PAUSED));
            shared.note_poll(key, timer, (holder, holder_runs), task);
            shared.polls
        };
        // The pause under way of the holder is not one of a coroutine that is new.
        self.hold_if_latest(key.index(), poll, task, Core::paused_before_ns);
    }

    /// Makes a coroutine that is not paused the holder of a wait, if it is the latest
    /// such coroutine that has polled the wait, with the number `poll`.
    /// `paused_ns` is how long the holder before has been paused.
    fn hold_if_latest(&self, index: u32, poll: u64, task: Task<'_>, paused_ns: PausedNs) {
        if task.has(Flags::PAUSED) {
            return;
        }
        let (latest, holder) = {
            let entries = self.entries.borrow();
            let wait = &entries.shared.waits[&index];
            (wait.holder, wait.polls.get(&wait.holder).copied())
        };
        if poll > latest || !holder.is_some_and(|holder| self.runs_on(holder)) {
            self.hand_over(index, poll, task, paused_ns);
        }
    }

    /// Whether a coroutine is alive and not paused.
    fn runs_on(&self, key: TaskKey) -> bool {
        let task = self.tasks.get(key).filter(|task| task.is_alive());
        task.is_some_and(|task| !task.has(Flags::PAUSED))
    }

    /// Gives the shared waits of a coroutine that has been paused or resumed to
    /// their next holders.
    #[inline]
    pub(super) fn pass_shared_waits(&self, task: Task<'_>) {
        if self.entries.borrow().shared.is_empty() {
            return;
        }
        let waits = self.entries.borrow().shared.of(task.task_key());
        for (index, poll) in waits {
            let runs = !task.has(Flags::PAUSED);
            self.entries
                .borrow_mut()
                .shared
                .set_running(index, poll, runs);
            if runs {
                self.hold_if_latest(index, poll, task, Core::paused_so_far_ns);
            } else if self.holds(index, poll) {
                self.hand_on(index);
            }
        }
    }

    /// Gives the shared waits of a coroutine that has ended to their next holders.
    /// If all of those are paused, the latest one holds the wait.
    #[inline]
    pub(super) fn leave_shared_waits(&self, task: Task<'_>) {
        if self.entries.borrow().shared.is_empty() {
            return;
        }
        let waits = self.entries.borrow().shared.of(task.task_key());
        for (index, poll) in waits {
            self.entries
                .borrow_mut()
                .shared
                .set_running(index, poll, false);
            if self.holds(index, poll) && !self.hand_on(index) {
                self.hand_on_to_paused(index, task);
            }
            let shared = &mut self.entries.borrow_mut().shared;
            if let Some(wait) = shared.waits.get_mut(&index) {
                wait.polls.remove(&poll);
            }
        }
        self.entries
            .borrow_mut()
            .shared
            .of_task
            .remove(&task.task_key());
    }

    /// Whether the poll of that number is by the holder of the wait.
    fn holds(&self, index: u32, poll: u64) -> bool {
        let entries = self.entries.borrow();
        let wait = entries.shared.waits.get(&index);
        wait.is_some_and(|wait| wait.holder == poll)
    }

    /// Hands a wait over to the latest coroutine that runs. Returns `false` if none does.
    fn hand_on(&self, index: u32) -> bool {
        let next = {
            let entries = self.entries.borrow();
            let runs_on = |key| self.runs_on(key);
            entries.shared.latest_running(index, runs_on)
        };
        self.hand_on_to(index, next)
    }

    /// Hands a wait over to the latest coroutine but `task`, if there is another one.
    fn hand_on_to_paused(&self, index: u32, task: Task<'_>) {
        let next = {
            let entries = self.entries.borrow();
            entries.shared.latest_of_others(index, task.task_key())
        };
        self.hand_on_to(index, next);
    }

    fn hand_on_to(&self, index: u32, next: Option<(u64, TaskKey)>) -> bool {
        let next = next.and_then(|(poll, key)| Some((poll, self.tasks.get(key)?)));
        if let Some((poll, task)) = next {
            self.hand_over(index, poll, task, Core::paused_so_far_ns);
        }
        next.is_some()
    }

    /// Makes the coroutine that polled the wait with the number `poll` its holder.
    /// `paused_ns` is how long the holder before has been paused.
    fn hand_over(&self, index: u32, poll: u64, to: Task<'_>, paused_ns: PausedNs) {
        let (key, timer, from) = {
            let entries = self.entries.borrow();
            let shared = &entries.shared;
            let wait = &shared.waits[&index];
            let from = wait.polls.get(&wait.holder).copied();
            (wait.key, wait.timer, from)
        };
        let from = from.and_then(|from| self.tasks.get(from));
        let more_ns = match (timer, from) {
            (Some((phase, clock)), Some(from)) if self.has_pauses() => {
                let to_ns = self.paused_so_far_ns(to, phase, clock);
                paused_ns(self, from, phase, clock).wrapping_sub(to_ns)
            }
            _ => 0,
        };
        {
            let shared = &mut self.entries.borrow_mut().shared;
            if let Some(wait) = shared.waits.get_mut(&index) {
                wait.holder = poll;
                wait.offset_ns = wait.offset_ns.wrapping_add(more_ns);
            }
        }
        self.entries.borrow_mut().set_task(key, to.task_key());
        // A timer may count again that was held.
        self.pause_changes.set(self.pause_changes.get() + 1);
        to.set(Flags::ENTRIES);
        if let Some(from) = from.filter(|&from| from != to) {
            self.move_parked(key, from, to);
        }
    }
}
