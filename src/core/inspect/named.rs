//! The names of signals, watches, permits, questions, requests to stop, and waits of other crates.

use std::borrow::Cow;
use std::sync::Arc;

use crate::inspect::Wait;
use crate::time::Phase;

/// A signal, a watch, permits or a question to the host, with a name.
#[derive(Clone)]
pub(crate) struct Source {
    kind: Kind,
    name: Arc<str>,
}

#[derive(Clone, Copy)]
enum Kind {
    Signal,
    Watch,
    Permits,
    Answer,
    Other,
    Stop,
}

impl Source {
    pub(crate) fn signal(name: Cow<'static, str>) -> Self {
        Source {
            kind: Kind::Signal,
            name: name.into(),
        }
    }

    pub(crate) fn watch(name: Cow<'static, str>) -> Self {
        Source {
            kind: Kind::Watch,
            name: name.into(),
        }
    }

    pub(crate) fn permits(name: Cow<'static, str>) -> Self {
        Source {
            kind: Kind::Permits,
            name: name.into(),
        }
    }

    pub(crate) fn answer(name: Cow<'static, str>) -> Self {
        Source {
            kind: Kind::Answer,
            name: name.into(),
        }
    }

    /// A wait of another crate.
    pub(crate) fn other(what: String) -> Self {
        Source {
            kind: Kind::Other,
            name: what.into(),
        }
    }

    /// A request to stop.
    pub(crate) fn stop() -> Self {
        Source {
            kind: Kind::Stop,
            name: "a request to stop".into(),
        }
    }

    pub(crate) fn into_name(self) -> Arc<str> {
        self.name
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The wait for this source, as a snapshot shows it.
    pub(crate) fn wait(&self, phase: Phase) -> Wait {
        let name = self.name.clone();
        match self.kind {
            Kind::Signal => Wait::Signal { name, phase },
            Kind::Watch => Wait::Watch { name, phase },
            Kind::Permits => Wait::Permit { name, phase },
            Kind::Answer => Wait::Answer { name, phase },
            Kind::Other => Wait::Other { what: name, phase },
            Kind::Stop => Wait::StopRequest { phase },
        }
    }
}
