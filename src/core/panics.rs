//! Panics that no join returns: reported, or let through to the host.

#![forbid(unsafe_code)]

use crate::inspect::Report;
use crate::time::Phase;

use super::Core;
use super::call::{self, Foreign, Payload};
use super::cell::Guarded;
use super::task::Task;

/// What a coroutine panicked with, and when.
#[derive(Debug)]
pub(crate) struct Panicked {
    payload: Foreign<Payload>,
    frame: u64,
    /// `None`: outside of a run.
    phase: Option<Phase>,
}

impl Panicked {
    pub(super) fn into_payload(self) -> Payload {
        self.payload.into_inner()
    }
}

/// What becomes of panics that no join returns.
#[derive(Debug)]
pub(super) struct Panics {
    /// Whether the host gets them, rather than a report.
    propagate: bool,
    /// The first one since the host got one.
    pending: Guarded<Option<(Report, Foreign<Payload>)>>,
}

impl Panics {
    pub(super) fn new(propagate: bool) -> Self {
        Panics {
            propagate,
            pending: Guarded::default(),
        }
    }
}

impl Core {
    pub(super) fn panicked(&self, payload: Payload) -> Panicked {
        Panicked {
            payload: Foreign::new(payload),
            frame: self.clock.frame(),
            phase: self.running_phase(),
        }
    }

    /// No handle is left that could return what a task panicked with.
    #[cold]
    pub(super) fn report_unread(&self, task: Task<'_>) {
        let panicked = self.tasks.cold(task, |cold| cold.panic.take()).flatten();
        if let Some(panicked) = panicked {
            let report = Report::CoroutinePanicked {
                id: self.id_of(task),
                name: self.name_of(task),
                frame: panicked.frame,
                phase: panicked.phase,
                message: call::message(&**panicked.payload.get()),
            };
            self.pass_on(report, panicked.payload);
        }
    }

    /// Reports a panic, or keeps it for the host, if that wants the first one. Calls
    /// user code: nothing may be borrowed.
    pub(crate) fn pass_on(&self, report: Report, payload: Foreign<Payload>) {
        if self.panics.propagate && !self.is_closed() {
            let mut pending = self.panics.pending.borrow_mut();
            if pending.is_none() {
                *pending = Some((report, payload));
                return;
            }
        }
        self.report(&report);
    }

    /// A run is over: panics if something has panicked that the host wants to see.
    #[inline]
    pub(super) fn let_panic_through(&self) {
        if self.panics.propagate && !std::thread::panicking() {
            let pending = self.panics.pending.take();
            if let Some((_, payload)) = pending {
                std::panic::resume_unwind(payload.into_inner());
            }
        }
    }

    /// The executor ends before the host got to see a panic.
    pub(super) fn report_pending_panic(&self) {
        let pending = self.panics.pending.take();
        if let Some((report, _payload)) = pending {
            self.report(&report);
        }
    }
}
