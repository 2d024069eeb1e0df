//! Calling the host's hooks, and sending reports to one of them.

pub(crate) mod panics;
pub(crate) mod unread;

use std::borrow::Cow;
use std::panic::Location;

use crate::core::Core;
use crate::core::base::call;
use crate::core::scope;
use crate::inspect::{Report, Reports};
use crate::task::coroutine::CoroutineId;

/// Calls a hook of the host, maybe in the middle of a poll. The hook runs outside of any
/// coroutine, without an owner, on the game clock.
pub(crate) fn as_host<R>(core: &Core, f: impl FnOnce() -> R) -> R {
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
    refused(None, &Report::SuspiciousCall { place, text });
}

/// Reports that the reader of a signal has lost events. The caller is the `.await`. Calls user
/// code.
#[cold]
#[track_caller]
pub(crate) fn events_missed(signal: Option<String>, missed: u64, limit: usize) {
    let place = Location::caller();
    let (id, name) = script_of_caller();
    refused(
        None,
        &Report::EventsMissed {
            id,
            name,
            signal,
            place,
            missed,
            limit,
        },
    );
}

/// Reports that no coroutine has taken an event of `emit_one`, unless that is because the
/// executor ends. Calls user code.
#[cold]
pub(crate) fn event_untaken(signal: Option<String>, place: &'static Location<'static>) {
    let ends = scope::with(|scope| scope.is_some_and(|scope| scope.core().is_closed()));
    if !ends {
        refused(None, &Report::EventUntaken { signal, place });
    }
}

/// Reports that many ticks of the interval made at `place` are due. Calls user code.
#[cold]
pub(crate) fn ticks_owed(place: &'static Location<'static>, owed: u64) {
    let (id, name) = script_of_caller();
    refused(
        None,
        &Report::TicksOwed {
            id,
            name,
            place,
            owed,
        },
    );
}

/// The coroutine that is being polled.
fn script_of_caller() -> (Option<CoroutineId>, Option<Cow<'static, str>>) {
    scope::with(|scope| {
        let polled = scope.and_then(|scope| Some((scope.core(), scope.current()?)));
        polled.map(|(core, task)| (core.id_of(task), core.name_of(task)))
    })
    .unzip()
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
