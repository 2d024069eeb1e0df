//! One run of a phase: who is polled, in which order.
//!
//! ```text
//! 1  arrivals   spawned or woken before the run, in order of arrival
//! 2  waiters    of the phase, in the order in which they began to wait
//! 3  timers     clock by clock, by deadline, then registration
//! 4  soon       what became ready during the run, in order
//! ```
//!
//! After every poll come those who joined what ended in it. Each list keeps its
//! place in the executor, so that the run goes on behind a coroutine that
//! panicked.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::task::{RawWaker, Waker};

use crate::context::{self, Level};
use crate::phase::PhaseIndex;
use crate::prefetch::prefetch;
use crate::report::Report;
use crate::shared::Shared;
use crate::task::{Flags, Primary, TaskRef, Wakeup};
use crate::ticket::Ticket;
use crate::waiter::{Waiter, Waiting};
use crate::wheel::Due;
use crate::{Outcome, unwind};

use super::Core;
use super::lifecycle::{Polled, poll};
use super::phases::{PhaseState, frame_deadline, ticket_of};

/// How far ahead of the poll its task is fetched into the cache, and half as far
/// as what leads to it.
const PREFETCH_AHEAD: usize = 8;

/// How many waiters make fetching ahead worth its instructions: a few make do
/// with the caches.
const PREFETCH_FROM: usize = 16 << 10;

/// Polls that a run may owe to spawns and joins during it, per poll that one
/// coroutine may owe to wakes, on top of one for every coroutine there is.
const BUDGET_FACTOR: u64 = 100;

/// What a run works through, kept between runs for their memory.
#[derive(Default)]
pub(super) struct RunLists {
    arrivals: Shared<Vec<Wakeup>>,
    next_arrival: Cell<usize>,
    /// Waits of coroutines that were paused when they fell due.
    returned: Shared<Vec<Ticket>>,
    next_returned: Cell<usize>,
    /// Waits over several frames whose place in the queue is long gone.
    early: Shared<Vec<Ticket>>,
    next_early: Cell<usize>,
    frames: RefCell<Vec<Due>>,
    timers: Shared<Vec<Due>>,
    next_timer: Cell<usize>,
    /// Those who joined what has ended, the next one last.
    front: Shared<Vec<Ticket>>,
    /// Records to fire before the run.
    fire: RefCell<Vec<Ticket>>,
}

/// Takes the entry at the cursor.
fn next<T: Copy>(list: &Shared<Vec<T>>, cursor: &Cell<usize>) -> Option<T> {
    let item = list.borrow().get(cursor.get()).copied()?;
    cursor.set(cursor.get() + 1);
    Some(item)
}

impl Core {
    /// Runs `phase`: polls whatever is due in it.
    pub(crate) fn run_phase(&self, phase: PhaseIndex) {
        self.begin_run(phase);
        context::enter(self, Some(phase), None, |level| {
            self.fire_due(phase);
            while let Err(payload) = unwind::catch(|| self.poll_due(level, phase)) {
                let Some(task) = level.current.take() else {
                    // Not a coroutine: let the host see what is wrong here.
                    std::panic::resume_unwind(payload);
                };
                self.end(task, Outcome::Panicked, Some(payload));
            }
        });
        self.end_run(phase);
    }

    fn begin_run(&self, phase: PhaseIndex) {
        self.inbox.acknowledge();
        self.take_messages();
        self.run_serial.set(self.run_serial.get() + 1);
        self.run.set(Some(phase));
        let alive = self.tasks.borrow().alive() as u64;
        let extra = BUDGET_FACTOR * u64::from(self.max_polls_per_run);
        self.budget.set(alive.saturating_add(extra));

        self.clock.enter_phase(phase.phase());
        let state = self.phases.get(phase);
        state.begin_run(&self.clock);
        let mut arrivals = self.lists.arrivals.borrow_mut();
        state.arrivals.borrow_mut().take(&mut arrivals);
        // Being woken again takes nobody's place away.
        let tasks = self.tasks.borrow();
        let listed = arrivals.iter().filter_map(|&wakeup| tasks.woken(wakeup));
        listed.for_each(|task| task.set(Flags::SOON));
        drop(tasks);
        let mut queue = state.queue.borrow_mut();
        queue.begin_run(|waiter| self.fresh(waiter, phase));
        drop(queue);
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
            record.is_some_and(|record| !record.in_queue)
        });
        early.extend(gone);
        early.sort_unstable_by_key(|&ticket| records.get(ticket).map(|record| record.began));
    }

    fn end_run(&self, phase: PhaseIndex) {
        self.lists.arrivals.borrow_mut().clear();
        self.lists.next_arrival.set(0);
        self.lists.returned.borrow_mut().clear();
        self.lists.next_returned.set(0);
        self.lists.early.borrow_mut().clear();
        self.lists.next_early.set(0);
        self.lists.timers.borrow_mut().clear();
        self.lists.next_timer.set(0);
        self.phases.get(phase).queue.borrow_mut().end_run();
        self.run.set(None);
    }

    /// Calls the wakers of all waits due in this run that were polled with one
    /// of their own. That comes first, so that a combinator finds all of its
    /// futures that are ready in the one poll its coroutine gets.
    fn fire_due(&self, phase: PhaseIndex) {
        if self.records.borrow().is_empty() {
            return;
        }
        let mut fire = self.lists.fire.take();
        let returned = self.lists.returned.borrow();
        fire.extend(returned.iter().filter(|ticket| ticket.is_record()));
        drop(returned);
        fire.extend_from_slice(&self.lists.early.borrow());
        {
            let queue = self.phases.get(phase).queue.borrow();
            if queue.has_records() {
                let records = self.records.borrow();
                fire.extend(queue.due().filter_map(|waiter| match waiter.get() {
                    Waiting::Record(index) => records.ticket_at(index),
                    Waiting::Task(_) => None,
                }));
            }
            let timers = self.lists.timers.borrow();
            fire.extend(timers.iter().map(ticket_of).filter(|t| t.is_record()));
            let records = self.records.borrow();
            let frame = self.clock.frame();
            fire.retain(|&ticket| {
                let record = records.get(ticket);
                record.is_some_and(|record| record.due_frame <= frame)
            });
        }
        if self.has_pauses() {
            // Their turn comes when their coroutines go on.
            fire.retain(|&ticket| {
                let task = self.task_of(ticket);
                task.is_none_or(|task| !task.has(Flags::PAUSED))
            });
        }
        for ticket in fire.drain(..) {
            self.fire(ticket);
        }
        self.lists.fire.replace(fire);
    }

    /// Polls all that is due, from wherever the run stands.
    fn poll_due(&self, level: &Level, phase: PhaseIndex) {
        self.poll_waiting_joiners(level);
        while let Some(wakeup) = next(&self.lists.arrivals, &self.lists.next_arrival) {
            self.resume_woken(level, wakeup);
            self.poll_joiners(level);
        }
        while let Some(ticket) = next(&self.lists.returned, &self.lists.next_returned) {
            self.resume_ticket(level, ticket);
            self.poll_joiners(level);
        }
        while let Some(ticket) = next(&self.lists.early, &self.lists.next_early) {
            self.resume_record(level, ticket);
            self.poll_joiners(level);
        }
        self.poll_waiters(level, phase);
        self.poll_timers(level);
        while let Some(wakeup) = { self.soon.borrow_mut().pop_front() } {
            // Those who were woken have a limit of their own.
            let woken = self.tasks.borrow().woken(wakeup);
            let limited = woken.is_some_and(|task| task.has(Flags::OWN_WAKER));
            if limited || self.spend() {
                self.resume_woken(level, wakeup);
                self.poll_joiners(level);
            } else {
                self.postpone(wakeup);
            }
        }
        level.current.set(None);
    }

    fn poll_waiters(&self, level: &Level, phase: PhaseIndex) {
        let waiting = self.phases.get(phase).queue.borrow().len();
        if waiting > PREFETCH_FROM {
            self.poll_each_waiter::<true>(level, phase);
        } else {
            self.poll_each_waiter::<false>(level, phase);
        }
    }

    /// The hot loop: coroutines that waited for the phase, and mostly wait for
    /// it again. A function of its own, so that what it needs stays in registers.
    #[inline(never)]
    fn poll_each_waiter<const PREFETCH: bool>(&self, level: &Level, phase: PhaseIndex) {
        let in_later_frame = Primary::uncommitted(phase, true);
        let in_next_run = Primary::uncommitted(phase, false);
        let queue = &self.phases.get(phase).queue;
        let mut cx = level.context();
        while let Some(waiter) = { queue.borrow_mut().pop() } {
            if PREFETCH {
                prefetch_waiter(queue.borrow().peek(PREFETCH_AHEAD));
            }
            let task = match waiter.get() {
                Waiting::Task(task) => task,
                Waiting::Record(index) => {
                    self.resume_record_at(level, index);
                    self.poll_joiners(level);
                    continue;
                }
            };
            if task.has(Flags::SPECIAL) {
                self.resume_queued(level, task, phase);
                self.poll_joiners(level);
                continue;
            }
            debug_assert!(task.primary.get().is_queued());
            let ticket = task.ticket();
            task.pass_ticket();
            task.primary.set(Primary::NONE);
            task.phase.set(phase);
            let polled = poll(level, task, ticket, &mut cx);
            let pending = matches!(polled, Polled::Pending);
            let primary = task.primary.get();
            if pending && primary == in_later_frame {
                task.primary.set(in_later_frame.committed());
                queue.borrow_mut().push_during_run(waiter);
            } else if pending && primary == in_next_run {
                task.primary.set(in_next_run.committed());
                queue.borrow_mut().push_during_run(waiter);
            } else {
                self.after_poll(task, polled);
            }
            self.poll_joiners(level);
        }
    }

    /// Resumes a coroutine whose place in the queue came up, if there is
    /// something special about it.
    #[cold]
    #[inline(never)]
    fn resume_queued(&self, level: &Level, task: TaskRef, phase: PhaseIndex) {
        if task.has(Flags::GHOSTS) && self.meet_ghost(task, phase) {
            return;
        }
        // It has left the queue.
        task.primary.set(Primary::ELSEWHERE);
        self.resume_wait(level, task, task.ticket());
    }

    /// Resumes a coroutine for the wait that is registered with it, if there is
    /// something special about it.
    #[cold]
    #[inline(never)]
    fn resume_wait(&self, level: &Level, task: TaskRef, ticket: Ticket) {
        if task.has(Flags::PAUSED) {
            self.park_wait(task, level.phase.expect("in a run"), ticket);
            return;
        }
        task.pass_ticket();
        task.primary.set(Primary::NONE);
        self.resume_due(level, task, ticket);
    }

    /// Resumes whoever the record with a place in the queue stands for.
    #[cold]
    #[inline(never)]
    fn resume_record_at(&self, level: &Level, index: u32) {
        let ticket = self.records.borrow_mut().leave_queue(index);
        match ticket {
            Some(ticket) => self.resume_record(level, ticket),
            None => self
                .phases
                .get(level.phase.expect("in a run"))
                .queue
                .borrow_mut()
                .let_ghost_go(),
        }
    }

    fn poll_timers(&self, level: &Level) {
        while let Some(due) = next(&self.lists.timers, &self.lists.next_timer) {
            {
                let (timers, next) = (self.lists.timers.borrow(), self.lists.next_timer.get());
                if let Some(far) = timers.get(next + 2 * PREFETCH_AHEAD) {
                    let near = &timers[next + PREFETCH_AHEAD];
                    self.prefetch(ticket_of(near), ticket_of(far));
                }
            }
            self.resume_ticket(level, ticket_of(&due));
            self.poll_joiners(level);
        }
    }

    #[inline(always)]
    fn resume_ticket(&self, level: &Level, ticket: Ticket) {
        if ticket.is_record() {
            self.resume_record(level, ticket);
        } else {
            self.resume(level, ticket);
        }
    }

    /// Fetches the coroutine of a ticket near ahead, and what leads to that of
    /// one further on.
    #[inline(always)]
    fn prefetch(&self, near: Ticket, far: Ticket) {
        let tasks = self.tasks.borrow();
        tasks.prefetch_slot(far.index());
        if !near.is_record() {
            tasks.prefetch_task(near.index());
        }
    }

    /// Resumes the coroutine of a ticket, unless that is stale.
    #[inline(always)]
    fn resume(&self, level: &Level, ticket: Ticket) {
        let task = self.tasks.borrow().at(ticket.index());
        if task.ticket() != ticket {
            return;
        }
        if task.has(Flags::SPECIAL) {
            self.resume_wait(level, task, ticket);
            return;
        }
        task.pass_ticket();
        task.primary.set(Primary::NONE);
        self.resume_plain(level, task, ticket);
    }

    /// Polls a coroutine that has nothing special about it.
    #[inline(always)]
    fn resume_plain(&self, level: &Level, task: TaskRef, resumed: Ticket) {
        if let Some(phase) = level.phase {
            task.phase.set(phase);
        }
        let polled = poll(level, task, resumed, &mut level.context());
        let primary = task.primary.get();
        if matches!(polled, Polled::Pending) && primary != Primary::STOPPING {
            self.commit(task);
        } else {
            self.after_poll(task, polled);
        }
    }

    #[inline(never)]
    fn after_poll(&self, task: TaskRef, polled: Polled) {
        match polled {
            Polled::Pending => self.commit_or_stop(task),
            Polled::Returned => self.finish(task),
        }
    }

    /// Resumes a coroutine for a wait that fell due with the run. It is polled
    /// once for all of them.
    #[cold]
    #[inline(never)]
    fn resume_due(&self, level: &Level, task: TaskRef, resumed: Ticket) {
        let serial = self.run_serial.get();
        let polled_in = self.tasks.borrow().extra(task).map(|extra| extra.polled_in);
        if polled_in != Some(serial) {
            self.resume_special(level, task, resumed);
        }
    }

    /// Polls a coroutine that was woken, has a waker of its own, or has records.
    #[cold]
    #[inline(never)]
    fn resume_special(&self, level: &Level, task: TaskRef, resumed: Ticket) {
        if task.has(Flags::PAUSED) {
            self.park_ready(task, level.phase.expect("in a run"));
            return;
        }
        if task.has(Flags::QUEUED) {
            self.unqueue(task);
        }
        if let Some(phase) = level.phase {
            task.phase.set(phase);
        }
        if task.has(Flags::RECORDS) {
            let serial = self.run_serial.get();
            self.tasks.borrow_mut().extra_mut(task).polled_in = serial;
        }
        let waker = if task.has(Flags::OWN_WAKER) {
            let tasks = self.tasks.borrow();
            tasks
                .extra(task)
                .and_then(|e| e.waker.as_ref())
                .map(|waker| {
                    let raw = RawWaker::new(waker.data(), waker.vtable());
                    // SAFETY: the original outlives the poll, since only the end of
                    // the task drops it; the copy is never dropped.
                    ManuallyDrop::new(unsafe { Waker::from_raw(raw) })
                })
        } else {
            None
        };
        let shown = self.show_clock_of(task);
        let Some(waker) = waker else {
            let polled = poll(level, task, resumed, &mut level.context());
            drop(shown);
            self.after_poll(task, polled);
            return;
        };
        let borrowed = level.waker.replace(&raw const *waker);
        // Also when the poll panics: the level goes on without this waker.
        let restore = Restore { level, borrowed };
        let polled = poll(level, task, resumed, &mut level.context());
        drop((restore, shown));
        self.after_poll(task, polled);
    }

    /// Resumes whoever a record stands for.
    #[cold]
    #[inline(never)]
    fn resume_record(&self, level: &Level, ticket: Ticket) {
        let due_frame = {
            let records = self.records.borrow();
            records.get(ticket).map(|record| record.due_frame)
        };
        if due_frame.is_none_or(|due_frame| due_frame > self.clock.frame()) {
            // If it is there, only its place came up: from now on it comes
            // before all in the queue.
            return;
        }
        if self.has_pauses() {
            if let Some(task) = self.task_of(ticket).filter(|t| t.has(Flags::PAUSED)) {
                self.park_wait(task, level.phase.expect("in a run"), ticket);
                return;
            }
        }
        let record = self.records.borrow_mut().remove(ticket);
        let Some(key) = record.as_ref().and_then(|record| record.task) else {
            return;
        };
        let task = self.tasks.borrow().get(key);
        if let Some(task) = task.filter(|task| task.is_alive()) {
            self.resume_due(level, task, ticket);
        }
        drop(record);
    }

    /// Resumes a coroutine that stands in a list of those to poll.
    #[inline(always)]
    fn resume_woken(&self, level: &Level, wakeup: Wakeup) {
        let task = self.tasks.borrow().woken(wakeup);
        let Some(task) = task else {
            return;
        };
        if task.has(Flags::MORE_THAN_LISTED) {
            self.resume_woken_special(level, task, wakeup);
        } else {
            // It is new, woke itself, or joined what was stopped from outside.
            task.clear(Flags::LISTED);
            self.resume_plain(level, task, Ticket::VOID);
        }
    }

    #[cold]
    #[inline(never)]
    fn resume_woken_special(&self, level: &Level, task: TaskRef, wakeup: Wakeup) {
        // Who has no waker that others could call is not woken without end.
        let may_be_greedy = task.has(Flags::OWN_WAKER) && !task.has(Flags::PAUSED);
        if may_be_greedy && self.is_greedy(task) {
            self.postpone(wakeup);
        } else {
            task.clear(Flags::LISTED);
            self.resume_special(level, task, Ticket::VOID);
        }
    }

    /// Counts a wake that would lead to a poll. `true`: it is one too many.
    fn is_greedy(&self, task: TaskRef) -> bool {
        let serial = self.run_serial.get();
        let wakes = {
            let mut tasks = self.tasks.borrow_mut();
            let extra = tasks.extra_mut(task);
            if extra.woken_in != serial {
                extra.woken_in = serial;
                extra.wakes = 0;
            }
            extra.wakes = extra.wakes.saturating_add(1);
            extra.wakes
        };
        if wakes == self.max_polls_per_run + 1 {
            self.report_greedy(task, self.max_polls_per_run);
        }
        wakes > self.max_polls_per_run
    }

    /// Polls those who joined what ended in the last poll, and those who joined
    /// what ends in theirs, depth first.
    #[inline]
    fn poll_joiners(&self, level: &Level) {
        if !self.ended.borrow().is_empty() {
            self.poll_waiting_joiners(level);
        }
    }

    #[inline(never)]
    fn poll_waiting_joiners(&self, level: &Level) {
        loop {
            if !self.ended.borrow().is_empty() {
                self.take_ended(level);
            }
            let ticket = self.lists.front.borrow_mut().pop();
            let Some(ticket) = ticket else {
                return;
            };
            if !self.spend() {
                self.postpone_joiner(ticket);
            } else if ticket.is_record() {
                let record = self.records.borrow_mut().remove(ticket);
                let key = record.as_ref().and_then(|record| record.task);
                let task = key.and_then(|key| self.tasks.borrow().get(key));
                if let Some(task) = task.filter(|task| task.is_alive()) {
                    self.resume_joiner(level, task, ticket);
                }
                drop(record);
            } else {
                let task = self.tasks.borrow().at(ticket.index());
                if task.ticket() == ticket {
                    task.pass_ticket();
                    task.primary.set(Primary::NONE);
                    self.resume_joiner(level, task, ticket);
                }
            }
        }
    }

    /// Moves the joiners of what ended to the front, the first one uppermost.
    fn take_ended(&self, level: &Level) {
        level.current.set(None);
        let (from, records) = {
            let mut front = self.lists.front.borrow_mut();
            let from = front.len();
            front.append(&mut self.ended.borrow_mut());
            front[from..].reverse();
            let records = front[from..].iter().any(|ticket| ticket.is_record());
            (from, records)
        };
        if records {
            self.fire_joiners(from);
        }
    }

    #[cold]
    fn fire_joiners(&self, from: usize) {
        let mut fire = self.lists.fire.take();
        fire.extend(self.lists.front.borrow()[from..].iter().rev());
        for ticket in fire.drain(..) {
            if ticket.is_record() {
                self.fire(ticket);
            }
        }
        self.lists.fire.replace(fire);
    }

    /// Polls a joiner. What ends in that poll is the caller's to look after.
    #[inline]
    fn resume_joiner(&self, level: &Level, task: TaskRef, resumed: Ticket) {
        if task.has(Flags::SPECIAL) {
            self.resume_special(level, task, resumed);
        } else {
            self.resume_plain(level, task, resumed);
        }
    }

    /// Takes one poll from the run's budget. `false`: there is none left.
    fn spend(&self) -> bool {
        let budget = self.budget.get();
        self.budget.set(budget.saturating_sub(1));
        budget > 0
    }

    /// Leaves a coroutine that is ready to the next run of the phase.
    #[cold]
    fn postpone(&self, wakeup: Wakeup) {
        let task = self.tasks.borrow().woken(wakeup);
        let Some(task) = task else {
            return;
        };
        task.clear(Flags::SOON);
        let phase = task.phase.get();
        self.phases.get(phase).arrivals.borrow_mut().push(wakeup);
        self.report_runaway();
    }

    #[cold]
    fn postpone_joiner(&self, ticket: Ticket) {
        if let Some(task) = self.task_of(ticket).filter(|task| task.is_alive()) {
            if !task.has(Flags::QUEUED) {
                let wakeup = self.tasks.borrow().wakeup(task);
                task.set(Flags::QUEUED);
                self.phases
                    .get(task.phase.get())
                    .arrivals
                    .borrow_mut()
                    .push(wakeup);
            }
        }
        self.report_runaway();
    }

    fn report_runaway(&self) {
        // The budget is spent for good: of the many this holds up, one reports.
        let phase = self.run.get();
        if let Some(phase) = phase.filter(|_| self.budget.get() == 0) {
            if self.runaway_in.replace(self.run_serial.get()) != self.run_serial.get() {
                self.reports.send(&Report::Runaway {
                    frame: self.clock.frame(),
                    phase: phase.phase(),
                });
            }
        }
    }

    #[cold]
    fn report_greedy(&self, task: TaskRef, polls: u32) {
        let report = Report::Greedy {
            id: self.id_of(task),
            name: self.name_of(task),
            frame: self.clock.frame(),
            phase: task.phase.get().phase(),
            polls,
        };
        self.reports.send(&report);
    }
}

/// Has the coroutine of a waiter fetched into the cache: its head, and its
/// future if that is a small one.
#[inline(always)]
fn prefetch_waiter(waiter: Option<Waiter>) {
    if let Some(Waiting::Task(task)) = waiter.map(Waiter::get) {
        prefetch(task.as_ptr(), 0);
        prefetch(task.as_ptr(), 64);
    }
}

/// Puts the level's own waker back.
struct Restore<'a> {
    level: &'a Level,
    borrowed: *const Waker,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.level.waker.set(self.borrowed);
    }
}
