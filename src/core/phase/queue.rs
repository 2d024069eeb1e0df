//! The waiters of a phase, in the order they began to wait.

use std::cell::Cell;

use crate::core::base::key::WaitKey;
use crate::core::base::list::List;

/// The waits for the next run of a phase. A run takes those that are due. A
/// coroutine that waits again is pushed again.
///
/// ```text
/// [ a b c | d e ]
///          ^ line: d and e have begun to wait in this frame
/// ```
///
/// A wait for a later *frame* is due in a run only if its key is before the
/// line. A wait that is dropped leaves a stale key behind.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: List<WaitKey>,
    /// The buffer of a list that was taken earlier.
    spare: List<WaitKey>,
    /// The position of the line.
    line: Cell<usize>,
    /// How many keys may be stale.
    stale: Cell<usize>,
}

/// How many stale keys are not worth a sweep.
const FEW: usize = 64;

impl Queue {
    #[inline(always)]
    pub(crate) fn push(&self, key: WaitKey) {
        self.waiting.push(key);
    }

    /// Pushes a key if the buffer has room for it. Returns whether it has pushed it.
    #[inline(always)]
    pub(crate) fn push_in_place(&self, key: WaitKey) -> bool {
        self.waiting.push_in_place(key)
    }

    /// Notes that a frame begins: all waits in the queue began in an earlier one.
    #[inline]
    pub(crate) fn begin_frame(&self) {
        self.line.set(self.waiting.len());
    }

    /// Takes the waits that are due in a run that begins now. `is_later` says whether a
    /// wait that began in this frame must wait for a later frame.
    pub(crate) fn take_due(&self, mut is_later: impl FnMut(WaitKey) -> bool) -> Vec<WaitKey> {
        let mut due = self.waiting.replace(self.spare.take());
        self.stale.set(0);
        let line = self.line.take();
        if line < due.len() {
            let mut kept = line;
            for at in line..due.len() {
                let key = due[at];
                if is_later(key) {
                    self.waiting.push(key);
                } else {
                    due[kept] = key;
                    kept += 1;
                }
            }
            due.truncate(kept);
        }
        due
    }

    /// Takes back the buffer of a list that was taken.
    pub(crate) fn give_back(&self, mut due: Vec<WaitKey>) {
        due.clear();
        self.spare.replace(due);
    }

    /// Counts a wait that was dropped. Removes the stale keys once they are too many.
    pub(crate) fn note_stale(&self, mut is_live: impl FnMut(WaitKey) -> bool) {
        let stale = self.stale.get() + 1;
        self.stale.set(stale);
        if stale > FEW && stale * 2 > self.waiting.len() {
            let (mut at, mut before_line) = (0, 0);
            let line = self.line.get();
            self.waiting.retain(|&key| {
                let live = is_live(key);
                before_line += usize::from(live && at < line);
                at += 1;
                live
            });
            self.line.set(before_line);
            self.stale.set(0);
        }
    }

    /// The keys in the queue, stale ones included.
    pub(crate) fn keys(&self) -> &List<WaitKey> {
        &self.waiting
    }

    /// Calls `f` with each key, which may be stale, and whether it was before the line.
    pub(crate) fn each(&self, mut f: impl FnMut(bool, WaitKey)) {
        let line = self.line.get();
        let keys = self.waiting.iter().enumerate();
        keys.for_each(|(at, key)| f(at < line, key));
    }

    /// Removes all keys.
    pub(crate) fn clear(&self) {
        self.waiting.clear();
        self.line.set(0);
        self.stale.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Queue};
    use crate::core::base::key::WaitKey;

    fn key(index: u32) -> WaitKey {
        WaitKey::of_task(index, 0)
    }

    fn take(queue: &Queue, later: &[u32]) -> Vec<u32> {
        let due = queue.take_due(|key| later.contains(&key.index()));
        due.iter().map(|key| key.index()).collect()
    }

    #[test]
    fn what_waits_for_a_later_frame_is_due_from_the_next_frame_on() {
        let queue = Queue::default();
        (0..2).for_each(|index| queue.push(key(index)));
        queue.begin_frame();
        (2..5).for_each(|index| queue.push(key(index)));
        // 0 began in an earlier frame, so a wait for a later frame is due too.
        assert_eq!(take(&queue, &[0, 3]), [0, 1, 2, 4]);
        assert_eq!(take(&queue, &[0, 3]), []);
        queue.begin_frame();
        assert_eq!(take(&queue, &[0, 3]), [3]);
    }

    #[test]
    fn a_sweep_keeps_the_line_where_it_was() {
        let queue = Queue::default();
        let many = u32::try_from(FEW).unwrap() + 20;
        (0..many).for_each(|index| queue.push(key(index)));
        queue.begin_frame();
        (many..many + 10).for_each(|index| queue.push(key(index)));
        // Only every tenth of the earlier ones stays.
        let is_live = |key: WaitKey| key.index() % 10 == 0 || key.index() >= many;
        for _ in 0..=FEW {
            queue.note_stale(is_live);
        }
        assert_eq!(queue.keys().len(), 9 + 10);
        let later: Vec<u32> = (0..many + 5).collect();
        let due = take(&queue, &later);
        assert_eq!(due[..9], [0, 10, 20, 30, 40, 50, 60, 70, 80]);
        assert_eq!(due[9..], [89, 90, 91, 92, 93].map(|n| n + many - 84)[..]);
    }
}
