//! The waiters of one phase, in the order in which they began to wait.

#![forbid(unsafe_code)]

use std::ops::Range;

use crate::task::TaskRef;
use crate::waiter::Waiter;

/// A phase's waiters: those of the run under way, and those of the next.
///
/// A run goes through the queue from the front. Whoever waits for the next run,
/// too, stays where it is, or moves down to the first place that was left. Those
/// places also take whoever else begins to wait; when there is none, all go to a
/// tail from then on, appended when the run ends. A million coroutines that wait
/// for every frame so need 8 bytes each, and nothing is written for them.
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
    /// Began to wait during this run, after no place below `read` was free.
    tail: Vec<Waiter>,
    /// The waiter of this run that is being polled, or comes next.
    read: usize,
    /// How many places below `read` are free: the last ones. From `TAIL` on, the
    /// tail is in use.
    free: usize,
    /// How many places below `read` are taken, once the tail is in use.
    kept: usize,
    /// Waiters below this index began in an earlier frame.
    earlier_frame: usize,
    running: bool,
    ghosts: usize,
    /// How many places for the next run are those of records.
    records: usize,
    /// The same for the run under way.
    records_in_run: usize,
}

/// More than there can be free places.
const TAIL: usize = 1 << (usize::BITS - 1);

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
        self.places() <= self.ghosts
    }

    /// Whether the run that has begun may have records to fire.
    pub(crate) fn has_records(&self) -> bool {
        self.records_in_run > 0
    }

    #[inline]
    pub(crate) fn push_record(&mut self, index: u32) {
        self.records += 1;
        self.push(Waiter::record(index));
    }

    #[inline]
    pub(crate) fn push_task(&mut self, task: TaskRef) {
        self.push(Waiter::task(task));
    }

    #[inline]
    fn push(&mut self, waiter: Waiter) {
        if self.running {
            self.push_during_run(waiter);
        } else {
            self.waiters.push(waiter);
        }
    }

    /// Like `push_task`, while a run is under way.
    #[inline(always)]
    pub(crate) fn push_task_during_run(&mut self, task: TaskRef) {
        self.push_during_run(Waiter::task(task));
    }

    #[inline]
    fn push_during_run(&mut self, waiter: Waiter) {
        debug_assert!(self.running);
        if self.free == 0 {
            self.use_tail();
        }
        if self.free >= TAIL {
            self.tail.push(waiter);
        } else {
            self.waiters[self.read - self.free] = waiter;
            self.free -= 1;
        }
    }

    /// From now on all go to the tail, so that the order stays.
    fn use_tail(&mut self) {
        self.kept = self.read;
        self.free = TAIL;
    }

    /// Whether a run has anything to go through, be it ghosts.
    pub(crate) fn has_places(&self) -> bool {
        self.places() > 0
    }

    /// How many places there are, ghosts included.
    pub(crate) fn places(&self) -> usize {
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
        self.free = 0;
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

    /// The waiters that the run under way has yet to come to, in order.
    pub(crate) fn left_in_run(&self) -> &[Waiter] {
        if self.running {
            &self.waiters[self.read..]
        } else {
            &[]
        }
    }

    /// The waiters of the next run, in order: all that are not left in the run
    /// under way.
    pub(crate) fn for_next_run(&self) -> impl Iterator<Item = Waiter> {
        let gone_below = if !self.running {
            self.waiters.len()
        } else if self.free >= TAIL {
            self.kept
        } else {
            self.read - self.free
        };
        self.waiters[..gone_below].iter().chain(&self.tail).copied()
    }

    /// The waiter of this run whose turn it is, until it stays or leaves.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<Waiter> {
        self.waiters.get(self.read).copied()
    }

    /// Whose turn it is waits for the next run, too.
    #[inline(always)]
    pub(crate) fn stay(&mut self) {
        if self.free == 0 {
            self.read += 1;
        } else {
            self.stay_behind();
        }
    }

    #[inline(never)]
    fn stay_behind(&mut self) {
        let waiter = self.waiters[self.read];
        self.leave();
        self.push_during_run(waiter);
    }

    /// Whose turn it is does not.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        self.read += 1;
        self.free += 1;
    }

    /// The waiter that many places behind the next one, for prefetching.
    #[inline(always)]
    pub(crate) fn peek(&self, ahead: usize) -> Option<Waiter> {
        self.waiters.get(self.read + ahead).copied()
    }

    pub(crate) fn end_run(&mut self) {
        debug_assert!(self.read == self.waiters.len());
        self.running = false;
        if self.free >= TAIL {
            self.waiters.truncate(self.kept);
            self.waiters.append(&mut self.tail);
        } else {
            self.waiters.truncate(self.read - self.free);
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
        while let Some(waiter) = queue.next() {
            order.push(index(waiter));
            queue.leave();
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
    fn who_stays_keeps_its_place_among_those_who_stay_and_those_who_begin() {
        /// Who stays; who begins to wait while somebody is polled; who is left.
        type Case = (&'static [u32], &'static [(u32, u32)], &'static [u32]);
        let cases: [Case; 5] = [
            (&[0, 1, 2, 3], &[], &[0, 1, 2, 3]),
            (&[0, 2, 3], &[], &[0, 2, 3]),
            (&[0, 2, 3], &[(3, 9)], &[0, 2, 9, 3]),
            (&[0, 1, 2, 3], &[(1, 9)], &[0, 9, 1, 2, 3]),
            (&[1, 3], &[(1, 8), (3, 9)], &[8, 1, 9, 3]),
        ];
        for (stay, begin, expected) in cases {
            let mut queue = PhaseQueue::default();
            (0..4).for_each(|index| queue.push(waiter(index)));
            for turns in [stay, &[0, 1, 2, 3, 8, 9]] {
                queue.begin_run(fresh);
                while let Some(next) = queue.next() {
                    let begun = begin.iter().filter(|(at, _)| *at == index(next));
                    if turns == stay {
                        begun.for_each(|&(_, new)| queue.push(waiter(new)));
                    }
                    if turns.contains(&index(next)) {
                        queue.stay();
                    } else {
                        queue.leave();
                    }
                }
                queue.end_run();
                let left: Vec<u32> = queue.waiters.iter().copied().map(index).collect();
                assert_eq!(left, expected);
            }
        }
    }

    /// Who is left in the run under way, and who waits for the next one.
    fn listed(queue: &PhaseQueue) -> (Vec<u32>, Vec<u32>) {
        let left = queue.left_in_run().iter().copied().map(index).collect();
        (left, queue.for_next_run().map(index).collect())
    }

    #[test]
    fn everybody_is_listed_for_the_run_under_way_or_for_the_next_one() {
        let mut queue = PhaseQueue::default();
        assert!(!queue.has_places());
        (0..4).for_each(|index| queue.push(waiter(index)));
        assert!(queue.has_places() && queue.places() == 4);
        assert_eq!(listed(&queue), (vec![], vec![0, 1, 2, 3]));

        queue.begin_run(fresh);
        assert_eq!(listed(&queue), (vec![0, 1, 2, 3], vec![]));
        queue.stay();
        assert_eq!(listed(&queue), (vec![1, 2, 3], vec![0]));
        queue.leave();
        assert_eq!(listed(&queue), (vec![2, 3], vec![0]));
        queue.push(waiter(8));
        assert_eq!(listed(&queue), (vec![2, 3], vec![0, 8]));
        queue.push(waiter(9));
        assert_eq!(listed(&queue), (vec![2, 3], vec![0, 8, 9]));
        queue.stay();
        assert_eq!(listed(&queue), (vec![3], vec![0, 8, 9, 2]));
        assert_eq!(queue.places(), 6);
        queue.leave();
        queue.end_run();
        assert_eq!(listed(&queue), (vec![], vec![0, 8, 9, 2]));

        // A run in which nobody stays, and one begins who waits for another frame.
        queue.begin_run(fresh);
        (0..4).for_each(|_| queue.leave());
        queue.push(waiter(100));
        queue.end_run();
        assert_eq!(listed(&queue), (vec![], vec![100]));
        queue.begin_run(fresh);
        assert_eq!(listed(&queue), (vec![], vec![100]));
    }

    #[test]
    fn records_are_counted_for_their_run() {
        let mut queue = PhaseQueue::default();
        queue.begin_run(fresh);
        assert!(!queue.has_records());
        queue.push_record(1);
        assert!(!queue.has_records());
        queue.end_run();
        queue.begin_run(fresh);
        assert!(queue.has_records());
        queue.leave();
        queue.end_run();
        queue.begin_run(fresh);
        assert!(!queue.has_records());
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
    fn a_queue_of_ghosts_alone_is_empty() {
        let mut queue = PhaseQueue::default();
        queue.push(waiter(0));
        queue.push(waiter(1));
        queue.note_ghost();
        assert!(!queue.is_empty());
        queue.note_ghost();
        assert!(queue.is_empty());
        queue.let_ghost_go();
        assert!(!queue.is_empty());
    }

    #[test]
    fn ghosts_are_to_be_swept_once_they_outnumber_the_rest_by_far_and_not_in_a_run() {
        let mut queue = PhaseQueue::default();
        queue.push(waiter(0));
        queue.push(waiter(1));
        assert!((0..33).all(|_| !queue.note_ghost()));
        assert!(queue.note_ghost());
        queue.begin_run(fresh);
        assert!(!queue.note_ghost());
    }

    #[test]
    fn a_sweep_keeps_apart_who_began_in_an_earlier_frame() {
        let mut queue = PhaseQueue::default();
        (0..2).for_each(|index| queue.push(waiter(index)));
        queue.begin_frame();
        (2..4).for_each(|index| queue.push(waiter(index)));
        queue.sweep(|waiter| index(waiter) % 2 == 1);
        assert_eq!(listed(&queue).1, [0, 2]);
        assert_eq!(queue.earlier_frame, 1);
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
