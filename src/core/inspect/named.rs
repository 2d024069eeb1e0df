//! The names of signals, watches, semaphores, questions, requests to stop, and waits of other crates.

use std::borrow::Cow;
use std::panic::Location;

use crate::core::Core;
use crate::core::scope;
use crate::inspect::{Birth, Source, SourceKind, Wait};
use crate::task::coroutine::CoroutineId;
use crate::time::Phase;

/// A source that gets its name at this line, in the code that an executor may be calling.
#[track_caller]
pub(crate) fn born(kind: SourceKind, name: Cow<'static, str>) -> Source {
    let mut birth = Birth {
        at: Some(Location::caller()),
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
pub(crate) fn stop() -> Source {
    known_by_name(SourceKind::StopRequest, Cow::Borrowed("a request to stop"))
}

/// The same source, which has a number from now on.
pub(crate) fn numbered(core: &Core, source: &Source) -> Source {
    if source.is_unknown() {
        source.set_number(core.id, core.instruments.next_source());
    }
    source.clone()
}

/// The wait for a source, as a snapshot shows it.
pub(crate) fn wait(core: &Core, source: &Source, phase: Phase) -> Wait {
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
