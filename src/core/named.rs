//! Waits for signals, watches and permits that have a name, noted for snapshots
//! and traces.
//!
//! To the executor, such a wait is a wait for a call of the coroutine's waker.
//! So a wait for a named source is noted here until it ends. A wait for a
//! source without a name costs nothing.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::sync::Arc;

use slab::Slab;

use crate::core::task::TaskKey;
use crate::inspect::Wait;
use crate::time::Phase;

use super::Core;
use super::scope;

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
pub(super) struct NamedWaits(Slab<(TaskKey, Source)>);

/// A wait for a named source. It ends when this is dropped.
pub(crate) struct NamedWait {
    executor: u32,
    index: usize,
}

impl NamedWait {
    /// Notes that the coroutine being polled waits for `source`. `None` if no
    /// coroutine is being polled.
    pub(crate) fn begin(source: &Source) -> Option<Self> {
        scope::with(|scope| {
            let scope = scope?;
            let (core, task) = (scope.core(), scope.current()?.task_key());
            let mut waits = core.named_waits.borrow_mut();
            Some(NamedWait {
                executor: core.id,
                index: waits.0.insert((task, source.clone())),
            })
        })
    }

    /// Notes that the source is about to wake the coroutine.
    pub(crate) fn note_woken(&self) {
        scope::with_executor(self.executor, |core| {
            if core.watch.is_on() {
                let (task, source) = core.named_waits.borrow().0[self.index].clone();
                core.note_woken_by(task, source.name);
            }
        });
    }
}

impl Drop for NamedWait {
    fn drop(&mut self) {
        scope::with_executor(self.executor, |core| {
            let ended = core.named_waits.borrow_mut().0.try_remove(self.index);
            drop(ended);
        });
    }
}

impl Core {
    /// Calls `show` with each wait for a named source: its coroutine, and how it
    /// looks in a phase.
    pub(super) fn each_named_wait(&self, mut show: impl FnMut(TaskKey, &dyn Fn(Phase) -> Wait)) {
        for (_, (task, source)) in &self.named_waits.borrow().0 {
            show(*task, &|phase| source.wait(phase));
        }
    }
}
