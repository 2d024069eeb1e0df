//! The waiters of one phase, in the order in which they began to wait.

use crate::ticket::Ticket;

/// A phase's waiters: those of the run under way, and those of the next.
///
/// A run consumes the queue from the front and rewrites it in place: the slots
/// already read take the waiters of the next run, and only when more begin to
/// wait than were read does the rest go to a tail, appended when the run ends.
/// A million coroutines that wait for every frame so need 8 bytes each.
#[derive(Debug, Default)]
pub(crate) struct PhaseQueue {
    waiters: Vec<Ticket>,
    /// Began to wait during this run, after `waiters` had no room below `read`.
    tail: Vec<Ticket>,
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
    /// How many tickets here are known to be stale.
    stale: usize,
    /// How many tickets for the next run name a record, stale ones included.
    records: usize,
    /// The same for the run under way.
    records_in_run: usize,
}

impl PhaseQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() <= self.stale
    }

    /// Whether the run that has begun may have records to fire.
    pub(crate) fn has_records(&self) -> bool {
        self.records_in_run > 0
    }

    #[inline]
    pub(crate) fn push(&mut self, ticket: Ticket) {
        self.records += usize::from(ticket.is_record());
        if self.running {
            self.push_during_run(ticket);
        } else {
            self.waiters.push(ticket);
        }
    }

    /// Like `push`, of a task's ticket while a run is under way.
    #[inline(always)]
    pub(crate) fn push_during_run(&mut self, ticket: Ticket) {
        debug_assert!(self.running);
        // What was read made room for it, as a rule.
        if self.write < self.read {
            debug_assert!(self.read <= self.waiters.len());
            // SAFETY: `read` counts waiters that were read, so `write`, which is
            // less, is one of them.
            unsafe { *self.waiters.get_unchecked_mut(self.write) = ticket };
            self.write += 1;
        } else {
            self.push_to_tail(ticket);
        }
    }

    #[inline(never)]
    fn push_to_tail(&mut self, ticket: Ticket) {
        if self.tail.is_empty() {
            self.written = self.write;
            // From now on all go to the tail, so that the order stays.
            self.write = usize::MAX;
        }
        self.tail.push(ticket);
    }

    /// How many tickets there are, stale ones included.
    pub(crate) fn len(&self) -> usize {
        self.waiters.len() + self.tail.len()
    }

    /// A frame has begun: all who wait now began in an earlier one.
    pub(crate) fn begin_frame(&mut self) {
        self.earlier_frame = self.waiters.len();
    }

    pub(crate) fn begin_run(&mut self) {
        debug_assert!(!self.running && self.tail.is_empty());
        self.running = true;
        self.read = 0;
        self.write = 0;
        // Counted anew: all that are in here leave, or are pushed again.
        self.records_in_run = std::mem::take(&mut self.records);
    }

    /// The waiters due in a run that begins now, for a look ahead.
    /// `is_bound` tells who waits for a later frame than the one it began in.
    pub(crate) fn due(&self, is_bound: impl Fn(Ticket) -> bool) -> impl Iterator<Item = Ticket> {
        let (earlier, this_frame) = self.waiters.split_at(self.earlier_frame);
        let this_frame = this_frame.iter().filter(move |&&ticket| !is_bound(ticket));
        earlier.iter().chain(this_frame).copied()
    }

    /// The next of those waiters of this run that began in an earlier frame.
    #[inline(always)]
    pub(crate) fn pop_earlier(&mut self) -> Option<Ticket> {
        if self.read >= self.earlier_frame {
            return None;
        }
        debug_assert!(self.earlier_frame <= self.waiters.len());
        // SAFETY: `earlier_frame` is the length of `waiters` at the beginning of
        // the frame or less; they shrink only where it is set anew.
        let ticket = unsafe { *self.waiters.get_unchecked(self.read) };
        self.read += 1;
        Some(ticket)
    }

    /// The next waiter of this run, once those of earlier frames are through.
    /// Those who began in this frame and are bound to a later one stay.
    pub(crate) fn pop(&mut self, is_bound: impl Fn(Ticket) -> bool) -> Option<Ticket> {
        while let Some(&ticket) = self.waiters.get(self.read) {
            self.read += 1;
            if self.read <= self.earlier_frame || !is_bound(ticket) {
                return Some(ticket);
            }
            self.push(ticket);
        }
        None
    }

    /// The tickets `near` and `far` places behind the next one, for prefetching.
    #[inline(always)]
    pub(crate) fn peek(&self, near: usize, far: usize) -> Option<(Ticket, Ticket)> {
        let far = *self.waiters.get(self.read + far)?;
        Some((self.waiters[self.read + near], far))
    }

    pub(crate) fn end_run(&mut self) {
        debug_assert!(self.read == self.waiters.len());
        self.running = false;
        if self.tail.is_empty() {
            self.waiters.truncate(self.write);
        } else {
            self.waiters.truncate(self.written);
            self.waiters.append(&mut self.tail);
        }
        // Whoever waits now began in this frame.
        self.earlier_frame = 0;
        self.stale = 0;
    }

    /// A ticket taken from this queue turned out to be stale.
    #[cold]
    pub(crate) fn skipped_stale(&mut self) {
        self.stale = self.stale.saturating_sub(1);
    }

    /// A ticket in this queue went stale. Once stale ones outnumber the others
    /// they are thrown out, so that a phase nobody runs cannot hoard them.
    pub(crate) fn note_stale(&mut self, is_live: impl Fn(Ticket) -> bool) {
        self.stale += 1;
        if self.running || self.stale * 2 <= self.waiters.len() + 64 {
            return;
        }
        let (mut index, mut earlier_frame) = (0, 0);
        let boundary = self.earlier_frame;
        self.waiters.retain(|&ticket| {
            let live = is_live(ticket);
            earlier_frame += usize::from(live && index < boundary);
            index += 1;
            live
        });
        self.earlier_frame = earlier_frame;
        self.records = self.waiters.iter().filter(|t| t.is_record()).count();
        self.stale = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::PhaseQueue;
    use crate::ticket::Ticket;

    fn ticket(index: u32) -> Ticket {
        Ticket::task(index, 0)
    }

    /// In these tests, tickets from 100 on wait for a later frame.
    fn is_bound(ticket: Ticket) -> bool {
        ticket.index() >= 100
    }

    fn run(queue: &mut PhaseQueue, mut polled: impl FnMut(&mut PhaseQueue, u32)) -> Vec<u32> {
        let mut order = Vec::new();
        queue.begin_run();
        while let Some(ticket) = queue.pop(is_bound) {
            order.push(ticket.index());
            polled(queue, ticket.index());
        }
        queue.end_run();
        order
    }

    #[test]
    fn waiters_of_a_run_come_back_in_the_next_in_the_same_order() {
        let mut queue = PhaseQueue::default();
        (0..4).for_each(|index| queue.push(ticket(index)));
        for _ in 0..3 {
            let order = run(&mut queue, |queue, index| queue.push(ticket(index)));
            assert_eq!(order, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn more_may_begin_to_wait_than_were_read() {
        let mut queue = PhaseQueue::default();
        (0..3).for_each(|index| queue.push(ticket(index)));
        run(&mut queue, |queue, index| {
            queue.push(ticket(index * 10));
            queue.push(ticket(index * 10 + 1));
        });
        let order = run(&mut queue, |_, _| {});
        assert_eq!(order, [0, 1, 10, 11, 20, 21]);
        assert!(queue.is_empty());
    }

    #[test]
    fn frame_bound_waiters_of_this_frame_stay_in_their_place() {
        let mut queue = PhaseQueue::default();
        queue.push(ticket(100));
        queue.begin_frame();
        queue.push(ticket(101));
        queue.push(ticket(2));
        assert_eq!(
            queue.due(is_bound).map(Ticket::index).collect::<Vec<_>>(),
            [100, 2]
        );
        assert_eq!(run(&mut queue, |_, _| {}), [100, 2]);
        assert_eq!(run(&mut queue, |_, _| {}), []);
        queue.begin_frame();
        assert_eq!(run(&mut queue, |_, _| {}), [101]);
    }

    #[test]
    fn stale_tickets_are_thrown_out_before_they_outnumber_the_rest() {
        let mut queue = PhaseQueue::default();
        queue.push(ticket(0));
        queue.begin_frame();
        for _ in 0..10_000 {
            queue.push(ticket(1));
            queue.note_stale(|ticket| ticket.index() == 0);
        }
        assert!(queue.waiters.len() < 200, "{}", queue.waiters.len());
        assert_eq!(queue.waiters[0].index(), 0);
        assert_eq!(queue.earlier_frame, 1);
        assert!(!queue.is_empty());
    }
}
