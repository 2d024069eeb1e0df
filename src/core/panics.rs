//! Panics of coroutines that the host hears of: reported, or passed on to it.

#![forbid(unsafe_code)]

use std::cell::Cell;

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
    /// Whether the host hears of the panic, even if no join returns it.
    is_heard: bool,
}

impl Panicked {
    pub(super) fn into_payload(self) -> Payload {
        self.payload.into_inner()
    }
}

/// Which panics of coroutines are passed on to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PassOn {
    /// None: those that no join returns are reported.
    #[default]
    Nothing,
    /// Those that no join returns.
    Unread,
    /// All of them.
    All,
}

/// How panics of coroutines are handled.
#[derive(Debug, Default)]
pub(super) struct Panics {
    pass_on: Cell<PassOn>,
    /// The first one since the last that was passed on.
    pending: Guarded<Option<Pending>>,
    is_pending: Cell<bool>,
}

type Pending = (Report, Foreign<Payload>);

impl Panics {
    pub(super) fn new(pass_on: PassOn) -> Self {
        Panics {
            pass_on: Cell::new(pass_on),
            pending: Guarded::default(),
            is_pending: Cell::new(false),
        }
    }

    /// Whether a panic waits to be passed on.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending.get()
    }

    fn passes_on(&self, panics: PassOn) -> bool {
        self.pass_on.get() == panics
    }
}

impl Core {
    /// Stores the panic of a task that has ended. Returns what has to be [passed
    /// on](Core::pass_on) to the host, even if a join returns the panic: a join then
    /// returns the message alone, because the host receives the payload.
    pub(super) fn keep_panic(&self, task: Task<'_>, payload: Payload) -> Option<Pending> {
        let mut panicked = Panicked {
            payload: Foreign::new(payload),
            frame: self.clock.frame(),
            phase: self.running_phase(),
            is_heard: false,
        };
        let mut pending = None;
        if self.panics.passes_on(PassOn::All) {
            let report = self.report_of(task, &panicked);
            let message = call::message(&**panicked.payload.get());
            let message = message.unwrap_or_else(|| "a panic without a text".to_owned());
            let message: Payload = Box::new(message);
            let payload = std::mem::replace(&mut panicked.payload, Foreign::new(message));
            panicked.is_heard = true;
            pending = Some((report, payload));
        }
        self.tasks
            .cold_or_new(task, |cold| cold.panic = Some(panicked));
        pending
    }

    fn report_of(&self, task: Task<'_>, panicked: &Panicked) -> Report {
        Report::CoroutinePanicked {
            id: self.id_of(task),
            name: self.name_of(task),
            frame: panicked.frame,
            phase: panicked.phase,
            message: call::message(&**panicked.payload.get()),
        }
    }

    /// Reports the panic of a task, or passes it on: no handle can return it any
    /// more.
    #[cold]
    pub(super) fn report_unread(&self, task: Task<'_>) {
        let panicked = self.tasks.cold(task, |cold| cold.panic.take()).flatten();
        if let Some(panicked) = panicked.filter(|panicked| !panicked.is_heard) {
            let report = self.report_of(task, &panicked);
            self.pass_on(report, panicked.payload);
        }
    }

    /// Reports a panic, or keeps the first one if it is to be passed on to the
    /// host. Calls user code: nothing may be borrowed.
    pub(crate) fn pass_on(&self, report: Report, payload: Foreign<Payload>) {
        if let Err((report, payload)) = self.keep_pending(report, payload) {
            self.report(&report);
            self.drop_payload(payload);
        }
    }

    /// Keeps a panic that is to be passed on to the host. Returns it if it is to be
    /// reported.
    fn keep_pending(&self, report: Report, payload: Foreign<Payload>) -> Result<(), Pending> {
        let keep = match self.panics.pass_on.get() {
            PassOn::Nothing => false,
            PassOn::Unread => !self.is_closed(),
            PassOn::All => true,
        };
        if keep {
            let mut pending = self.panics.pending.borrow_mut();
            if pending.is_none() {
                *pending = Some((report, payload));
                self.panics.is_pending.set(true);
                return Ok(());
            }
        }
        Err((report, payload))
    }

    /// Reports the panic of a hook of the host, or passes it on. Calls user code.
    #[cold]
    pub(crate) fn hook_panicked(&self, hook: &'static str, payload: Payload) {
        self.pass_on(self.report_of_hook(hook, &payload), Foreign::new(payload));
    }

    /// The same for the hook for reports. It does not receive the report.
    #[cold]
    pub(super) fn report_hook_panicked(&self, payload: Payload) {
        let report = self.report_of_hook("on_report", &payload);
        if let Err((report, payload)) = self.keep_pending(report, Foreign::new(payload)) {
            self.reports.print(&report);
            self.drop_payload(payload);
        }
    }

    fn report_of_hook(&self, hook: &'static str, payload: &Payload) -> Report {
        Report::HookPanicked {
            hook,
            frame: self.clock.frame(),
            phase: self.running_phase(),
            message: call::message(&**payload),
        }
    }

    /// Reports a panic of the host's stopwatch, or passes it on. Calls user code.
    #[inline]
    pub(crate) fn tell_stopwatch_panic(&self) {
        if let Some(payload) = self.watch.timepiece.take_panic() {
            self.hook_panicked("stopwatch", payload);
        }
    }

    /// Reports the panic of the output of a task, which was dropped unread, or passes
    /// it on. Calls user code.
    #[cold]
    pub(super) fn output_panicked(&self, task: Task<'_>, payload: Payload) {
        let report = Report::CoroutinePanicked {
            id: self.id_of(task),
            name: self.name_of(task),
            frame: self.clock.frame(),
            phase: self.running_phase(),
            message: call::message(&*payload),
        };
        self.pass_on(report, Foreign::new(payload));
    }

    /// Ends a run by raising the panic that is to be passed on to the host, if any.
    #[inline]
    pub(super) fn let_panic_through(&self) {
        if self.panics.is_pending.get() {
            self.let_pending_panic_through();
        }
    }

    #[cold]
    #[inline(never)]
    fn let_pending_panic_through(&self) {
        if !self.panics.passes_on(PassOn::Nothing) && !std::thread::panicking() {
            self.panics.is_pending.set(false);
            let pending = self.panics.pending.take();
            if let Some((_, payload)) = pending {
                std::panic::resume_unwind(payload.into_inner());
            }
        }
    }

    /// Raises a panic that happened outside of a run, if all panics are passed on to
    /// the host.
    pub(crate) fn let_each_panic_through(&self) {
        if self.panics.passes_on(PassOn::All) {
            self.let_panic_through();
        }
    }

    /// Ends the passing on of panics, when the executor ends. Reports the panic that
    /// the host has not received, or returns it if the end has to raise it. Calls
    /// user code.
    pub(super) fn close_panics(&self, may_raise: bool) -> Option<Payload> {
        let raise = may_raise && self.panics.passes_on(PassOn::All) && !std::thread::panicking();
        self.panics.pass_on.set(PassOn::Nothing);
        self.panics.is_pending.set(false);
        let (report, payload) = self.panics.pending.take()?;
        if raise {
            return Some(payload.into_inner());
        }
        self.report(&report);
        None
    }
}
