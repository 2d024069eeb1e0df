//! Waits for events: for a signal, a watch or a semaphore.
//!
//! To the executor, such a wait looks like any wait for a wake. So it is noted here until
//! it ends, if the source has a name or the coroutine is observed. Otherwise it costs
//! nothing.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::core::Core;
use crate::core::base::call;
use crate::core::base::key::TaskKey;
use crate::core::inspect::event_waits::wait;
use crate::core::inspect::{awaited, named, notes, trace};
use crate::core::scope;
use crate::core::scope::registry;
use crate::inspect::{Line, Source, TraceKind, WaitId};

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
            source: named::numbered(scope.core(), &source),
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
        let source = || named::numbered(scope.core(), source);
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
            Some(task) => trace::note(core, task, what()),
            None => trace::note_general(core, core.runs.phase(), what()),
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
