//! One run of a phase: who is polled, in which order.
//!
//! ```text
//! 1  arrivals   spawned or woken before the run, in order of arrival
//! 2  returned   waits that fell due while their coroutine was paused
//! 3  waiters    of the phase, in the order in which they began to wait
//! 4  timers     clock by clock, by deadline, then registration
//! 5  soon       what became ready during the run, in order
//! ```
//!
//! After every poll come those who joined what ended in it. Each list keeps its
//! place in the executor, so that the run goes on behind a coroutine that
//! panicked.

#![forbid(unsafe_code)]

use std::mem;
use std::task::Context;

use crate::context::{self, Level};
use crate::pending::Pending;
use crate::phase::PhaseIndex;
use crate::queue::PhaseQueue;
use crate::shared::Shared;
use crate::task::{Flags, Primary, TaskRef};
use crate::ticket::Ticket;
use crate::waiter::{Waiter, Waiting};
use crate::wheel::Due;
use crate::{Outcome, unwind};

use super::Core;
use super::lifecycle::{pending_before, poll, poll_to_end};
use super::lists::next;
use super::phases::{PhaseState, frame_deadline, ticket_of};

/// How far ahead of the poll its task is fetched into the cache, and half as far
/// as what leads to it.
const PREFETCH_AHEAD: usize = 8;

/// How many waiters make fetching ahead worth its instructions: a few make do
/// with the caches.
const PREFETCH_FROM: usize = 16 << 10;

/// A run under way, and what all its polls have in common.
pub(super) struct Run<'a> {
    pub(super) level: &'a Level,
    pub(super) phase: PhaseIndex,
    /// Those who wait for the phase.
    pub(super) queue: &'a Shared<PhaseQueue>,
    /// What is pending when the poll of a coroutine begins that has no waker of
    /// its own.
    free: Pending,
}

impl<'a> Run<'a> {
    fn new(core: &'a Core, level: &'a Level, phase: PhaseIndex) -> Self {
        Run {
            level,
            phase,
            queue: &core.phases.get(phase).queue,
            free: level.free(),
        }
    }

    /// Polls a task that has nothing special about it, and tells what came of it.
    #[inline(always)]
    pub(super) fn poll(&self, task: TaskRef, resumed: Ticket, cx: &mut Context<'_>) -> Pending {
        let pending = pending_before(task, self.free);
        task.phase.set(self.phase);
        poll_to_end(self.level, task, resumed, pending, cx)
    }

    /// Queues a task for what it waits for.
    #[inline(always)]
    pub(super) fn queue(&self, core: &Core, task: TaskRef, primary: Primary) {
        if primary.phase() == self.phase {
            task.primary.set(primary);
            self.queue.borrow_mut().push_task_during_run(task);
        } else {
            core.queue(task, primary);
        }
    }
}

/// Has whose turn it is leave the queue, also if its poll panics.
struct Leaves<'a>(&'a Shared<PhaseQueue>);

impl Drop for Leaves<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.borrow_mut().leave();
    }
}

impl Core {
    /// Runs `phase`: polls whatever is due in it.
    pub(crate) fn run_phase(&self, phase: PhaseIndex) {
        self.begin_run(phase);
        if !self.is_idle(phase) {
            self.poll_all(phase);
        }
        self.end_run(phase);
        self.tell_trace();
    }

    /// Whether there is nobody to poll in the run that has begun: so it is with
    /// most phases of most frames.
    fn is_idle(&self, phase: PhaseIndex) -> bool {
        self.lists.is_empty()
            && self.ended.borrow().is_empty()
            && !self.phases.get(phase).queue.borrow().has_places()
    }

    /// Polls whoever is due, and goes on behind those who panic.
    #[inline(never)]
    fn poll_all(&self, phase: PhaseIndex) {
        context::enter(self, None, |level| {
            self.fire_due(phase);
            let run = Run::new(self, level, phase);
            while let Err(payload) = unwind::catch(|| self.poll_due(&run)) {
                let Some(task) = level.current.get() else {
                    // Not a coroutine: let the host see what is wrong here.
                    std::panic::resume_unwind(payload);
                };
                level.end_poll(task);
                self.end(task, Outcome::Panicked, Some(payload));
            }
        });
    }

    fn begin_run(&self, phase: PhaseIndex) {
        self.inbox.acknowledge();
        self.take_messages();
        self.run_serial.set(self.run_serial.get() + 1);
        self.run.set(Some(phase));
        self.grant_budget();

        self.clock.enter_phase(phase.phase());
        let state = self.phases.get(phase);
        state.begin_run(&self.clock);
        let mut arrivals = self.lists.arrivals.borrow_mut();
        let marked = state.arrivals.borrow_mut().take(&mut arrivals);
        if marked {
            // Being woken again takes nobody's place away any more.
            let tasks = self.tasks.borrow();
            let listed = arrivals.iter().filter_map(|&wakeup| tasks.woken(wakeup));
            listed.for_each(|task| task.clear(Flags::LATER));
        }
        let fresh = |waiter| self.fresh(waiter, phase);
        state.queue.borrow_mut().begin_run(fresh);
        let fate = |clock, due: &Due| self.fate(phase, clock, due);
        let fate = self.has_pauses().then_some(fate);
        state.expire_timers(&mut self.lists.timers.borrow_mut(), fate);
        if !state.returned.borrow().is_empty() {
            let mut returned = state.returned.borrow_mut();
            returned.sort_unstable_by_key(|&(order, _)| order);
            let tickets = returned.drain(..).map(|(_, ticket)| ticket);
            self.lists.returned.borrow_mut().extend(tickets);
        }
        if !state.frames.borrow().is_empty() {
            self.expire_frames(state);
        }
    }

    /// Finds the waits over several frames that are due and have outlived their
    /// place in the queue.
    #[cold]
    fn expire_frames(&self, state: &PhaseState) {
        let Some(deadline) = frame_deadline(self.clock.frame()) else {
            return;
        };
        let mut due = self.lists.frames.borrow_mut();
        state.frames.borrow_mut().expire(deadline, &mut due);
        let records = self.records.borrow();
        let mut early = self.lists.early.borrow_mut();
        let gone = due.drain(..).map(|due| ticket_of(&due)).filter(|&ticket| {
            let record = records.get(ticket);
            record.is_some_and(|record| !record.is_in_queue())
        });
        early.extend(gone);
        early.sort_unstable_by_key(|&ticket| records.began(ticket));
    }

    fn end_run(&self, phase: PhaseIndex) {
        self.lists.clear();
        self.phases.get(phase).queue.borrow_mut().end_run();
        self.run.set(None);
    }

    /// Polls all that is due, from wherever the run stands.
    fn poll_due(&self, run: &Run<'_>) {
        self.poll_waiting_joiners(run);
        self.poll_arrivals(run);
        let mut cx = run.level.context();
        while let Some(ticket) = next(&self.lists.returned, &self.lists.next_returned) {
            self.resume_ticket(run, ticket, &mut cx);
            self.poll_joiners(run);
        }
        while let Some(ticket) = next(&self.lists.early, &self.lists.next_early) {
            self.resume_record(run, ticket);
            self.poll_joiners(run);
        }
        self.poll_waiters(run);
        self.poll_timers(run);
        self.poll_soon(run);
        run.level.current.set(None);
    }

    fn poll_waiters(&self, run: &Run<'_>) {
        let waiting = run.queue.borrow().places();
        if waiting > PREFETCH_FROM {
            self.poll_each_waiter::<true>(run.level, run.phase);
        } else {
            self.poll_each_waiter::<false>(run.level, run.phase);
        }
    }

    /// The hot loop: coroutines that waited for the phase, and mostly wait for
    /// it again. A function of its own, so that what it needs stays in registers.
    #[inline(never)]
    fn poll_each_waiter<const PREFETCH: bool>(&self, level: &Level, phase: PhaseIndex) {
        let queue = &self.phases.get(phase).queue;
        let (mut cx, free) = (level.context(), level.free());
        while let Some(waiter) = { queue.borrow().next() } {
            if PREFETCH {
                let ahead = queue.borrow().peek(PREFETCH_AHEAD);
                if let Some(Waiting::Task(task)) = ahead.map(Waiter::get) {
                    task.prefetch();
                }
            }
            let Some(task) = waiter.plain_task() else {
                queue.borrow_mut().leave();
                self.poll_special_waiter(level, phase, waiter);
                continue;
            };
            debug_assert!(task.primary.get().is_queued());
            let ticket = task.ticket();
            task.pass_ticket();
            task.phase.set(phase);
            let leaves = Leaves(queue);
            poll(level, task, ticket, free, &mut cx);
            let pending = level.pending.get();
            if pending.is_as(task.primary.get()) {
                // It waits for the same again: nothing of it changes.
                mem::forget(leaves);
                queue.borrow_mut().stay();
            } else {
                drop(leaves);
                level.end_poll(task);
                self.end_turn(task, pending);
            }
            if !self.ended.borrow().is_empty() {
                self.poll_waiting_joiners(&Run::new(self, level, phase));
            }
        }
        level.current.set(None);
    }

    #[cold]
    #[inline(never)]
    fn poll_special_waiter(&self, level: &Level, phase: PhaseIndex, waiter: Waiter) {
        let run = &Run::new(self, level, phase);
        self.resume_queued(run, waiter);
        self.poll_joiners(run);
    }

    fn poll_timers(&self, run: &Run<'_>) {
        let mut cx = run.level.context();
        while let Some(due) = next(&self.lists.timers, &self.lists.next_timer) {
            {
                let (timers, next) = (self.lists.timers.borrow(), self.lists.next_timer.get());
                if let Some(far) = timers.get(next + 2 * PREFETCH_AHEAD) {
                    let near = &timers[next + PREFETCH_AHEAD];
                    self.prefetch(ticket_of(near), ticket_of(far));
                }
            }
            self.resume_ticket(run, ticket_of(&due), &mut cx);
            self.poll_joiners(run);
        }
    }

    /// Fetches the coroutine of a ticket near ahead, and what leads to that of
    /// one further on.
    #[inline(always)]
    fn prefetch(&self, near: Ticket, far: Ticket) {
        let tasks = self.tasks.borrow();
        tasks.prefetch_at(far.index());
        if !near.is_record() {
            tasks.at(near.index()).prefetch();
        }
    }
}
