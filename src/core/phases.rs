//! What an executor keeps for each phase.

use crate::clock::FrameClock;
use crate::phase::PhaseIndex;
use crate::queue::PhaseQueue;
use crate::ticket::Ticket;
use crate::timers::{ClockIndex, PhaseTimers};
use crate::wheel::{Due, Wheel};

use super::backlog::Backlog;

/// One phase: its latest run, and who waits for the next.
#[derive(Debug)]
pub(crate) struct PhaseState {
    /// How many runs of it have begun. A wait is ready once a run in which it
    /// is due has begun, so it compares with these four.
    pub(crate) serial: u64,
    /// The frame of the latest run.
    pub(crate) frame: u64,
    /// The game clock in the latest run: fixed time for the fixed phase.
    pub(crate) game_ns: u64,
    pub(crate) real_ns: u64,
    pub(crate) arrivals: Backlog,
    pub(crate) queue: PhaseQueue,
    pub(crate) timers: PhaseTimers,
    /// Waits over several frames, by the first frame in which they are due.
    pub(crate) frames: Wheel,
}

impl PhaseState {
    fn new() -> Self {
        PhaseState {
            serial: 0,
            frame: 0,
            game_ns: 0,
            real_ns: 0,
            arrivals: Backlog::default(),
            queue: PhaseQueue::default(),
            timers: PhaseTimers::default(),
            frames: Wheel::new(),
        }
    }

    /// What a clock read in the latest run.
    #[inline]
    pub(crate) fn reading(&self, clock: ClockIndex) -> u64 {
        match clock {
            ClockIndex::GAME => self.game_ns,
            _ => self.real_ns,
        }
    }

    /// Moves the timers that are due in the run that has begun to `due`.
    pub(crate) fn expire_timers(&mut self, due: &mut Vec<Due>) {
        let (game_ns, real_ns) = (self.game_ns, self.real_ns);
        let reading = |clock| match clock {
            ClockIndex::GAME => game_ns,
            _ => real_ns,
        };
        self.timers.expire(self.frame, reading, due);
    }

    pub(crate) fn begin_run(&mut self, clock: &FrameClock) {
        self.serial += 1;
        self.frame = clock.frame();
        self.game_ns = clock.game_ns();
        self.real_ns = clock.real_ns();
    }
}

/// A wheel tells deadlines apart by ticks of a million units or so; frames are
/// spread to one a tick.
const FRAME_TICK_BITS: u32 = 20;

/// A frame as the deadline of a wheel. `None`: no executor gets that far.
pub(crate) fn frame_deadline(frame: u64) -> Option<u64> {
    frame.checked_mul(1 << FRAME_TICK_BITS)
}

/// Reads what [`frame_deadline`] made due.
pub(crate) fn ticket_of(due: &Due) -> Ticket {
    Ticket::from_bits(due.key)
}

/// The phases of an executor, by index: the named ones, and as many custom
/// ones as have been used.
#[derive(Debug)]
pub(crate) struct Phases(Vec<PhaseState>);

impl Phases {
    pub(crate) fn new() -> Self {
        Phases(
            std::iter::repeat_with(PhaseState::new)
                .take(PhaseIndex::NAMED)
                .collect(),
        )
    }

    #[inline]
    pub(crate) fn get(&self, phase: PhaseIndex) -> Option<&PhaseState> {
        self.0.get(phase.as_usize())
    }

    /// The phase, made if nobody has used it yet.
    #[inline]
    pub(crate) fn get_mut(&mut self, phase: PhaseIndex) -> &mut PhaseState {
        if phase.as_usize() >= self.0.len() {
            self.grow(phase);
        }
        &mut self.0[phase.as_usize()]
    }

    #[cold]
    fn grow(&mut self, phase: PhaseIndex) {
        self.0.resize_with(phase.as_usize() + 1, PhaseState::new);
    }

    pub(crate) fn begin_frame(&mut self) {
        for phase in &mut self.0 {
            phase.queue.begin_frame();
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (PhaseIndex, &mut PhaseState)> {
        (0..).map(PhaseIndex::from_bits).zip(&mut self.0)
    }
}
