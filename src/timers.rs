//! The timers of one phase: a wheel for every clock they count on.

#![forbid(unsafe_code)]

use crate::ticket::Ticket;
use crate::wheel::{Due, Wheel};

/// Which clock a timer counts on, in the order in which timers due in one run
/// resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClockIndex(u32);

impl ClockIndex {
    pub(crate) const GAME: ClockIndex = ClockIndex(0);
    pub(crate) const REALTIME: ClockIndex = ClockIndex(1);
}

/// The timers that resume coroutines in one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseTimers {
    /// By clock, ascending.
    clocks: Vec<ClockTimers>,
}

#[derive(Debug)]
struct ClockTimers {
    clock: ClockIndex,
    wheel: Wheel,
    /// Timers whose deadline had been reached when they were made. They are
    /// not due before the next frame, so the wheel does not get them earlier.
    overdue: Vec<Due>,
    /// The frame in which those were made.
    overdue_frame: u64,
    /// Timers cancelled since `overdue` was last swept or emptied.
    cancelled: usize,
}

impl PhaseTimers {
    /// Adds a timer.
    pub(crate) fn insert(&mut self, clock: ClockIndex, deadline_ns: u64, ticket: Ticket) {
        let timers = self.clock_timers(clock);
        timers.wheel.insert(deadline_ns, ticket.bits());
    }

    /// Adds a timer made in `frame`, in which its clock gets to the deadline.
    #[cold]
    pub(crate) fn insert_overdue(
        &mut self,
        clock: ClockIndex,
        deadline_ns: u64,
        ticket: Ticket,
        frame: u64,
    ) {
        let timers = self.clock_timers(clock);
        timers.release_overdue(frame);
        timers.overdue_frame = frame;
        let key = ticket.bits();
        timers.overdue.push(Due { deadline_ns, key });
    }

    /// Moves every ticket that is due in a run of `frame` to `due`: clock by
    /// clock, each by deadline, then by registration.
    pub(crate) fn expire(
        &mut self,
        frame: u64,
        now_ns: impl Fn(ClockIndex) -> u64,
        due: &mut Vec<Due>,
    ) {
        for timers in &mut self.clocks {
            timers.release_overdue(frame);
            timers.wheel.expire(now_ns(timers.clock), due);
        }
    }

    /// A timer on `clock` was cancelled.
    pub(crate) fn note_stale(&mut self, clock: ClockIndex, is_live: impl Fn(Ticket) -> bool) {
        let timers = self.clock_timers(clock);
        // Those that wait out this frame are few, or gone with the next; only a
        // flood of them is worth a sweep.
        timers.cancelled += 1;
        if timers.cancelled * 2 > timers.overdue.len() + 64 {
            timers
                .overdue
                .retain(|due| is_live(Ticket::from_bits(due.key)));
            timers.cancelled = 0;
        }
        timers
            .wheel
            .note_dead(|key| is_live(Ticket::from_bits(key)));
    }

    /// The earliest deadline on `clock`.
    pub(crate) fn earliest(
        &mut self,
        clock: ClockIndex,
        is_live: impl Fn(Ticket) -> bool,
    ) -> Option<u64> {
        let timers = self
            .clocks
            .iter_mut()
            .find(|timers| timers.clock == clock)?;
        let is_live = |key| is_live(Ticket::from_bits(key));
        let overdue = timers.overdue.iter().filter(|due| is_live(due.key));
        let overdue = overdue.map(|due| due.deadline_ns).min();
        let wheel = timers.wheel.earliest(is_live);
        overdue.into_iter().chain(wheel).min()
    }

    #[inline]
    fn clock_timers(&mut self, clock: ClockIndex) -> &mut ClockTimers {
        // Clocks without timers have no place here, so the game clock, if it
        // has one, has the first.
        if clock == ClockIndex::GAME && self.clocks.first().is_some_and(|t| t.clock == clock) {
            return &mut self.clocks[0];
        }
        self.find_or_add(clock)
    }

    fn find_or_add(&mut self, clock: ClockIndex) -> &mut ClockTimers {
        let found = self
            .clocks
            .binary_search_by_key(&clock, |timers| timers.clock);
        let index = found.unwrap_or_else(|index| {
            let timers = ClockTimers {
                clock,
                wheel: Wheel::new(),
                overdue: Vec::new(),
                overdue_frame: 0,
                cancelled: 0,
            };
            self.clocks.insert(index, timers);
            index
        });
        &mut self.clocks[index]
    }
}

impl ClockTimers {
    /// Gives the wheel what was overdue before `frame`.
    fn release_overdue(&mut self, frame: u64) {
        if self.overdue_frame < frame {
            for due in self.overdue.drain(..) {
                self.wheel.insert(due.deadline_ns, due.key);
            }
        }
    }
}
