//! Waits for events: for a signal, a watch, a semaphore, an answer or a request to stop; and the names of
//! these sources.
//!
//! To the executor, such a wait looks like any wait for a wake. So it is noted here until
//! it ends, if the source has a name or the coroutine is observed. Otherwise it costs
//! nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::panic::Location;
use std::sync::Arc;

use slab::Slab;

use crate::core::Core;
use crate::core::base::call;
use crate::core::base::key::TaskKey;
use crate::core::inspect::{awaited, notes};
use crate::core::scope::{self, registry};
use crate::inspect::{Birth, Line, Source, SourceKind, TraceKind, Wait, WaitId};
use crate::task::coroutine::CoroutineId;
use crate::time::Phase;

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
            awaited::note_wait(scope, id, line, || wait(core, source, task.home().phase()));
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

    /// The line of the `.await`, if it was noted.
    pub(crate) fn line(&self) -> Option<Line> {
        let line = registry::with_executor(self.executor, |core| {
            let (task, serial) = core.event_waits.borrow().of(self.index)?;
            let id = WaitId::Event(self.index, serial);
            awaited::line_of(core, core.tasks.get(task)?, id)
        });
        line.flatten()
    }

    /// Notes that the source is about to wake the coroutine.
    pub(crate) fn note_woken(&self) {
        registry::with_executor(self.executor, |core| {
            if core.instruments.is_on() {
                let named = core.event_waits.borrow().named(self.index);
                if let Some((task, source)) = named {
                    notes::note_woken_by(core, task, source.name_arc());
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

/// An event that a source with a name sends.
pub(crate) struct Emission {
    pub(crate) source: Source,
    /// How many waits, subscriptions and streams it has.
    pub(crate) listeners: usize,
    /// The new value, if the source shows it.
    pub(crate) value: Option<Arc<str>>,
}

/// Notes that a source sends an event, if it has a name. Only code that an executor calls
/// belongs to a trace. The closure may call user code.
#[inline]
pub(crate) fn note_emitted(emission: impl FnOnce() -> Option<Emission>) {
    scope::with(|scope| {
        let Some(scope) = scope.filter(|scope| scope.core().instruments.is_on()) else {
            return;
        };
        let Some(Emission {
            source,
            listeners,
            value,
        }) = emission()
        else {
            return;
        };
        if let Some(value) = &value {
            source.set_value(value.clone());
        }
        note_of(scope.core(), scope, || TraceKind::Emitted {
            name: source.name_arc(),
            source: numbered(scope.core(), &source),
            listeners,
            value,
        });
    });
}

/// Notes that the code that runs got permits, at a line, or has dropped them, if they have a
/// name. Drops happen outside of executors, too.
#[cold]
#[inline(never)]
pub(crate) fn note_permits(source: &Source, count: usize, acquired_at: Option<Line>) {
    scope::with(|scope| {
        let Some(scope) = scope.filter(|scope| scope.core().instruments.is_on()) else {
            return;
        };
        let source = || numbered(scope.core(), source);
        note_of(scope.core(), scope, || match acquired_at {
            Some(at) => TraceKind::Acquired {
                source: source(),
                count,
                at,
            },
            None => TraceKind::Released {
                source: source(),
                count,
            },
        });
    });
}

/// Notes what the code that runs does, for a full trace.
fn note_of(core: &Core, scope: &scope::Scope<'_>, what: impl FnOnce() -> TraceKind) {
    if core.instruments.trace.is_full() {
        match scope.current() {
            Some(task) => notes::note(core, task, what()),
            None => notes::note_general(core, core.runs.phase(), what()),
        }
    }
}

/// Whether the code that runs is observed.
pub(crate) fn is_observed() -> bool {
    scope::with(|scope| scope.is_some_and(|scope| scope.core().instruments.is_on()))
}

/// The text of a value, cut to a length that fits a line. Calls user code, whose panic is
/// discarded.
pub(crate) fn text_of(value: &dyn fmt::Debug) -> Option<Arc<str>> {
    let mut line = Line120(String::new());
    match call::catch(|| write!(line, "{value:?}")) {
        Ok(Ok(())) => {}
        Ok(Err(_)) => line.0.push('…'),
        Err(payload) => {
            call::dispose(payload);
            return None;
        }
    }
    Some(line.0.into())
}

/// Accepts no more than 120 bytes, so that a large value is not written to its end.
struct Line120(String);

impl fmt::Write for Line120 {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut end = text.len().min(120 - self.0.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.0.push_str(&text[..end]);
        if end < text.len() {
            Err(fmt::Error)
        } else {
            Ok(())
        }
    }
}

/// A source that gets its name at this line, in the code that an executor may be calling.
#[track_caller]
pub(crate) fn born(kind: SourceKind, name: Cow<'static, str>) -> Source {
    named_at(kind, name, Location::caller())
}

/// The same for a name that stands at another line.
pub(crate) fn named_at(kind: SourceKind, name: Cow<'static, str>, at: Line) -> Source {
    let mut birth = Birth {
        at: Some(at),
        ..Birth::default()
    };
    scope::with(|scope| {
        if let Some(scope) = scope.filter(|scope| scope.core().instruments.is_on()) {
            let core = scope.core();
            birth.frame = Some(core.clock.frame());
            let task = scope.current();
            birth.script = task.map(|task| CoroutineId::new(core.id, task.task_key()));
        }
    });
    Source::new(kind, name.into(), birth)
}

/// A source whose name is its identity.
pub(crate) fn known_by_name(kind: SourceKind, name: Cow<'static, str>) -> Source {
    Source::new(kind, name.into(), Birth::default())
}

/// A request to stop.
pub(crate) fn stop_request() -> Source {
    known_by_name(SourceKind::StopRequest, Cow::Borrowed("a request to stop"))
}

/// The same source, which has a number from now on.
pub(crate) fn numbered(core: &Core, source: &Source) -> Source {
    if source.is_unknown() {
        source.set_number(core.id, core.instruments.next_source());
    }
    source.clone()
}

/// The wait for a source, if it is known, as a snapshot shows it.
pub(crate) fn wait(core: &Core, source: Option<&Source>, phase: Phase) -> Wait {
    let Some(source) = source else {
        return Wait::Wake { phase };
    };
    let name = source.name_arc();
    let numbered = || numbered(core, source);
    match source.kind() {
        SourceKind::Signal => Wait::Signal {
            name,
            source: numbered(),
            phase,
        },
        SourceKind::Watch => Wait::Watch {
            name,
            source: numbered(),
            phase,
        },
        SourceKind::Semaphore => Wait::Permit {
            name,
            source: numbered(),
            phase,
        },
        SourceKind::Question => Wait::Answer { name, phase },
        SourceKind::Other => Wait::Other { what: name, phase },
        SourceKind::StopRequest => Wait::StopRequest { phase },
    }
}

/// The noted waits for events of an executor's coroutines.
#[derive(Default)]
pub(crate) struct EventWaits {
    waits: Slab<Noted>,
    /// How many there have been.
    count: u64,
}

/// A noted wait.
pub(crate) struct Noted {
    task: TaskKey,
    /// `None` if it has no name.
    source: Option<Source>,
    /// Tells apart the waits that have had the same place in the slab.
    serial: u64,
}

impl EventWaits {
    /// Adds a wait. Returns its place and its serial number.
    pub(crate) fn insert(&mut self, task: TaskKey, source: Option<Source>) -> (usize, u64) {
        self.count += 1;
        let serial = self.count;
        let noted = Noted {
            task,
            source,
            serial,
        };
        (self.waits.insert(noted), serial)
    }

    /// Removes the wait that is at `index`.
    pub(crate) fn remove(&mut self, index: usize) -> Option<Noted> {
        self.waits.try_remove(index)
    }

    /// The coroutine that waits, and the source with its name, if it has one.
    pub(crate) fn named(&self, index: usize) -> Option<(TaskKey, Source)> {
        let noted = &self.waits[index];
        noted.source.clone().map(|source| (noted.task, source))
    }

    /// The coroutine of a wait, and its serial number.
    pub(crate) fn of(&self, index: usize) -> Option<(TaskKey, u64)> {
        let noted = self.waits.get(index)?;
        Some((noted.task, noted.serial))
    }

    /// Whether a wait has not ended.
    pub(crate) fn is_live(&self, index: usize, serial: u64) -> bool {
        let noted = self.waits.get(index);
        noted.is_some_and(|noted| noted.serial == serial)
    }

    /// Calls `f` with each wait: its coroutine, its id, and its source, if that has a name.
    pub(crate) fn each(&self, mut f: impl FnMut(TaskKey, WaitId, Option<&Source>)) {
        for (index, noted) in &self.waits {
            let id = WaitId::Event(index, noted.serial);
            f(noted.task, id, noted.source.as_ref());
        }
    }
}
