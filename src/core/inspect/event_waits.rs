//! The waits for events that are noted: for a signal, a watch, a semaphore or an answer.

use slab::Slab;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::inspect::named;
use crate::inspect::{Source, Wait, WaitId};
use crate::time::Phase;

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

    /// Calls `show` with each wait: its coroutine, its id, and a function that makes the
    /// wait as a snapshot shows it in a phase.
    pub(crate) fn each(
        &self,
        core: &Core,
        mut show: impl FnMut(TaskKey, WaitId, &dyn Fn(Phase) -> Wait),
    ) {
        for (index, noted) in &self.waits {
            let id = WaitId::Event(index, noted.serial);
            show(noted.task, id, &|phase| {
                wait(core, noted.source.as_ref(), phase)
            });
        }
    }
}

/// The wait for `source`, as a snapshot shows it.
pub(crate) fn wait(core: &Core, source: Option<&Source>, phase: Phase) -> Wait {
    source.map_or(Wait::Wake { phase }, |source| {
        named::wait(core, source, phase)
    })
}
