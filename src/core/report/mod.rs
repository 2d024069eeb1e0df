//! Calling the host's hooks, and sending reports to one of them.

pub(crate) mod panics;
pub(crate) mod unread;

use std::panic::Location;

use crate::core::Core;
use crate::core::base::call;
use crate::core::scope;
use crate::inspect::{Report, Reports};

/// Calls a hook of the host, maybe in the middle of a poll. The hook runs outside of any
/// coroutine, without an owner, on the game clock.
pub(crate) fn as_host<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    let _shown = core.shown.show_game();
    scope::enter(core, |_| call::out(f))
}

/// Sends a report to the host's hook. Calls user code, but not as part of the coroutine
/// being polled: a coroutine that the hook spawns has no owner.
#[cold]
pub(crate) fn send(core: &Core, report: &Report) {
    if let Err(payload) = as_host(core, || core.reports.send(report)) {
        panics::report_hook_panicked(core, payload);
    }
}

/// Reports a call that is allowed, and probably not meant: to the executor that runs the caller,
/// or else prints the report. Calls user code.
#[cold]
pub(crate) fn doubtful(place: &'static Location<'static>, text: String) {
    refused(None, &Report::Doubtful { place, text });
}

/// Reports that a coroutine was refused: to the executor that refuses it, or else to the
/// executor that runs the caller. If neither exists or listens, prints the report. Calls
/// user code.
#[cold]
pub(crate) fn refused(refuses: Option<&Core>, report: &Report) {
    let hears = |core: &Core| !core.is_closed() || core.reports.hook.is_set();
    if let Some(core) = refuses.filter(|core| hears(core)) {
        send(core, report);
        return;
    }
    let runs = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    match runs.filter(|core| hears(core)) {
        Some(core) => send(&core, report),
        None => Reports::print_without_executor(report),
    }
}
