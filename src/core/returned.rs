//! Readers of the output of a coroutine, called as it returns.

#![forbid(unsafe_code)]

use std::mem;

use crate::inspect::Report;

use super::Core;
use super::call::{Foreign, Payload};
use super::outside::Telling;
use super::scope;
use super::task::Task;

/// Reads the output of a task that has returned. Returns `true` if it has read it,
/// and `false` if the output is none of its concern.
pub(crate) type Reader = Box<dyn FnOnce(&Core, Task<'_>) -> Result<bool, Payload>>;

impl Core {
    /// Adds a reader of the output of a task, which is called when the task returns,
    /// or now if it has. Calls user code.
    pub(crate) fn on_return<T: 'static>(
        &self,
        task: Task<'_>,
        read: impl FnOnce(&T) -> bool + 'static,
    ) {
        let read = Foreign::new(read);
        let reader: Reader =
            Box::new(move |core, task| core.tasks.lend_output(task, read.into_inner()));
        let reader = Foreign::new(reader);
        if !task.has_ended() {
            self.tasks
                .cold_or_new(task, |cold| cold.readers.push(reader));
        } else if self.tasks.output_type(task).is_some() {
            self.tasks
                .cold_or_new(task, |cold| cold.readers.push(reader));
            self.read_soon(self.tasks.refer(task));
        }
    }

    /// Calls the readers of a task that has returned. Calls user code.
    #[inline]
    pub(super) fn tell_readers(&self, task: Task<'_>) {
        if task.has_cold() {
            self.call_readers(task);
        }
    }

    #[cold]
    fn call_readers(&self, task: Task<'_>) {
        let readers = self.tasks.cold(task, |cold| mem::take(&mut cold.readers));
        for reader in readers.unwrap_or_default() {
            let _telling = Telling(self);
            let read = {
                let _shown = self.show_clock_of(task);
                scope::enter_task(self, task, |_| reader.into_inner()(self, task))
            };
            match read {
                Ok(false) => {}
                Ok(true) => {
                    self.tasks.cold(task, |cold| cold.is_read = true);
                }
                Err(payload) => {
                    let payload = Foreign::new(payload);
                    let report = Report::CoroutinePanicked {
                        id: self.id_of(task),
                        name: format!("{} (on_error)", self.name_of(task)).into(),
                        frame: self.clock.frame(),
                        phase: self.running_phase(),
                        message: super::call::message(&**payload.get()),
                    };
                    self.pass_on(report, payload);
                }
            }
        }
    }
}
