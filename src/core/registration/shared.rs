//! Waits that several coroutines have polled: clones of `futures`' `Shared`, or a
//! combinator that has moved.
//!
//! The entry of a wait names one coroutine, its *holder*. The wait resumes the
//! holder, and a timer counts on the holder's time. The others are woken through
//! their wakers. The holder is the last coroutine that polled the wait, among those
//! that are not paused. When it is paused or ends, the next one holds the wait. If
//! all are paused, the wait stands still until one is resumed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::core::registration::key::WaitKey;
use crate::core::task::TaskKey;
use crate::time::{ClockIndex, PhaseIndex};

/// A wait that several coroutines have polled.
#[derive(Debug)]
pub(crate) struct SharedWait {
    pub(crate) key: WaitKey,
    /// The phase and the clock of a timer.
    pub(crate) timer: Option<(PhaseIndex, ClockIndex)>,
    /// The coroutines, by the number of their latest poll.
    pub(crate) polls: BTreeMap<u64, TaskKey>,
    /// The numbers of those polls whose coroutines are not paused.
    running: BTreeSet<u64>,
    /// The number of the holder's latest poll.
    pub(crate) holder: u64,
    /// An offset to the pauses of the holder. With it the time of the wait continues
    /// where it stood with the previous holder. It wraps.
    pub(crate) offset_ns: u64,
}

/// All such waits of an executor, by index of their entries.
#[derive(Debug, Default)]
pub(crate) struct SharedWaits {
    pub(crate) waits: HashMap<u32, SharedWait>,
    /// The number of each coroutine's latest poll of each wait.
    pub(crate) of_task: HashMap<TaskKey, HashMap<u32, u64>>,
    /// How many polls have been numbered.
    pub(crate) polls: u64,
}

impl SharedWaits {
    pub(crate) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// The offset to the pauses of the holder of a wait.
    pub(crate) fn offset_ns(&self, key: WaitKey) -> u64 {
        let wait = self.waits.get(&key.index());
        wait.map_or(0, |wait| wait.offset_ns)
    }

    /// Notes that `task` polls the wait that `holder` holds. Each of the two comes with
    /// whether it runs: is not paused.
    pub(crate) fn note_poll(
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
    pub(crate) fn set_running(&mut self, index: u32, poll: u64, runs: bool) {
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
    pub(crate) fn remove(&mut self, key: WaitKey) {
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
    pub(crate) fn of(&self, task: TaskKey) -> Vec<(u32, u64)> {
        let polls = self.of_task.get(&task).into_iter().flatten();
        polls.map(|(&index, &poll)| (index, poll)).collect()
    }

    /// The number and the coroutine of the latest poll by a coroutine that runs and that
    /// `accepts` accepts.
    pub(crate) fn latest_running(
        &self,
        index: u32,
        accepts: impl Fn(TaskKey) -> bool,
    ) -> Option<(u64, TaskKey)> {
        let wait = self.waits.get(&index)?;
        let mut latest = wait.running.iter().rev();
        latest.find_map(|poll| Some((*poll, *wait.polls.get(poll).filter(|&&task| accepts(task))?)))
    }

    /// The number and the coroutine of the latest poll by another coroutine than `task`.
    pub(crate) fn latest_of_others(&self, index: u32, task: TaskKey) -> Option<(u64, TaskKey)> {
        let mut latest = self.waits.get(&index)?.polls.iter().rev();
        latest.find_map(|(&poll, &other)| (other != task).then_some((poll, other)))
    }
}
