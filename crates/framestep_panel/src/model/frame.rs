//! One recorded frame.

use std::rc::Rc;
use std::time::Duration;

use framestep::Time;
use framestep::inspect::{Snapshot, State, TimerClock};
use framestep::task::CoroutineId;

use super::kind::Kind;
use super::script::{Script, reading};

/// All scripts in one recorded frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub(crate) time: Time,
    /// By id. Scripts that have not changed are shared with the frame before.
    pub(crate) scripts: Vec<Rc<Script>>,
    pub(crate) clocks: Clocks,
    /// Changes whenever scripts come, go, or change their name or owner.
    pub(crate) structure: u64,
    /// The total time of the polls of this frame.
    pub(crate) spent: Duration,
    /// The number of scripts of each kind.
    pub(crate) kinds: [usize; Kind::ALL.len()],
    /// Positions of the scripts that have changed.
    pub(crate) changed: Vec<u32>,
    /// How many have ended since the frame before.
    pub(crate) ended: usize,
}

/// The readings of the known clocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks(Vec<(TimerClock, Duration)>);

impl Clocks {
    pub(crate) fn read(&self, clock: TimerClock) -> Duration {
        let found = self.0.iter().find(|(known, _)| *known == clock);
        found.map_or(Duration::ZERO, |(_, reading)| *reading)
    }

    pub(crate) fn knows(&self, clock: TimerClock) -> bool {
        self.0.iter().any(|(known, _)| *known == clock)
    }

    fn note(&mut self, clock: TimerClock, reading: Duration) {
        if !self.knows(clock) {
            self.0.push((clock, reading));
        }
    }
}

/// What a script did in one frame: a mark in its strip.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mark {
    /// It did not exist, or the frame was not recorded.
    Absent,
    /// It was spawned in the frame.
    Spawned,
    /// It was polled. The time is zero if the executor does not profile.
    Polled(Duration),
    /// It waited, or was due.
    Waited(Kind),
    /// It was paused.
    Paused,
    /// It has ended in this frame.
    Ended,
}

impl Frame {
    /// The number of the frame.
    pub fn number(&self) -> u64 {
        self.time.frame
    }

    /// The readings of the clocks.
    pub fn time(&self) -> Time {
        self.time
    }

    /// All scripts, by id.
    pub fn scripts(&self) -> impl ExactSizeIterator<Item = &Script> {
        self.scripts.iter().map(|script| &**script)
    }

    /// The script with this id, if it was alive.
    pub fn script(&self, id: CoroutineId) -> Option<&Script> {
        self.find(id).map(|script| &**script)
    }

    /// The total time of the polls of this frame: zero if the executor does not profile.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// The number of scripts of this kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.kinds[kind.index()]
    }

    pub(crate) fn find(&self, id: CoroutineId) -> Option<&Rc<Script>> {
        let found = self
            .scripts
            .binary_search_by_key(&id, |script| script.who.id);
        found.ok().map(|at| &self.scripts[at])
    }

    pub(crate) fn new(snapshot: &Snapshot, before: Option<&Frame>) -> Self {
        let time = snapshot.time();
        let mut clocks = Clocks::default();
        let mut scripts = Vec::with_capacity(snapshot.len());
        let mut old = before.map_or(&[][..], |before| &before.scripts[..]).iter();
        let mut next_old = old.next();
        let mut is_changed = before.is_none();
        let mut spent = Duration::ZERO;
        let mut kinds = [0; Kind::ALL.len()];
        let mut changed = Vec::new();
        let mut ended = 0;
        for info in snapshot {
            if let Some((clock, reading)) = info.waits().find_map(reading) {
                clocks.note(clock, reading);
            }
            while next_old.is_some_and(|old| old.who.id < info.id()) {
                next_old = old.next();
                ended += 1;
            }
            let mine = next_old.filter(|old| old.who.id == info.id());
            if mine.is_some() {
                next_old = old.next();
            }
            let script = match mine {
                Some(mine) if mine.is_same(info, time.frame) => Rc::clone(mine),
                _ => {
                    let new = Script::new(info, mine, time.frame, time.elapsed);
                    is_changed |= !mine.is_some_and(|mine| Rc::ptr_eq(&mine.who, &new.who));
                    let total =
                        |script: &Script| script.profile.map_or(Duration::ZERO, |p| p.total);
                    let before = mine.map_or(Duration::ZERO, |mine| total(mine));
                    spent += total(&new).saturating_sub(before);
                    changed.push(u32::try_from(scripts.len()).unwrap_or(u32::MAX));
                    Rc::new(new)
                }
            };
            kinds[script.kind.index()] += 1;
            scripts.push(script);
        }
        ended += usize::from(next_old.is_some()) + old.len();
        clocks.note(TimerClock::Game, time.elapsed);
        clocks.note(TimerClock::Realtime, time.unscaled_elapsed);
        clocks.note(TimerClock::Fixed, time.fixed_elapsed);
        let structure = before.map_or(0, |before| before.structure);
        Frame {
            time,
            scripts,
            clocks,
            structure: structure + u64::from(is_changed || ended > 0),
            spent,
            kinds,
            changed,
            ended,
        }
    }

    /// The position of the script. It is likely to be at `hint`, its position in a nearby
    /// frame.
    pub(crate) fn position(&self, id: CoroutineId, hint: Option<usize>) -> Option<usize> {
        let is_it = |at: &usize| {
            self.scripts
                .get(*at)
                .is_some_and(|script| script.who.id == id)
        };
        let search = || {
            self.scripts
                .binary_search_by_key(&id, |script| script.who.id)
                .ok()
        };
        hint.filter(is_it).or_else(search)
    }

    /// What the script at `at` did in this frame. `was` is the script in the frame before,
    /// if that was recorded.
    pub(crate) fn mark(&self, at: Option<usize>, was: Option<&Rc<Script>>, is_first: bool) -> Mark {
        let Some(script) = at.map(|at| &self.scripts[at]) else {
            return if was.is_some() {
                Mark::Ended
            } else {
                Mark::Absent
            };
        };
        if was.is_none() && !is_first {
            return Mark::Spawned;
        }
        if was.is_some_and(|was| Rc::ptr_eq(was, script)) {
            return match script.state {
                State::Paused => Mark::Paused,
                _ => Mark::Waited(script.kind),
            };
        }
        let was_polled = match (script.profile, was) {
            (Some(profile), Some(was)) => was.profile.map(|was| was.polls) != Some(profile.polls),
            _ => script
                .since
                .is_some_and(|since| since.frame == self.number()),
        };
        if was_polled {
            let total = |script: &Script| script.profile.map_or(Duration::ZERO, |p| p.total);
            // Without the frame before, only the total time since the spawn is known.
            let took = was.map_or(Duration::ZERO, |was| {
                total(script).saturating_sub(total(was))
            });
            Mark::Polled(took)
        } else if script.state == State::Paused {
            Mark::Paused
        } else {
            Mark::Waited(script.kind)
        }
    }
}
