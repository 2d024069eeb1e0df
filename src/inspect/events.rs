//! Waits for events: for a signal, a watch, a semaphore, an answer or a request to stop; and the names of
//! these sources.
//!
//! To the executor, such a wait looks like any wait for a wake. So it is noted here until
//! it ends, if the source has a name or the coroutine is observed. Otherwise it costs
//! nothing.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::panic::Location;
use std::sync::Arc;

use slab::Slab;

use crate::core::base::call;
use crate::core::base::key::TaskKey;
use crate::core::scope;
use crate::core::view::{Script, View};
use crate::time::Phase;

use super::observed::{Line, WaitId};
use super::source::{Birth, Source, SourceKind};
use super::trace::TraceKind;
use super::wait::Wait;
use super::{awaited, notes};

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
            let (view, script) = View::of(scope);
            let script = script?;
            let is_observed = script.is_observed();
            if source.is_none() && !is_observed {
                return None;
            }
            let events = &view.instruments().event_waits;
            let (index, serial) = events.insert(script.key(), source.cloned());
            let id = WaitId::Event(index, serial);
            if is_observed {
                let phase = script.home().phase();
                awaited::note_wait(scope, id, line, || wait(view, source, phase));
            }
            Some(EventWait {
                executor: view.executor(),
                index,
            })
        })
    }

    /// Notes that `script` waits for `source`, since before it was restored.
    pub(crate) fn restored(view: View<'_>, script: TaskKey, source: Source) -> Self {
        let events = &view.instruments().event_waits;
        let (index, _) = events.insert(script, Some(source));
        EventWait {
            executor: view.executor(),
            index,
        }
    }

    /// The line of the `.await`, if it was noted.
    pub(crate) fn line(&self) -> Option<Line> {
        let line = View::with(self.executor, |view| {
            let (script, serial) = view.instruments().event_waits.of(self.index)?;
            view.get(script)?.line_of(WaitId::Event(self.index, serial))
        });
        line.flatten()
    }

    /// Notes that the source is about to wake the coroutine.
    pub(crate) fn note_woken(&self) {
        View::with(self.executor, |view| {
            if view.is_observed() {
                let named = view.instruments().event_waits.named(self.index);
                if let Some((script, source)) = named {
                    notes::note_woken_by(view, script, source.name_arc());
                }
            }
        });
    }
}

impl Drop for EventWait {
    fn drop(&mut self) {
        View::with(self.executor, |view| {
            let ended = view.instruments().event_waits.remove(self.index);
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
        note_of(scope, |view| TraceKind::Emitted {
            name: source.name_arc(),
            source: view.numbered(&source),
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
        note_of(scope, |view| {
            let source = view.numbered(source);
            match acquired_at {
                Some(at) => TraceKind::Acquired { source, count, at },
                None => TraceKind::Released { source, count },
            }
        });
    });
}

/// Notes what the code that runs does, for a full trace.
fn note_of(scope: &scope::Scope<'_>, what: impl FnOnce(View<'_>) -> TraceKind) {
    let (view, script) = View::of(scope);
    if view.instruments().trace.is_full() {
        match script {
            Some(script) => notes::note(view, script, what(view)),
            None => notes::note_general(view, view.running(), what(view)),
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
            let (view, script) = View::of(scope);
            birth.frame = Some(view.frame());
            birth.script = script.map(Script::id);
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

/// The wait for a source, if it is known, as a snapshot shows it.
pub(super) fn wait(view: View<'_>, source: Option<&Source>, phase: Phase) -> Wait {
    let Some(source) = source else {
        return Wait::Wake { phase };
    };
    let name = source.name_arc();
    let numbered = || view.numbered(source);
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
#[derive(Debug, Default)]
pub(crate) struct EventWaits {
    waits: RefCell<Slab<Noted>>,
    /// How many there have been.
    count: Cell<u64>,
}

/// A noted wait.
#[derive(Debug)]
pub(crate) struct Noted {
    task: TaskKey,
    /// `None` if it has no name.
    source: Option<Source>,
    /// Tells apart the waits that have had the same place in the slab.
    serial: u64,
}

impl EventWaits {
    /// Adds a wait. Returns its place and its serial number.
    fn insert(&self, task: TaskKey, source: Option<Source>) -> (usize, u64) {
        let serial = self.count.get() + 1;
        self.count.set(serial);
        let noted = Noted {
            task,
            source,
            serial,
        };
        (self.waits.borrow_mut().insert(noted), serial)
    }

    /// Removes the wait that is at `index`.
    fn remove(&self, index: usize) -> Option<Noted> {
        self.waits.borrow_mut().try_remove(index)
    }

    /// The coroutine that waits, and the source with its name, if it has one.
    fn named(&self, index: usize) -> Option<(TaskKey, Source)> {
        let waits = self.waits.borrow();
        let noted = &waits[index];
        noted.source.clone().map(|source| (noted.task, source))
    }

    /// The coroutine of a wait, and its serial number.
    fn of(&self, index: usize) -> Option<(TaskKey, u64)> {
        let waits = self.waits.borrow();
        let noted = waits.get(index)?;
        Some((noted.task, noted.serial))
    }

    /// Whether a wait has not ended.
    pub(super) fn is_live(&self, index: usize, serial: u64) -> bool {
        let waits = self.waits.borrow();
        let noted = waits.get(index);
        noted.is_some_and(|noted| noted.serial == serial)
    }

    /// Calls `f` with each wait: its coroutine, its id, and its source, if that has a name.
    pub(crate) fn each(&self, mut f: impl FnMut(TaskKey, WaitId, Option<&Source>)) {
        for (index, noted) in &*self.waits.borrow() {
            let id = WaitId::Event(index, noted.serial);
            f(noted.task, id, noted.source.as_ref());
        }
    }
}
