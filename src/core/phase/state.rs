//! The state of each phase: its latest run, and the waits for the next one.

use std::cell::{Cell, OnceCell, RefCell};

use crate::core::base::cell::Guarded;
use crate::core::base::key::WaitKey;
use crate::core::pause::timers::TimerTable;
use crate::core::phase::queue::Queue;
use crate::core::phase::ready::ReadyList;
use crate::core::phase::skipped::Seen;
use crate::core::registration::tag::{Bound, Tag};
use crate::core::timer::wheel::{Standing, TimerEntry};
use crate::core::timer::{Counts, PhaseTimers, TimerList, Unit};
use crate::time::{ClockIndex, ClockRef, ClockState, FrameClock, PhaseIndex};

/// How many bits of a moment count runs.
const RUN_BITS: u32 = 28;
const RUNS: u64 = (1 << RUN_BITS) - 1;

/// One phase.
pub(crate) struct PhaseState {
    /// How many runs of the phase have begun.
    pub(crate) runs: Cell<u64>,
    /// The present moment: the frame, as the phase counts frames, and in the lower bits how
    /// many runs of the phase there have been in it.
    ///
    /// A wait stores the moment at which it begins. A wait for a run is due once a run has
    /// begun at a later moment, a wait for a frame once a run has begun in a later frame.
    /// After 2^28 runs in one frame, the next one counts as that of a later frame.
    pub(crate) moment: Cell<u64>,
    /// The moment at which the latest run began.
    pub(crate) run_began: Cell<u64>,
    /// The reading of the game clock in the latest run: fixed time in the fixed phase.
    game_ns: Cell<u64>,
    /// The reading of realtime in the latest run.
    real_ns: Cell<u64>,
    pub(crate) index: PhaseIndex,
    /// The tag of a wait for the next frame that begins in a run of this phase.
    pub(crate) next_frame: Tag,
    /// The tag of a wait for the next run that begins in a run of this phase.
    pub(crate) next_run: Tag,
    /// Whether this is the fixed phase, whose waits count in stepped time.
    pub(crate) is_fixed: bool,
    /// The tasks that are ready for the next run.
    pub(crate) ready: ReadyList,
    pub(crate) queue: Queue,
    /// Waits for several frames or runs.
    pub(crate) counts: Guarded<Counts>,
    pub(crate) timers: Guarded<PhaseTimers>,
    /// Whether `counts` or `timers` may be other than empty.
    has_others: Cell<bool>,
    /// Of a custom phase: whether it is among those that have been used.
    is_used: Cell<bool>,
    /// What was seen at the latest look, and how many runs had begun by then.
    seen: Cell<(Seen, u64)>,
    /// The latest frame in which the host has owed the phase no run, as far as it was
    /// [noted](super::skipped::note_unowed).
    pub(crate) unowed: Cell<u64>,
}

/// In which list of a phase a wait is.
#[derive(Clone, Copy)]
pub(crate) enum Listed<'a> {
    /// In the queue. It may have begun before the present frame.
    Queue { is_earlier: bool },
    /// Among the counts, due in the frame or run of this number.
    Count(Unit, u64),
    /// Among the timers, with this deadline.
    Timer(ClockRef<'a>, u64, TimerList),
}

/// The frame of a moment, as its phase counts frames.
#[inline(always)]
pub(crate) fn frame_of(moment: u64) -> u64 {
    moment >> RUN_BITS
}

impl PhaseState {
    fn new(executor: u32, index: PhaseIndex) -> Self {
        let is_fixed = index == PhaseIndex::FIXED_UPDATE;
        let timers = Guarded::<PhaseTimers>::default();
        timers.borrow_mut().is_fixed = is_fixed;
        PhaseState {
            runs: Cell::new(0),
            moment: Cell::new(0),
            run_began: Cell::new(0),
            game_ns: Cell::new(0),
            real_ns: Cell::new(0),
            index,
            next_frame: Tag::begun(executor, index, Bound::Frame),
            next_run: Tag::begun(executor, index, Bound::Run),
            is_fixed,
            ready: ReadyList::default(),
            queue: Queue::default(),
            counts: Guarded::default(),
            timers,
            has_others: Cell::new(false),
            is_used: Cell::new(false),
            seen: Cell::default(),
            unowed: Cell::new(0),
        }
    }

    /// The reading of `clock` in the latest run.
    #[inline]
    pub(crate) fn reading(&self, clock: ClockRef<'_>) -> u64 {
        match clock {
            ClockRef::Game => self.game_ns.get(),
            ClockRef::Realtime => self.real_ns.get(),
            ClockRef::Child(clock) => self.timers.borrow().reading(clock.index()),
        }
    }

    /// The present frame, as the phase counts frames.
    #[inline]
    pub(crate) fn frame(&self) -> u64 {
        frame_of(self.moment.get())
    }

    /// The frame of the latest run.
    #[inline]
    pub(crate) fn frame_of_run(&self) -> u64 {
        frame_of(self.run_began.get())
    }

    /// Notes that a frame begins.
    #[inline]
    pub(crate) fn begin_frame(&self) {
        self.moment.set((self.moment.get() | RUNS) + 1);
        self.queue.begin_frame();
    }

    /// Notes that a run begins, and the readings of the executor's own clocks in it.
    #[inline(always)]
    pub(crate) fn begin_run(&self, clock: &FrameClock) {
        let moment = self.moment.get() + 1;
        self.moment.set(moment);
        self.run_began.set(moment);
        self.runs.set(self.runs.get() + 1);
        self.game_ns.set(self.run_game_ns(clock));
        self.real_ns.set(clock.real_ns());
    }

    /// The reading of the game clock in the run that has begun.
    #[inline]
    fn run_game_ns(&self, clock: &FrameClock) -> u64 {
        if self.is_fixed {
            clock.game_ns()
        } else {
            clock.frame_game_ns()
        }
    }

    /// The reading of `clock` from which a wait of `length_ns` counts that begins now. It is
    /// in the time of the phase: stepped time in the fixed phase, else frame time. Between
    /// two steps, stepped time includes the rest of the frame, unless the wait has no length:
    /// it ends in the next step, even if that step is before the time of the frame.
    #[inline(always)]
    pub(crate) fn begin_ns(&self, frames: &FrameClock, clock: ClockRef<'_>, length_ns: u64) -> u64 {
        match (clock, self.is_fixed) {
            (ClockRef::Game, false) => frames.frame_game_ns(),
            (_, true) if length_ns > 0 => begin_in_steps_ns(frames, clock),
            _ => self.reached_ns(frames, clock),
        }
    }

    /// The present reading of `clock` in the time of the phase: stepped time in the
    /// fixed phase, else frame time.
    #[inline]
    pub(crate) fn reached_ns(&self, frames: &FrameClock, clock: ClockRef<'_>) -> u64 {
        match (clock, self.is_fixed) {
            (ClockRef::Game, false) => frames.frame_game_ns(),
            (ClockRef::Game, true) => frames.fixed_ns(),
            (ClockRef::Realtime, _) => frames.real_ns(),
            (ClockRef::Child(clock), false) => clock.frame_ns(),
            (ClockRef::Child(clock), true) => clock.stepped_ns(),
        }
    }

    /// The same of a clock that has timers here.
    pub(crate) fn now_ns(&self, frames: &FrameClock, clock: ClockIndex) -> u64 {
        let timers = self.timers.borrow();
        let clock = timers.clock(clock);
        clock.map_or(0, |clock| self.reached_ns(frames, clock))
    }

    /// The dt, in nanoseconds, after which a run of the phase finds `clock` at or past
    /// `deadline_ns`. `None` if the clock stands still.
    pub(crate) fn dt_until(
        &self,
        frames: &FrameClock,
        clock: ClockRef<'_>,
        deadline_ns: u64,
    ) -> Option<u64> {
        match (clock, self.is_fixed) {
            (ClockRef::Game, false) => frames.dt_until_game_at(deadline_ns),
            (ClockRef::Game, true) => frames.dt_until_step_at(deadline_ns),
            (ClockRef::Realtime, false) => Some(frames.dt_until_real_at(deadline_ns)),
            // The phase runs only in a step.
            (ClockRef::Realtime, true) => {
                let dt = frames.dt_until_real_at(deadline_ns);
                Some(dt.max(frames.dt_until_step_at(0)?))
            }
            (ClockRef::Child(clock), false) => clock.dt_until(deadline_ns),
            (ClockRef::Child(clock), true) => clock.dt_until_step_at(deadline_ns),
        }
    }

    /// The clock that measures the pauses of timers on `clock`. In the fixed phase it is
    /// the same clock in stepped time, which has another reading and pace.
    pub(crate) fn measure(&self, clock: ClockIndex) -> ClockIndex {
        if self.is_fixed && clock != ClockIndex::REALTIME {
            clock.stepped()
        } else {
            clock
        }
    }

    /// Moves the timers that are due in the run that has begun to `due`, and those that pauses
    /// hold.
    pub(crate) fn expire_timers(&self, due: &mut Vec<TimerEntry>) {
        let mut timers = self.timers.borrow_mut();
        timers.expire(self.frame_of_run(), |clock| self.own_ns(clock), due);
    }

    /// The reading of one of the executor's own clocks in the latest run.
    fn own_ns(&self, clock: ClockIndex) -> u64 {
        match clock {
            ClockIndex::GAME => self.game_ns.get(),
            _ => self.real_ns.get(),
        }
    }

    /// Whether nothing is due in the run that has begun.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.keys.is_empty()
            && self.queue.keys().is_empty()
            && (!self.has_others.get() || self.others_are_idle())
    }

    #[inline(never)]
    fn others_are_idle(&self) -> bool {
        let (counts, timers) = (self.counts.borrow(), self.timers.borrow());
        self.has_others
            .set(!counts.is_empty() || !timers.is_empty());
        counts.is_empty() && timers.is_idle(|clock| self.own_ns(clock))
    }

    /// Whether a key is in a list, which may be stale.
    pub(crate) fn has_keys(&self) -> bool {
        !self.ready.keys.is_empty() || !self.queue.keys().is_empty() || self.has_others.get()
    }

    /// What has been seen of the phase since its latest run.
    pub(crate) fn seen_since_run(&self) -> Seen {
        let (seen, runs) = self.seen.get();
        if runs == self.runs.get() {
            seen
        } else {
            Seen::NoWaiter
        }
    }

    pub(crate) fn see(&self, seen: Seen) {
        self.seen.set((seen, self.runs.get()));
    }

    /// Notes that `counts` or `timers` is about to receive a wait.
    #[inline(always)]
    pub(crate) fn note_other(&self) {
        self.has_others.set(true);
    }

    /// Whether a wait that is neither dead nor held is in the queue or among the counts.
    /// Between calls with the same `moment`, no wait may cease to be held.
    pub(crate) fn has_waits(&self, moment: u64, standing: impl Fn(TimerEntry) -> Standing) -> bool {
        let stands = |key: WaitKey| {
            let due = TimerEntry {
                deadline_ns: 0,
                key: key.bits(),
            };
            standing(due) == Standing::Waiting
        };
        self.queue.keys().iter().any(stands)
            || self.counts.borrow_mut().is_waiting(moment, standing)
    }

    /// Calls `f` with each wait in a list of the phase. Its key may be stale. Of waits that would
    /// be due at once, the first comes first.
    pub(crate) fn each_wait(&self, table: &TimerTable, mut f: impl FnMut(WaitKey, Listed<'_>)) {
        self.queue
            .each(|is_earlier, key| f(key, Listed::Queue { is_earlier }));
        if !self.has_others.get() {
            return;
        }
        self.counts
            .borrow()
            .each(|unit, due, key| f(key, Listed::Count(unit, due)));
        let timers = self.timers.borrow();
        timers.each(|clock, list, entry| {
            if table.is_listed(entry, list) {
                let key = WaitKey::from_bits(entry.key);
                f(key, Listed::Timer(clock, entry.deadline_ns, list));
            }
        });
    }

    /// Adds a wait to the list in which [`each_wait`](Self::each_wait) has found it.
    pub(crate) fn list(&self, key: WaitKey, listed: Listed<'_>) {
        self.note_other();
        let (mut counts, mut timers) = (self.counts.borrow_mut(), self.timers.borrow_mut());
        match listed {
            Listed::Queue { is_earlier } => {
                self.queue.push(key);
                if is_earlier {
                    self.queue.begin_frame();
                }
            }
            Listed::Count(unit, due) => counts.insert(unit, due, key),
            Listed::Timer(clock, due_ns, list) => timers.insert_into(list, clock, due_ns, key),
        }
    }

    /// Makes the phase as new: for an image of an executor that has not used it.
    fn reset(&self) {
        for number in self.numbers() {
            number.set(0);
        }
        self.queue.clear();
        *self.counts.borrow_mut() = Counts::default();
        self.timers.borrow_mut().clear();
        self.ready.keys.clear();
        self.see(Seen::NoWaiter);
        self.unowed.set(0);
    }

    /// Three counters, and two readings.
    pub(crate) fn numbers(&self) -> [&Cell<u64>; 5] {
        [
            &self.runs,
            &self.moment,
            &self.run_began,
            &self.game_ns,
            &self.real_ns,
        ]
    }
}

/// The reading of `clock` from which a wait on fixed steps counts.
#[inline(never)]
fn begin_in_steps_ns(frames: &FrameClock, clock: ClockRef<'_>) -> u64 {
    match clock {
        ClockRef::Game => frames.game_ns(),
        ClockRef::Realtime => frames.real_ns(),
        ClockRef::Child(clock) => clock.stepped_begin_ns(),
    }
}

/// The phases of an executor: the named ones, and the custom ones that have been used.
/// Their addresses do not change. So a run can keep a reference to its phase.
pub(crate) struct Phases {
    named: [PhaseState; PhaseIndex::NAMED],
    custom: OnceCell<Box<[OnceCell<Box<PhaseState>>]>>,
    /// The custom phases that have been used, in order of first use.
    used: RefCell<Vec<PhaseIndex>>,
}

impl Phases {
    pub(crate) fn new(executor: u32) -> Self {
        Phases {
            named: PhaseIndex::ALL_NAMED.map(|phase| PhaseState::new(executor, phase)),
            custom: OnceCell::new(),
            used: RefCell::default(),
        }
    }

    fn executor(&self) -> u32 {
        self.update().next_frame.executor
    }

    /// The Update phase.
    #[inline(always)]
    pub(crate) fn update(&self) -> &PhaseState {
        &self.named[PhaseIndex::UPDATE.as_usize()]
    }

    /// A named phase. `None` for a custom one.
    #[inline(always)]
    pub(crate) fn named(&self, phase: PhaseIndex) -> Option<&PhaseState> {
        self.named.get(phase.as_usize())
    }

    #[inline(always)]
    pub(crate) fn get(&self, phase: PhaseIndex) -> &PhaseState {
        match self.named(phase) {
            Some(state) => state,
            None => self.custom(phase),
        }
    }

    /// A custom phase. Makes it on first use.
    #[cold]
    #[inline(never)]
    fn custom(&self, phase: PhaseIndex) -> &PhaseState {
        let custom = self
            .custom
            .get_or_init(|| (0..=u8::MAX).map(|_| OnceCell::new()).collect());
        let state = custom[phase.as_usize() - PhaseIndex::NAMED]
            .get_or_init(|| Box::new(PhaseState::new(self.executor(), phase)));
        if !state.is_used.replace(true) {
            self.used.borrow_mut().push(phase);
        }
        state
    }

    /// Makes all phases as new. The custom ones count as unused.
    pub(crate) fn reset(&self) {
        self.each(|_, state| {
            state.reset();
            state.is_used.set(false);
        });
        self.used.borrow_mut().clear();
    }

    /// Notes that the speed of a clock has changed.
    pub(crate) fn note_changed(&self, clock: &ClockState) {
        self.each(|_, state| state.timers.borrow_mut().announce(clock.index()));
    }

    /// Calls `f` with the named phases, then with the custom ones that have been
    /// used.
    pub(crate) fn each(&self, mut f: impl FnMut(PhaseIndex, &PhaseState)) {
        for (phase, state) in PhaseIndex::ALL_NAMED.into_iter().zip(&self.named) {
            f(phase, state);
        }
        for &phase in self.used.borrow().iter() {
            f(phase, self.get(phase));
        }
    }
}
