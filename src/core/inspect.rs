//! What a snapshot reads: every coroutine, and every list that leads to one.
//!
//! Nothing is changed by it. What a coroutine waits for is told by its task if it
//! waits for a phase; by the wheels, the lists of joiners and the places of
//! records, otherwise. Of a run that is under way, its lists tell who is still to
//! come.

#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use crate::CoroutineId;
use crate::clock::ClockRef;
use crate::context;
use crate::inspect::{CoroutineInfo, Origin, Snapshot, State, TimerClock, Wait};
use crate::key::TaskKey;
use crate::owner::OwnerIndex;
use crate::phase::PhaseIndex;
use crate::task::{Flags, TaskRef};
use crate::ticket::Ticket;
use crate::timers::ClockIndex;
use crate::waiter::{Waiter, Waiting};

use super::Core;
use super::phases::PhaseState;

/// A snapshot in the making.
struct Draft<'a> {
    core: &'a Core,
    coroutines: Vec<CoroutineInfo>,
    /// Their tasks, in the same order.
    tasks: Vec<TaskRef>,
    /// Where each index is among those; `ABSENT` for one that is not alive.
    positions: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Core {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut draft = Draft::new(self);
        self.phases.each(|phase, state| {
            draft.read_queue(phase, state);
            draft.read_timers(phase, state);
            draft.read_frames(phase, state);
            for &(_, ticket) in state.returned.borrow().iter() {
                draft.set_due(ticket, Some(phase));
            }
        });
        draft.read_parked();
        draft.read_joiners();
        draft.read_run();
        self.inbox.each_woken(|key| draft.set_ready(key, None));
        draft.finish()
    }

    /// What its task tells of a coroutine.
    fn read_task(&self, task: TaskRef, owners: &mut OwnerLabels) -> CoroutineInfo {
        let owner = self.owner_of(task);
        let primary = context::registered(task);
        let wait = primary.is_queued().then(|| {
            let (later_frame, asks) = (primary.is_frame_bound(), task.waits_for_condition());
            wait_for_phase(primary.phase(), later_frame, asks)
        });
        let origin = self.origin_of(task);
        let has_begun = origin.as_ref().is_none_or(|&(_, has_begun)| has_begun);
        CoroutineInfo {
            id: self.id_of(task),
            name: self.name_of(task),
            state: if task.has(Flags::PAUSED) {
                State::Paused
            } else if task.has(Flags::QUEUED) || !has_begun {
                State::Ready
            } else {
                State::Waiting
            },
            phase: task.last_phase().phase(),
            wait,
            more_waits: Vec::new(),
            owner: owner.map(|owner| owners.label(self, owner)),
            clock: owner.map_or(TimerClock::Game, |owner| {
                let owners = self.owners.borrow();
                let clock = owners.clock(owner);
                clock.map_or(TimerClock::Game, |clock| clock_of_index(clock.index()))
            }),
            origin: origin.map(|(origin, _)| Box::new(origin)),
        }
    }

    /// What is noted of a watched task, and whether it has begun.
    fn origin_of(&self, task: TaskRef) -> Option<(Origin, bool)> {
        let tasks = self.tasks.borrow();
        let watched = tasks.extra(task)?.watched.as_ref()?;
        let origin = Origin {
            since: watched.since,
            place: watched.place,
            parent: watched.parent.map(|key| CoroutineId::new(self.id, key)),
        };
        Some((origin, watched.has_begun))
    }
}

impl<'a> Draft<'a> {
    /// All that are alive, with what their tasks tell.
    fn new(core: &'a Core) -> Self {
        let (count, alive) = {
            let tasks = core.tasks.borrow();
            (tasks.len(), tasks.alive())
        };
        let mut draft = Draft {
            core,
            coroutines: Vec::with_capacity(alive),
            tasks: Vec::with_capacity(alive),
            positions: vec![ABSENT; count as usize],
        };
        let mut owners = OwnerLabels::default();
        let mut position = 0;
        for index in 0..count {
            let task = core.tasks.borrow().at(index);
            if task.is_alive() {
                draft.positions[index as usize] = position;
                position += 1;
                draft.tasks.push(task);
                draft.coroutines.push(core.read_task(task, &mut owners));
            }
        }
        draft
    }

    fn coroutine(&mut self, task: TaskRef) -> Option<&mut CoroutineInfo> {
        let position = *self.positions.get(task.key().index as usize)?;
        self.coroutines.get_mut(position as usize)
    }

    fn add_wait(&mut self, task: TaskRef, wait: Wait) {
        if let Some(coroutine) = self.coroutine(task) {
            coroutine.add_wait(wait);
        }
    }

    /// The coroutine comes up in a run: of `phase`, or of that in which it was
    /// last polled.
    fn set_ready(&mut self, key: TaskKey, phase: Option<PhaseIndex>) {
        let task = self.core.tasks.borrow().get(key);
        if let Some(coroutine) = task.and_then(|task| self.coroutine(task)) {
            if coroutine.state == State::Waiting {
                coroutine.state = State::Ready;
            }
            if let Some(phase) = phase {
                coroutine.phase = phase.phase();
            }
        }
    }

    /// The same, of the coroutine that a ticket stands for.
    fn set_due(&mut self, ticket: Ticket, phase: Option<PhaseIndex>) {
        if let Some(task) = self.core.task_of(ticket) {
            self.set_ready(task.key(), phase);
        }
    }

    /// Waiters that have records; and who is due in the run under way. What the
    /// others wait for, their tasks tell.
    fn read_queue(&mut self, phase: PhaseIndex, state: &PhaseState) {
        let queue = state.queue.borrow();
        for &waiter in queue.left_in_run() {
            match waiter.get() {
                Waiting::Task(task) => self.read_due(phase, task),
                Waiting::Record(index) => self.read_record(phase, index, true),
            }
        }
        let records = queue.for_next_run().filter(|waiter| waiter.is_record());
        for waiter in records {
            if let Waiting::Record(index) = waiter.get() {
                self.read_record(phase, index, false);
            }
        }
    }

    /// A place in the run under way.
    fn read_due(&mut self, phase: PhaseIndex, task: TaskRef) {
        let primary = context::registered(task);
        let stands_here = primary.is_queued() && primary.phase() == phase;
        let is_last_place = || {
            // Of several places of a task, the last is the good one.
            let queue = self.core.phases.get(phase).queue.borrow();
            let place = Waiter::task(task);
            !queue.for_next_run().any(|waiter| waiter == place)
        };
        if stands_here && (!task.has(Flags::GHOSTS) || is_last_place()) {
            self.set_ready(task.key(), Some(phase));
        }
    }

    fn read_record(&mut self, phase: PhaseIndex, index: u32, due: bool) {
        let records = self.core.records.borrow();
        let Some(ticket) = records.ticket_at(index) else {
            return;
        };
        let record = records.get(ticket);
        let Some((key, record)) = record.and_then(|record| Some((record.task()?, record))) else {
            return;
        };
        if due && records.is_due_in(ticket, self.core.clock.frame()) {
            self.set_ready(key, Some(phase));
        } else if records.due_frame(ticket).is_none() {
            // Those that count frames stand in a wheel as well.
            let task = self.core.tasks.borrow().get(key);
            if let Some(task) = task {
                let later_frame = records.is_frame_bound(ticket);
                self.add_wait(task, wait_for_phase(phase, later_frame, record.asks()));
            }
        }
    }

    fn read_timers(&mut self, phase: PhaseIndex, state: &PhaseState) {
        let timers = state.timers.borrow();
        let mut read = |clock: ClockRef<'_>, deadline_ns, ticket| {
            self.read_timer(phase, state, clock, deadline_ns, ticket);
        };
        timers.each(&mut read);
    }

    /// Timers that came up while their coroutines were paused.
    fn read_parked(&mut self) {
        for position in 0..self.tasks.len() {
            if self.coroutines[position].state != State::Paused {
                continue;
            }
            for (phase, clock, due) in self.core.parked_timers(self.tasks[position]) {
                let state = self.core.phases.get(phase);
                let timers = state.timers.borrow();
                timers.show_on(clock, due, &mut |clock, deadline_ns, ticket| {
                    self.read_timer(phase, state, clock, deadline_ns, ticket);
                });
            }
        }
    }

    fn read_timer(
        &mut self,
        phase: PhaseIndex,
        state: &PhaseState,
        clock: ClockRef<'_>,
        deadline_ns: u64,
        ticket: Ticket,
    ) {
        let Some(task) = self.core.task_of(ticket) else {
            return;
        };
        let measure = state.measure(clock.index());
        let now_ns = match clock {
            ClockRef::Game if measure == ClockIndex::FIXED => self.core.clock.fixed_ns(),
            clock => self.core.reached_ns(clock),
        };
        let (grown_ns, stopped_ns) = self.core.pause_of_timer(task, measure, ticket);
        let due_ns = deadline_ns.saturating_add(grown_ns);
        let left_ns = due_ns.saturating_sub(stopped_ns.unwrap_or(now_ns));
        let wait = Wait::Timer {
            phase: phase.phase(),
            clock: clock_of_index(measure),
            deadline: Duration::from_nanos(now_ns.saturating_add(left_ns)),
            left: Duration::from_nanos(left_ns),
        };
        self.add_wait(task, wait);
    }

    fn read_frames(&mut self, phase: PhaseIndex, state: &PhaseState) {
        let (core, frame) = (self.core, self.core.clock.frame());
        state.frames.borrow().for_each(|_, key| {
            let ticket = Ticket::from_bits(key);
            let due_frame = core.records.borrow().due_frame(ticket);
            if let (Some(task), Some(due_frame)) = (core.task_of(ticket), due_frame) {
                let wait = Wait::FrameCount {
                    phase: phase.phase(),
                    left: due_frame.saturating_sub(frame),
                };
                self.add_wait(task, wait);
            }
        });
    }

    fn read_joiners(&mut self) {
        for position in 0..self.tasks.len() {
            let joined = self.tasks[position];
            let id = self.coroutines[position].id;
            let tasks = self.core.tasks.borrow();
            let more = tasks.extra(joined).map(|extra| &extra.joiners[..]);
            let first = joined.joiner.get();
            let joiners = [first]
                .into_iter()
                .chain(more.into_iter().flatten().copied());
            for ticket in joiners.filter(|&ticket| ticket != Ticket::NONE) {
                if let Some(task) = self.core.task_of(ticket) {
                    self.add_wait(task, Wait::Join { id });
                }
            }
        }
    }

    /// Those who come up in the run under way, from wherever it stands; and those
    /// who have yet to begin.
    fn read_run(&mut self) {
        let core = self.core;
        let run = core.run.get();
        core.lists.each_left(|ticket| self.set_due(ticket, run));
        for &ticket in core.ended.borrow().iter() {
            self.set_due(ticket, run);
        }
        for &key in core.deferred_starts.borrow().iter() {
            self.set_ready(key, None);
        }
        for task in context::polled_of(core) {
            if let Some(coroutine) = self.coroutine(task) {
                coroutine.state = State::Running;
            }
        }
    }

    /// Adds what is told by there being nothing else.
    fn finish(mut self) -> Snapshot {
        for (coroutine, task) in self.coroutines.iter_mut().zip(&self.tasks) {
            match coroutine.state {
                State::Running | State::Ready => coroutine.clear_waits(),
                State::Waiting if task.has(Flags::OWN_WAKER) => {
                    let phase = coroutine.phase;
                    coroutine.add_wait(Wait::Wake { phase });
                }
                State::Waiting if coroutine.wait.is_none() => coroutine.add_wait(Wait::Never),
                State::Waiting | State::Paused => {}
            }
        }
        Snapshot::new(self.core.game_time(), self.coroutines)
    }
}

fn wait_for_phase(phase: PhaseIndex, later_frame: bool, asks: bool) -> Wait {
    let phase = phase.phase();
    if asks {
        Wait::Condition { phase }
    } else if later_frame {
        Wait::Frame { phase }
    } else {
        Wait::Run { phase }
    }
}

fn clock_of_index(index: ClockIndex) -> TimerClock {
    match index {
        ClockIndex::GAME => TimerClock::Game,
        ClockIndex::FIXED => TimerClock::Fixed,
        ClockIndex::REALTIME => TimerClock::Realtime,
        other => TimerClock::Other(other.number()),
    }
}

/// What owners are called, each made once.
#[derive(Default)]
struct OwnerLabels(Vec<Option<Arc<str>>>);

impl OwnerLabels {
    fn label(&mut self, core: &Core, owner: OwnerIndex) -> Arc<str> {
        let index = owner.get();
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        let make = || Arc::from(core.owners.borrow().label(owner));
        self.0[index].get_or_insert_with(make).clone()
    }
}
