//! Panics of coroutines: kept for a join, reported, or passed on to the host.

use std::cell::Cell;

use crate::core::Core;
use crate::core::base::call::{self, Foreign, Payload};
use crate::core::base::cell::Guarded;
use crate::core::life::end::depth::{self, End};
use crate::core::report;
use crate::core::task::Task;
use crate::core::view::{Script, View};
use crate::inspect::{Line, Report, awaited};
use crate::time::Phase;

/// The payload of a coroutine's panic, and when the panic was raised.
#[derive(Debug)]
pub(crate) struct Panicked {
    pub(crate) payload: Foreign<Payload>,
    pub(crate) frame: u64,
    /// `None`: outside of a run.
    pub(crate) phase: Option<Phase>,
    /// Where the coroutine continued in that poll, if it was observed.
    pub(crate) from: Option<Line>,
    /// The owner of the coroutine, if it has a name.
    owner: Option<String>,
    /// Whether the host hears of the panic, even if no join returns it.
    pub(crate) is_heard: bool,
}

impl Panicked {
    pub(crate) fn into_payload(self) -> Payload {
        self.payload.into_inner()
    }
}

/// Which panics of coroutines are passed on to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PassOn {
    /// No panics. Those that no join returns are reported.
    #[default]
    Nothing,
    /// The panics that no join returns.
    Unobserved,
    /// All panics.
    All,
}

/// How panics of coroutines are handled.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    pass_on: Cell<PassOn>,
    /// The first panic since the last one that was passed on.
    pending: Guarded<Option<Pending>>,
    is_pending: Cell<bool>,
    /// How many there have been: of coroutines, hooks, deferred closures and outputs.
    count: Cell<u64>,
}

pub(crate) type Pending = (Report, Foreign<Payload>);

impl Panics {
    pub(crate) fn new(pass_on: PassOn) -> Self {
        Panics {
            pass_on: Cell::new(pass_on),
            pending: Guarded::default(),
            is_pending: Cell::new(false),
            count: Cell::new(0),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.get()
    }

    /// Counts one that has been caught.
    pub(crate) fn note(&self) {
        self.count.set(self.count.get() + 1);
    }

    pub(crate) fn passes_on(&self, panics: PassOn) -> bool {
        self.pass_on.get() == panics
    }
}

/// Stores the panic of a task that has ended. If all panics are passed on to the host,
/// returns what to [pass on](pass_on). The host then receives the payload, and a join
/// returns only the message.
pub(crate) fn keep_panic(core: &Core, task: Task<'_>, payload: Payload) -> Option<Pending> {
    let mut panicked = panicked_now(core, payload);
    panicked.from = awaited::resumed_from(View::new(core), Script::new(core, task));
    // It is still in the list of its owner.
    panicked.owner = core
        .owners
        .of(task)
        .and_then(|owner| core.owners.borrow().named_label(owner));
    let mut pending = None;
    if core.panics.passes_on(PassOn::All) {
        let report = report_of(core, task, &panicked);
        let message = call::message(&**panicked.payload.get());
        let message = message.unwrap_or_else(|| "a panic without a text".to_owned());
        let message: Payload = Box::new(message);
        let payload = std::mem::replace(&mut panicked.payload, Foreign::new(message));
        panicked.is_heard = true;
        pending = Some((report, payload));
    }
    core.colds
        .of_or_new(task, |cold| cold.panic = Some(panicked));
    pending
}

fn panicked_now(core: &Core, payload: Payload) -> Panicked {
    core.panics.note();
    Panicked {
        payload: Foreign::new(payload),
        frame: core.clock.frame(),
        phase: core.running_phase(),
        from: None,
        owner: None,
        is_heard: false,
    }
}

fn report_of(core: &Core, task: Task<'_>, panicked: &Panicked) -> Report {
    Report::CoroutinePanicked {
        id: core.id_of(task),
        name: core.name_of(task),
        owner: panicked.owner.clone(),
        frame: panicked.frame,
        phase: panicked.phase,
        message: call::message(&**panicked.payload.get()),
        from: panicked.from,
    }
}

/// Reports the panic of a task that no handle can return any more, or passes it on.
#[cold]
pub(crate) fn report_unobserved(core: &Core, task: Task<'_>) {
    let panicked = core.colds.of(task, |cold| cold.panic.take()).flatten();
    if let Some(panicked) = panicked.filter(|panicked| !panicked.is_heard) {
        let report = report_of(core, task, &panicked);
        pass_on(core, report, panicked.payload);
    }
}

/// Reports a panic, or keeps it to be passed on to the host: the first one since the last
/// that was. Calls user code: nothing may be borrowed.
pub(crate) fn pass_on(core: &Core, report: Report, payload: Foreign<Payload>) {
    if let Err((report, payload)) = keep_pending(core, report, payload) {
        report::send(core, &report);
        depth::carry_out(core, End::Payload(payload));
    }
}

/// Keeps a panic that must be passed on to the host. Returns a panic that must be
/// reported instead.
fn keep_pending(core: &Core, report: Report, payload: Foreign<Payload>) -> Result<(), Pending> {
    let keep = match core.panics.pass_on.get() {
        PassOn::Nothing => false,
        PassOn::Unobserved => !core.is_closed(),
        PassOn::All => true,
    };
    if keep {
        let mut pending = core.panics.pending.borrow_mut();
        if pending.is_none() {
            *pending = Some((report, payload));
            core.panics.is_pending.set(true);
            core.arrivals.note_news();
            return Ok(());
        }
    }
    Err((report, payload))
}

/// Reports the panic of a hook of the host, or passes it on. Calls user code.
#[cold]
pub(crate) fn hook_panicked(core: &Core, hook: &'static str, payload: Payload) {
    pass_on(
        core,
        report_of_hook(core, hook, &payload),
        Foreign::new(payload),
    );
}

/// The same for the hook for reports. It does not receive the report.
#[cold]
pub(crate) fn report_hook_panicked(core: &Core, payload: Payload) {
    let report = report_of_hook(core, "on_report", &payload);
    if let Err((report, payload)) = keep_pending(core, report, Foreign::new(payload)) {
        core.reports.print(&report);
        depth::carry_out(core, End::Payload(payload));
    }
}

fn report_of_hook(core: &Core, hook: &'static str, payload: &Payload) -> Report {
    core.panics.note();
    Report::HookPanicked {
        hook,
        frame: core.clock.frame(),
        phase: core.running_phase(),
        message: call::message(&**payload),
    }
}

/// Reports a panic of the host's stopwatch, or passes it on. Calls user code.
#[inline]
pub(crate) fn report_time_source_panic(core: &Core) {
    if let Some(payload) = core.instruments.time_source.take_panic() {
        hook_panicked(core, "stopwatch", payload);
    }
}

/// Reports a panic of the destructor of an output that was dropped unobserved, or passes it
/// on. Calls user code.
#[cold]
pub(crate) fn output_panicked(core: &Core, task: Task<'_>, payload: Payload) {
    let panicked = panicked_now(core, payload);
    let report = report_of(core, task, &panicked);
    pass_on(core, report, panicked.payload);
}

/// Raises the panic that must be passed on to the host, if there is one. That ends the
/// run.
#[inline]
pub(crate) fn let_panic_through(core: &Core) {
    if core.panics.is_pending.get() {
        let_pending_panic_through(core);
    }
}

#[cold]
#[inline(never)]
fn let_pending_panic_through(core: &Core) {
    if !core.panics.passes_on(PassOn::Nothing) && !std::thread::panicking() {
        core.panics.is_pending.set(false);
        let pending = core.panics.pending.take();
        if let Some((_, payload)) = pending {
            std::panic::resume_unwind(payload.into_inner());
        }
    }
}

/// Raises a panic that happened outside of a run, if all panics are passed on to
/// the host.
pub(crate) fn let_each_panic_through(core: &Core) {
    if core.panics.passes_on(PassOn::All) {
        let_panic_through(core);
    }
}

/// Ends the passing on of panics, because the executor ends. If there is a panic that the
/// host has not received, returns it if the end must raise it. Otherwise reports it. Calls
/// user code.
pub(crate) fn close_panics(core: &Core, may_raise: bool) -> Option<Payload> {
    let raise = may_raise && core.panics.passes_on(PassOn::All) && !std::thread::panicking();
    core.panics.pass_on.set(PassOn::Nothing);
    core.panics.is_pending.set(false);
    let (report, payload) = core.panics.pending.take()?;
    if raise {
        return Some(payload.into_inner());
    }
    report::send(core, &report);
    None
}
