//! Events of watched coroutines.
//!
//! Whether a coroutine is watched is decided when it is spawned, or when a
//! trace begins. A flag sends the polls of a watched one the long way. A plain
//! resume does not test for it.

#![forbid(unsafe_code)]

use std::panic::{Location, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::core::task::TaskKey;
use crate::inspect::{Lap, Moment, Report, Reports, Stopwatch, TraceEvent, Traced, Watched};

use super::Core;
use super::call;
use super::outside::Telling;
use super::scope;
use super::task::{Flags, Polled, Reference, Task};

/// Keeps the block of a task until this is dropped.
pub(super) struct Kept<'c>(&'c Core, Option<Reference>);

impl Drop for Kept<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(reference) = self.1.take() {
            self.0.drop_reference(reference);
        }
    }
}

impl Core {
    /// Polls a watched task by calling `poll`. Calls user code.
    pub(super) fn watched(&self, task: Task<'_>, poll: impl FnOnce() -> Polled) -> Polled {
        self.note_resumed(task);
        let stopwatch = self.watch.stopwatch.as_ref();
        let lap = stopwatch.map(Stopwatch::begin);
        // A panic is caught, so that the stopwatch, which is user code, is not read
        // while the stack unwinds.
        let polled = call::catch(|| {
            if task.has(Flags::PAUSED) {
                // By the hook: the poll is owed.
                let phase = self.runs.phase().unwrap_or_else(|| task.home());
                self.remember_wake(task, phase);
                Polled::Refused
            } else {
                poll()
            }
        });
        let took = lap.and_then(Lap::stop);
        if let Some(payload) = stopwatch.and_then(Stopwatch::take_panic) {
            self.hook_panicked("stopwatch", payload);
        }
        match (polled, took) {
            (Err(payload), _) => resume_unwind(payload),
            (Ok(polled), None) => polled,
            (Ok(polled), Some(took)) => {
                self.report(&Report::SlowPoll {
                    id: self.id_of(task),
                    name: self.name_of(task),
                    frame: self.clock.frame(),
                    phase: self.running_phase(),
                    took,
                });
                polled
            }
        }
    }

    /// Sends a report to the host's hook. Calls user code, but not as part of the
    /// coroutine being polled: what the hook spawns has no owner.
    #[cold]
    pub(crate) fn report(&self, report: &Report) {
        if let Err(payload) = self.as_host(|| self.reports.send(report)) {
            self.report_hook_panicked(payload);
        }
    }

    /// Reports that a coroutine was refused: to the executor that refuses it, else to
    /// the one that runs the caller. If there is none, or if it is gone, the report is
    /// printed. Calls user code.
    #[cold]
    pub(crate) fn report_refused(refuses: Option<&Core>, report: &Report) {
        let hears = |core: &Core| !core.is_closed() || core.reports.hook.is_set();
        if let Some(core) = refuses.filter(|core| hears(core)) {
            core.report(report);
            return;
        }
        let runs = scope::with(|scope| scope.map(|scope| scope.core().rc()));
        match runs.filter(|core| hears(core)) {
            Some(core) => core.report(report),
            None => Reports::print_without_executor(report),
        }
    }

    /// Calls a hook of the host in the middle of anything else: outside of any
    /// coroutine, without an owner, on the game clock.
    pub(super) fn as_host<R>(&self, f: impl FnOnce() -> R) -> R {
        let _shown = self.show_game_clock();
        scope::enter(self, |_| call::out(f))
    }

    /// Keeps the block of a watched task until the result is dropped. The trace
    /// hook may end the task in its poll, and start another.
    #[inline]
    pub(super) fn keep_watched(&self, task: Task<'_>) -> Kept<'_> {
        let reference = task.has(Flags::WATCHED).then(|| self.tasks.refer(task));
        Kept(self, reference)
    }

    /// Sets the trace hook, and watches all coroutines from now on.
    pub(crate) fn trace(&self, hook: Box<dyn FnMut(&TraceEvent)>) {
        if self.watch.turn_on() {
            for index in 0..self.tasks.len() {
                let task = self.tasks.at(index);
                if task.is_alive() {
                    let nothing_known = Watched {
                        place: None,
                        parent: None,
                        since: None,
                        has_begun: true,
                        woken_by: None,
                    };
                    self.begin_to_watch(task, nothing_known);
                }
            }
        }
        self.watch.trace.hook.set(hook);
    }

    fn begin_to_watch(&self, task: Task<'_>, watched: Watched) {
        task.set(Flags::WATCHED);
        let watched = Some(Box::new(watched));
        self.tasks.cold_or_new(task, |cold| cold.watched = watched);
    }

    /// Notes that a task was spawned at `place` of the program. Calls user code.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_spawned(&self, task: Task<'_>, place: &'static Location<'static>) {
        let parent = scope::each_current(self, |parent| Some(parent.task_key()));
        let watched = Watched {
            place: Some(place),
            parent,
            since: None,
            has_begun: false,
            woken_by: None,
        };
        self.begin_to_watch(task, watched);
        self.note_event(task, Traced::Spawned, None);
        self.tell_trace();
    }

    /// Notes that a watched task is about to be polled. Calls user code.
    fn note_resumed(&self, task: Task<'_>) {
        let now = Moment {
            frame: self.clock.frame(),
            elapsed: Duration::from_nanos(self.clock.game_ns()),
        };
        let by = self.tasks.cold(task, |cold| {
            let watched = cold.watched.as_mut()?;
            // The next wait of the task begins in this poll.
            watched.since = Some(now);
            watched.has_begun = true;
            watched.woken_by.take()
        });
        self.note_event(task, Traced::Resumed, by.flatten());
        self.tell_trace();
    }

    /// Notes that the signal or watch called `name` is about to wake a task.
    pub(super) fn note_woken_by(&self, task: TaskKey, name: Arc<str>) {
        if let Some(task) = self.tasks.get(task) {
            self.tasks.cold(task, |cold| {
                if let Some(watched) = &mut cold.watched {
                    watched.woken_by.get_or_insert(name);
                }
            });
        }
    }

    /// Notes that a watched task has ended.
    pub(super) fn note_ended(&self, task: Task<'_>) {
        let watched = self.tasks.cold(task, |cold| cold.watched.take());
        if let Some(outcome) = task.outcome().filter(|_| watched.flatten().is_some()) {
            self.note_event(task, Traced::Ended(outcome), None);
        }
    }

    fn note_event(&self, task: Task<'_>, what: Traced, by: Option<Arc<str>>) {
        self.watch.trace.note(|| TraceEvent {
            frame: self.clock.frame(),
            phase: self.running_phase(),
            id: self.id_of(task),
            name: self.name_of(task),
            what,
            by,
        });
    }

    /// Sends the noted events to the trace hook. Calls user code.
    #[inline]
    pub(super) fn tell_trace(&self) {
        if self.watch.is_on() && !self.arrivals.are_taken() {
            self.tell_events();
        }
    }

    #[cold]
    fn tell_events(&self) {
        let _telling = Telling(self);
        while let Some(event) = self.watch.trace.next() {
            // Not as part of the coroutine being polled: what the hook spawns has
            // no owner.
            if let Err(payload) = self.as_host(|| self.watch.trace.hook.call(&event)) {
                self.hook_panicked("on_trace", payload);
            }
        }
    }
}
