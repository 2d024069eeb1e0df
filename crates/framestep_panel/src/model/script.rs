//! One script in one frame.

use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::Phase;
use framestep::inspect::{CallChain, CoroutineInfo, Moment, Profile, State, TimerClock, Wait};
use framestep::task::CoroutineId;

use super::frame::Clocks;
use super::kind::Kind;
use super::text::{clean, is_elsewhere};

/// One script, as the panel has recorded it.
///
/// The panel makes a new value only if something has changed since the last frame.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) who: Rc<Who>,
    pub(crate) state: State,
    pub(crate) kind: Kind,
    pub(crate) phase: Phase,
    pub(crate) waits: Box<[Waiting]>,
    pub(crate) since: Option<Moment>,
    pub(crate) description: Option<Rc<str>>,
    pub(crate) profile: Option<Profile>,
    pub(crate) home_has_run: bool,
    /// The frame in which this value was made.
    pub(crate) changed: u64,
    /// The frame in which its pause was first seen.
    pub(crate) paused_since: Option<(u64, Duration)>,
    /// The line where its last poll began, if that is known.
    pub(crate) ran_from: Option<&'static Location<'static>>,
}

/// What rarely changes in the life of a script.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    pub(crate) id: CoroutineId,
    full_name: Box<str>,
    pub(crate) name: Box<str>,
    full_owner: Option<Rc<str>>,
    pub(crate) owner: Option<Rc<str>>,
    pub(crate) spawned_at: Option<&'static Location<'static>>,
    pub(crate) parent: Option<CoroutineId>,
    pub(crate) home: Phase,
    /// The frame in which the panel first saw it.
    pub(crate) born: u64,
}

/// One thing that a script waits for, and where.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// As it was in the frame [`changed`](Script).
    pub(crate) wait: Wait,
    pub(crate) at: Option<&'static Location<'static>>,
    /// Through which functions the script has come to it, if its executor notes that.
    pub(crate) chain: Option<CallChain>,
    /// How much was left when it was first seen: nanoseconds, frames or steps.
    total: u64,
    /// The reading of the game clock when it was first seen.
    pub(crate) seen: Duration,
}

impl Script {
    /// Its id.
    pub fn id(&self) -> CoroutineId {
        self.who.id
    }

    /// Its name, in one line: the last two parts of a path.
    pub fn name(&self) -> &str {
        &self.who.name
    }

    /// Its name, unchanged.
    pub fn full_name(&self) -> &str {
        &self.who.full_name
    }

    /// The name of its owner, in one line.
    pub fn owner(&self) -> Option<&str> {
        self.who.owner.as_deref()
    }

    /// The name of its owner, unchanged.
    pub fn full_owner(&self) -> Option<&str> {
        self.who.full_owner.as_deref()
    }

    /// What it is doing.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its description of itself, in one line.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What it waits for.
    pub fn waits(&self) -> &[Waiting] {
        &self.waits
    }

    /// How often it was polled, and for how long, if the executor profiles.
    pub fn profile(&self) -> Option<Profile> {
        self.profile
    }

    /// The line of its first wait, or else the line that spawned it. A line of a crate from
    /// elsewhere counts only if nothing else is known.
    pub fn line(&self) -> Option<&'static Location<'static>> {
        let own = self.waits_at().filter(|at| !is_elsewhere(at));
        own.or(self.who.spawned_at).or(self.waits_at())
    }

    pub(crate) fn waits_at(&self) -> Option<&'static Location<'static>> {
        let mut lines = self.waits.iter().filter_map(|waiting| waiting.at);
        let first = lines.clone().next();
        lines.find(|at| !is_elsewhere(at)).or(first)
    }

    /// What it waits for, if that is only one thing.
    pub(crate) fn only_wait(&self) -> Option<&Wait> {
        if self.state != State::Waiting {
            return None;
        }
        let mut waits = self.waits.iter().map(|waiting| &waiting.wait);
        let mut waits = waits
            .by_ref()
            .filter(|wait| !matches!(wait, Wait::Wake { .. }));
        let first = waits.next()?;
        waits.next().is_none().then_some(first)
    }

    /// The part of the time left, from 1 to 0, of the wait that ends first. `None` if no
    /// wait has a length.
    pub(crate) fn left(&self, frame: u64, clocks: &Clocks) -> Option<f32> {
        let is_paused = self.state == State::Paused;
        let parts = self.waits.iter().filter_map(|waiting| {
            let left = waiting.left(is_paused, self.changed, frame, clocks)?;
            Some(left as f32 / waiting.total.max(1) as f32)
        });
        parts.reduce(f32::min).map(|part| part.clamp(0.0, 1.0))
    }

    pub(crate) fn new(
        info: &CoroutineInfo,
        before: Option<&Rc<Script>>,
        frame: u64,
        elapsed: Duration,
    ) -> Self {
        let who = match before {
            Some(before) if before.who.is_of(info) => Rc::clone(&before.who),
            _ => Rc::new(Who::new(info, before, frame)),
        };
        // It has not been polled in between: these are the same waits.
        let same_poll = before.filter(|before| before.since == info.since());
        let waits = info.waits_at().zip(info.call_chains());
        let waits = waits.enumerate().map(|(index, ((wait, at), chain))| {
            let old = before.and_then(|before| before.waits.get(index));
            let old = old.filter(|old| old.is_like(wait, at));
            let old = old.filter(|old| same_poll.is_some() || old.outlasts_polls(wait));
            let now = length(wait);
            Waiting {
                wait: wait.clone(),
                at,
                chain: chain.cloned(),
                total: old.map_or(now, |old| old.total.max(now)),
                seen: old.map_or(elapsed, |old| old.seen),
            }
        });
        let waits: Box<[Waiting]> = waits.collect();
        let is_paused = info.state() == State::Paused;
        let paused_since = is_paused.then(|| {
            before
                .and_then(|before| before.paused_since)
                .unwrap_or((frame, elapsed))
        });
        let ran_from = match (same_poll, before) {
            (Some(before), _) => before.ran_from,
            (None, Some(before)) => before.waits_at(),
            (None, None) => None,
        };
        Script {
            state: info.state(),
            kind: Kind::of(info.state(), info.waits()),
            phase: info.phase(),
            since: info.since(),
            description: info.description().map(|text| clean(text).into()),
            profile: info.profile(),
            home_has_run: info.home_has_run(),
            changed: frame,
            who,
            waits,
            paused_since,
            ran_from,
        }
    }

    /// Whether `info` would make the same script as this one.
    pub(crate) fn is_same(&self, info: &CoroutineInfo, frame: u64) -> bool {
        let is_paused = self.state == State::Paused;
        self.state == info.state()
            && self.since == info.since()
            && self.profile == info.profile()
            && self.phase == info.phase()
            && self.home_has_run == info.home_has_run()
            && self.who.is_of(info)
            && self.waits.len() == info.waits().count()
            && self
                .waits
                .iter()
                .zip(info.waits_at())
                .all(|(mine, (wait, at))| {
                    mine.at == at && mine.is_still(wait, is_paused, self.changed, frame)
                })
            && self.says(info.description())
    }

    fn says(&self, text: Option<&str>) -> bool {
        match (&self.description, text) {
            (None, None) => true,
            (Some(mine), Some(text)) => **mine == *text || **mine == *clean(text),
            _ => false,
        }
    }
}

impl Who {
    fn new(info: &CoroutineInfo, before: Option<&Rc<Script>>, frame: u64) -> Self {
        let name = clean(info.short_name());
        let name = match name.trim() {
            "" => "(no name)".into(),
            _ => name.into(),
        };
        Who {
            id: info.id(),
            full_name: info.name().into(),
            name,
            full_owner: info.owner().map(Into::into),
            owner: info.owner().map(|owner| clean(owner).into()),
            spawned_at: info.spawned_at(),
            parent: info.parent(),
            home: info.home(),
            born: before.map_or(frame, |before| before.who.born),
        }
    }

    fn is_of(&self, info: &CoroutineInfo) -> bool {
        *self.full_name == *info.name()
            && self.full_owner.as_deref() == info.owner()
            && self.spawned_at == info.spawned_at()
    }
}

impl Waiting {
    /// What it is, at the time it was recorded.
    pub fn wait(&self) -> &Wait {
        &self.wait
    }

    /// The file, line and column of the `.await`.
    pub fn at(&self) -> Option<&'static Location<'static>> {
        self.at
    }

    /// Whether it is the same wait, at another time.
    fn is_like(&self, wait: &Wait, at: Option<&'static Location<'static>>) -> bool {
        let alike = std::mem::discriminant(&self.wait) == std::mem::discriminant(wait);
        alike && self.at == at
    }

    /// Whether `wait`, after another poll, is still this one: a condition that is still
    /// false, or the timer beside it.
    fn outlasts_polls(&self, wait: &Wait) -> bool {
        match (&self.wait, wait) {
            (Wait::Condition { .. }, _) => true,
            (Wait::Timer { deadline, .. }, Wait::Timer { deadline: now, .. }) => deadline == now,
            _ => false,
        }
    }

    /// Whether `wait` in `frame` is this one, which was recorded in the frame `noted`.
    pub(crate) fn is_still(&self, wait: &Wait, is_paused: bool, noted: u64, frame: u64) -> bool {
        match (&self.wait, wait) {
            (
                Wait::Timer {
                    clock,
                    deadline,
                    left,
                    phase,
                },
                Wait::Timer {
                    clock: clock_now,
                    deadline: deadline_now,
                    left: left_now,
                    phase: phase_now,
                },
            ) => {
                let same = if is_paused {
                    left == left_now
                } else {
                    deadline == deadline_now
                };
                same && clock == clock_now && phase == phase_now
            }
            (
                Wait::FrameCount { phase, left },
                Wait::FrameCount {
                    phase: phase_now,
                    left: left_now,
                },
            ) if !is_paused => {
                noted.saturating_add(*left) == frame.saturating_add(*left_now) && phase == phase_now
            }
            (old, new) => old == new,
        }
    }

    /// How much is left in `frame`: nanoseconds, frames or steps. `None` if the wait has
    /// no length.
    fn left(&self, is_paused: bool, noted: u64, frame: u64, clocks: &Clocks) -> Option<u64> {
        match &self.wait {
            Wait::Timer { .. } => Some(nanos(self.time_left(is_paused, clocks)?)),
            Wait::FrameCount { left, .. } if !is_paused => {
                Some(noted.saturating_add(*left).saturating_sub(frame))
            }
            Wait::FrameCount { left, .. } | Wait::StepCount { left, .. } => Some(*left),
            _ => None,
        }
    }

    pub(crate) fn time_left(&self, is_paused: bool, clocks: &Clocks) -> Option<Duration> {
        match &self.wait {
            Wait::Timer { left, .. } if is_paused => Some(*left),
            Wait::Timer {
                clock, deadline, ..
            } => Some(deadline.saturating_sub(clocks.read(*clock))),
            _ => None,
        }
    }

    /// How many frames or steps are left in `frame`.
    pub(crate) fn count_left(&self, is_paused: bool, noted: u64, frame: u64) -> Option<u64> {
        match &self.wait {
            Wait::FrameCount { .. } | Wait::StepCount { .. } => {
                self.left(is_paused, noted, frame, &Clocks::default())
            }
            _ => None,
        }
    }
}

/// The clock that a timer counts on, and its reading.
pub(crate) fn reading(wait: &Wait) -> Option<(TimerClock, Duration)> {
    match wait {
        Wait::Timer {
            clock,
            deadline,
            left,
            ..
        } => Some((*clock, deadline.saturating_sub(*left))),
        _ => None,
    }
}

fn length(wait: &Wait) -> u64 {
    match wait {
        Wait::Timer { left, .. } => nanos(*left),
        Wait::FrameCount { left, .. } | Wait::StepCount { left, .. } => *left,
        _ => 0,
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
