//! The timers of one phase: one wheel for each clock on which they count.
//!
//! A run looks only at clocks on which something may be due. Each clock *announces* to the
//! clock that it follows what that one reads when the earliest timer is due. So a change of
//! its speed concerns one announcement, however many clocks are below it. The game clock and
//! realtime, which follow no other clock, are looked at in each run.

mod agenda;
mod counts;
pub(crate) mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;
use std::mem;
use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef, ClockState};

use crate::core::base::key::WaitKey;

use agenda::Agenda;
pub(crate) use counts::{Counts, Unit};
use wheel::{Standing, TimerEntry, Wheel};

/// In which list a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerList {
    /// In the wheel of its clock.
    Wheel,
    /// Among those that were registered in this frame, which reaches their deadlines.
    Overdue(u64),
    /// Among those that a pause holds, and that the wheel has found due.
    Out,
}

/// The timers that resume coroutines in one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseTimers {
    /// The wheels, by clock, ascending. With a clock, those that it follows are here, too.
    #[expect(
        clippy::vec_box,
        reason = "a wheel takes kilobytes, and clocks come and go"
    )]
    clocks: Vec<Box<ClockTimers>>,
    /// The clocks that a run has yet to look at; kept to reuse its memory.
    visits: BinaryHeap<Reverse<ClockIndex>>,
    /// How many clocks there may be before clocks without waits are swept.
    sweep_at: usize,
    /// Whether the timers count in stepped time.
    pub(crate) is_fixed: bool,
}

#[derive(Debug)]
struct ClockTimers {
    clock: ClockIndex,
    /// The clock itself, unless it is one of the executor's own.
    state: Option<Rc<ClockState>>,
    /// The reading of the clock in `state` in the latest run that has looked at it. In later
    /// runs, the clock has reached no deadline that it had not reached then.
    reading_ns: u64,
    /// The clocks that follow this one.
    below: Agenda,
    /// What the clock that this one follows reads when something may be due here. Its agenda
    /// has that entry.
    announced_ns: Option<u64>,
    wheel: Wheel,
    /// Timers registered in a frame that reaches, or may reach, their deadline. They are
    /// not due before the next frame. So the wheel receives them then.
    overdue: Vec<TimerEntry>,
    /// The frame in which the timers in `overdue` were registered.
    overdue_frame: u64,
    /// How many timers were cancelled since `overdue` was last swept or emptied.
    cancelled: usize,
    /// Timers that pauses hold, and that the wheel has found due. Some are stale.
    out: Vec<TimerEntry>,
}

impl PhaseTimers {
    /// Adds a timer.
    #[inline(always)]
    pub(crate) fn insert(&mut self, clock: ClockRef<'_>, deadline_ns: u64, key: WaitKey) {
        if let ClockRef::Child(_) = clock {
            self.insert_below(clock, deadline_ns, key);
        } else {
            let timers = self.clock_timers(clock);
            timers.wheel.insert(deadline_ns, key.bits());
        }
    }

    /// The same on a clock that follows another.
    #[inline(never)]
    fn insert_below(&mut self, clock: ClockRef<'_>, deadline_ns: u64, key: WaitKey) {
        let timers = self.later_clock_timers(clock);
        timers.wheel.insert(deadline_ns, key.bits());
        self.announce(clock.index());
    }

    /// Adds a timer that is registered in `frame`. In that frame its clock reaches, or
    /// may reach, the deadline.
    #[cold]
    pub(crate) fn insert_overdue(
        &mut self,
        clock: ClockRef<'_>,
        deadline_ns: u64,
        key: WaitKey,
        frame: u64,
    ) {
        let timers = self.clock_timers(clock);
        timers.release_overdue(frame);
        timers.overdue_frame = frame;
        let key = key.bits();
        timers.overdue.push(TimerEntry { deadline_ns, key });
        self.announce(clock.index());
    }

    /// Adds a timer to one of the lists.
    pub(crate) fn insert_into(
        &mut self,
        list: TimerList,
        clock: ClockRef<'_>,
        deadline_ns: u64,
        key: WaitKey,
    ) {
        match list {
            // It is found due again.
            TimerList::Wheel | TimerList::Out => self.insert(clock, deadline_ns, key),
            TimerList::Overdue(frame) => self.insert_overdue(clock, deadline_ns, key, frame),
        }
    }

    /// Moves each key that is due in a run of `frame` to `due`: clock by clock,
    /// then by deadline, then by registration.
    pub(crate) fn expire(
        &mut self,
        frame: u64,
        now_ns: impl Fn(ClockIndex) -> u64,
        due: &mut Vec<TimerEntry>,
    ) {
        for at in 0..self.own_clocks() {
            let now_ns = now_ns(self.clocks[at].clock);
            self.expire_clock(at, frame, now_ns, due);
        }
        while let Some(Reverse(clock)) = self.visits.pop() {
            let Some(at) = self.find(clock) else {
                continue;
            };
            let timers = &mut self.clocks[at];
            let now_ns = timers.now_ns(self.is_fixed);
            timers.reading_ns = now_ns;
            self.expire_clock(at, frame, now_ns, due);
            self.announce(clock);
        }
    }

    /// The same for one clock, which reads `now_ns`. Notes which of the clocks that follow it
    /// the run has to look at.
    #[inline]
    fn expire_clock(&mut self, at: usize, frame: u64, now_ns: u64, due: &mut Vec<TimerEntry>) {
        let timers = &mut self.clocks[at];
        timers.release_overdue(frame);
        timers.wheel.expire(now_ns, due);
        while let Some((at_ns, clock)) = self.clocks[at].below.take_due(now_ns) {
            let below = self.find(clock).map(|below| &mut self.clocks[below]);
            let below = below.filter(|below| below.announced_ns == Some(at_ns));
            if let Some(below) = below {
                below.announced_ns = None;
                self.visits.push(Reverse(clock));
            }
        }
    }

    /// How many of the clocks are the executor's own. They are the first.
    #[inline]
    fn own_clocks(&self) -> usize {
        let own = self.clocks.iter().take_while(|timers| timers.is_own());
        own.count()
    }

    /// Tells the clock that `clock` follows when something may be due on it, if that has
    /// changed; and so on, up to the clock at the top.
    #[cold]
    #[inline(never)]
    pub(crate) fn announce(&mut self, clock: ClockIndex) {
        let mut clock = clock;
        while let Some(at) = self.find(clock) {
            let timers = &mut self.clocks[at];
            let Some(state) = &timers.state else {
                return;
            };
            let first_ns = timers.first_ns();
            let at_ns = first_ns.and_then(|ns| state.parent_at(ns, self.is_fixed));
            let parent = state.parent().map(ClockRef::index);
            if mem::replace(&mut timers.announced_ns, at_ns) == at_ns {
                return;
            }
            let (Some(at_ns), Some(parent)) = (at_ns, parent) else {
                return;
            };
            if let Some(above) = self.find(parent) {
                let mut agenda = mem::take(&mut self.clocks[above].below);
                agenda.add(at_ns, clock, |at_ns, clock| {
                    let timers = self.find(clock).map(|at| &self.clocks[at]);
                    timers.is_none_or(|timers| timers.announced_ns != Some(at_ns))
                });
                self.clocks[above].below = agenda;
            }
            clock = parent;
        }
    }

    /// Whether [`expire`](PhaseTimers::expire) has nothing to do: nothing is due.
    pub(crate) fn is_idle(&self, now_ns: impl Fn(ClockIndex) -> u64) -> bool {
        let is_idle = |timers: &ClockTimers| {
            let now_ns = now_ns(timers.clock);
            timers.overdue.is_empty()
                && !timers.wheel.may_expire(now_ns)
                && timers.below.first_ns().is_none_or(|at_ns| at_ns > now_ns)
        };
        let mut own = self.clocks.iter().take_while(|timers| timers.is_own());
        own.all(|timers| is_idle(timers))
    }

    /// Whether there are no clocks, and so no timers.
    pub(crate) fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    /// Adds a timer that a pause has held, on a clock that its wait keeps.
    pub(crate) fn reinsert(&mut self, clock: ClockIndex, due: TimerEntry) {
        if let Some(index) = self.find(clock) {
            self.clocks[index].wheel.insert(due.deadline_ns, due.key);
            self.announce(clock);
        }
    }

    /// Adds a timer that a pause holds, and that the wheel has found due.
    pub(crate) fn add_out(
        &mut self,
        clock: ClockIndex,
        due: TimerEntry,
        is_live: impl Fn(TimerEntry) -> bool,
    ) {
        if let Some(at) = self.find(clock) {
            let out = &mut self.clocks[at].out;
            if out.len() == out.capacity() {
                out.retain(|&due| is_live(due));
                out.reserve(out.len().max(4));
            }
            out.push(due);
        }
    }

    /// A clock that has timers here.
    pub(crate) fn clock(&self, clock: ClockIndex) -> Option<ClockRef<'_>> {
        let at = self.find(clock)?;
        Some(self.clocks[at].clock_ref())
    }

    /// The reading of a clock in the latest run, or an earlier one that has reached the same
    /// deadlines. The clock must have timers here.
    pub(crate) fn reading(&self, clock: ClockIndex) -> u64 {
        self.find(clock)
            .map_or(0, |index| self.clocks[index].reading_ns)
    }

    /// Drops the wheels of all clocks without waits, unless another clock with waits follows
    /// them.
    #[cold]
    fn sweep(&mut self) {
        let mut is_kept: Vec<bool> = self
            .clocks
            .iter()
            .map(|timers| timers.has_waits())
            .collect();
        for at in (0..self.clocks.len()).rev() {
            let parent = self.clocks[at].clock_ref().parent();
            let parent = parent.filter(|_| is_kept[at]);
            if let Some(above) = parent.and_then(|parent| self.find(parent.index())) {
                is_kept[above] = true;
            }
        }
        let mut is_kept = is_kept.into_iter();
        self.clocks.retain(|_| is_kept.next() == Some(true));
        self.sweep_at = self.clocks.len() * 2;
    }

    /// Notes that a timer on `clock` was cancelled.
    pub(crate) fn note_stale(&mut self, clock: ClockIndex, is_live: impl Fn(TimerEntry) -> bool) {
        let Some(index) = self.find(clock) else {
            return;
        };
        let timers = &mut self.clocks[index];
        // Overdue timers are few, or leave in the next frame. Only a flood of them is
        // worth a sweep.
        timers.cancelled += 1;
        if timers.cancelled * 2 > timers.overdue.len() + 64 {
            timers.overdue.retain(|&due| is_live(due));
            timers.cancelled = 0;
        }
        timers.wheel.note_dead(is_live);
    }

    /// Calls `f` with each clock and the time at which its first timer is due. No
    /// timer changes its place.
    ///
    /// `standing` says how a timer stands. Between calls with the same `moment`, no timer may
    /// cease to be held.
    pub(crate) fn each_earliest(
        &mut self,
        moment: u64,
        standing: impl Fn(TimerEntry) -> Standing,
        mut f: impl FnMut(ClockRef<'_>, u64),
    ) {
        for timers in &mut self.clocks {
            let waiting = |due: &&TimerEntry| standing(**due) == Standing::Waiting;
            let overdue = timers.overdue.iter().filter(waiting);
            let overdue = overdue.map(|due| due.deadline_ns);
            let wheel = timers.wheel.earliest(moment, &standing);
            if let Some(due_ns) = overdue.chain(wheel).min() {
                f(timers.clock_ref(), due_ns);
            }
        }
    }

    /// Calls `f` with each timer: its clock, where it is, its deadline and its key, which may be
    /// stale. Of timers with the same deadline on a clock, the first comes first.
    pub(crate) fn each(&self, mut f: impl FnMut(ClockRef<'_>, TimerList, TimerEntry)) {
        for timers in &self.clocks {
            let clock = timers.clock_ref();
            timers
                .wheel
                .for_each(|entry| f(clock, TimerList::Wheel, entry));
            for &due in &timers.overdue {
                f(clock, TimerList::Overdue(timers.overdue_frame), due);
            }
            for &due in &timers.out {
                f(clock, TimerList::Out, due);
            }
        }
    }

    #[inline(always)]
    fn clock_timers(&mut self, clock: ClockRef<'_>) -> &mut ClockTimers {
        // Nearly all timers are on the game clock, which is the first.
        let first = self.clocks.first();
        if first.is_some_and(|first| first.clock == clock.index()) {
            &mut self.clocks[0]
        } else {
            self.later_clock_timers(clock)
        }
    }

    #[inline(never)]
    fn later_clock_timers(&mut self, clock: ClockRef<'_>) -> &mut ClockTimers {
        let index = self.find(clock.index());
        let index = index.unwrap_or_else(|| self.add(clock));
        &mut self.clocks[index]
    }

    #[inline]
    fn find(&self, clock: ClockIndex) -> Option<usize> {
        let found = self
            .clocks
            .binary_search_by_key(&clock, |timers| timers.clock);
        found.ok()
    }

    /// Adds a clock, and those that it follows. Returns its index.
    #[cold]
    fn add(&mut self, clock: ClockRef<'_>) -> usize {
        if self.clocks.len() >= self.sweep_at.max(16) {
            self.sweep();
        }
        let line = iter::successors(Some(clock), |clock| clock.parent());
        let missing: Vec<ClockRef<'_>> = line
            .take_while(|clock| self.find(clock.index()).is_none())
            .collect();
        let mut index = 0;
        for &clock in missing.iter().rev() {
            index = self
                .clocks
                .partition_point(|timers| timers.clock < clock.index());
            let timers = ClockTimers::new(clock);
            self.clocks.insert(index, Box::new(timers));
        }
        index
    }

    /// Removes all timers.
    pub(crate) fn clear(&mut self) {
        self.clocks.clear();
        self.visits.clear();
        self.sweep_at = 0;
    }
}

impl ClockTimers {
    fn new(clock: ClockRef<'_>) -> Self {
        ClockTimers {
            clock: clock.index(),
            state: match clock {
                ClockRef::Game | ClockRef::Realtime => None,
                ClockRef::Child(state) => Some(state.clone()),
            },
            reading_ns: 0,
            below: Agenda::default(),
            announced_ns: None,
            wheel: Wheel::new(),
            overdue: Vec::new(),
            overdue_frame: 0,
            cancelled: 0,
            out: Vec::new(),
        }
    }

    /// Whether the clock is one of the executor's own.
    #[inline]
    fn is_own(&self) -> bool {
        self.state.is_none()
    }

    /// Whether the clock has waits, or is one of the executor's own.
    fn has_waits(&self) -> bool {
        self.state.as_ref().is_none_or(|state| state.has_waits())
    }

    /// The present reading of the clock in `state`.
    fn now_ns(&self, in_steps: bool) -> u64 {
        let state = self.state.as_ref();
        let read = |state: &Rc<ClockState>| {
            if in_steps {
                state.stepped_ns()
            } else {
                state.frame_ns()
            }
        };
        state.map_or(0, read)
    }

    /// The reading before which nothing is due here, nor on the clocks below.
    fn first_ns(&self) -> Option<u64> {
        if self.overdue.is_empty() {
            let wheel = self.wheel.next_event_ns();
            wheel.into_iter().chain(self.below.first_ns()).min()
        } else {
            Some(0)
        }
    }

    fn clock_ref(&self) -> ClockRef<'_> {
        match &self.state {
            Some(state) => ClockRef::Child(state),
            None if self.clock == ClockIndex::GAME => ClockRef::Game,
            None => ClockRef::Realtime,
        }
    }

    /// Inserts the timers that were overdue before `frame` into the wheel.
    fn release_overdue(&mut self, frame: u64) {
        if self.overdue_frame < frame {
            for due in self.overdue.drain(..) {
                self.wheel.insert(due.deadline_ns, due.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use crate::core::base::key::WaitKey;
    use crate::random::Random;
    use crate::time::{AwaitedClock, Clock, ClockIndex, ClockRef, FrameClock, Nanos, Step};

    use super::PhaseTimers;

    /// The timers of one phase, and the clocks of an executor.
    struct Bench {
        frames: Rc<FrameClock>,
        game: Clock,
        timers: Rc<RefCell<PhaseTimers>>,
    }

    impl Bench {
        fn new(is_fixed: bool) -> Self {
            let frames = Rc::new(FrameClock::new(20, u64::MAX));
            let game = Clock::game(&frames);
            let timers = Rc::new(RefCell::new(PhaseTimers::default()));
            timers.borrow_mut().is_fixed = is_fixed;
            // The timers have clocks, which keep `frames`.
            let noted = Rc::downgrade(&timers);
            frames.on_changed(Box::new(move |clock, _| {
                if let Some(noted) = noted.upgrade() {
                    noted.borrow_mut().announce(clock.index());
                }
            }));
            Bench {
                frames,
                game,
                timers,
            }
        }

        fn insert(&self, clock: &Clock, deadline_ns: u64, key: u32) {
            let awaited = clock.awaited();
            let key = WaitKey::of_task(key, 0);
            let clock = awaited.state().as_ref();
            self.timers.borrow_mut().insert(clock, deadline_ns, key);
        }

        fn begin_frame(&self, dt_ns: u64) {
            self.frames.begin_frame(Step::of(Nanos::Finite(dt_ns)));
        }

        fn now_ns(&self, clock: &Clock) -> u64 {
            let is_fixed = self.timers.borrow().is_fixed;
            match (clock.state().as_ref(), is_fixed) {
                (ClockRef::Game, false) => self.frames.frame_game_ns(),
                (ClockRef::Game, true) => self.frames.fixed_ns(),
                (ClockRef::Realtime, _) => self.frames.real_ns(),
                (ClockRef::Child(clock), false) => clock.frame_ns(),
                (ClockRef::Child(clock), true) => clock.stepped_ns(),
            }
        }

        fn expire(&self) -> Vec<u32> {
            let (game_ns, real_ns) = (self.now_ns(&self.game), self.frames.real_ns());
            let own = |clock| match clock {
                ClockIndex::GAME => game_ns,
                _ => real_ns,
            };
            let mut due = Vec::new();
            let mut timers = self.timers.borrow_mut();
            let is_idle = timers.is_idle(own);
            timers.expire(self.frames.frame(), own, &mut due);
            assert!(!is_idle || due.is_empty());
            let keys = due.into_iter().map(|due| WaitKey::from_bits(due.key));
            keys.map(WaitKey::index).collect()
        }
    }

    #[test]
    fn clocks_without_waits_do_not_pile_up_in_a_phase_that_is_never_run() {
        let bench = Bench::new(false);
        let long = bench.game.child().child();
        let awaited = long.awaited();
        bench.insert(&long, 1_000, 0);
        let clocks: Vec<Clock> = (0..1_000).map(|_| bench.game.child()).collect();
        for clock in &clocks {
            bench.insert(clock, 1_000, 1);
            assert!(bench.timers.borrow().clocks.len() <= 16);
        }
        // The game clock, and the clock between.
        assert_eq!(bench.timers.borrow().find(awaited.state().index()), Some(2));
    }

    #[test]
    fn a_run_looks_at_no_clock_on_which_nothing_is_due() {
        let bench = Bench::new(false);
        let clocks = [10, 1_000, u64::MAX].map(|deadline_ns| {
            let clock = bench.game.child().child();
            bench.insert(&clock, deadline_ns, 0);
            clock
        });
        for _ in 0..20 {
            bench.begin_frame(1);
            bench.expire();
        }
        let timers = bench.timers.borrow();
        let read = clocks
            .each_ref()
            .map(|clock| timers.reading(clock.state().index()));
        assert_eq!(read, [10, 0, 0]);
    }

    #[test]
    fn stale_announcements_do_not_pile_up() {
        let bench = Bench::new(false);
        let clock = bench.game.child();
        bench.insert(&clock, 1 << 40, 0);
        for round in 0..1_000 {
            clock.set_scale(f64::from(1 + round % 7));
        }
        let agenda = &bench.timers.borrow().clocks[0].below;
        assert!(agenda.len() <= 32, "{}", agenda.len());
    }

    /// A timer as the naive reference knows it.
    struct Known {
        clock: usize,
        deadline_ns: u64,
        /// It is not due before this frame.
        from_frame: u64,
        key: u32,
    }

    #[test]
    fn a_run_finds_all_that_is_due_however_clocks_are_nested_and_change() {
        for seed in 0..400 {
            all_is_found(&Bench::new(seed % 2 == 1), &mut Random(seed));
        }
    }

    fn all_is_found(bench: &Bench, random: &mut Random) {
        const SCALES: [f64; 7] = [0.0, 1.0, 0.5, 0.1, 3.0, 7.3, 1.5];
        let mut clocks = vec![bench.game.clone(), Clock::realtime(&bench.frames)];
        let mut awaited: Vec<AwaitedClock> = clocks.iter().map(Clock::awaited).collect();
        let (mut known, mut guards): (Vec<Known>, Vec<_>) = (Vec::new(), Vec::new());
        let is_fixed = bench.timers.borrow().is_fixed;
        for key in 0..150 {
            let mut any = |len: usize| usize::try_from(random.below(len as u64)).unwrap();
            let at = any(clocks.len());
            match any(8) {
                0 if clocks.len() < 20 => {
                    let child = clocks[at].child();
                    awaited.push(child.awaited());
                    clocks.push(child);
                }
                1 if at != 1 => clocks[at].set_scale(SCALES[any(7)]),
                2 if at != 1 => guards.push(clocks[at].scaled(SCALES[any(7)])),
                3 if at != 1 => guards.push(clocks[at].pause_guard()),
                4 if !guards.is_empty() => drop(guards.swap_remove(any(guards.len()))),
                _ => {
                    let now_ns = bench.now_ns(&clocks[at]);
                    let ahead_ns = [0, 1, 40, 500, 1 << 32][any(5)];
                    let mut timer = Known {
                        clock: at,
                        deadline_ns: now_ns + any(ahead_ns + 1) as u64,
                        from_frame: 0,
                        key,
                    };
                    let frame = bench.frames.frame();
                    if timer.deadline_ns == now_ns && !is_fixed {
                        timer.from_frame = frame + 1;
                        let clock = awaited[at].state().as_ref();
                        let key = WaitKey::of_task(key, 0);
                        let mut timers = bench.timers.borrow_mut();
                        timers.insert_overdue(clock, now_ns, key, frame);
                    } else {
                        bench.insert(&clocks[at], timer.deadline_ns, key);
                    }
                    known.push(timer);
                }
            }
            match random.below(4) {
                0 => bench.begin_frame([0, 1, 50, 1 << 31][usize::try_from(key % 4).unwrap()]),
                1 => _ = bench.frames.begin_fixed_step(),
                _ => continue,
            }
            let now_ns: Vec<u64> = clocks.iter().map(|clock| bench.now_ns(clock)).collect();
            let is_due = |timer: &mut Known| {
                timer.deadline_ns <= now_ns[timer.clock] && timer.from_frame <= bench.frames.frame()
            };
            let mut expected: Vec<Known> = known.extract_if(.., is_due).collect();
            expected.sort_by_key(|timer| (timer.clock, timer.deadline_ns));
            let expected: Vec<u32> = expected.iter().map(|timer| timer.key).collect();
            assert_eq!(bench.expire(), expected);
        }
    }
}
