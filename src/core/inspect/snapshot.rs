//! The content of a snapshot: every coroutine, and every list that holds a
//! wait.
//!
//! A snapshot changes nothing. It finds waits in their lists: the queues, the
//! counts, the wheels and the lists of joins. A registered wait that is in no list is due
//! in the run under way.

use std::sync::Arc;
use std::time::Duration;

use crate::core::Core;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::inspect::awaited::NotedLines;
use crate::core::life::end::requests;
use crate::core::owners::OwnerKey;
use crate::core::phase::schedule;
use crate::core::phase::state::{Listed, PhaseState};
use crate::core::scope;
use crate::core::task::{Flags, NO_JOINER, Task};
use crate::core::timer::Unit;
use crate::core::wake::waker::TaskWaker;
use crate::inspect::{CoroutineInfo, Line, Origin, Snapshot, State, TimerClock, Wait, WaitId};
use crate::task::coroutine::CoroutineId;
use crate::time::{ClockRef, PhaseIndex};

/// A snapshot that is being made.
struct Draft<'a> {
    core: &'a Core,
    coroutines: Vec<CoroutineInfo>,
    /// The tasks of the coroutines, in the same order.
    tasks: Vec<Task<'a>>,
    /// By index of the task: its position in those lists, or `ABSENT` if it is not alive.
    positions: Vec<u32>,
    /// The lines of the waits of each coroutine, if any is observed.
    lines: Vec<NotedLines>,
    /// How many waits of each coroutine have been found.
    found: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

pub(crate) fn snapshot(core: &Core) -> Snapshot {
    let mut draft = Draft::new(core);
    core.phases.each(|phase, state| {
        state.each_wait(&core.timers, |key, listed| {
            draft.read_wait(phase, state, key, listed);
        });
    });
    draft.read_ready();
    draft.read_joins();
    draft.read_events();
    draft.read_due();
    for key in core.starts.deferred.iter() {
        draft.set_ready(key, None);
    }
    core.host
        .injected
        .each_woken(|key| draft.set_ready(key, None));
    draft.read_polled();
    draft.finish()
}

/// Reads what the task itself says about its coroutine.
fn read_task(core: &Core, task: Task<'_>, owners: &mut OwnerLabels) -> (CoroutineInfo, NotedLines) {
    let owner = core.owners.of(task);
    let (origin, has_begun, lines) = match notes_of(core, task) {
        Some((origin, has_begun, lines)) => (Some(origin), has_begun, lines),
        None => (None, true, NotedLines::default()),
    };
    let paused = task.has(Flags::PAUSED);
    let remembered = if paused {
        core.colds
            .pause_of(task, |pause| pause.wake)
            .flatten()
            .map(|wake| wake.phase)
    } else {
        None
    };
    let coroutine = CoroutineInfo {
        id: core.id_of(task),
        name: core.name_of(task),
        state: if paused {
            State::Paused
        } else if task.has(Flags::READY) || !has_begun {
            State::Ready
        } else {
            State::Waiting
        },
        phase: remembered.unwrap_or_else(|| task.home()).phase(),
        home: task.home().phase(),
        home_has_run: core.phases.get(task.home()).runs.get() > 0,
        wait: None,
        more_waits: Vec::new(),
        owner: owner.map(|owner| owners.label(core, owner)),
        clock: owner.map_or(TimerClock::Game, |owner| {
            let owners = core.owners.borrow();
            let clock = owners.clock(owner);
            clock.map_or(TimerClock::Game, |clock| TimerClock::of(clock.index()))
        }),
        origin: origin.map(Box::new),
    };
    (coroutine, lines)
}

/// What is noted about an observed task: its origin, whether it has begun, and its lines.
fn notes_of(core: &Core, task: Task<'_>) -> Option<(Origin, bool, NotedLines)> {
    let observed = core.colds.of(task, |cold| {
        cold.observed.as_ref().map(|observed| {
            let origin = Origin {
                since: observed.since,
                place: observed.place,
                parent: observed.parent.map(|key| CoroutineId::new(core.id, key)),
                line: None,
                more_lines: Vec::new(),
                description: observed.description.clone(),
                profile: core.instruments.profiles.then_some(observed.profile),
            };
            (origin, observed.has_begun, NotedLines::of(observed))
        })
    });
    observed.flatten()
}

impl<'a> Draft<'a> {
    /// Begins with all live coroutines, as their tasks describe them.
    fn new(core: &'a Core) -> Self {
        let (count, alive) = (core.tasks.len(), core.tasks.alive());
        let mut draft = Draft {
            core,
            coroutines: Vec::with_capacity(alive),
            tasks: Vec::with_capacity(alive),
            positions: vec![ABSENT; count as usize],
            lines: Vec::new(),
            found: Vec::new(),
        };
        let mut owners = OwnerLabels::default();
        let mut position = 0;
        for index in 0..count {
            let task = core.tasks.at(index);
            if task.is_alive() {
                draft.positions[index as usize] = position;
                position += 1;
                draft.tasks.push(task);
                let (coroutine, lines) = read_task(core, task, &mut owners);
                draft.coroutines.push(coroutine);
                if core.instruments.is_on() {
                    draft.lines.push(lines);
                }
            }
        }
        draft.found = vec![0; draft.tasks.len()];
        draft
    }

    fn position(&self, task: Task<'_>) -> Option<usize> {
        let position = *self.positions.get(task.index() as usize)?;
        (position != ABSENT).then_some(position as usize)
    }

    fn line_of(&self, position: usize, id: WaitId) -> Option<Line> {
        let lines = self.lines.get(position)?;
        lines.line_of(self.core, self.tasks[position], id)
    }

    /// Adds a wait that was found in a list.
    fn add_wait(&mut self, task: Task<'_>, key: WaitKey, wait: Wait) {
        if let Some(position) = self.position(task) {
            self.found[position] += 1;
            let line = self.line_of(position, WaitId::Registered(key));
            self.coroutines[position].add_wait(wait, line);
        }
    }

    /// Notes that a coroutine is due in a run: of `phase`, or with `None` of its home
    /// phase.
    fn set_ready(&mut self, key: TaskKey, phase: Option<PhaseIndex>) {
        let position = self
            .core
            .tasks
            .get(key)
            .and_then(|task| self.position(task));
        if let Some(position) = position {
            let coroutine = &mut self.coroutines[position];
            if coroutine.state == State::Waiting {
                coroutine.state = State::Ready;
            }
            if let Some(phase) = phase {
                coroutine.phase = phase.phase();
            }
        }
    }

    /// Reads the phases in which coroutines are ready. A coroutine that is ready in several
    /// phases shows the first of a frame.
    fn read_ready(&mut self) {
        let core = self.core;
        let mut ready = Vec::new();
        core.phases.each(|phase, state| {
            let keys = state
                .ready
                .keys
                .iter()
                .filter(|&key| schedule::is_ready(core, key));
            ready.extend(keys.map(|key| (key.index, phase)));
        });
        for (index, phase) in ready.into_iter().rev() {
            let key = core.tasks.at(index).task_key();
            self.set_ready(key, Some(phase));
        }
    }

    fn read_wait(
        &mut self,
        phase: PhaseIndex,
        state: &PhaseState,
        key: WaitKey,
        listed: Listed<'_>,
    ) {
        if let Listed::Timer(clock, deadline_ns, _) = listed {
            return self.read_timer(phase, state, clock, deadline_ns, key);
        }
        let core = self.core;
        let Some(task) = core.waits().task(key) else {
            return;
        };
        let phase = phase.phase();
        let wait = match listed {
            Listed::Count(Unit::Frames, due) => Wait::FrameCount {
                phase,
                left: due.saturating_sub(state.frame()),
            },
            Listed::Count(Unit::Runs, due) => Wait::StepCount {
                phase,
                left: due.saturating_sub(state.runs.get()),
            },
            _ if core.waits().asks_condition(key) => Wait::Condition { phase },
            _ if core.waits().is_for_later_frame(key) => Wait::Frame { phase },
            _ => Wait::Run { phase },
        };
        self.add_wait(task, key, wait);
    }

    fn read_timer(
        &mut self,
        phase: PhaseIndex,
        state: &PhaseState,
        clock: ClockRef<'_>,
        deadline_ns: u64,
        key: WaitKey,
    ) {
        let Some(task) = self.core.waits().task(key) else {
            return;
        };
        let now_ns = state.reached_ns(&self.core.clock, clock);
        // The time of a timer that is held stands still, so its deadline moves.
        let since_ns = self.core.timers().since_ns(key).unwrap_or(now_ns);
        let moved_ns = now_ns.saturating_sub(since_ns);
        let wait = Wait::Timer {
            phase: phase.phase(),
            clock: TimerClock::of(state.measure(clock.index())),
            deadline: Duration::from_nanos(deadline_ns.saturating_add(moved_ns)),
            left: Duration::from_nanos(deadline_ns.saturating_sub(since_ns)),
        };
        self.add_wait(task, key, wait);
    }

    fn read_joins(&mut self) {
        let core = self.core;
        let mut ends = Vec::new();
        core.owners
            .borrow()
            .each_end(|owner, key| ends.push((owner, key)));
        for (owner, key) in ends {
            if let Some(task) = core.waits().task(key) {
                let owner = core.owners.borrow().label(owner).into();
                self.add_wait(task, key, Wait::Scripts { owner });
            }
        }
        for position in 0..self.tasks.len() {
            let last = self.tasks[position].joiners.get();
            if last == NO_JOINER {
                continue;
            }
            let id = self.coroutines[position].id;
            let mut joiners = Vec::new();
            let entries = core.entries.borrow();
            entries.each_join(last, |key| {
                joiners.extend(entries.task(key).map(|task| (task, key)));
            });
            for (joiner, key) in joiners {
                if let Some(task) = core.tasks.get(joiner) {
                    self.add_wait(task, key, Wait::Join { id });
                }
            }
        }
    }

    /// Reads the noted waits for events, which have no registration.
    fn read_events(&mut self) {
        let core = self.core;
        core.event_waits.borrow().each(core, |key, id, wait| {
            let Some(task) = core.tasks.get(key) else {
                return;
            };
            if let Some(position) = self.position(task) {
                let line = self.line_of(position, id);
                let coroutine = &mut self.coroutines[position];
                let wait = wait(coroutine.phase);
                coroutine.add_wait(wait, line);
            }
        });
    }

    /// Looks for registered waits that have not been found: they are due in the run under
    /// way.
    fn read_due(&mut self) {
        let core = self.core;
        let mut registered = vec![0; self.tasks.len()];
        core.entries.borrow().each(|_, key| {
            let position = core.tasks.get(key).and_then(|task| self.position(task));
            if let Some(position) = position {
                registered[position] += 1;
            }
        });
        for (position, &task) in self.tasks.iter().enumerate() {
            registered[position] += u32::from(task.is_registered());
            if registered[position] > self.found[position] {
                let coroutine = &mut self.coroutines[position];
                if coroutine.state == State::Waiting {
                    coroutine.state = State::Ready;
                    if let Some(phase) = core.runs.phase() {
                        coroutine.phase = phase.phase();
                    }
                }
            }
        }
    }

    /// Reads which coroutines are being polled.
    fn read_polled(&mut self) {
        scope::each_current::<()>(self.core, |task| {
            if let Some(position) = self.position(task) {
                self.coroutines[position].state = State::Running;
            }
            None
        });
    }

    /// Completes the waits of coroutines: those that run or are ready have none. Those
    /// whose waker somebody has wait for a wake, and those without any wait for nothing.
    fn finish(mut self) -> Snapshot {
        let colds = &self.core.colds;
        let is_waker_held = |task: Task<'_>| {
            let held = colds.of(task, |cold| cold.waker.as_ref().map(TaskWaker::is_held));
            task.has(Flags::TASK_WAKER) && held.flatten() == Some(true)
        };
        for (coroutine, task) in self.coroutines.iter_mut().zip(&self.tasks) {
            match coroutine.state {
                State::Running | State::Ready => coroutine.clear_waits(),
                State::Waiting if is_waker_held(*task) && !coroutine.waits_for_event() => {
                    let phase = coroutine.phase;
                    coroutine.add_wait(Wait::Wake { phase }, None);
                }
                State::Waiting if coroutine.wait.is_none() => coroutine.add_wait(Wait::Never, None),
                State::Waiting | State::Paused => {}
            }
        }
        let stops = requests::pending(self.core);
        Snapshot::new(self.core.game_time(), self.coroutines, stops)
    }
}

/// The labels of owners, each made once.
#[derive(Default)]
struct OwnerLabels(Vec<Option<Arc<str>>>);

impl OwnerLabels {
    fn label(&mut self, core: &Core, owner: OwnerKey) -> Arc<str> {
        let index = owner.index();
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let make = || Arc::from(core.owners.borrow().label(owner));
        self.0[index].get_or_insert_with(make).clone()
    }
}
