//! Pausing: a flag that makes a run look twice, one remembered wake, and timers
//! that stand still.
//!
//! Nothing is taken out of queues and wheels when a coroutine is paused. A wait
//! that is due in the pause is served, and its coroutine is owed one poll. A
//! timer that its wheel finds due is parked, and its foreign waker is called. On
//! resume it is inserted again, later by the length of the pause.

#![forbid(unsafe_code)]

use std::mem::{replace, take};
use std::rc::Rc;

use crate::core::task::TaskKey;
use crate::core::owners::{OwnerKey, PauseChange};
use crate::time::{ClockIndex, ClockRef, ClockState, PhaseIndex};

use super::Core;
use super::key::WaitKey;
use super::scope::Scope;
use super::task::{Flags, ParkedTimer, Pause, Task};
use super::timer::Fate;
use super::timer::wheel::{Due, Standing};

impl Core {
    /// Pauses or resumes one coroutine. Returns `false` if that changes nothing, or
    /// if the coroutine has ended.
    pub(crate) fn set_paused(&self, key: TaskKey, paused: bool) -> bool {
        let task = self.tasks.get(key);
        let Some(task) = task.filter(|task| task.is_alive()) else {
            return false;
        };
        let is_own = |pause: &mut Pause| pause.own;
        if self.read_pause(task, is_own).unwrap_or(false) == paused {
            return false;
        }
        self.with_pause(task, |pause| pause.own = paused);
        self.update_pause(task);
        self.tell_host();
        true
    }

    /// Makes a change to the pause of an owner, with all coroutines of it and of the
    /// owners below it, in the order in which they were spawned. Returns `false` if
    /// that changes nothing.
    pub(crate) fn change_owner_pause(&self, owner: OwnerKey, change: PauseChange) -> bool {
        let mut tasks = self.owned.take();
        let changed = {
            let mut owners = self.owners.borrow_mut();
            owners.change_pause(owner, change, &mut tasks)
        };
        let alive = |key: &TaskKey| self.tasks.get(*key);
        for task in tasks.iter().filter_map(alive) {
            if task.is_alive() {
                self.update_pause(task);
            }
        }
        tasks.clear();
        self.owned.replace(tasks);
        self.tell_host();
        changed
    }

    /// Pauses a task if its own flag or an owner above it says so, else resumes it.
    fn update_pause(&self, task: Task<'_>) {
        let owner = self.owner_of(task);
        let by_owner = owner.is_some_and(|owner| self.owners.borrow().is_paused(owner));
        let own = self.read_pause(task, |pause| pause.own);
        let paused = by_owner || own.unwrap_or(false);
        if paused == task.has(Flags::PAUSED) {
            return;
        }
        self.pause_changes.set(self.pause_changes.get() + 1);
        let mut readings = self.readings.take();
        self.read_clocks(task, &mut readings);
        if paused {
            task.set(Flags::PAUSED);
            self.with_pause(task, |pause| pause.begin(&readings));
        } else {
            task.clear(Flags::PAUSED);
            self.unpause(task, &readings);
        }
        self.readings.replace(readings);
        self.pass_shared_waits(task);
    }

    /// Resumes a task: its timers count again, and it is ready if a wake was
    /// remembered.
    fn unpause(&self, task: Task<'_>, readings: &[(ClockIndex, u64)]) {
        let owed = self.read_pause(task, |pause| {
            pause.end(readings);
            pause.is_wake_spare = false;
            (take(&mut pause.parked), pause.wake.take())
        });
        let Some((parked, wake)) = owed else {
            return;
        };
        // The timers count again, so one may be due earlier than the host knows.
        self.note_due();
        for timer in parked {
            self.unpark(task, &timer);
        }
        if let Some(phase) = wake {
            self.make_ready(task, phase);
        }
    }

    /// Inserts a parked timer again, for a task that is not paused.
    fn unpark(&self, task: Task<'_>, timer: &ParkedTimer) {
        if !self.is_live(timer.key) {
            return;
        }
        let grown_ns = self.take_growth(task, timer.phase, timer.clock, timer.key);
        let due = Due {
            deadline_ns: timer.deadline_ns.saturating_add(grown_ns),
            key: timer.key.bits(),
        };
        let state = self.phases.get(timer.phase);
        state.note_other();
        let mut timers = state.timers.borrow_mut();
        timers.give_back(timer.order, timer.clock, due);
    }

    /// Moves a parked timer to the task that holds its wait from now on.
    pub(super) fn move_parked(&self, key: WaitKey, from: Task<'_>, to: Task<'_>) {
        let taken = self.read_pause(from, |pause| {
            let at = pause.parked.iter().position(|timer| timer.key == key)?;
            Some(pause.parked.remove(at))
        });
        if let Some(timer) = taken.flatten() {
            if to.has(Flags::PAUSED) {
                self.with_pause(to, |pause| pause.parked.push(timer));
            } else {
                self.note_due();
                self.unpark(to, &timer);
            }
        }
    }

    /// How long the task has been paused until now, as `clock` counts in runs of
    /// `phase`. The present pause counts from now on if the clock had no waits when it
    /// began.
    pub(super) fn paused_so_far_ns(
        &self,
        task: Task<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
    ) -> u64 {
        let state = self.phases.get(phase);
        let measure = state.measure(clock);
        let mut now_ns = 0;
        let timers = state.timers.borrow();
        timers.show(clock, &mut |clock| now_ns = self.reached_ns(state, clock));
        drop(timers);
        let is_paused = task.has(Flags::PAUSED);
        let paused = self.read_pause(task, |pause| {
            if is_paused {
                pause.add_clock(measure, now_ns);
            }
            let stopped_ns = pause.stopped_at(measure).filter(|_| is_paused);
            let present_ns = stopped_ns.map_or(0, |stopped_ns| now_ns.saturating_sub(stopped_ns));
            pause.total_ns(measure).saturating_add(present_ns)
        });
        paused.unwrap_or(0)
    }

    /// How long the task has been paused, without the present pause.
    pub(super) fn paused_before_ns(
        &self,
        task: Task<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
    ) -> u64 {
        self.paused_in_all_ns(Some(task), phase, clock)
    }

    /// Remembers that a paused coroutine would have been polled in a run of
    /// `phase`. The first such wake counts.
    #[cold]
    pub(super) fn remember_wake(&self, task: Task<'_>, phase: PhaseIndex) {
        self.with_pause(task, |pause| {
            if pause.wake.is_none() || take(&mut pause.is_wake_spare) {
                pause.wake = Some(phase);
            }
        });
    }

    /// Remembers that a run of `phase` has reached a paused coroutine that was
    /// ready before the pause. That precedes any wake in the pause. The coroutine
    /// stays ready: it may be in the list of another phase, too.
    #[cold]
    pub(super) fn remember_ready(&self, task: Task<'_>, phase: PhaseIndex) {
        self.ready.leave(task.index());
        self.with_pause(task, |pause| {
            pause.wake = Some(phase);
            pause.is_wake_spare = false;
        });
    }

    /// Whether a paused coroutine has been woken by nothing in its pause, except by
    /// the wakers of its own timers that stand still.
    pub(super) fn has_spare_wake(&self, task: Task<'_>) -> bool {
        let has_spare = |pause: &mut Pause| pause.wake.is_none() || pause.is_wake_spare;
        self.read_pause(task, has_spare).unwrap_or(false)
    }

    /// Notes that the wake that a paused coroutine remembers, if it does, is one of
    /// those. Another one counts before it.
    pub(super) fn note_spare_wake(&self, task: Task<'_>) {
        self.read_pause(task, |pause| pause.is_wake_spare = pause.wake.is_some());
    }

    fn with_pause<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Pause) -> R) -> R {
        self.tasks.cold_or_new(task, |cold| {
            if cold.pause.is_none() {
                self.pauses.set(self.pauses.get() + 1);
            }
            f(cold.pause.get_or_insert_default())
        })
    }

    fn read_pause<R>(&self, task: Task<'_>, f: impl FnOnce(&mut Pause) -> R) -> Option<R> {
        let read = self
            .tasks
            .cold(task, |cold| cold.pause.as_deref_mut().map(f));
        read.flatten()
    }

    /// Whether a live coroutine is paused or has been paused.
    #[inline(always)]
    pub(crate) fn has_pauses(&self) -> bool {
        self.pauses.get() > 0
    }

    /// Decides what becomes of a timer that a wheel found due.
    pub(super) fn fate(&self, phase: PhaseIndex, clock: ClockIndex, due: &Due) -> Fate {
        let key = WaitKey::from_bits(due.key);
        let Some(task) = self.task_of(key) else {
            return Fate::Due;
        };
        let measure = self.phases.get(phase).measure(clock);
        let (grown_ns, stopped_ns) = self.pause_of_timer(task, measure, key);
        let due_ns = due.deadline_ns.saturating_add(grown_ns);
        let was_due = stopped_ns.is_some_and(|stopped_ns| due_ns <= stopped_ns);
        let is_held = task.has(Flags::PAUSED) && !was_due;
        // A foreign waker is called only when the earlier pauses have been made up for.
        let is_early = grown_ns > 0 && self.entries.borrow().has_waker(key);
        if is_held && !is_early {
            let deadline_ns = due.deadline_ns;
            let order = self.parked.get();
            self.parked.set(order + 1);
            self.with_pause(task, |pause| {
                pause.parked.push(ParkedTimer {
                    order,
                    phase,
                    clock,
                    deadline_ns,
                    key,
                });
            });
            return Fate::Parked;
        }
        match self.take_growth(task, phase, clock, key) {
            0 => Fate::Due,
            grown_ns => Fate::Later(due.deadline_ns.saturating_add(grown_ns)),
        }
    }

    /// How a timer stands that has not been due yet: when it is due, if its coroutine
    /// is not paused; when its foreign waker is called, if it is.
    pub(super) fn standing(&self, phase: PhaseIndex, clock: ClockIndex, due: Due) -> Standing {
        let key = WaitKey::from_bits(due.key);
        if !self.is_live(key) {
            return Standing::Dead;
        }
        let task = self.task_of(key).filter(|_| self.has_pauses());
        let Some(task) = task else {
            return Standing::At(due.deadline_ns);
        };
        if task.has(Flags::PAUSED) && !self.entries.borrow().has_waker(key) {
            return Standing::Held;
        }
        let measure = self.phases.get(phase).measure(clock);
        let (grown_ns, _) = self.pause_of_timer(task, measure, key);
        Standing::At(due.deadline_ns.saturating_add(grown_ns))
    }

    /// How long the task was paused since the timer was registered, or since the
    /// previous call for it.
    fn take_growth(
        &self,
        task: Task<'_>,
        phase: PhaseIndex,
        clock: ClockIndex,
        key: WaitKey,
    ) -> u64 {
        let measure = self.phases.get(phase).measure(clock);
        let total_ns = self.total_for(task, measure, key);
        let base_ns = if key.is_entry() {
            self.entries.borrow_mut().replace_base_ns(key, total_ns)
        } else {
            self.read_pause(task, |pause| replace(&mut pause.base_ns, total_ns))
        };
        base_ns.map_or(0, |base_ns| grown_ns(base_ns, total_ns))
    }

    /// The total of the pauses by which the wait under `key` counts: those of its
    /// task, and an offset if the wait has had another holder. It wraps.
    fn total_for(&self, task: Task<'_>, measure: ClockIndex, key: WaitKey) -> u64 {
        let total = self.read_pause(task, |pause| pause.total_ns(measure));
        let offset_ns = if key.is_entry() {
            self.entries.borrow().shared.offset_ns(key)
        } else {
            0
        };
        total.unwrap_or(0).wrapping_add(offset_ns)
    }

    /// Notes a timer that was registered in the poll of `scope`. Its coroutine may
    /// be paused or have been paused.
    #[cold]
    #[inline(never)]
    pub(super) fn note_timer(
        &self,
        scope: &Scope<'_>,
        phase: PhaseIndex,
        clock: ClockRef<'_>,
        key: WaitKey,
    ) {
        let Some(task) = scope.current() else {
            return;
        };
        if task.has(Flags::PAUSED) {
            // The coroutine paused itself in this poll.
            let state = self.phases.get(phase);
            let measure = state.measure(clock.index());
            let now_ns = self.reached_ns(state, clock);
            self.with_pause(task, |pause| pause.add_clock(measure, now_ns));
        }
        self.take_growth(task, phase, clock.index(), key);
    }

    /// How long the coroutine that `scope` polls has been paused, as `clock` counts
    /// in runs of `phase`.
    #[inline(always)]
    pub(crate) fn paused_ns(&self, scope: &Scope<'_>, phase: PhaseIndex, clock: ClockIndex) -> u64 {
        if self.has_pauses() {
            self.paused_in_all_ns(scope.current(), phase, clock)
        } else {
            0
        }
    }

    #[cold]
    #[inline(never)]
    fn paused_in_all_ns(
        &self,
        task: Option<Task<'_>>,
        phase: PhaseIndex,
        clock: ClockIndex,
    ) -> u64 {
        let measure = self.phases.get(phase).measure(clock);
        let total = task.and_then(|task| self.read_pause(task, |pause| pause.total_ns(measure)));
        total.unwrap_or(0)
    }

    /// How long the task of a timer was paused since the timer was registered, as
    /// `measure` counts; and if it is paused now, what `measure` read when that
    /// began.
    pub(super) fn pause_of_timer(
        &self,
        task: Task<'_>,
        measure: ClockIndex,
        key: WaitKey,
    ) -> (u64, Option<u64>) {
        let read = self.read_pause(task, |pause| (pause.base_ns, pause.stopped_at(measure)));
        let (own_base_ns, stopped_ns) = read.unwrap_or((0, None));
        let base_ns = if key.is_entry() {
            self.entries.borrow().base_ns(key)
        } else {
            own_base_ns
        };
        let grown_ns = grown_ns(base_ns, self.total_for(task, measure, key));
        (grown_ns, stopped_ns.filter(|_| task.has(Flags::PAUSED)))
    }

    /// The timers that are parked with a task.
    pub(super) fn parked_timers(&self, task: Task<'_>) -> Vec<ParkedTimer> {
        let parked = self.read_pause(task, |pause| pause.parked.clone());
        parked.unwrap_or_default()
    }

    /// The phase in which a paused task is ready when it is resumed, if it is.
    pub(super) fn remembered_wake(&self, task: Task<'_>) -> Option<PhaseIndex> {
        self.read_pause(task, |pause| pause.wake).flatten()
    }

    /// How long the coroutine that the wait under `key` resumes has been paused, as
    /// `clock` counts in runs of `phase`. `None` if the wait is not registered.
    pub(crate) fn paused_ns_of(
        &self,
        key: WaitKey,
        phase: PhaseIndex,
        clock: ClockIndex,
    ) -> Option<u64> {
        let task = self.task_of(key)?;
        let measure = self.phases.get(phase).measure(clock);
        Some(self.total_for(task, measure, key))
    }

    /// Whether the wait under `key` is registered and resumes `task`.
    pub(crate) fn is_wait_of(&self, key: WaitKey, task: Option<Task<'_>>) -> bool {
        let waits = self.task_of(key);
        waits.is_some() && waits == task
    }

    /// Notes that the coroutine that `scope` polls has a timer on `clock`, for runs of
    /// `phase`: a pause of the coroutine has to read that clock.
    #[cold]
    #[inline(never)]
    pub(super) fn note_clock(&self, scope: &Scope<'_>, phase: PhaseIndex, clock: &Rc<ClockState>) {
        let own = self.own_clock();
        let is_own = own.is_some_and(|own| Rc::ptr_eq(&own, clock));
        if let Some(task) = scope.current().filter(|_| !is_own) {
            let measure = self.phases.get(phase).measure(clock.index());
            self.tasks.cold_or_new(task, |cold| {
                cold.clocks.get_or_insert_default().note(measure, clock);
            });
        }
    }

    /// Reads the clocks of a task: those of the executor, that of its owner, and
    /// those that its timers have named. Each is read once, sorted by clock.
    fn read_clocks(&self, task: Task<'_>, readings: &mut Vec<(ClockIndex, u64)>) {
        readings.clear();
        readings.extend([
            (ClockIndex::GAME, self.clock.frame_game_ns()),
            (ClockIndex::REALTIME, self.clock.real_ns()),
            (ClockIndex::FIXED, self.clock.fixed_ns()),
        ]);
        let mut read = |index: ClockIndex, clock: &Rc<ClockState>| {
            let now_ns = if index.is_stepped() {
                clock.stepped_ns()
            } else {
                clock.frame_ns()
            };
            readings.push((index, now_ns));
        };
        let owner = self.owner_of(task).filter(|_| task.has(Flags::CLOCK));
        if let Some(owner) = owner {
            if let Some(clock) = self.owners.borrow().clock(owner) {
                // Something may count on it without a timer.
                read(clock.index(), clock);
                read(clock.index().stepped(), clock);
            }
        }
        self.tasks.cold(task, |cold| {
            for clock in &cold.future_clocks {
                read(clock.index(), clock);
                read(clock.index().stepped(), clock);
            }
            if let Some(clocks) = &cold.clocks {
                clocks.each(read);
            }
        });
        readings.sort_unstable();
        readings.dedup_by_key(|&mut (clock, _)| clock);
    }

    /// Adds a clock to those that the pause of a task measures, if it is paused: it
    /// has paused itself in this poll.
    pub(super) fn measure_in_pause(&self, task: Task<'_>, clock: &Rc<ClockState>) {
        if task.has(Flags::PAUSED) {
            self.with_pause(task, |pause| {
                pause.add_clock(clock.index(), clock.frame_ns());
                pause.add_clock(clock.index().stepped(), clock.stepped_ns());
            });
        }
    }
}

/// How much a total of pauses has grown since it was `base_ns`. Both may have
/// wrapped.
pub(crate) fn grown_ns(base_ns: u64, total_ns: u64) -> u64 {
    let grown_ns = total_ns.wrapping_sub(base_ns);
    if grown_ns <= u64::MAX / 2 {
        grown_ns
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, pending};
    use std::mem;
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use crate::executor::Executor;
    use crate::wait::wait_seconds;

    #[test]
    fn a_forgotten_timer_of_a_paused_coroutine_that_was_stopped_is_no_pause() {
        let mut executor = Executor::new();
        let coroutine = executor.start(async {
            let mut timer = wait_seconds(0.25);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut timer).poll(&mut cx).is_pending());
            mem::forget(timer);
            pending::<()>().await;
        });
        coroutine.pause();
        assert!(executor.core().has_pauses());
        coroutine.stop();
        for _ in 0..3 {
            executor.run_frame(0.25);
            assert!(!executor.core().has_pauses());
        }
    }
}
