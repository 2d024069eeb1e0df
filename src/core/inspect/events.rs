//! Waits for events: for a signal, a watch or permits.
//!
//! To the executor, such a wait looks like any wait for a wake. So it is noted here until
//! it ends, if the source has a name or the coroutine is observed. Otherwise it costs
//! nothing.

use slab::Slab;

use crate::core::Core;
use crate::core::inspect::named::Source;
use crate::core::inspect::{awaited, notes, trace};
use crate::core::registry;
use crate::core::scope;
use crate::core::task::TaskKey;
use crate::inspect::{Line, Traced, Wait, WaitId};
use crate::time::Phase;

/// The noted waits for events of an executor's coroutines.
#[derive(Default)]
pub(crate) struct EventWaits {
    waits: Slab<Noted>,
    /// How many there have been.
    count: u64,
}

struct Noted {
    task: TaskKey,
    /// `None` if it has no name.
    source: Option<Source>,
    /// Tells apart the waits that have had the same place in the slab.
    serial: u64,
}

impl EventWaits {
    fn insert(&mut self, task: TaskKey, source: Option<Source>) -> (usize, u64) {
        self.count += 1;
        let serial = self.count;
        let noted = Noted {
            task,
            source,
            serial,
        };
        (self.waits.insert(noted), serial)
    }

    /// Whether a wait has not ended.
    pub(crate) fn is_live(&self, index: usize, serial: u64) -> bool {
        let noted = self.waits.get(index);
        noted.is_some_and(|noted| noted.serial == serial)
    }

    /// Calls `show` with each wait: its coroutine, its id, and a function that makes the
    /// wait as a snapshot shows it in a phase.
    pub(crate) fn each(&self, mut show: impl FnMut(TaskKey, WaitId, &dyn Fn(Phase) -> Wait)) {
        for (index, noted) in &self.waits {
            let id = WaitId::Event(index, noted.serial);
            show(noted.task, id, &|phase| wait(noted.source.as_ref(), phase));
        }
    }
}

fn wait(source: Option<&Source>, phase: Phase) -> Wait {
    source.map_or(Wait::Wake { phase }, |source| source.wait(phase))
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
            let scope = scope?;
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
                let noted = {
                    let events = core.event_waits.borrow();
                    let noted = &events.waits[self.index];
                    noted.source.clone().map(|source| (noted.task, source))
                };
                if let Some((task, source)) = noted {
                    notes::note_woken_by(core, task, source.into_name());
                }
            }
        });
    }
}

impl Drop for EventWait {
    fn drop(&mut self) {
        registry::with_executor(self.executor, |core| {
            let ended = core.event_waits.borrow_mut().waits.try_remove(self.index);
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
