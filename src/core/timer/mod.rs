//! The timers of one phase: a wheel for every clock they count on.

#![forbid(unsafe_code)]

mod counts;
pub(crate) mod wheel;

use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef, ClockState};

use super::key::WaitKey;

pub(crate) use counts::{Counts, Unit};
use wheel::{Due, Wheel};

/// What becomes of a timer that its wheel found due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Due,
    /// Its coroutine was paused in between: due at this time.
    Later(u64),
    /// Its coroutine is paused, and keeps it.
    Parked,
}

/// For how many frames a clock without waits keeps its wheel, so that one with
/// a wait now and then does not make a new one each time.
const KEPT_FRAMES: u64 = 256;

/// The timers that resume coroutines in one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseTimers {
    /// By clock, ascending.
    #[expect(
        clippy::vec_box,
        reason = "a wheel takes kilobytes, and clocks come and go"
    )]
    clocks: Vec<Box<ClockTimers>>,
    /// Timers of coroutines that were paused, to be put back in order.
    returned: Vec<(u64, ClockIndex, Due)>,
    /// How many clocks there may be before those that nobody waits on are
    /// looked for.
    sweep_at: usize,
    /// Whether the game clock may read more in later runs of a frame: in those of a
    /// custom phase inside fixed steps, which may be ahead of it.
    pub(crate) may_run_ahead: bool,
}

#[derive(Debug)]
struct ClockTimers {
    clock: ClockIndex,
    /// The clock itself, unless it is one of the executor's.
    state: Option<Rc<ClockState>>,
    /// What a clock of its own state read in the latest run.
    reading_ns: u64,
    /// The frame of the latest run in which some wait counted on that clock.
    used_in: u64,
    wheel: Wheel,
    /// Timers whose deadline had been reached when they were made, or may be in
    /// that frame. They are not due before the next one, so the wheel does not get
    /// them earlier.
    overdue: Vec<Due>,
    /// The frame in which those were made.
    overdue_frame: u64,
    /// Timers cancelled since `overdue` was last swept or emptied.
    cancelled: usize,
}

impl PhaseTimers {
    /// Adds a timer.
    #[inline]
    pub(crate) fn insert(&mut self, clock: ClockRef<'_>, deadline_ns: u64, key: WaitKey) {
        let timers = self.clock_timers(clock);
        timers.wheel.insert(deadline_ns, key.bits());
    }

    /// Adds a timer made in `frame`, in which its clock may get to the deadline.
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
        timers.overdue.push(Due { deadline_ns, key });
    }

    /// Moves every key that is due in a run of `frame` to `due`: clock by clock,
    /// each by deadline, then by registration.
    pub(crate) fn expire(
        &mut self,
        frame: u64,
        now_ns: impl Fn(ClockIndex) -> u64,
        due: &mut Vec<Due>,
        mut fate: Option<impl FnMut(ClockIndex, &Due) -> Fate>,
    ) {
        self.put_back();
        let mut idle = false;
        for timers in &mut self.clocks {
            timers.release_overdue(frame);
            let now_ns = match &timers.state {
                None => now_ns(timers.clock),
                Some(state) => {
                    timers.reading_ns = state.reading().now_ns;
                    if state.has_waits() {
                        timers.used_in = frame;
                    } else {
                        idle |= !timers.is_kept(frame);
                    }
                    timers.reading_ns
                }
            };
            let from = due.len();
            timers.wheel.expire(now_ns, due);
            if let Some(fate) = &mut fate {
                timers.sift(now_ns, due, from, fate);
            }
        }
        if idle {
            self.clocks.retain(|timers| timers.is_kept(frame));
        }
    }

    /// Whether there is nothing that [`expire`](PhaseTimers::expire) would look at:
    /// nothing is due, and no clock counts but the executor's own.
    pub(crate) fn is_idle(&self, now_ns: impl Fn(ClockIndex) -> u64) -> bool {
        let is_idle = |timers: &ClockTimers| {
            timers.state.is_none()
                && timers.overdue.is_empty()
                && !timers.wheel.may_expire(now_ns(timers.clock))
        };
        self.returned.is_empty() && self.clocks.iter().all(|timers| is_idle(timers))
    }

    /// Adds a timer that had been taken out, on a clock that its wait keeps. Of
    /// equal deadlines, the one with the lesser `order` is due first.
    pub(crate) fn give_back(&mut self, order: u64, clock: ClockIndex, due: Due) {
        self.returned.push((order, clock, due));
    }

    /// Gives the wheels what came back since this was last called.
    fn put_back(&mut self) {
        if self.returned.is_empty() {
            return;
        }
        let mut returned = std::mem::take(&mut self.returned);
        returned.sort_unstable_by_key(|&(order, ..)| order);
        for (_, clock, due) in returned.drain(..) {
            if let Some(index) = self.find(clock) {
                self.clocks[index].wheel.insert(due.deadline_ns, due.key);
            }
        }
        self.returned = returned;
    }

    /// Shows the clocks that are not the executor's own to `f`.
    pub(crate) fn each_child(&self, mut f: impl FnMut(&Rc<ClockState>)) {
        self.clocks
            .iter()
            .filter_map(|timers| timers.state.as_ref())
            .for_each(&mut f);
    }

    /// What a clock that is waited on read in the latest run.
    pub(crate) fn reading(&self, clock: ClockIndex) -> u64 {
        self.find(clock)
            .map_or(0, |index| self.clocks[index].reading_ns)
    }

    /// Lets go of all clocks that no wait counts on: what their wheels hold was
    /// cancelled.
    #[cold]
    fn sweep(&mut self) {
        self.clocks.retain(|timers| timers.has_waits());
        self.sweep_at = self.clocks.len() * 2;
    }

    /// A timer on `clock` was cancelled.
    pub(crate) fn note_stale(&mut self, clock: ClockIndex, is_live: impl Fn(WaitKey) -> bool) {
        let Some(index) = self.find(clock) else {
            return;
        };
        let timers = &mut self.clocks[index];
        // Those that wait out this frame are few, or gone with the next; only a
        // flood of them is worth a sweep.
        timers.cancelled += 1;
        if timers.cancelled * 2 > timers.overdue.len() + 64 {
            timers
                .overdue
                .retain(|due| is_live(WaitKey::from_bits(due.key)));
            timers.cancelled = 0;
        }
        timers
            .wheel
            .note_dead(|key| is_live(WaitKey::from_bits(key)));
    }

    /// Shows the earliest deadline on every clock to `f`.
    pub(crate) fn each_earliest(
        &mut self,
        is_live: impl Fn(WaitKey) -> bool,
        mut f: impl FnMut(ClockRef<'_>, u64),
    ) {
        self.put_back();
        let is_live = |key| is_live(WaitKey::from_bits(key));
        for timers in &mut self.clocks {
            let overdue = timers.overdue.iter().filter(|due| is_live(due.key));
            let overdue = overdue.map(|due| due.deadline_ns).min();
            let wheel = timers.wheel.earliest(is_live);
            if let Some(deadline_ns) = overdue.into_iter().chain(wheel).min() {
                f(timers.clock_ref(), deadline_ns);
            }
        }
    }

    /// Shows every timer to `f`: its clock, its deadline there, and its key,
    /// which may be stale.
    pub(crate) fn each(&self, f: &mut impl FnMut(ClockRef<'_>, u64, WaitKey)) {
        for timers in &self.clocks {
            let clock = timers.clock_ref();
            let mut show = |deadline_ns, key| f(clock, deadline_ns, WaitKey::from_bits(key));
            timers.wheel.for_each(&mut show);
            for due in &timers.overdue {
                show(due.deadline_ns, due.key);
            }
        }
        for &(_, clock, due) in &self.returned {
            self.show(clock, &mut |clock| {
                f(clock, due.deadline_ns, WaitKey::from_bits(due.key));
            });
        }
    }

    /// Shows a clock to `f`, if it is known here.
    pub(crate) fn show(&self, clock: ClockIndex, f: &mut impl FnMut(ClockRef<'_>)) {
        if let Some(index) = self.find(clock) {
            f(self.clocks[index].clock_ref());
        }
    }

    #[inline]
    fn clock_timers(&mut self, clock: ClockRef<'_>) -> &mut ClockTimers {
        let index = self.find(clock.index());
        let index = index.unwrap_or_else(|| self.add(clock));
        &mut self.clocks[index]
    }

    #[inline]
    fn find(&self, clock: ClockIndex) -> Option<usize> {
        // Nearly all timers are on the game clock, the first of all.
        if self
            .clocks
            .first()
            .is_some_and(|first| first.clock == clock)
        {
            return Some(0);
        }
        let found = self
            .clocks
            .binary_search_by_key(&clock, |timers| timers.clock);
        found.ok()
    }

    #[cold]
    fn add(&mut self, clock: ClockRef<'_>) -> usize {
        // Not only in a run: the phase may be one that the host never runs.
        if self.clocks.len() >= self.sweep_at.max(16) {
            self.sweep();
        }
        let timers = ClockTimers::new(clock);
        let index = self
            .clocks
            .partition_point(|before| before.clock < timers.clock);
        self.clocks.insert(index, Box::new(timers));
        index
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
            used_in: 0,
            wheel: Wheel::new(),
            overdue: Vec::new(),
            overdue_frame: 0,
            cancelled: 0,
        }
    }

    /// Whether a wait counts on the clock, or it is one of the executor's.
    fn has_waits(&self) -> bool {
        self.state.as_ref().is_none_or(|state| state.has_waits())
    }

    /// Whether there are waits, or may well be some soon.
    fn is_kept(&self, frame: u64) -> bool {
        let lately = frame.saturating_sub(self.used_in) < KEPT_FRAMES;
        let is_held = |state: &Rc<ClockState>| Rc::strong_count(state) > 1;
        self.has_waits() || lately && self.state.as_ref().is_some_and(is_held)
    }

    fn clock_ref(&self) -> ClockRef<'_> {
        match &self.state {
            Some(state) => ClockRef::Child(state),
            None if self.clock == ClockIndex::GAME => ClockRef::Game,
            None => ClockRef::Realtime,
        }
    }

    /// Takes those out of `due`, from `from` on, that are not due after all.
    #[cold]
    fn sift(
        &mut self,
        now_ns: u64,
        due: &mut Vec<Due>,
        from: usize,
        fate: &mut impl FnMut(ClockIndex, &Due) -> Fate,
    ) {
        let mut kept = from;
        let mut moved = false;
        for index in from..due.len() {
            let mut entry = due[index];
            match fate(self.clock, &entry) {
                Fate::Parked => continue,
                Fate::Later(deadline_ns) if deadline_ns > now_ns => {
                    self.wheel.insert(deadline_ns, entry.key);
                    continue;
                }
                Fate::Later(deadline_ns) => {
                    entry.deadline_ns = deadline_ns;
                    moved = true;
                }
                Fate::Due => {}
            }
            due[kept] = entry;
            kept += 1;
        }
        due.truncate(kept);
        if moved {
            // Stable: of equal deadlines the one registered first stays first.
            due[from..].sort_by_key(|due| due.deadline_ns);
        }
    }

    /// Gives the wheel what was overdue before `frame`.
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
    use std::rc::Rc;

    use crate::core::key::WaitKey;
    use crate::time::{Clock, ClockRef, FrameClock, Nanos, Step};

    use super::{KEPT_FRAMES, PhaseTimers};

    fn game() -> (Rc<FrameClock>, Clock) {
        let frames = Rc::new(FrameClock::new(20, u64::MAX));
        let game = Clock::game(&frames);
        (frames, game)
    }

    fn insert(timers: &mut PhaseTimers, clock: &Clock) {
        let awaited = clock.awaited();
        timers.insert(ClockRef::Child(awaited.state()), 1_000, WaitKey::NONE);
    }

    #[test]
    fn clocks_without_waits_do_not_pile_up_in_a_phase_that_is_never_run() {
        let (_, game) = game();
        let mut timers = PhaseTimers::default();
        let long = game.child();
        let awaited = long.awaited();
        timers.insert(ClockRef::Child(awaited.state()), 1_000, WaitKey::NONE);
        let clocks: Vec<Clock> = (0..1_000).map(|_| game.child()).collect();
        for clock in &clocks {
            insert(&mut timers, clock);
            assert!(timers.clocks.len() <= 16);
        }
        assert_eq!(timers.clocks[0].clock, awaited.state().index());
    }

    #[test]
    fn a_clock_without_waits_is_let_go_after_a_while_and_a_dropped_one_at_once() {
        let (frames, game) = game();
        let mut timers = PhaseTimers::default();
        let kept = game.child();
        insert(&mut timers, &kept);
        insert(&mut timers, &game.child());
        let awaited = kept.awaited();
        let mut run = || {
            frames.begin_frame(Step::of(Nanos::Finite(1)));
            let fate = None::<fn(_, &_) -> _>;
            timers.expire(frames.frame(), |_| 0, &mut Vec::new(), fate);
            timers.clocks.len()
        };
        assert_eq!(run(), 1);
        drop(awaited);
        for _ in 1..KEPT_FRAMES {
            assert_eq!(run(), 1);
        }
        assert_eq!(run(), 0);
    }

    #[test]
    fn the_end_of_one_clock_takes_no_wheel_from_another() {
        let (frames, game) = game();
        let mut timers = PhaseTimers::default();
        let (kept, gone) = (game.child(), game.child());
        insert(&mut timers, &kept);
        insert(&mut timers, &gone);
        let awaited = (kept.awaited(), gone.awaited());
        let mut run = || {
            frames.begin_frame(Step::of(Nanos::Finite(1)));
            let fate = None::<fn(_, &_) -> _>;
            timers.expire(frames.frame(), |_| 0, &mut Vec::new(), fate);
            timers.clocks.len()
        };
        assert_eq!(run(), 2);
        drop(awaited);
        assert_eq!(run(), 2);
        drop(gone);
        assert_eq!(run(), 1);
    }
}
