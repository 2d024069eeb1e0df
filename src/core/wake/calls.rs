//! The calls that a run makes as it begins: those that other threads have sent, and
//! the ends and unread outputs that earlier calls have left to the next run.

use crate::core::Core;
use crate::core::life::end::depth;
use crate::core::report::unread;
use crate::core::wake;

/// Makes these calls, before a run begins. Calls user code.
#[inline]
pub(crate) fn make(core: &Core) {
    if core.arrivals.has_news() {
        make_waiting(core);
    }
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
