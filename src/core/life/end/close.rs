//! The end of an executor.

use crate::core::Core;
use crate::core::base::call::Payload;
use crate::core::inspect::observe;
use crate::core::life::end;
use crate::core::life::end::deferred::End;
use crate::core::life::end::depth::{self, Deeper};
use crate::core::life::end::requests;
use crate::core::report::panics;
use crate::core::report::unread;
use crate::core::task::Stop;

/// Ends all coroutines of an executor that is being dropped, or defers that. Returns the
/// payload of a panic that the drop must raise.
pub(crate) fn close(core: &Core) -> Option<Payload> {
    core.close();
    if depth::may_begin(core) {
        let _deeper = Deeper::new(core);
        end_all(core, true)
    } else {
        depth::defer(core, End::Executor);
        None
    }
}

pub(super) fn end_all(core: &Core, may_raise: bool) -> Option<Payload> {
    // Pending messages are dropped on this thread, outside of the lock.
    drop(core.host.injected.close());
    drop(core.arrivals.take_calls());
    // No task is inserted any more, so the loop ends.
    let mut indices = 0..core.tasks.len();
    while let Some(task) = indices.next().map(|index| core.tasks.at(index)) {
        if core.tasks.stop(task) == Stop::Begins {
            end::end(core, task, None);
        }
    }
    // All deferred ends, even if this call is nested in other ends.
    depth::work_off_rest(core);
    requests::clear(core);
    core.lent.close();
    unread::close_unread(core);
    let panic = panics::close_panics(core, may_raise);
    observe::send_events(core);
    // The hooks and the stopwatch may own handles that keep this core alive.
    core.reports.close();
    core.instruments.close();
    panic
}
