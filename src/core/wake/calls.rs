//! The calls that a run makes as it begins, or the host between two runs: those that other threads have sent, and
//! the ends and unread outputs that earlier calls have left to the next run.

use crate::core::Core;
use crate::core::inspect::observe;
use crate::core::life::end::depth;
use crate::core::report::{panics, unread};
use crate::core::scope;
use crate::core::wake;

/// Makes these calls, before a run begins. Calls user code.
#[inline]
pub(crate) fn make(core: &Core) {
    if core.arrivals.has_news() {
        make_waiting(core);
    }
}

/// Makes these calls between two runs. Does nothing in a run or a poll: a run takes messages
/// before its polls alone, and a poll outside of a run may be part of a change that the caller
/// has not finished.
pub(crate) fn make_between_runs(core: &Core) {
    if core.runs.phase().is_some() || scope::is_polling(core) {
        return;
    }
    let _notifies = core.host.notifies();
    wake::take_messages(core);
    observe::send_events(core);
    make(core);
    observe::send_events(core);
    panics::let_panic_through(core);
}

#[cold]
fn make_waiting(core: &Core) {
    let calls = core.arrivals.take_calls();
    depth::work_off_rest(core);
    unread::flush(core);
    for call in calls {
        if !core.is_closed() {
            call.into_inner()(core.id);
        }
    }
    // The calls may have sent messages.
    wake::take_messages(core);
}
