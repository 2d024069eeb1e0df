//! Which coroutine holds a shared wait, and which is next when it is paused or ends.

use crate::core::cell::Guarded;
use crate::core::pause::timers::PausedTimers;
use crate::core::registration::entries::Entries;
use crate::core::registration::key::WaitKey;
use crate::core::task::{Flags, Task, TaskKey};
use crate::time::{ClockIndex, PhaseIndex};

/// How long a coroutine has been paused, as a clock counts in runs of a phase.
type PausedNs<'a> = fn(PausedTimers<'a>, Task<'_>, PhaseIndex, ClockIndex) -> u64;

/// The parts that decide which coroutine holds a shared wait.
#[derive(Clone, Copy)]
pub(crate) struct Sharing<'a> {
    pub(crate) timers: PausedTimers<'a>,
}

impl<'a> Sharing<'a> {
    fn entries(self) -> &'a Guarded<Entries> {
        self.timers.waits.entries
    }

    /// Notes that `task` polls the wait of `key`, whose entry names another
    /// coroutine. `timer` is the phase and the clock of a timer.
    #[cold]
    pub(crate) fn share(
        self,
        key: WaitKey,
        task: Task<'_>,
        timer: Option<(PhaseIndex, ClockIndex)>,
    ) {
        let Some(holder) = self.entries().borrow_mut().set_shared(key) else {
            return;
        };
        let holder_runs = self.timers.waits.runs_on(holder);
        let poll = {
            let shared = &mut self.entries().borrow_mut().shared;
            let task = (task.task_key(), !task.has(Flags::PAUSED));
            shared.note_poll(key, timer, (holder, holder_runs), task);
            shared.polls
        };
        // Without the holder's present pause, which is not a pause of the new coroutine.
        self.hold_if_latest(key.index(), poll, task, PausedTimers::paused_before_ns);
    }

    /// Makes `task` the holder of a wait, unless `task` is paused, or the present
    /// holder runs and has polled the wait later. `poll` is the number of the task's poll.
    /// `paused_ns` says how long the previous holder has been paused.
    fn hold_if_latest(self, index: u32, poll: u64, task: Task<'_>, paused_ns: PausedNs<'a>) {
        if task.has(Flags::PAUSED) {
            return;
        }
        let (latest, holder) = {
            let entries = self.entries().borrow();
            let wait = &entries.shared.waits[&index];
            (wait.holder, wait.polls.get(&wait.holder).copied())
        };
        if poll > latest || !holder.is_some_and(|holder| self.timers.waits.runs_on(holder)) {
            self.hand_over(index, poll, task, paused_ns);
        }
    }

    /// Passes the shared waits of a coroutine that has been paused or resumed to their
    /// next holders.
    #[inline]
    pub(crate) fn pass_on(self, task: Task<'_>) {
        if self.entries().borrow().shared.is_empty() {
            return;
        }
        let runs = !task.has(Flags::PAUSED);
        for (index, poll) in self.note_running(task, runs) {
            if runs {
                self.hold_if_latest(index, poll, task, PausedTimers::paused_so_far_ns);
            } else if self.holds(index, poll) {
                self.hand_on(index);
            }
        }
    }

    /// Passes the shared waits of a coroutine that has ended to their next holders. If all
    /// other coroutines of a wait are paused, the latest one holds it.
    #[inline]
    pub(crate) fn leave(self, task: Task<'_>) {
        if self.entries().borrow().shared.is_empty() {
            return;
        }
        for (index, poll) in self.note_running(task, false) {
            if self.holds(index, poll) && !self.hand_on(index) {
                self.hand_on_to_paused(index, task);
            }
            let shared = &mut self.entries().borrow_mut().shared;
            if let Some(wait) = shared.waits.get_mut(&index) {
                wait.polls.remove(&poll);
            }
        }
        let shared = &mut self.entries().borrow_mut().shared;
        shared.of_task.remove(&task.task_key());
    }

    /// Notes whether a coroutine runs, in all waits that it shares. Returns them, each with
    /// the number of the coroutine's latest poll.
    fn note_running(self, task: Task<'_>, runs: bool) -> Vec<(u32, u64)> {
        let shared = &mut self.entries().borrow_mut().shared;
        let waits = shared.of(task.task_key());
        for &(index, poll) in &waits {
            shared.set_running(index, poll, runs);
        }
        waits
    }

    /// Whether `poll` is the number of the holder's latest poll of the wait.
    fn holds(self, index: u32, poll: u64) -> bool {
        let entries = self.entries().borrow();
        let wait = entries.shared.waits.get(&index);
        wait.is_some_and(|wait| wait.holder == poll)
    }

    /// Hands a wait over to the latest coroutine that runs. Returns `false` if none runs.
    fn hand_on(self, index: u32) -> bool {
        let next = {
            let entries = self.entries().borrow();
            let runs_on = |key| self.timers.waits.runs_on(key);
            entries.shared.latest_running(index, runs_on)
        };
        self.hand_on_to(index, next)
    }

    /// Hands a wait over to the latest coroutine other than `task`, if there is one.
    fn hand_on_to_paused(self, index: u32, task: Task<'_>) {
        let next = {
            let entries = self.entries().borrow();
            entries.shared.latest_of_others(index, task.task_key())
        };
        self.hand_on_to(index, next);
    }

    fn hand_on_to(self, index: u32, next: Option<(u64, TaskKey)>) -> bool {
        let next = next.and_then(|(poll, key)| Some((poll, self.timers.waits.tasks.get(key)?)));
        if let Some((poll, task)) = next {
            self.hand_over(index, poll, task, PausedTimers::paused_so_far_ns);
        }
        next.is_some()
    }

    /// Makes the coroutine that polled the wait with the number `poll` its holder.
    /// `paused_ns` says how long the previous holder has been paused.
    fn hand_over(self, index: u32, poll: u64, to: Task<'_>, paused_ns: PausedNs<'a>) {
        let (key, timer, from) = {
            let entries = self.entries().borrow();
            let shared = &entries.shared;
            let wait = &shared.waits[&index];
            let from = wait.polls.get(&wait.holder).copied();
            (wait.key, wait.timer, from)
        };
        let from = from.and_then(|from| self.timers.waits.tasks.get(from));
        let more_ns = match (timer, from) {
            (Some((phase, clock)), Some(from)) if self.timers.pauses.any() => {
                let to_ns = self.timers.paused_so_far_ns(to, phase, clock);
                paused_ns(self.timers, from, phase, clock).wrapping_sub(to_ns)
            }
            _ => 0,
        };
        {
            let shared = &mut self.entries().borrow_mut().shared;
            if let Some(wait) = shared.waits.get_mut(&index) {
                wait.holder = poll;
                wait.offset_ns = wait.offset_ns.wrapping_add(more_ns);
            }
        }
        self.entries().borrow_mut().set_task(key, to.task_key());
        // The timer may count again.
        self.timers.pauses.note_change();
        to.set(Flags::ENTRIES);
        if let Some(from) = from.filter(|&from| from != to) {
            self.timers.move_suspended(key, from, to);
        }
    }
}
