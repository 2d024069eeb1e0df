//! The own time of a coroutine: the reading of its clock less its pauses.

use std::rc::{Rc, Weak};

use crate::core::scope::Scope;
use crate::core::task::Flags;
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::time::{ClockIndex, ClockRef, ClockState, FrameClock, PhaseIndex};

/// A point in the own time of a coroutine. It may be less than zero, because a clock
/// may read less in a step than a pause was long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnTime(i128);

impl OwnTime {
    /// The point that is so many nanoseconds after zero.
    pub(crate) fn at(ns: i128) -> Self {
        OwnTime(ns)
    }

    pub(crate) fn plus(self, length_ns: u64) -> Self {
        OwnTime(self.0 + i128::from(length_ns))
    }

    pub(crate) fn minus(self, length_ns: u64) -> Self {
        OwnTime(self.0 - i128::from(length_ns))
    }

    /// What `clock` reads at this point, if the coroutine that `scope` polls is not paused
    /// any more. `None` if the point is beyond the range of clocks. If only the pauses have
    /// moved it beyond, it is the end.
    pub(crate) fn reading(
        self,
        scope: &Scope<'_>,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
    ) -> Option<u64> {
        let paused_ns = paused_ns(scope, phase, clock);
        let point_ns = (self.0 + i128::from(paused_ns)).max(0);
        let is_in_range = self.0 <= i128::from(u64::MAX);
        is_in_range.then(|| u64::try_from(point_ns).unwrap_or(u64::MAX))
    }

    /// How far this point is past `earlier`, in nanoseconds. Zero if it is not past it.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        let passed_ns = (self.0 - earlier.0).max(0);
        u64::try_from(passed_ns).unwrap_or(u64::MAX)
    }

    /// The own time on `clock` of the coroutine that `scope` polls, for something that
    /// begins now and continues in `phase`.
    pub(crate) fn at_begin(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
        let core = scope.core();
        let length_ns = 1; // any but zero
        let begin_ns = core
            .phases
            .get(phase)
            .begin_ns(&core.clock, clock, length_ns);
        Self::of(begin_ns, scope, phase, clock)
    }

    /// The same for something that has begun before. It counts in the time of `phase`, even
    /// when it is polled in another phase.
    pub(crate) fn now(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
        let core = scope.core();
        let now_ns = core.phases.get(phase).reached_ns(&core.clock, clock);
        Self::of(now_ns, scope, phase, clock)
    }

    fn of(now_ns: u64, scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> Self {
        let paused_ns = paused_ns(scope, phase, clock);
        // A clock at its end has no time left to make up for a pause.
        let paused_ns = if now_ns == u64::MAX { 0 } else { paused_ns };
        OwnTime(i128::from(now_ns) - i128::from(paused_ns))
    }

    /// The nanoseconds since the coroutine's clock read zero, less its pauses.
    pub(crate) fn ns(self) -> i128 {
        self.0
    }
}

/// How long the coroutine that `scope` polls has been paused, as `clock` counts in runs of
/// `phase`, since this was first asked, without the present pause.
pub(crate) fn paused_ns(scope: &Scope<'_>, phase: PhaseIndex, clock: ClockRef<'_>) -> u64 {
    let core = scope.core();
    let measure = core.phases.get(phase).measure(clock.index());
    scope.current().map_or(0, |task| {
        core.colds.of_or_new(task, |cold| {
            let own = cold.own.get_or_insert_default();
            let (clock, is_paused) = (OwnClock::new(measure, clock), task.has(Flags::PAUSED));
            own.total_ns(clock, &core.clock, is_paused)
        })
    })
}

/// The clocks on which a task keeps own time, sorted.
#[derive(Debug, Default)]
pub(crate) struct OwnClocks {
    clocks: Vec<OwnClock>,
    /// How many clocks there may be before those that are gone are removed.
    sweep_at: usize,
}

#[derive(Debug)]
struct OwnClock {
    /// In the fixed phase, the clock in stepped time, which has another reading and pace.
    measure: ClockIndex,
    /// The clock itself, unless it is one of the executor's own.
    clock: Option<Weak<ClockState>>,
    /// How long it has been running without the task.
    total_ns: u64,
    /// Its reading at the beginning of a pause under way.
    since_ns: Option<u64>,
}

impl OwnClock {
    fn new(measure: ClockIndex, clock: ClockRef<'_>) -> Self {
        let clock = match clock {
            ClockRef::Child(clock) => Some(Rc::downgrade(clock)),
            ClockRef::Game | ClockRef::Realtime => None,
        };
        OwnClock {
            measure,
            clock,
            total_ns: 0,
            since_ns: None,
        }
    }

    fn exists(&self) -> bool {
        let clock = self.clock.as_ref();
        clock.is_none_or(|clock| clock.strong_count() > 0)
    }

    /// What it reads. `None` if it is gone.
    fn now_ns(&self, frames: &FrameClock) -> Option<u64> {
        let Some(clock) = &self.clock else {
            return Some(match self.measure {
                ClockIndex::GAME => frames.frame_game_ns(),
                ClockIndex::REALTIME => frames.real_ns(),
                _ => frames.fixed_ns(),
            });
        };
        let clock = clock.upgrade()?;
        Some(if self.measure.is_stepped() {
            clock.stepped_ns()
        } else {
            clock.frame_ns()
        })
    }
}

impl OwnClocks {
    fn total_ns(&mut self, mut clock: OwnClock, frames: &FrameClock, is_paused: bool) -> u64 {
        let found = |clocks: &[OwnClock]| {
            clocks.binary_search_by_key(&clock.measure, |clock| clock.measure)
        };
        if let Ok(at) = found(&self.clocks) {
            return self.clocks[at].total_ns;
        }
        if self.clocks.len() >= self.sweep_at.max(8) {
            self.clocks.retain(OwnClock::exists);
            self.sweep_at = 2 * self.clocks.len();
        }
        let (Ok(at) | Err(at)) = found(&self.clocks);
        // The task may have paused itself in this poll.
        clock.since_ns = clock.now_ns(frames).filter(|_| is_paused);
        self.clocks.insert(at, clock);
        0
    }

    /// Notes that a pause begins or ends.
    pub(crate) fn note_pause(&mut self, frames: &FrameClock, begins: bool) {
        for clock in &mut self.clocks {
            let now_ns = clock.now_ns(frames);
            if let (Some(since_ns), Some(now_ns)) = (clock.since_ns, now_ns) {
                let paused_ns = now_ns.saturating_sub(since_ns);
                clock.total_ns = clock.total_ns.saturating_add(paused_ns);
            }
            clock.since_ns = now_ns.filter(|_| begins);
        }
    }

    /// Writes the clocks that have a number to an image.
    pub(crate) fn save(&self, out: &mut Writer, clocks: &ClockNames) {
        let numbered = |clock: &'_ OwnClock| clocks.measure_number(clock.measure);
        let known = self
            .clocks
            .iter()
            .filter_map(|clock| Some((numbered(clock)?, clock)));
        out.put_all(known, |out, (number, clock)| {
            let (is_paused, since_ns) = (clock.since_ns.is_some(), clock.since_ns.unwrap_or(0));
            out.put_each([number, clock.total_ns, u64::from(is_paused), since_ns]);
        });
    }

    /// Reads what [`save`](Self::save) has written. `None` if there are none.
    pub(crate) fn load(
        image: &mut Reader<'_>,
        clocks: &ClockNames,
    ) -> Result<Option<Box<Self>>, Damaged> {
        let mut own = OwnClocks::default();
        for _ in 0..image.take_len()? {
            let (measure, clock) = clocks.measured(image.take()?)?;
            let mut clock = OwnClock::new(measure, clock);
            clock.total_ns = image.take()?;
            let (is_paused, since_ns) = (image.take_flag()?, image.take()?);
            clock.since_ns = is_paused.then_some(since_ns);
            own.clocks.push(clock);
        }
        own.clocks.sort_unstable_by_key(|clock| clock.measure);
        Ok((!own.clocks.is_empty()).then(|| Box::new(own)))
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{OwnClock, OwnClocks};
    use crate::time::{Clock, FrameClock};

    #[test]
    fn clocks_that_are_gone_do_not_pile_up_and_the_others_stay() {
        let frames = Rc::new(FrameClock::new(20, u64::MAX));
        let game = Clock::game(&frames);
        let mut own = OwnClocks::default();
        let mut ask = |clock: &Clock| {
            let state = clock.state();
            let clock = OwnClock::new(state.index(), state.as_ref());
            own.total_ns(clock, &frames, false);
            own.clocks.len()
        };
        let kept: Vec<Clock> = (0..20).map(|_| game.child()).collect();
        for clock in &kept {
            ask(clock);
        }
        for _ in 0..1_000 {
            assert!(ask(&game.child()) <= 2 * kept.len() + 1);
        }
        let indices: Vec<_> = own.clocks.iter().map(|clock| clock.measure).collect();
        let expected: Vec<_> = kept.iter().map(|clock| clock.state().index()).collect();
        assert_eq!(indices[..kept.len()], expected);
    }
}
