//! Timers of coroutines that are or were paused.
//!
//! A timer counts on the time of its coroutine: the reading of its clock, less the
//! coroutine's pauses. Wheels do not know pauses. When a wheel finds a timer due, the
//! timer is inserted again, later by the pauses since it was registered. If its coroutine
//! is paused, the timer is suspended instead, until the coroutine is resumed.

use std::mem::replace;

use crate::core::base::key::WaitKey;
use crate::core::cold::Colds;
use crate::core::pause::counts::Pauses;
use crate::core::pause::state::SuspendedTimer;
use crate::core::phase::state::Phases;
use crate::core::registration::waits::Waits;
use crate::core::task::{Flags, Task};
use crate::core::timer::Fate;
use crate::core::timer::wheel::{Standing, TimerEntry};
use crate::time::{ClockIndex, ClockRef, FrameClock, PhaseIndex};

/// The parts that decide when the timer of a paused coroutine is due.
#[derive(Clone, Copy)]
pub(crate) struct PausedTimers<'a> {
    pub(crate) waits: Waits<'a>,
    pub(crate) colds: &'a Colds,
    pub(crate) pauses: &'a Pauses,
    pub(crate) phases: &'a Phases,
    pub(crate) clock: &'a FrameClock,
}

impl PausedTimers<'_> {
    /// Decides what becomes of a timer that a wheel found due. Suspends the timer if its
    /// coroutine is paused.
    pub(crate) fn expire(self, phase: PhaseIndex, clock: ClockIndex, timer: &TimerEntry) -> Fate {
        let key = WaitKey::from_bits(timer.key);
        let Some(task) = self.waits.moved_by(key) else {
            return Fate::Due;
        };
        let measure = self.phases.get(phase).measure(clock);
        let (grown_ns, stopped_ns) = self.pause_of(task, measure, key);
        let due_ns = timer.deadline_ns.saturating_add(grown_ns);
        let was_due = stopped_ns.is_some_and(|stopped_ns| due_ns <= stopped_ns);
        let is_held = task.has(Flags::PAUSED) && !was_due;
        // A timer is suspended only once it is later by all earlier pauses.
        if is_held && grown_ns == 0 {
            let suspended = SuspendedTimer {
                phase,
                clock,
                deadline_ns: timer.deadline_ns,
                key,
            };
            let colds = self.colds;
            self.pauses
                .edit(colds, task, |pause| pause.suspended.push(suspended));
            return Fate::Suspended;
        }
        match self.take_growth(task, phase, clock, key) {
            0 => Fate::Due,
            grown_ns => Fate::Later(timer.deadline_ns.saturating_add(grown_ns)),
        }
    }

    /// How a timer that has not been due yet stands.
    pub(crate) fn standing(
        self,
        phase: PhaseIndex,
        clock: ClockIndex,
        timer: TimerEntry,
    ) -> Standing {
        let key = WaitKey::from_bits(timer.key);
        if !self.waits.is_live(key) {
            return Standing::Dead;
        }
        let task = self.waits.moved_by(key).filter(|_| self.pauses.any());
        let Some(task) = task else {
            return Standing::At(timer.deadline_ns);
        };
        let measure = self.phases.get(phase).measure(clock);
        let (grown_ns, stopped_ns) = self.pause_of(task, measure, key);
        let due_ns = timer.deadline_ns.saturating_add(grown_ns);
        if self.waits.is_held(key) || stopped_ns.is_some_and(|stopped_ns| due_ns > stopped_ns) {
            return Standing::Held;
        }
        Standing::At(due_ns)
    }

    /// Inserts a timer again that was suspended with `task`, which is not paused any more.
    pub(crate) fn reinsert(self, task: Task<'_>, timer: &SuspendedTimer) {
        if !self.waits.is_live(timer.key) {
            return;
        }
        let grown_ns = self.take_growth(task, timer.phase, timer.clock, timer.key);
        let entry = TimerEntry {
            deadline_ns: timer.deadline_ns.saturating_add(grown_ns),
            key: timer.key.bits(),
        };
        let state = self.phases.get(timer.phase);
        state.note_other();
        let mut timers = state.timers.borrow_mut();
        timers.reinsert(timer.clock, entry);
    }

    /// Notes a timer that a poll of `task` has registered. Called if any live coroutine is
    /// or was paused.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_begin(
        self,
        task: Option<Task<'_>>,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
        key: WaitKey,
    ) {
        let Some(task) = task else {
            return;
        };
        if task.has(Flags::PAUSED) {
            // The coroutine paused itself in this poll.
            let state = self.phases.get(phase);
            let measure = state.measure(clock.index());
            let now_ns = state.reached_ns(self.clock, clock);
            let colds = self.colds;
            self.pauses
                .edit(colds, task, |pause| pause.add_clock(measure, now_ns));
        }
        self.take_growth(task, phase, clock.index(), key);
    }

    /// How long the task was paused since the timer was registered, or since the
    /// previous call for the timer.
    fn take_growth(
        self,
        task: Task<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
        key: WaitKey,
    ) -> u64 {
        let measure = self.phases.get(phase).measure(clock);
        let total_ns = self.total_ns(task, measure);
        let base_ns = if key.is_entry() {
            let mut entries = self.waits.entries.borrow_mut();
            entries.replace_base_ns(key, total_ns)
        } else {
            self.colds
                .pause_of(task, |pause| replace(&mut pause.base_ns, total_ns))
        };
        base_ns.map_or(0, |base_ns| total_ns.saturating_sub(base_ns))
    }

    /// How long the task has been paused, as `measure` counts, without the present
    /// pause.
    fn total_ns(self, task: Task<'_>, measure: ClockIndex) -> u64 {
        let colds = self.colds;
        let total = colds.pause_of(task, |pause| pause.total_ns(measure));
        total.unwrap_or(0)
    }

    /// How long the task of a timer was paused since the timer was registered, as
    /// `measure` counts. If the task is paused now, also the reading of `measure` at the
    /// beginning of the pause.
    pub(crate) fn pause_of(
        self,
        task: Task<'_>,
        measure: ClockIndex,
        key: WaitKey,
    ) -> (u64, Option<u64>) {
        let colds = self.colds;
        let read = colds.pause_of(task, |pause| (pause.base_ns, pause.stopped_at(measure)));
        let (own_base_ns, stopped_ns) = read.unwrap_or((0, None));
        let base_ns = if key.is_entry() {
            self.waits.entries.borrow().base_ns(key)
        } else {
            own_base_ns
        };
        let grown_ns = self.total_ns(task, measure).saturating_sub(base_ns);
        (grown_ns, stopped_ns.filter(|_| task.has(Flags::PAUSED)))
    }

    /// How long a task has been paused, as `clock` counts in runs of `phase`, without
    /// the present pause.
    #[cold]
    #[inline(never)]
    pub(crate) fn paused_before_ns(
        self,
        task: Task<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
    ) -> u64 {
        self.total_ns(task, self.phases.get(phase).measure(clock))
    }

    /// When a timer is due that leaves its coroutine now: if that is paused, the timer has as
    /// much left as when the pause began.
    pub(crate) fn past_pause(
        self,
        key: WaitKey,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
        due_ns: u64,
    ) -> u64 {
        let state = self.phases.get(phase);
        let stopped_ns = self.waits.moved_by(key).and_then(|task| {
            let (_, stopped_ns) = self.pause_of(task, state.measure(clock.index()), key);
            stopped_ns.filter(|&stopped_ns| due_ns > stopped_ns)
        });
        stopped_ns.map_or(due_ns, |stopped_ns| {
            let now_ns = state.reached_ns(self.clock, clock);
            due_ns.saturating_add(now_ns.saturating_sub(stopped_ns))
        })
    }

    /// By how much pauses have moved the deadline of a timer that was registered when its
    /// coroutine had been paused for `base_ns`, as `clock` counts in runs of `phase`.
    pub(crate) fn moved_ns(
        self,
        key: WaitKey,
        phase: PhaseIndex,
        clock: ClockIndex,
        base_ns: u64,
    ) -> u64 {
        let Some(task) = self.waits.moved_by(key) else {
            return 0;
        };
        self.paused_before_ns(task, phase, clock)
            .saturating_sub(base_ns)
    }
}
