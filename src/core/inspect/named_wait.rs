//! A wait for a named source.

use crate::core::inspect::named::Source;
use crate::core::registry;
use crate::core::report::trace;
use crate::core::scope;

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
                index: waits.insert(task, source.clone()),
            })
        })
    }

    /// Notes that the source is about to wake the coroutine.
    pub(crate) fn note_woken(&self) {
        registry::with_executor(self.executor, |core| {
            if core.instruments.is_on() {
                let (task, source) = core.named_waits.borrow().get(self.index);
                trace::note_woken_by(core, task, source.into_name());
            }
        });
    }
}

impl Drop for NamedWait {
    fn drop(&mut self) {
        registry::with_executor(self.executor, |core| {
            let ended = core.named_waits.borrow_mut().remove(self.index);
            drop(ended);
        });
    }
}
