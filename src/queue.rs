//! The waiters of one phase, in the order in which they began to wait.

use std::ops::Range;

use crate::waiter::Waiter;

/// A phase's waiters: those of the run under way, and those of the next.
///
/// A run consumes the queue from the front and rewrites it in place: the slots
/// already read take the waiters of the next run, and only when more begin to
/// wait than were read does the rest go to a tail, appended when the run ends.
/// A million coroutines that wait for every frame so need 8 bytes each.
///
/// Invariant PLACE: a place whose wait is gone, dropped or stopped with its
/// coroutine, stays behind as a *ghost*. Each ghost is announced to
/// `note_ghost`, and its task or record says so when asked and is not given to
/// anybody else until the ghost has left: in a run, or swept out when ghosts
/// outnumber the living. Of several places of one task the last is the one
/// that may be alive.
#[derive(Debug, Default)]
pub(crate) struct PhaseQueue {
    waiters: Vec<Waiter>,
    /// Began to wait during this run, after `waiters` had no room below `read`.
    tail: Vec<Waiter>,
    /// The next waiter of this run.
    read: usize,
    /// Where the next waiter of the following run goes: at most `read`, or
    /// nowhere, once the tail is in use.
    write: usize,
    /// How many waiters have gone below `read`, once the tail is in use.
    written: usize,
    /// Waiters below this index began in an earlier frame.
    earlier_frame: usize,
    running: bool,
    ghosts: usize,
    /// How many places for the next run are those of records.
    records: usize,
    /// The same for the run under way.
    records_in_run: usize,
}

/// What a run does with a waiter that began in its own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fresh {
    /// Due in this run.
    Due,
    /// Waits for a later frame, or is a ghost of one who does.
    Later,
}

impl PhaseQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() <= self.ghosts
    }

    /// Whether the run that has begun may have records to fire.
    pub(crate) fn has_records(&self) -> bool {
        self.records_in_run > 0
    }

    #[inline]
    pub(crate) fn push(&mut self, waiter: Waiter) {
        self.records += usize::from(waiter.is_record());
        if self.running {
            self.push_during_run(waiter);
        } else {
            self.waiters.push(waiter);
        }
    }

    /// Like `push`, of a task while a run is under way.
    #[inline(always)]
    pub(crate) fn push_during_run(&mut self, waiter: Waiter) {
        debug_assert!(self.running);
        // What was read made room for it, as a rule.
        if self.write < self.read {
            debug_assert!(self.read <= self.waiters.len());
            // SAFETY: `read` counts waiters that were read, so `write`, which is
            // less, is one of them.
            unsafe { *self.waiters.get_unchecked_mut(self.write) = waiter };
            self.write += 1;
        } else {
            self.push_to_tail(waiter);
        }
    }

    #[inline(never)]
    fn push_to_tail(&mut self, waiter: Waiter) {
        self.use_tail();
        self.tail.push(waiter);
    }

    /// From now on all go to the tail, so that the order stays.
    fn use_tail(&mut self) {
        if self.write != usize::MAX {
            self.written = self.write;
            self.write = usize::MAX;
        }
    }

    /// How many places there are, ghosts included.
    pub(crate) fn len(&self) -> usize {
        self.waiters.len() + self.tail.len()
    }

    /// A frame has begun: all who wait now began in an earlier one.
    pub(crate) fn begin_frame(&mut self) {
        self.earlier_frame = self.waiters.len();
    }

    /// Those who began in this frame are asked for, whether they are due. Those
    /// who are not go ahead of all who will wait for the next run.
    pub(crate) fn begin_run(&mut self, fresh: impl FnMut(Waiter) -> Fresh) {
        debug_assert!(!self.running && self.tail.is_empty());
        self.running = true;
        self.read = 0;
        self.write = 0;
        // Counted anew: all that are in here leave, or are pushed again.
        self.records_in_run = std::mem::take(&mut self.records);
        if self.earlier_frame < self.waiters.len() {
            self.put_off(fresh);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_off(&mut self, mut fresh: impl FnMut(Waiter) -> Fresh) {
        let mut due = self.earlier_frame;
        for index in self.earlier_frame..self.waiters.len() {
            let waiter = self.waiters[index];
            match fresh(waiter) {
                Fresh::Due => {
                    self.waiters[due] = waiter;
                    due += 1;
                }
                Fresh::Later => self.tail.push(waiter),
            }
        }
        self.waiters.truncate(due);
        if !self.tail.is_empty() {
            self.use_tail();
            self.records = self.tail.iter().filter(|w| w.is_record()).count();
        }
    }

    /// The waiters of a run that begins now, one by one, for a look ahead.
    #[inline(always)]
    pub(crate) fn due_at(&self, index: usize) -> Option<Waiter> {
        debug_assert!(self.read == 0);
        self.waiters.get(index).copied()
    }

    /// Puts a waiter of a run that begins now further ahead, where the one before
    /// it has been moved or is given up.
    #[inline]
    pub(crate) fn move_due(&mut self, waiter: Waiter, index: usize) {
        self.waiters[index] = waiter;
    }

    /// Takes waiters out of a run that begins now.
    pub(crate) fn give_up(&mut self, places: Range<usize>) {
        debug_assert!(self.read == 0);
        self.waiters.drain(places);
    }

    /// The next waiter of this run.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Waiter> {
        let waiter = *self.waiters.get(self.read)?;
        self.read += 1;
        Some(waiter)
    }

    /// The waiter that many places behind the next one, for prefetching.
    #[inline(always)]
    pub(crate) fn peek(&self, ahead: usize) -> Option<Waiter> {
        self.waiters.get(self.read + ahead).copied()
    }

    pub(crate) fn end_run(&mut self) {
        debug_assert!(self.read == self.waiters.len());
        self.running = false;
        if self.write == usize::MAX {
            self.waiters.truncate(self.written);
            self.waiters.append(&mut self.tail);
        } else {
            self.waiters.truncate(self.write);
        }
        // Whoever waits now began in this frame.
        self.earlier_frame = 0;
    }

    /// A ghost was taken from this queue.
    pub(crate) fn let_ghost_go(&mut self) {
        self.ghosts -= 1;
    }

    /// A place in this queue became a ghost. `true`: there are so many that
    /// they should be swept out, so that a phase nobody runs cannot hoard them.
    pub(crate) fn note_ghost(&mut self) -> bool {
        self.ghosts += 1;
        !self.running && self.ghosts * 2 > self.waiters.len() + 64
    }

    /// Throws the ghosts out. `is_ghost` is asked once for each place, in order.
    pub(crate) fn sweep(&mut self, mut is_ghost: impl FnMut(Waiter) -> bool) {
        let (mut index, mut earlier_frame) = (0, 0);
        let boundary = self.earlier_frame;
        self.waiters.retain(|&waiter| {
            let keep = !is_ghost(waiter);
            earlier_frame += usize::from(keep && index < boundary);
            index += 1;
            keep
        });
        self.earlier_frame = earlier_frame;
        self.records = self.waiters.iter().filter(|w| w.is_record()).count();
        self.ghosts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Fresh, PhaseQueue};
    use crate::waiter::{Waiter, Waiting};

    /// Records can be made of nothing, so they stand for all waiters.
    fn waiter(index: u32) -> Waiter {
        Waiter::record(index)
    }

    fn index(waiter: Waiter) -> u32 {
        match waiter.get() {
            Waiting::Record(index) => index,
            Waiting::Task(_) => unreachable!("there are no tasks here"),
        }
    }

    /// In these tests, those from 100 on wait for a later frame.
    fn fresh(waiter: Waiter) -> Fresh {
        if index(waiter) >= 100 {
            Fresh::Later
        } else {
            Fresh::Due
        }
    }

    fn run(queue: &mut PhaseQueue, mut polled: impl FnMut(&mut PhaseQueue, u32)) -> Vec<u32> {
        let mut order = Vec::new();
        queue.begin_run(fresh);
        while let Some(waiter) = queue.pop() {
            order.push(index(waiter));
            polled(queue, index(waiter));
        }
        queue.end_run();
        order
    }

    #[test]
    fn waiters_of_a_run_come_back_in_the_next_in_the_same_order() {
        let mut queue = PhaseQueue::default();
        (0..4).for_each(|index| queue.push(waiter(index)));
        for _ in 0..3 {
            let order = run(&mut queue, |queue, index| queue.push(waiter(index)));
            assert_eq!(order, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn more_may_begin_to_wait_than_were_read() {
        let mut queue = PhaseQueue::default();
        (0..3).for_each(|index| queue.push(waiter(index)));
        run(&mut queue, |queue, index| {
            queue.push(waiter(index * 10));
            queue.push(waiter(index * 10 + 1));
        });
        let order = run(&mut queue, |_, _| {});
        assert_eq!(order, [0, 1, 10, 11, 20, 21]);
        assert!(queue.is_empty());
    }

    #[test]
    fn those_who_wait_for_a_later_frame_come_before_who_begins_in_the_run() {
        let mut queue = PhaseQueue::default();
        queue.push(waiter(100));
        queue.begin_frame();
        for index in [101, 2, 102] {
            queue.push(waiter(index));
        }
        let order = run(&mut queue, |queue, index| queue.push(waiter(index)));
        assert_eq!(order, [100, 2]);
        assert_eq!(run(&mut queue, |_, _| {}), [2]);
        queue.begin_frame();
        assert_eq!(run(&mut queue, |_, _| {}), [101, 102, 100]);
    }

    #[test]
    fn ghosts_are_swept_out_before_they_outnumber_the_rest() {
        let mut queue = PhaseQueue::default();
        queue.push(waiter(0));
        queue.begin_frame();
        for _ in 0..10_000 {
            queue.push(waiter(1));
            if queue.note_ghost() {
                queue.sweep(|waiter| index(waiter) == 1);
            }
        }
        assert!(queue.waiters.len() < 200, "{}", queue.waiters.len());
        assert_eq!(index(queue.waiters[0]), 0);
        assert_eq!(queue.earlier_frame, 1);
        assert!(!queue.is_empty());
    }
}
