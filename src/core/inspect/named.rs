//! Waits for signals, watches and permits with a name, noted for snapshots and traces.
//!
//! To the executor, such a wait looks like any wait for a wake. So a wait for a named
//! source is noted here until it ends. A wait for a source without a name costs nothing.

use std::borrow::Cow;
use std::sync::Arc;

use slab::Slab;

use crate::core::task::TaskKey;
use crate::inspect::Wait;
use crate::time::Phase;

/// A signal, a watch or permits that have a name.
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

    pub(crate) fn into_name(self) -> Arc<str> {
        self.name
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The wait for this source, as a snapshot shows it.
    fn wait(&self, phase: Phase) -> Wait {
        let name = self.name.clone();
        match self.kind {
            Kind::Signal => Wait::Signal { name, phase },
            Kind::Watch => Wait::Watch { name, phase },
            Kind::Permits => Wait::Permit { name, phase },
        }
    }
}

/// The waits of an executor's coroutines for named sources.
#[derive(Default)]
pub(crate) struct NamedWaits(Slab<(TaskKey, Source)>);

impl NamedWaits {
    /// Notes that a coroutine waits for a source. Returns the number of the wait.
    pub(crate) fn insert(&mut self, task: TaskKey, source: Source) -> usize {
        self.0.insert((task, source))
    }

    /// The coroutine and the source of a wait.
    pub(crate) fn get(&self, index: usize) -> (TaskKey, Source) {
        self.0[index].clone()
    }

    /// Ends a wait. Returns its source, for the caller to drop.
    pub(crate) fn remove(&mut self, index: usize) -> Option<Source> {
        Some(self.0.try_remove(index)?.1)
    }

    /// Calls `show` with each wait for a named source: its coroutine, and a function that
    /// makes the wait as a snapshot shows it in a phase.
    pub(crate) fn each(&self, mut show: impl FnMut(TaskKey, &dyn Fn(Phase) -> Wait)) {
        for (_, (task, source)) in &self.0 {
            show(*task, &|phase| source.wait(phase));
        }
    }
}
