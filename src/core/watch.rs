//! What happens to coroutines that are watched.
//!
//! Whether one is, is decided when it is spawned: it gets a table of functions
//! that polls through [`poll_watched`]. Nothing asks in a resume.

use std::panic::Location;
use std::task::Context;
use std::time::Duration;

use crate::context;
use crate::inspect::{Lap, Moment, Stopwatch, TraceEvent, Traced, Watched};
use crate::report::Report;
use crate::task::TaskRef;

use super::Core;

/// Polls the future of a watched task.
///
/// # Safety
///
/// As for the `poll` of its table; and as in all polls, the innermost level is
/// the one that polls it.
pub(crate) unsafe fn poll_watched(task: TaskRef, cx: &mut Context<'_>) {
    let level = context::innermost();
    let core = level.core();
    core.note_resumed(task);
    let stopwatch = core.watch.stopwatch.as_ref();
    let lap = stopwatch.map(Stopwatch::begin);
    // SAFETY: promised by the caller.
    unsafe { (task.vtable().poll_future)(task, cx) };
    if let Some(took) = lap.and_then(Lap::stop) {
        core.report_slow(task, took);
    }
}

impl Core {
    /// Has `hook` told what happens, to all coroutines from now on.
    pub(crate) fn trace(&self, hook: Box<dyn FnMut(&TraceEvent)>) {
        if self.watch.turn_on() {
            let count = self.tasks.borrow().len();
            for index in 0..count {
                let task = self.tasks.borrow().at(index);
                if task.is_alive() {
                    let nothing_known = Watched {
                        place: None,
                        parent: None,
                        since: None,
                        has_begun: true,
                    };
                    self.begin_to_watch(task, nothing_known);
                }
            }
        }
        self.watch.trace.hook.set(hook);
    }

    fn begin_to_watch(&self, task: TaskRef, watched: Watched) {
        task.watch();
        self.tasks.borrow_mut().extra_mut(task).watched = Some(Box::new(watched));
    }

    /// A task was spawned at `place` in a program. Calls user code.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_spawned(&self, task: TaskRef, place: &'static Location<'static>) {
        let parent = context::current_of(self);
        let watched = Watched {
            place: Some(place),
            parent: parent.map(|parent| parent.key()),
            since: None,
            has_begun: false,
        };
        self.begin_to_watch(task, watched);
        self.note_event(task, Traced::Spawned);
        self.tell_trace();
    }

    /// A watched task is about to be polled. Calls user code.
    fn note_resumed(&self, task: TaskRef) {
        let now = Moment {
            frame: self.clock.frame(),
            elapsed: Duration::from_nanos(self.clock.game_ns()),
        };
        if let Some(watched) = &mut self.tasks.borrow_mut().extra_mut(task).watched {
            watched.since = Some(now);
            watched.has_begun = true;
        }
        self.note_event(task, Traced::Resumed);
        self.tell_trace();
    }

    /// A task has ended that may be watched.
    #[cold]
    pub(super) fn note_ended(&self, task: TaskRef) {
        let watched = {
            let mut tasks = self.tasks.borrow_mut();
            let extra = tasks.some_extra_mut(task);
            extra.and_then(|extra| extra.watched.take())
        };
        if let Some(outcome) = task.outcome().filter(|_| watched.is_some()) {
            self.note_event(task, Traced::Ended(outcome));
        }
    }

    fn note_event(&self, task: TaskRef, what: Traced) {
        self.watch.trace.note(|| TraceEvent {
            frame: self.clock.frame(),
            phase: self.running_phase(),
            id: self.id_of(task),
            name: self.name_of(task),
            what,
        });
    }

    /// Tells what has been noted. Calls user code.
    #[inline]
    pub(super) fn tell_trace(&self) {
        if self.watch.is_on() {
            self.tell_events();
        }
    }

    #[cold]
    fn tell_events(&self) {
        while let Some(event) = self.watch.trace.next() {
            // Not as the coroutine that is being polled: what the hook spawns is
            // nobody's.
            context::enter(self, None, |_| {
                self.watch.trace.hook.call(&event);
            });
        }
    }

    #[cold]
    fn report_slow(&self, task: TaskRef, took: Duration) {
        self.reports.send(&Report::SlowPoll {
            id: self.id_of(task),
            name: self.name_of(task),
            frame: self.clock.frame(),
            phase: self.running_phase(),
            took,
        });
    }
}
