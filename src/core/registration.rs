//! How a wait asks to be resumed, and takes that back.
//!
//! The first wait that a coroutine polls with its own waker registers with the
//! task itself: one store, and the run loop does the rest when the poll has
//! returned. Every other wait (the second branch of a `join!`, one polled
//! through `FuturesUnordered`) gets a record. Either way a ticket stands in a
//! queue, a wheel or a list of joiners, and goes stale when the wait is
//! dropped.

use std::task::{Context, Waker};

use crate::context::{self, Level};
use crate::phase::PhaseIndex;
use crate::task::{Flags, Primary, TaskRef};
use crate::ticket::Ticket;
use crate::timers::ClockIndex;

use super::Core;
use super::phases::frame_deadline;

/// What a wait holds of its registration.
#[derive(Debug)]
pub(crate) struct Registration {
    ticket: Ticket,
    executor: u32,
}

/// Where a wait's ticket stands; each kind of wait knows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Queue(PhaseIndex),
    Frames(PhaseIndex),
    Timer(PhaseIndex, ClockIndex),
    Joiners,
}

impl Registration {
    pub(crate) const fn new() -> Self {
        Registration {
            ticket: Ticket::NONE,
            executor: 0,
        }
    }

    /// Waits for the next run of `phase`; if `frame_bound`, the next one of a
    /// later frame.
    #[inline]
    pub(crate) fn wait_for_phase(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        phase: PhaseIndex,
        frame_bound: bool,
    ) {
        if let Some(task) = level.free_task(cx) {
            task.primary.set(Primary::uncommitted(phase, frame_bound));
            self.ticket = task.ticket();
            self.executor = level.core().id;
        } else {
            self.wait_for_phase_with_record(level, cx, phase, frame_bound);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_for_phase_with_record(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        phase: PhaseIndex,
        frame_bound: bool,
    ) {
        if self.make_record(level, cx, 0) {
            let ticket = self.ticket.frame_bound(frame_bound);
            level
                .core()
                .phases
                .get(phase)
                .queue
                .borrow_mut()
                .push(ticket);
        }
    }

    /// Waits for the first run of `phase` in frame `due_frame` or later.
    pub(crate) fn wait_for_frame(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        phase: PhaseIndex,
        due_frame: u64,
    ) {
        let Some(deadline) = frame_deadline(due_frame) else {
            return;
        };
        if self.make_record(level, cx, due_frame) {
            let state = level.core().phases.get(phase);
            let mut frames = state.frames.borrow_mut();
            frames.insert(deadline, self.ticket.bits());
            // Holds its place among those who begin to wait before and after.
            let mut queue = state.queue.borrow_mut();
            queue.push(self.ticket.frame_bound(true));
        }
    }

    /// Waits for a run of `phase` at or past `deadline_ns`.
    #[inline]
    pub(crate) fn wait_for_time(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
        deadline_ns: u64,
    ) {
        let core = level.core();
        if self.register_elsewhere(level, cx) {
            let frame = core.clock.frame();
            let reached_ns = core.reached_ns(clock);
            let mut timers = core.phases.get(phase).timers.borrow_mut();
            timers.insert(clock, deadline_ns, self.ticket, frame, reached_ns);
        }
    }

    /// Waits for the end of `target`, a task of `core`, or looks after that
    /// wait if it is registered already.
    pub(crate) fn await_end(&mut self, core: &Core, cx: &Context<'_>, target: TaskRef) {
        // Whoever is polled by nobody, or by another executor, is told through
        // its waker alone.
        let level = context::level().filter(|level| level.core().id == core.id);
        let Some(level) = level else {
            self.cancel(Place::Joiners);
            let waker = Some(cx.waker().clone());
            self.ticket = core.records.borrow_mut().insert(None, waker, 0);
            self.executor = core.id;
            core.add_joiner(target, self.ticket);
            return;
        };
        assert!(
            level.own_task(cx) != Some(target),
            "coroutine {} awaits its own end, which would never come: \
             return from it, or call `stop(current())`",
            core.id_of(target)
        );
        if !self.renew(&level, cx, Place::Joiners) && self.register_elsewhere(&level, cx) {
            core.add_joiner(target, self.ticket);
        }
    }

    /// Registers with the task itself or with a record; the caller puts the
    /// ticket where it belongs. `false`: no use, the coroutine is being stopped.
    #[inline]
    fn register_elsewhere(&mut self, level: &Level, cx: &Context<'_>) -> bool {
        if let Some(task) = level.free_task(cx) {
            task.primary.set(Primary::ELSEWHERE);
            self.ticket = task.ticket();
            self.executor = level.core().id;
            true
        } else {
            self.make_record(level, cx, 0)
        }
    }

    #[cold]
    fn make_record(&mut self, level: &Level, cx: &Context<'_>, due_frame: u64) -> bool {
        let core = level.core();
        let task = level.current.get().filter(|task| task.is_alive());
        if let Some(task) = task {
            if task.primary.get() == Primary::STOPPING {
                return false;
            }
            core.commit(task);
            task.set(Flags::RECORDS);
        }
        let waker = foreign_waker(level, cx);
        let key = task.map(|task| task.key());
        self.ticket = core.records.borrow_mut().insert(key, waker, due_frame);
        self.executor = core.id;
        true
    }

    /// Looks after a wait for `phase` that is polled again before it is due.
    pub(crate) fn keep_waiting_for_phase(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        phase: PhaseIndex,
        frame_bound: bool,
    ) {
        if !self.renew(level, cx, Place::Queue(phase)) {
            self.wait_for_phase(level, cx, phase, frame_bound);
        }
    }

    /// Whether the wait registered with another executor than `core`.
    #[inline]
    pub(crate) fn is_foreign(&self, core: &Core) -> bool {
        self.executor != core.id && self.ticket != Ticket::NONE
    }

    /// Looks after a registration whose wait is polled again before it is due:
    /// whoever polls it now is to be resumed. `false`: it does not stand (any
    /// more), and the wait has to register anew.
    pub(crate) fn renew(&mut self, level: &Level, cx: &Context<'_>, place: Place) -> bool {
        if self.executor != level.core().id {
            self.cancel(place);
            return false;
        }
        if self.ticket == Ticket::NONE {
            return false;
        }
        let core = level.core();
        if self.ticket.is_record() {
            return self.renew_record(level, cx);
        }
        if !core.tasks.borrow().is_current(self.ticket) {
            return false;
        }
        let own = level.own_task(cx);
        if own.is_some_and(|task| task.key().index == self.ticket.index()) {
            return true;
        }
        // It changed hands: with another waker, or another coroutine.
        self.cancel(place);
        false
    }

    fn renew_record(&mut self, level: &Level, cx: &Context<'_>) -> bool {
        let core = level.core();
        let waker = foreign_waker(level, cx);
        let task = level.current.get().filter(|task| task.is_alive());
        let previous = {
            let mut records = core.records.borrow_mut();
            let Some(record) = records.get_mut(self.ticket) else {
                return false;
            };
            record.task = task.map(|task| task.key());
            std::mem::replace(&mut record.waker, waker)
        };
        drop(previous);
        if let Some(task) = task {
            task.set(Flags::RECORDS);
        }
        true
    }

    /// Whether this is the registration by which `level` resumes its coroutine:
    /// then the wait is over, and nothing is left of it to take back.
    #[inline(always)]
    pub(crate) fn take_resumed(&mut self, level: &Level) -> bool {
        let resumed = self.ticket == level.resumed.get() && self.executor == level.core().id;
        if resumed {
            self.ticket = Ticket::NONE;
        }
        resumed
    }

    /// The wait is over, for whatever reason it was polled.
    #[inline]
    pub(crate) fn finish(&mut self, place: Place) {
        let resumed = context::level().is_some_and(|level| self.take_resumed(&level));
        if !resumed {
            self.cancel(place);
        }
    }

    /// The wait is over or dropped: nothing is to be resumed by it.
    #[inline]
    pub(crate) fn cancel(&mut self, place: Place) {
        if self.ticket != Ticket::NONE {
            self.cancel_ticket(place);
        }
    }

    #[cold]
    #[inline(never)]
    fn cancel_ticket(&mut self, place: Place) {
        let ticket = std::mem::replace(&mut self.ticket, Ticket::NONE);
        // Outside of all executors, in a destructor the host runs, there is no
        // level to ask.
        context::with_executor(self.executor, |core| core.cancel(ticket, place));
    }
}

/// The waker in `cx`, if it has to be called besides resuming the coroutine.
fn foreign_waker(level: &Level, cx: &Context<'_>) -> Option<Waker> {
    match level.own_task(cx) {
        Some(_) => None,
        None => Some(cx.waker().clone()),
    }
}

impl Core {
    /// Queues what the task has begun to wait for in the poll under way.
    #[inline]
    pub(crate) fn commit(&self, task: TaskRef) {
        let primary = task.primary.get();
        if primary.is_uncommitted() && primary != Primary::STOPPING {
            task.primary.set(primary.committed());
            let ticket = task.ticket().frame_bound(primary.is_frame_bound());
            let state = self.phases.get(primary.phase());
            state.queue.borrow_mut().push(ticket);
        }
    }

    /// Makes the ticket stale, if it is not, wherever it stands.
    fn cancel(&self, ticket: Ticket, place: Place) {
        if ticket.is_record() {
            let record = self.records.borrow_mut().remove(ticket);
            let Some(record) = record else {
                return;
            };
            if let Place::Frames(phase) = place {
                if record.in_queue {
                    self.note_stale(Place::Queue(phase));
                }
            }
            self.note_stale(place);
            // Its waker may be hostile, and nothing is borrowed any more.
            drop(record);
        } else {
            let task = self.tasks.borrow().at(ticket.index());
            if task.ticket() != ticket.bare() {
                return;
            }
            let primary = task.primary.replace(Primary::NONE);
            task.pass_ticket();
            if !primary.is_uncommitted() {
                self.note_stale(place);
            }
        }
    }

    /// A ticket that stands in `place` went stale.
    fn note_stale(&self, place: Place) {
        let is_live = |ticket| self.is_live(ticket);
        match place {
            Place::Queue(phase) => {
                let mut queue = self.phases.get(phase).queue.borrow_mut();
                queue.note_stale(is_live);
            }
            Place::Timer(phase, clock) => {
                let mut timers = self.phases.get(phase).timers.borrow_mut();
                timers.note_stale(clock, is_live);
            }
            Place::Frames(phase) => {
                let mut frames = self.phases.get(phase).frames.borrow_mut();
                frames.note_dead(|key| is_live(Ticket::from_bits(key)));
            }
            Place::Joiners => {}
        }
    }

    /// Puts a ticket into the list of those who wait for the end of a task.
    fn add_joiner(&self, target: TaskRef, ticket: Ticket) {
        let first = target.joiner.get();
        let mut tasks = self.tasks.borrow_mut();
        let alone = tasks
            .extra(target)
            .is_none_or(|extra| extra.joiners.is_empty());
        if alone && (first == Ticket::NONE || !self.is_live_among(&tasks, first)) {
            target.joiner.set(ticket);
            return;
        }
        let extra = tasks.extra_mut(target);
        extra.joiners.push(ticket);
        if extra.joiners.len() >= extra.sweep_joiners_at.max(8) {
            let mut joiners = std::mem::take(&mut extra.joiners);
            joiners.retain(|&ticket| self.is_live_among(&tasks, ticket));
            let extra = tasks.extra_mut(target);
            extra.sweep_joiners_at = joiners.len() * 2;
            extra.joiners = joiners;
        }
    }

    fn is_live_among(&self, tasks: &crate::task::TaskTable, ticket: Ticket) -> bool {
        if ticket.is_record() {
            self.records.borrow().get(ticket).is_some()
        } else {
            tasks.is_current(ticket)
        }
    }
}
