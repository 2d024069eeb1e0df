//! Calling the wakers that due waits were polled with, if those were not their
//! coroutines' own: a combinator must hear which of its futures are ready.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::task::Waker;

use crate::key::TaskKey;
use crate::phase::PhaseIndex;
use crate::queue::PhaseQueue;
use crate::shared::Shared;
use crate::task::Flags;
use crate::ticket::Ticket;
use crate::unwind;
use crate::waiter::{Waiter, Waiting};

use super::Core;
use super::phases::ticket_of;

/// How far a look through a queue has got.
struct Look {
    seen: Cell<usize>,
    /// How many of the places seen are kept.
    kept: Cell<usize>,
    /// Whom the last one fired makes due, in whatever place that is kept.
    group: Cell<TaskKey>,
}

impl Look {
    fn keep(&self, queue: &mut PhaseQueue, waiter: Waiter) {
        let kept = self.kept.get();
        queue.move_due(waiter, kept);
        self.kept.set(kept + 1);
    }
}

impl Core {
    /// Calls the wakers of all waits due in the run that has begun. That comes
    /// first, so that a combinator finds all of its futures that are ready in
    /// the one poll its coroutine gets.
    #[inline]
    pub(super) fn fire_due(&self, phase: PhaseIndex) {
        if !self.records.borrow().is_empty() {
            self.fire_records(phase);
        }
    }

    #[cold]
    #[inline(never)]
    fn fire_records(&self, phase: PhaseIndex) {
        let mut fire = self.lists.fire.take();
        fire.extend_from_slice(&self.lists.returned.borrow());
        fire.extend_from_slice(&self.lists.early.borrow());
        self.fire_each(&mut fire);
        if self.phases.get(phase).queue.borrow().has_records() {
            self.fire_queued(phase);
        }
        fire.extend(self.lists.timers.borrow().iter().map(ticket_of));
        self.fire_each(&mut fire);
        self.lists.fire.replace(fire);
    }

    /// Fires those of the tickets that are of records and due.
    fn fire_each(&self, tickets: &mut Vec<Ticket>) {
        for ticket in tickets.drain(..) {
            if ticket.is_record() && self.is_due_and_goes_on(ticket) {
                self.fire(ticket);
            }
        }
    }

    fn is_due_and_goes_on(&self, ticket: Ticket) -> bool {
        let frame = self.clock.frame();
        let due = self.records.borrow().is_due_in(ticket, frame);
        due && !(self.has_pauses() && self.is_paused_wait(ticket))
    }

    /// The turn of such a wait comes when its coroutine goes on.
    #[cold]
    fn is_paused_wait(&self, ticket: Ticket) -> bool {
        let task = self.task_of(ticket);
        task.is_some_and(|task| task.has(Flags::PAUSED))
    }

    /// Fires those in the queue of the phase that are due. A coroutine keeps one
    /// of the places that follow each other there: it is polled once.
    fn fire_queued(&self, phase: PhaseIndex) {
        let look = Look {
            seen: Cell::new(0),
            kept: Cell::new(0),
            group: Cell::new(TaskKey::NOBODY),
        };
        let firing = self.firing.take();
        while let Err(payload) = unwind::catch(|| self.fire_queued_from(phase, &look)) {
            unwind::dispose(payload);
        }
        self.firing.set(firing);
        let mut queue = self.phases.get(phase).queue.borrow_mut();
        queue.give_up(look.kept.get()..look.seen.get());
    }

    /// Goes on behind a waker that panicked.
    fn fire_queued_from(&self, phase: PhaseIndex, look: &Look) {
        let queue = &self.phases.get(phase).queue;
        while let Some(waiter) = { queue.borrow().due_at(look.seen.get()) } {
            look.seen.set(look.seen.get() + 1);
            // Most belong to a `join_all`, so to the same as the one before.
            let fired = match waiter.get() {
                Waiting::Record(index) if !self.has_pauses() => {
                    let mut records = self.records.borrow_mut();
                    records.fire_another(index, look.group.get())
                }
                _ => None,
            };
            match fired {
                Some(waker) => waker.wake(),
                None => self.fire_first(queue, waiter, look),
            }
        }
    }

    /// Fires a place that may belong to another coroutine than the one before, if
    /// it is one to fire.
    #[inline(never)]
    fn fire_first(&self, queue: &Shared<PhaseQueue>, waiter: Waiter, look: &Look) {
        let frame = self.clock.frame();
        let fired = match waiter.get() {
            Waiting::Record(index) if !(self.has_pauses() && self.is_paused_place(index)) => {
                self.records.borrow_mut().fire_first(index, frame)
            }
            _ => None,
        };
        let task = fired.as_ref().and_then(|fired| fired.task);
        look.group.set(task.unwrap_or(TaskKey::NOBODY));
        if task.is_some() || fired.is_none() {
            look.keep(&mut queue.borrow_mut(), waiter);
        }
        self.firing.set(task);
        if let Some(fired) = fired {
            fired.waker.wake();
        }
    }

    #[cold]
    fn is_paused_place(&self, index: u32) -> bool {
        let ticket = self.records.borrow().ticket_at(index);
        ticket.is_some_and(|ticket| self.is_paused_wait(ticket))
    }

    /// Calls the waker of a record.
    pub(crate) fn fire(&self, ticket: Ticket) {
        let (waker, task) = {
            let mut records = self.records.borrow_mut();
            let Some(record) = records.get_mut(ticket) else {
                return;
            };
            (record.take_waker(), record.task())
        };
        if let Some(waker) = waker {
            self.call_for(task, waker);
        }
    }

    /// Calls the waker of a wait that makes `task` due anyway.
    fn call_for(&self, task: Option<TaskKey>, waker: Waker) {
        let outer = self.firing.replace(task);
        let woken = unwind::catch(|| waker.wake());
        self.firing.set(outer);
        if let Err(payload) = woken {
            unwind::dispose(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures::StreamExt;
    use futures::stream::FuturesUnordered;

    use crate::phase::PhaseIndex;
    use crate::records::Record;
    use crate::waiter::{Waiter, Waiting};
    use crate::{Executor, Phase, next_frame, start};

    /// Waits for the next frame in three futures at once, each of which hears of
    /// it by itself.
    async fn wait_three_times() {
        let waits: FuturesUnordered<_> = (0..3).map(|_| next_frame()).collect();
        waits.collect::<Vec<_>>().await;
    }

    #[test]
    fn a_coroutine_keeps_one_of_its_places_that_follow_each_other() {
        let mut executor = Executor::new();
        let core = Rc::downgrade(executor.core());
        let left: Rc<RefCell<Vec<String>>> = Rc::default();
        let see = left.clone();
        executor.start(async move {
            next_frame().await;
            let core = core.upgrade().expect("it is at work");
            let queue = &core.phases.get(PhaseIndex::new(Phase::Update)).queue;
            let name = |waiter: &Waiter| match waiter.get() {
                Waiting::Task(task) => format!("task {}", task.key().index),
                Waiting::Record(index) => {
                    let records = core.records.borrow();
                    let ticket = records.ticket_at(index).expect("no ghost");
                    let task = records.get(ticket).and_then(Record::task);
                    format!("record of {}", task.expect("of a coroutine").index)
                }
            };
            let places = queue.borrow().left_in_run().iter().map(name).collect();
            see.replace(places);
        });
        let one = executor.start(async {
            let other = async { drop(start(wait_three_times())) };
            futures::join!(wait_three_times(), other, wait_three_times());
        });
        let plain = executor.start(next_frame());
        executor.run_frame(0.25);
        assert_eq!(
            *left.borrow(),
            [
                "task 0",
                "record of 1",
                "record of 2",
                "record of 1",
                "task 3"
            ]
        );
        assert!(one.is_finished() && plain.is_finished());
    }
}
