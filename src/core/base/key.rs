//! The names of tasks, and of the waits that are registered; tables of waits, for those who look at many.

/// The index of the block in which a coroutine is stored, and the generation of the
/// block's occupant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TaskKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl TaskKey {
    /// The key of no task: generations count from 1.
    pub(crate) const NOBODY: TaskKey = TaskKey {
        index: 0,
        generation: 0,
    };
}

/// Names a wait that is registered with a task itself or with an
/// [entry](crate::core::registration::entries).
///
/// ```text
/// 63      32 31     30          0
/// [ stamp ] [entry] [ index     ]
/// ```
///
/// Queues, wheels and lists of joins hold keys. When the wait has been served
/// or dropped, its task or entry takes another stamp, and lists skip the stale
/// key. A stamp is used again after 2^31 waits of the same task. No list holds a key
/// for that long. A wait may: if it has been served, and is dropped only after that many
/// other waits, it cancels the wait that has its key by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitKey(u64);

const STAMP: u64 = 1 << 32;
const ENTRY: u64 = 1 << 31;
const INDEX: u64 = ENTRY - 1;

impl WaitKey {
    /// The key of no wait.
    pub(crate) const NONE: WaitKey = WaitKey(INDEX);
    /// Stands for a resume not caused by a wait. No wait has this key, registered or not.
    pub(crate) const NOT_A_WAIT: WaitKey = WaitKey(ENTRY | INDEX);
    /// How many tasks, and how many entries, may exist at once.
    pub(crate) const MAX_INDEX: usize = (1 << 31) - 1;

    /// The key of a task with which nothing has been registered yet.
    pub(crate) const fn of_task(index: u32, first_stamp: u32) -> Self {
        WaitKey((first_stamp as u64) << 32 | index as u64)
    }

    /// The stamp of a task or an entry that has had no wait yet. The stamps of two
    /// executors are far apart. So a wait that began in one of them hardly ever has the key
    /// by which the other is resuming a coroutine. With a hundred executors, that takes
    /// millions of waits of the same task, and a wait that is polled in the wrong executor
    /// at that very moment. Such a wait is ready, where it should have panicked.
    pub(crate) const fn first_stamp(executor: u32) -> u32 {
        // The golden ratio spreads consecutive numbers. The stamp is even: no wait is
        // registered.
        executor.wrapping_mul(0x9E37_79B9) << 1
    }

    pub(crate) const fn of_entry(index: u32, stamp: u32) -> Self {
        WaitKey((stamp as u64) << 32 | ENTRY | index as u64)
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        WaitKey(bits)
    }

    #[inline(always)]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn is_entry(self) -> bool {
        self.0 & ENTRY != 0
    }

    /// The index of the task. The key must not be that of an entry.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(crate) const fn task_index(self) -> u32 {
        debug_assert!(!self.is_entry());
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> u32 {
        (self.0 & INDEX) as u32
    }

    #[inline(always)]
    pub(crate) const fn stamp(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether a task with this key has a wait registered.
    #[inline(always)]
    pub(crate) const fn is_registered(self) -> bool {
        self.0 & STAMP != 0
    }

    /// The key of the next wait of a task. No wait may be registered with the task.
    #[inline(always)]
    pub(crate) const fn registered(self) -> Self {
        WaitKey(self.0 | STAMP)
    }

    /// The key after a wait was registered, or after its registration has ended.
    #[inline(always)]
    pub(crate) const fn next(self) -> Self {
        WaitKey(self.0.wrapping_add(STAMP))
    }
}

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

#[cfg(test)]
mod tests {
    use super::WaitKey;

    #[test]
    fn a_key_keeps_what_it_is_made_of() {
        for index in [0, 7, (1 << 31) - 2] {
            let task = WaitKey::of_task(index, 0);
            assert!(!task.is_entry() && !task.is_registered());
            assert_eq!((task.index(), task.next().index()), (index, index));
            assert!(task.next().is_registered() && !task.next().next().is_registered());
            let entry = WaitKey::of_entry(index, u32::MAX);
            assert!(entry.is_entry());
            assert_eq!((entry.index(), entry.stamp()), (index, u32::MAX));
            assert_eq!(WaitKey::from_bits(entry.bits()), entry);
        }
    }

    #[test]
    fn executors_begin_with_stamps_that_are_far_apart() {
        let mut stamps: Vec<u32> = (1..=1_000).map(WaitKey::first_stamp).collect();
        assert!(stamps.iter().all(|stamp| stamp % 2 == 0));
        stamps.sort_unstable();
        assert!(stamps.windows(2).all(|pair| pair[1] - pair[0] > 1 << 21));
    }

    #[test]
    fn a_stamp_wraps_and_leaves_the_index_alone() {
        let last = WaitKey::from_bits(u64::from(u32::MAX) << 32 | 5);
        assert_eq!(last.next(), WaitKey::of_task(5, 0));
    }
}
