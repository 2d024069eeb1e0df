//! Pausing: what comes up for a paused coroutine is parked with it.
//!
//! Pausing sets a flag that makes a run look twice, and takes note of the
//! clocks. Nothing is taken out of queues and wheels: whoever comes up there
//! while it is paused is left aside, and given back when it goes on.

#![forbid(unsafe_code)]

use std::mem::{replace, take};
use std::rc::Rc;

use crate::clock::ClockRef;
use crate::context::{self, Level};
use crate::key::TaskKey;
use crate::phase::PhaseIndex;
use crate::task::{Flags, Parked, Pause, Primary, Readings, TaskRef};
use crate::ticket::Ticket;
use crate::timers::{ClockIndex, Fate};
use crate::wheel::Due;

use super::Core;
use super::phases::ticket_of;

impl Core {
    /// Pauses or resumes one coroutine. `false`: it was so already, or has
    /// ended.
    pub(crate) fn set_paused(&self, key: TaskKey, paused: bool) -> bool {
        let task = self.tasks.borrow().get(key);
        let Some(task) = task.filter(|task| task.is_alive()) else {
            return false;
        };
        if self.is_paused_itself(task) == paused {
            return false;
        }
        self.with_pause(task, |pause| pause.own = paused);
        self.update_pause(task, &self.readings());
        true
    }

    fn is_paused_itself(&self, task: TaskRef) -> bool {
        let tasks = self.tasks.borrow();
        let pause = tasks.extra(task).and_then(|extra| extra.pause.as_ref());
        pause.is_some_and(|pause| pause.own)
    }

    /// Sees to it that a task is paused if it, or an owner of it, is.
    pub(super) fn update_pause(&self, task: TaskRef, readings: &Readings) {
        let owner = self.owner_of(task);
        let held = owner.is_some_and(|owner| self.owners.borrow().is_held(owner));
        let paused = held || self.is_paused_itself(task);
        if paused == task.has(Flags::PAUSED) {
            return;
        }
        if paused {
            task.set(Flags::PAUSED);
            // In a poll that is under way it may yet begin one.
            let may_have_timers = task.primary.get() == Primary::ELSEWHERE
                || task.has(Flags::RECORDS)
                || context::level_of(task).is_some();
            if may_have_timers {
                self.with_pause(task, |pause| pause.begin(readings));
            }
        } else {
            task.clear(Flags::PAUSED);
            self.give_back_parked(task, readings);
        }
    }

    fn give_back_parked(&self, task: TaskRef, readings: &Readings) {
        let parked = {
            let mut tasks = self.tasks.borrow_mut();
            let extra = tasks.some_extra_mut(task);
            let Some(pause) = extra.and_then(|extra| extra.pause.as_mut()) else {
                return;
            };
            pause.end(readings);
            take(&mut pause.parked)
        };
        for item in parked {
            match item {
                Parked::Ready { order, phase } => {
                    if task.has(Flags::QUEUED) {
                        self.unqueue(task);
                    }
                    task.phase.set(phase);
                    let wakeup = self.tasks.borrow().wakeup(task);
                    self.list(task, phase, |arrivals| arrivals.give_back(order, wakeup));
                }
                Parked::Wait {
                    order,
                    phase,
                    ticket,
                } => {
                    let mut returned = self.phases.get(phase).returned.borrow_mut();
                    returned.push((order, ticket));
                }
                Parked::Timer {
                    order,
                    phase,
                    clock,
                    deadline_ns,
                    ticket,
                } => {
                    if !self.is_live(ticket) {
                        continue;
                    }
                    let grown_ns = self.take_growth(task, phase, clock, ticket);
                    let due = Due {
                        deadline_ns: deadline_ns.saturating_add(grown_ns),
                        key: ticket.bits(),
                    };
                    let mut timers = self.phases.get(phase).timers.borrow_mut();
                    timers.give_back(order, clock, due);
                }
            }
        }
    }

    /// A paused coroutine would be polled in a run of `phase`.
    #[cold]
    pub(super) fn park_ready(&self, task: TaskRef, phase: PhaseIndex) {
        let order = self.next_parked();
        if task.has(Flags::QUEUED) {
            // It was joined before the turn of its entry came, which must not be
            // taken for the one that it is given back.
            self.unqueue(task);
        }
        self.with_pause(task, |pause| {
            let parked = &mut pause.parked;
            if !parked.iter().any(|p| matches!(p, Parked::Ready { .. })) {
                parked.push(Parked::Ready { order, phase });
            }
        });
    }

    /// A wait of a paused coroutine is due in a run of `phase`.
    #[cold]
    pub(super) fn park_wait(&self, task: TaskRef, phase: PhaseIndex, ticket: Ticket) {
        let order = self.next_parked();
        self.with_pause(task, |pause| {
            pause.parked.push(Parked::Wait {
                order,
                phase,
                ticket,
            });
        });
    }

    fn next_parked(&self) -> u64 {
        let order = self.parked.get();
        self.parked.set(order + 1);
        order
    }

    fn with_pause(&self, task: TaskRef, f: impl FnOnce(&mut Pause)) {
        let mut tasks = self.tasks.borrow_mut();
        let pause = &mut tasks.extra_mut(task).pause;
        if pause.is_none() {
            self.pauses.set(self.pauses.get() + 1);
        }
        f(pause.get_or_insert_default());
    }

    /// Whether some coroutine is paused, or has been.
    pub(crate) fn has_pauses(&self) -> bool {
        self.pauses.get() > 0
    }

    /// What becomes of a timer that a wheel found due.
    pub(super) fn fate(&self, phase: PhaseIndex, clock: ClockIndex, due: &Due) -> Fate {
        let ticket = ticket_of(due);
        let Some(task) = self.task_of(ticket) else {
            return Fate::Due;
        };
        if task.has(Flags::PAUSED) {
            let deadline_ns = due.deadline_ns;
            let order = self.next_parked();
            self.with_pause(task, |pause| {
                pause.parked.push(Parked::Timer {
                    order,
                    phase,
                    clock,
                    deadline_ns,
                    ticket,
                });
            });
            return Fate::Parked;
        }
        match self.take_growth(task, phase, clock, ticket) {
            0 => Fate::Due,
            grown_ns => Fate::Later(due.deadline_ns.saturating_add(grown_ns)),
        }
    }

    /// By how much a timer in a wheel is due later than it stands there. `None`:
    /// it is dead, or its coroutine is paused.
    pub(super) fn growth_unless_paused(
        &self,
        phase: PhaseIndex,
        clock: ClockIndex,
        ticket: Ticket,
    ) -> Option<u64> {
        if !self.is_live(ticket) {
            return None;
        }
        let Some(task) = self.task_of(ticket) else {
            return Some(0);
        };
        let measure = self.phases.get(phase).measure(clock);
        let (grown_ns, _) = self.pause_of_timer(task, measure, ticket);
        (!task.has(Flags::PAUSED)).then_some(grown_ns)
    }

    /// For how long the task was paused since the timer was registered, or since
    /// this was last asked.
    fn take_growth(
        &self,
        task: TaskRef,
        phase: PhaseIndex,
        clock: ClockIndex,
        ticket: Ticket,
    ) -> u64 {
        let mut tasks = self.tasks.borrow_mut();
        let extra = tasks.some_extra_mut(task);
        let Some(pause) = extra.and_then(|extra| extra.pause.as_mut()) else {
            return 0;
        };
        let total_ns = pause.total_ns(self.phases.get(phase).measure(clock));
        let base_ns = if ticket.is_record() {
            let mut records = self.records.borrow_mut();
            records.replace_base_ns(ticket, total_ns)
        } else {
            Some(replace(&mut pause.base_ns, total_ns))
        };
        base_ns.map_or(0, |base_ns| total_ns.saturating_sub(base_ns))
    }

    /// A timer was registered in the poll of `level`, whose coroutine may be
    /// paused or have been.
    #[cold]
    #[inline(never)]
    pub(super) fn note_timer(
        &self,
        level: &Level,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
        ticket: Ticket,
    ) {
        let Some(task) = level.current.get() else {
            return;
        };
        if task.has(Flags::PAUSED) {
            // It paused itself, in this very poll.
            let (index, now_ns) = (clock.index(), self.now_ns(clock));
            self.with_pause(task, |pause| pause.add_clock(index, now_ns));
        }
        self.take_growth(task, phase, clock.index(), ticket);
    }

    /// For how long the coroutine that `level` polls has been paused, as
    /// `clock` counts in runs of `phase`.
    #[inline(always)]
    pub(crate) fn paused_ns(&self, level: &Level, phase: PhaseIndex, clock: ClockIndex) -> u64 {
        if self.has_pauses() {
            self.paused_in_all_ns(level.current.get(), phase, clock)
        } else {
            0
        }
    }

    #[cold]
    #[inline(never)]
    fn paused_in_all_ns(&self, task: Option<TaskRef>, phase: PhaseIndex, clock: ClockIndex) -> u64 {
        let tasks = self.tasks.borrow();
        let extra = task.and_then(|task| tasks.extra(task));
        let pause = extra.and_then(|extra| extra.pause.as_ref());
        let measure = self.phases.get(phase).measure(clock);
        pause.map_or(0, |pause| pause.total_ns(measure))
    }

    /// For how long the task of a timer was paused since that was registered, as
    /// `measure` counts; and what that read when the pause began that lasts.
    pub(super) fn pause_of_timer(
        &self,
        task: TaskRef,
        measure: ClockIndex,
        ticket: Ticket,
    ) -> (u64, Option<u64>) {
        let tasks = self.tasks.borrow();
        let extra = tasks.extra(task).filter(|_| self.has_pauses());
        let Some(pause) = extra.and_then(|extra| extra.pause.as_ref()) else {
            return (0, None);
        };
        let base_ns = if ticket.is_record() {
            let records = self.records.borrow();
            records.base_ns(ticket)
        } else {
            pause.base_ns
        };
        let stopped_ns = pause.stopped_at(measure);
        let grown_ns = pause.total_ns(measure).saturating_sub(base_ns);
        (grown_ns, stopped_ns.filter(|_| task.has(Flags::PAUSED)))
    }

    /// The timers that are parked with a task.
    pub(super) fn parked_timers(&self, task: TaskRef) -> Vec<(PhaseIndex, ClockIndex, Due)> {
        let tasks = self.tasks.borrow();
        let pause = tasks.extra(task).and_then(|extra| extra.pause.as_ref());
        let parked = pause.into_iter().flat_map(|pause| &pause.parked);
        let timers = parked.filter_map(|parked| match *parked {
            Parked::Timer {
                phase,
                clock,
                deadline_ns,
                ticket,
                ..
            } => {
                let key = ticket.bits();
                Some((phase, clock, Due { deadline_ns, key }))
            }
            _ => None,
        });
        timers.collect()
    }

    /// A timer of `phase` that stands under `ticket` is polled by `level`. If
    /// another coroutine waited for it before: for how long that was paused.
    #[cold]
    #[inline(never)]
    pub(crate) fn paused_before_ns(
        &self,
        level: &Level,
        phase: PhaseIndex,
        clock: ClockIndex,
        ticket: Ticket,
    ) -> Option<u64> {
        let before = self.task_of(ticket)?;
        (level.current.get() != Some(before))
            .then(|| self.paused_in_all_ns(Some(before), phase, clock))
    }

    /// What all clocks read that are waited on.
    pub(super) fn readings(&self) -> Readings {
        let mut readings = vec![
            (ClockIndex::GAME, self.reached_ns(ClockRef::Game)),
            (ClockIndex::FIXED, self.clock.fixed_ns()),
            (ClockIndex::REALTIME, self.reached_ns(ClockRef::Realtime)),
        ];
        self.phases.each(|_, state| {
            state.timers.borrow().each_child(|clock| {
                let index = clock.index();
                if readings.iter().all(|&(of, _)| of != index) {
                    readings.push((index, clock.reading().now_ns));
                }
            });
        });
        Rc::from(readings)
    }
}
