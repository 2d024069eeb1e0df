//! The timers of one phase: one wheel for each clock on which they count.

mod counts;
mod image;
pub(crate) mod wheel;

use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef, ClockState};

use crate::core::image::names::Names;
use crate::core::registration::key::WaitKey;
use crate::image::{Damaged, Reader, Writer};

pub(crate) use counts::{Counts, Unit};
use image::{load_wheel, save_wheel};
use wheel::{Standing, TimerEntry, Wheel};

/// What becomes of a timer that its wheel found due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Due now.
    Due,
    /// Due at this time in nanoseconds, because its coroutine was paused in between.
    Later(u64),
    /// Not due, because its coroutine is paused. The coroutine keeps the timer.
    Suspended,
}

/// For how many frames a clock without waits keeps its wheel. So a clock with a wait
/// now and then does not need a new wheel each time.
const KEPT_FRAMES: u64 = 256;

/// The timers that resume coroutines in one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseTimers {
    /// The wheels, by clock, ascending.
    #[expect(
        clippy::vec_box,
        reason = "a wheel takes kilobytes, and clocks come and go"
    )]
    clocks: Vec<Box<ClockTimers>>,
    /// Timers that are not suspended any more, to be inserted in order. Each comes with its
    /// number among all suspended timers.
    returned: Vec<(u64, ClockIndex, TimerEntry)>,
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
    /// The reading of the clock in `state` in the latest run.
    reading_ns: u64,
    /// The frame of the latest run in which a wait counted on the clock.
    used_in: u64,
    wheel: Wheel,
    /// Timers registered in a frame that reaches, or may reach, their deadline. They are
    /// not due before the next frame. So the wheel receives them then.
    overdue: Vec<TimerEntry>,
    /// The frame in which the timers in `overdue` were registered.
    overdue_frame: u64,
    /// How many timers were cancelled since `overdue` was last swept or emptied.
    cancelled: usize,
}

impl PhaseTimers {
    /// Adds a timer.
    #[inline]
    pub(crate) fn insert(&mut self, clock: ClockRef<'_>, deadline_ns: u64, key: WaitKey) {
        let timers = self.clock_timers(clock);
        timers.wheel.insert(deadline_ns, key.bits());
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
    }

    /// Moves each key that is due in a run of `frame` to `due`: clock by clock,
    /// then by deadline, then by registration.
    pub(crate) fn expire(
        &mut self,
        frame: u64,
        now_ns: impl Fn(ClockIndex) -> u64,
        due: &mut Vec<TimerEntry>,
        mut fate: Option<impl FnMut(ClockIndex, &TimerEntry) -> Fate>,
    ) {
        self.put_back();
        let (is_fixed, mut idle) = (self.is_fixed, false);
        for timers in &mut self.clocks {
            timers.release_overdue(frame);
            let now_ns = match &timers.state {
                None => now_ns(timers.clock),
                Some(state) => {
                    timers.reading_ns = if is_fixed {
                        state.stepped_ns()
                    } else {
                        state.frame_ns()
                    };
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

    /// Whether [`expire`](PhaseTimers::expire) has nothing to do: nothing is due,
    /// and only the executor's own clocks have timers.
    pub(crate) fn is_idle(&self, now_ns: impl Fn(ClockIndex) -> u64) -> bool {
        let is_idle = |timers: &ClockTimers| {
            timers.state.is_none()
                && timers.overdue.is_empty()
                && !timers.wheel.may_expire(now_ns(timers.clock))
        };
        self.returned.is_empty() && self.clocks.iter().all(|timers| is_idle(timers))
    }

    /// Whether there are no clocks, and so no timers.
    pub(crate) fn is_empty(&self) -> bool {
        self.clocks.is_empty() && self.returned.is_empty()
    }

    /// Adds a timer that was suspended, on a clock that its wait keeps. Of two timers with
    /// the same deadline, the one with the lesser `order` is due first.
    pub(crate) fn reinsert(&mut self, order: u64, clock: ClockIndex, due: TimerEntry) {
        self.returned.push((order, clock, due));
    }

    /// Inserts the timers from `returned` into the wheels.
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

    /// The reading of a clock in the latest run. The clock must have timers here.
    pub(crate) fn reading(&self, clock: ClockIndex) -> u64 {
        self.find(clock)
            .map_or(0, |index| self.clocks[index].reading_ns)
    }

    /// Drops the wheels of all clocks without waits: all their timers were cancelled.
    #[cold]
    fn sweep(&mut self) {
        self.clocks.retain(|timers| timers.has_waits());
        self.sweep_at = self.clocks.len() * 2;
    }

    /// Notes that a timer on `clock` was cancelled.
    pub(crate) fn note_stale(&mut self, clock: ClockIndex, is_live: impl Fn(WaitKey) -> bool) {
        let Some(index) = self.find(clock) else {
            return;
        };
        let timers = &mut self.clocks[index];
        // Overdue timers are few, or leave in the next frame. Only a flood of them is
        // worth a sweep.
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

    /// Calls `f` with each clock and the time at which its first timer is due. No
    /// timer changes its place.
    ///
    /// `standing` says how a timer on a clock stands. Between calls with the same
    /// `moment`, no timer may become due earlier.
    pub(crate) fn each_earliest(
        &mut self,
        moment: u64,
        standing: impl Fn(ClockIndex, TimerEntry) -> Standing,
        mut f: impl FnMut(ClockRef<'_>, u64),
    ) {
        for timers in &mut self.clocks {
            let standing = |due: TimerEntry| standing(timers.clock, due);
            let overdue = timers
                .overdue
                .iter()
                .filter_map(|&due| standing(due).due_ns());
            let wheel = timers.wheel.earliest(moment, standing);
            if let Some(due_ns) = overdue.chain(wheel).min() {
                f(timers.clock_ref(), due_ns);
            }
        }
        for &(_, clock, due) in &self.returned {
            if let Some(due_ns) = standing(clock, due).due_ns() {
                self.show(clock, &mut |clock| f(clock, due_ns));
            }
        }
    }

    /// Calls `f` with each timer: its clock, its deadline, and its key, which may
    /// be stale.
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

    /// Calls `f` with a clock, if it has timers here.
    pub(crate) fn show(&self, clock: ClockIndex, f: &mut impl FnMut(ClockRef<'_>)) {
        if let Some(index) = self.find(clock) {
            f(self.clocks[index].clock_ref());
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

    #[cold]
    fn add(&mut self, clock: ClockRef<'_>) -> usize {
        // Sweeps here, too, because the host may never run the phase.
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

    /// Writes the timers that `names` knows to an image. Those on unknown clocks have no
    /// waits that could be saved.
    pub(crate) fn save(&self, out: &mut Writer, names: &Names<'_>) {
        let number = |key: u64| names.number(WaitKey::from_bits(key));
        let clocks = self.clocks.iter();
        let known = clocks.filter_map(|timers| Some((names.clock_number(timers.clock)?, timers)));
        out.put_all(known, |out, (clock, timers)| {
            out.put(clock);
            out.put(timers.reading_ns);
            out.put(timers.used_in);
            out.put(timers.overdue_frame);
            let overdue = timers.overdue.iter();
            let overdue = overdue.filter_map(|due| Some((due.deadline_ns, number(due.key)?)));
            out.put_all(overdue, |out, (deadline_ns, number)| {
                out.put(deadline_ns);
                out.put_len(number);
            });
            save_wheel(&timers.wheel, out, |key| names.number(key));
        });
        let returned = self.returned.iter().filter_map(|&(order, clock, due)| {
            Some((
                order,
                names.clock_number(clock)?,
                due.deadline_ns,
                number(due.key)?,
            ))
        });
        out.put_all(returned, |out, (order, clock, deadline_ns, number)| {
            out.put(order);
            out.put(clock);
            out.put(deadline_ns);
            out.put_len(number);
        });
    }

    /// Replaces the timers by those that [`save`](Self::save) has written. `now_ns` is the
    /// reading of one of the executor's own clocks in the latest run.
    pub(crate) fn load(
        &mut self,
        image: &mut Reader<'_>,
        names: &Names<'_>,
        now_ns: impl Fn(ClockIndex) -> u64,
    ) -> Result<(), Damaged> {
        self.clear();
        for _ in 0..image.take_len()? {
            let clock = names.clock(image.take()?)?;
            let at = self
                .clocks
                .partition_point(|other| other.clock < clock.index());
            if self.find(clock.index()).is_some() {
                return Err(Damaged);
            }
            let mut timers = ClockTimers::new(clock);
            timers.reading_ns = image.take()?;
            timers.used_in = image.take()?;
            timers.overdue_frame = image.take()?;
            for _ in 0..image.take_len()? {
                timers.overdue.push(names.take_timer(image)?);
            }
            let now_ns = match &timers.state {
                None => now_ns(timers.clock),
                Some(_) => timers.reading_ns,
            };
            timers.wheel = load_wheel(image, now_ns, |number| names.key(number))?;
            self.clocks.insert(at, Box::new(timers));
        }
        for _ in 0..image.take_len()? {
            let order = image.take()?;
            let clock = names.clock(image.take()?)?.index();
            self.returned.push((order, clock, names.take_timer(image)?));
        }
        Ok(())
    }

    /// Removes all timers.
    pub(crate) fn clear(&mut self) {
        self.clocks.clear();
        self.returned.clear();
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
            used_in: 0,
            wheel: Wheel::new(),
            overdue: Vec::new(),
            overdue_frame: 0,
            cancelled: 0,
        }
    }

    /// Whether the clock has waits, or is one of the executor's own.
    fn has_waits(&self) -> bool {
        self.state.as_ref().is_none_or(|state| state.has_waits())
    }

    /// Whether there are waits, or there may soon be some.
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

    /// Removes timers from `due`, from index `from` on: those that are not due because of
    /// a pause.
    #[cold]
    fn sift(
        &mut self,
        now_ns: u64,
        due: &mut Vec<TimerEntry>,
        from: usize,
        fate: &mut impl FnMut(ClockIndex, &TimerEntry) -> Fate,
    ) {
        let mut kept = from;
        let mut moved = false;
        for index in from..due.len() {
            let mut entry = due[index];
            let is_due = loop {
                match fate(self.clock, &entry) {
                    Fate::Suspended => break false,
                    Fate::Later(deadline_ns) if deadline_ns > now_ns => {
                        self.wheel.insert(deadline_ns, entry.key);
                        break false;
                    }
                    Fate::Later(deadline_ns) => {
                        entry.deadline_ns = deadline_ns;
                        moved = true;
                    }
                    Fate::Due => break true,
                }
            };
            if is_due {
                due[kept] = entry;
                kept += 1;
            }
        }
        due.truncate(kept);
        if moved {
            // A stable sort: of equal deadlines the one registered first stays first.
            due[from..].sort_by_key(|due| due.deadline_ns);
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
    use std::rc::Rc;

    use crate::core::registration::key::WaitKey;
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
    fn a_clock_without_waits_is_dropped_after_a_while_and_one_without_handles_at_once() {
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
