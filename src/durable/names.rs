//! What the numbers of an image refer to.

use std::cell::Cell;

use crate::core::base::key::{ByWait, TaskKey, WaitKey, put};
use crate::image::ClockNames;

/// What the numbers of an image refer to.
pub(crate) struct Names<'a> {
    /// The tasks, by number.
    pub(super) tasks: &'a [TaskKey],
    /// The number of the task at each index, or `NOBODY`.
    task_numbers: Vec<u32>,
    /// The keys of the waits, by number.
    waits: &'a [WaitKey],
    /// The number of each wait, or `NOBODY`.
    wait_numbers: ByWait<u32>,
    /// For each wait, by number, whether it has been put into a list.
    is_listed: Vec<Cell<bool>>,
    pub(crate) clocks: &'a ClockNames,
}

const NOBODY: u32 = u32::MAX;

impl<'a> Names<'a> {
    pub(crate) fn new(tasks: &'a [TaskKey], waits: &'a [WaitKey], clocks: &'a ClockNames) -> Self {
        let mut names = Names {
            tasks,
            // A task's index is hardly ever larger than how many tasks there are.
            task_numbers: vec![NOBODY; tasks.len()],
            waits,
            wait_numbers: ByWait::new(NOBODY, tasks.len()),
            is_listed: vec![Cell::new(false); waits.len()],
            clocks,
        };
        for (number, task) in tasks.iter().enumerate() {
            put(&mut names.task_numbers, task.index, NOBODY, short(number));
        }
        for (number, &key) in waits.iter().enumerate() {
            if key != WaitKey::NONE {
                names.wait_numbers.set(key, short(number));
            }
        }
        names
    }

    /// How many waits there are.
    pub(super) fn waits(&self) -> usize {
        self.waits.len()
    }

    /// The number of the wait with this key. `None` if the wait is not saved, or the key is
    /// stale.
    pub(crate) fn number(&self, key: WaitKey) -> Option<usize> {
        let number = self.wait_numbers.get(key) as usize;
        (*self.waits.get(number)? == key).then_some(number)
    }

    /// Takes the key of the wait with this number, for the list that the wait is in. `None` if
    /// the wait does not exist, or is in a list already.
    pub(crate) fn key(&self, number: usize) -> Option<WaitKey> {
        let key = self.waits.get(number).copied();
        let key = key.filter(|&key| key != WaitKey::NONE)?;
        (!self.is_listed[number].replace(true)).then_some(key)
    }

    pub(super) fn task_number(&self, task: TaskKey) -> Option<usize> {
        let number = *self.task_numbers.get(task.index as usize)? as usize;
        (*self.tasks.get(number)? == task).then_some(number)
    }
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NOBODY)
}
