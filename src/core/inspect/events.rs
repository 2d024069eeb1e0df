//! Waits for events: for a signal, a watch or permits.
//!
//! To the executor, such a wait looks like any wait for a wake. So it is noted here until
//! it ends, if the source has a name or the coroutine is observed. Otherwise it costs
//! nothing.

use std::cell::Cell;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::inspect::event_waits::wait;
use crate::core::inspect::named::Source;
use crate::core::inspect::{awaited, notes, trace};
use crate::core::scope;
use crate::core::scope::registry;
use crate::inspect::{Line, Traced, WaitId};

thread_local! {
    /// The line of the last such wait that no executor has polled.
    static OUTSIDE: Cell<Option<Line>> = const { Cell::new(None) };
}

/// Takes the line of the last wait for an event that began outside of an executor, such as in a
/// replay of a durable script.
pub(crate) fn take_outside() -> Option<Line> {
    OUTSIDE.try_with(Cell::take).ok().flatten()
}

/// A noted wait for an event. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct EventWait {
    executor: u32,
    index: usize,
}

impl EventWait {
    /// Notes that the coroutine being polled waits for `source`, at an `.await` in
    /// `line`. `None` if no coroutine is being polled, or if it need not be noted.
    pub(crate) fn begin(source: Option<&Source>, line: Line) -> Option<Self> {
        scope::with(|scope| {
            let Some(scope) = scope else {
                let _ = OUTSIDE.try_with(|outside| outside.set(Some(line)));
                return None;
            };
            let (core, task) = (scope.core(), scope.current()?);
            if source.is_none() && !notes::is_observed(Some(task)) {
                return None;
            }
            let mut events = core.event_waits.borrow_mut();
            let (index, serial) = events.insert(task.task_key(), source.cloned());
            drop(events);
            let id = WaitId::Event(index, serial);
            awaited::note_wait(scope, id, line, || wait(source, task.home().phase()));
            Some(EventWait {
                executor: core.id,
                index,
            })
        })
    }

    /// Notes that `task` waits for `source`, since before it was restored.
    pub(crate) fn restored(core: &Core, task: TaskKey, source: Source) -> Self {
        let (index, _) = core.event_waits.borrow_mut().insert(task, Some(source));
        EventWait {
            executor: core.id,
            index,
        }
    }

    /// Notes that the source is about to wake the coroutine.
    pub(crate) fn note_woken(&self) {
        registry::with_executor(self.executor, |core| {
            if core.instruments.is_on() {
                let named = core.event_waits.borrow().named(self.index);
                if let Some((task, source)) = named {
                    notes::note_woken_by(core, task, source.into_name());
                }
            }
        });
    }
}

impl Drop for EventWait {
    fn drop(&mut self) {
        registry::with_executor(self.executor, |core| {
            let ended = core.event_waits.borrow_mut().remove(self.index);
            drop(ended);
        });
    }
}

/// Notes that a source sends an event, if it has a name. Only code that an executor calls
/// belongs to a trace.
#[inline]
pub(crate) fn note_emitted(source: impl FnOnce() -> Option<Source>) {
    scope::with(|scope| {
        let Some(scope) = scope.filter(|scope| scope.core().instruments.trace.is_full()) else {
            return;
        };
        let Some(source) = source() else {
            return;
        };
        let (core, name) = (scope.core(), source.into_name());
        match scope.current() {
            Some(task) => trace::note(core, task, Traced::Emitted { name }),
            None => trace::note_general(core, core.runs.phase(), Traced::Emitted { name }),
        }
    });
}
