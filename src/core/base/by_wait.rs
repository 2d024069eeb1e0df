//! Tables of waits, for those who look at many of them.

use crate::core::base::key::WaitKey;

/// A value for each wait: by index of the task if the wait is registered with its task, else by
/// index of the entry.
#[derive(Debug)]
pub(crate) struct ByWait<T> {
    of_tasks: Vec<T>,
    of_entries: Vec<T>,
    /// Of all waits that have got no other.
    none: T,
}

impl<T: Copy> ByWait<T> {
    /// A table for the waits of about so many tasks, in which all have the value `none`.
    pub(crate) fn new(none: T, tasks: usize) -> Self {
        ByWait {
            of_tasks: vec![none; tasks],
            of_entries: Vec::new(),
            none,
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: WaitKey) -> T {
        let table = if key.is_entry() {
            &self.of_entries
        } else {
            &self.of_tasks
        };
        let value = table.get(key.index() as usize);
        value.copied().unwrap_or(self.none)
    }

    #[inline]
    pub(crate) fn set(&mut self, key: WaitKey, value: T) {
        let table = if key.is_entry() {
            &mut self.of_entries
        } else {
            &mut self.of_tasks
        };
        put(table, key.index(), self.none, value);
    }
}

/// Sets the item at `index`, behind as many times `none` as are missing before it.
pub(crate) fn put<T: Copy>(table: &mut Vec<T>, index: u32, none: T, value: T) {
    let index = index as usize;
    if table.len() <= index {
        table.resize(index + 1, none);
    }
    table[index] = value;
}
