//! What an executor keeps for each phase.

#![forbid(unsafe_code)]

use std::cell::{Cell, OnceCell, RefCell};

use crate::clock::{ClockRef, FrameClock};
use crate::phase::PhaseIndex;
use crate::queue::PhaseQueue;
use crate::shared::Shared;
use crate::ticket::Ticket;
use crate::timers::{ClockIndex, Fate, PhaseTimers};
use crate::wheel::{Due, Wheel};

use super::backlog::Backlog;

/// One phase: its latest run, and who waits for the next.
pub(crate) struct PhaseState {
    /// How many runs of it have begun. A wait is ready once a run in which it
    /// is due has begun, so it compares with these four.
    pub(crate) serial: Cell<u64>,
    /// The frame of the latest run.
    pub(crate) frame: Cell<u64>,
    /// The game clock in the latest run: fixed time for the fixed phase.
    game_ns: Cell<u64>,
    real_ns: Cell<u64>,
    /// Whether that was fixed time.
    in_fixed_step: Cell<bool>,
    pub(crate) arrivals: Shared<Backlog>,
    pub(crate) queue: Shared<PhaseQueue>,
    pub(crate) timers: Shared<PhaseTimers>,
    /// Waits that fell due while their coroutine was paused, which it is no
    /// more, and in which order.
    pub(crate) returned: Shared<Vec<(u64, Ticket)>>,
    /// Waits over several frames, by the first frame in which they are due.
    pub(crate) frames: Shared<Wheel>,
}

impl PhaseState {
    /// `fixed`: it is run in fixed steps.
    fn new(fixed: bool) -> Self {
        PhaseState {
            serial: Cell::new(0),
            frame: Cell::new(0),
            game_ns: Cell::new(0),
            real_ns: Cell::new(0),
            in_fixed_step: Cell::new(fixed),
            arrivals: Shared::default(),
            queue: Shared::default(),
            timers: Shared::default(),
            returned: Shared::default(),
            frames: Shared::new(Wheel::new()),
        }
    }

    /// What a clock read in the latest run.
    #[inline]
    pub(crate) fn reading(&self, clock: ClockRef<'_>) -> u64 {
        match clock {
            ClockRef::Game => self.game_ns.get(),
            ClockRef::Realtime => self.real_ns.get(),
            ClockRef::Child(clock) => self.timers.borrow().reading(clock.index()),
        }
    }

    pub(crate) fn begin_run(&self, clock: &FrameClock) {
        self.serial.set(self.serial.get() + 1);
        self.frame.set(clock.frame());
        self.game_ns.set(clock.game_ns());
        self.real_ns.set(clock.real_ns());
        self.in_fixed_step.set(clock.is_in_fixed_step());
    }

    /// By what pauses are measured for timers on `clock`: fixed time stands
    /// elsewhere than the game clock, and goes on at other moments.
    pub(crate) fn measure(&self, clock: ClockIndex) -> ClockIndex {
        if clock == ClockIndex::GAME && self.in_fixed_step.get() {
            ClockIndex::FIXED
        } else {
            clock
        }
    }

    /// Moves the timers that are due in the run that has begun to `due`.
    /// `fate` is asked about each of them, if something may have been paused.
    pub(crate) fn expire_timers(
        &self,
        due: &mut Vec<Due>,
        fate: Option<impl FnMut(ClockIndex, &Due) -> Fate>,
    ) {
        let mut timers = self.timers.borrow_mut();
        let now_ns = |clock| match clock {
            ClockIndex::GAME => self.game_ns.get(),
            _ => self.real_ns.get(),
        };
        timers.expire(self.frame.get(), now_ns, due, fate);
    }
}

/// A wheel sorts by ticks of two million units; frames are spread to one a tick.
const FRAME_TICK_BITS: u32 = 21;

/// A frame as the deadline of a wheel. `None`: no executor gets that far.
pub(crate) fn frame_deadline(frame: u64) -> Option<u64> {
    frame.checked_mul(1 << FRAME_TICK_BITS)
}

/// Reads what [`frame_deadline`] made due.
pub(crate) fn ticket_of(due: &Due) -> Ticket {
    Ticket::from_bits(due.key)
}

/// The phases of an executor: the named ones, and the custom ones that have
/// been used. They stay where they are, so that a run can hold on to its own.
pub(crate) struct Phases {
    named: [PhaseState; PhaseIndex::NAMED],
    custom: OnceCell<Box<[OnceCell<Box<PhaseState>>]>>,
    /// The custom phases that have been used, in order of first use.
    used: RefCell<Vec<PhaseIndex>>,
}

impl Phases {
    pub(crate) fn new() -> Self {
        Phases {
            named: std::array::from_fn(|index| {
                PhaseState::new(index == PhaseIndex::FIXED_UPDATE.as_usize())
            }),
            custom: OnceCell::new(),
            used: RefCell::default(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, phase: PhaseIndex) -> &PhaseState {
        match self.named(phase) {
            Some(state) => state,
            None => self.custom(phase),
        }
    }

    /// The state of a phase that has a name.
    #[inline]
    pub(crate) fn named(&self, phase: PhaseIndex) -> Option<&PhaseState> {
        self.named.get(phase.as_usize())
    }

    /// A custom phase, made when it is first used.
    #[cold]
    fn custom(&self, phase: PhaseIndex) -> &PhaseState {
        let custom = self
            .custom
            .get_or_init(|| (0..=u8::MAX).map(|_| OnceCell::new()).collect());
        custom[phase.as_usize() - PhaseIndex::NAMED].get_or_init(|| {
            self.used.borrow_mut().push(phase);
            Box::new(PhaseState::new(false))
        })
    }

    /// Every phase there is.
    pub(crate) fn each(&self, mut f: impl FnMut(PhaseIndex, &PhaseState)) {
        for (index, state) in (0..).zip(&self.named) {
            f(PhaseIndex::from_bits(index), state);
        }
        for &phase in self.used.borrow().iter() {
            f(phase, self.get(phase));
        }
    }
}
