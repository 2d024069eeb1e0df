//! Panics that no join returns: reported, or passed on to the host.

#![forbid(unsafe_code)]

use crate::inspect::Report;
use crate::time::Phase;

use super::Core;
use super::call::{self, Foreign, Payload};
use super::cell::Guarded;
use super::task::Task;

/// The payload of a coroutine's panic, and when it was raised.
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

/// How panics that no join returns are handled.
#[derive(Debug)]
pub(super) struct Panics {
    /// Whether they are passed on to the host instead of reported.
    propagate: bool,
    /// The first one since the last that was passed on.
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

    /// Reports the panic of a task, or passes it on: no handle can return it any
    /// more.
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

    /// Reports a panic, or keeps the first one if it is to be passed on to the
    /// host. Calls user code: nothing may be borrowed.
    pub(crate) fn pass_on(&self, report: Report, payload: Foreign<Payload>) {
        if self.panics.propagate && !self.is_closed() {
            let mut pending = self.panics.pending.borrow_mut();
            if pending.is_none() {
                *pending = Some((report, payload));
                return;
            }
        }
        self.report(&report);
        self.drop_payload(payload);
    }

    /// Ends a run by raising the panic that is to be passed on to the host, if any.
    #[inline]
    pub(super) fn let_panic_through(&self) {
        if self.panics.propagate && !std::thread::panicking() {
            let pending = self.panics.pending.take();
            if let Some((_, payload)) = pending {
                std::panic::resume_unwind(payload.into_inner());
            }
        }
    }

    /// Reports the panic that the host has not received before the executor ended.
    pub(super) fn report_pending_panic(&self) {
        let pending = self.panics.pending.take();
        if let Some((report, _payload)) = pending {
            self.report(&report);
        }
    }
}
