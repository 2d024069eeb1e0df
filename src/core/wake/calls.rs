//! What is left to the next run, and the calls that a run makes as it begins, or the host between two
//! runs: those that other threads have sent, ends and unobserved outputs.

use std::cell::{Cell, RefCell};

use crate::core::base::call::Foreign;
use crate::core::base::cell::Guarded;
use crate::core::life::end::depth;
use crate::core::observe;
use crate::core::report::{self, panics};
use crate::core::wake::waker::{Message, Order};
use crate::core::{Core, scope, wake};

/// The work of the next run beside its polls.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// A buffer for messages, kept to reuse its memory.
    pub(crate) messages: RefCell<Vec<Message>>,
    /// The calls that other threads have sent. The next run makes them as it begins.
    calls: Guarded<Vec<Foreign<Order>>>,
    /// What the next run has to do before its polls or after them: [`NEWS`], [`REQUESTS`] and
    /// [`OBSERVED`].
    work: Cell<u8>,
}

/// Calls, or what a call has left to the next run.
const NEWS: u8 = 1;

/// Requests to stop with a time: each run looks at them.
const REQUESTS: u8 = 2;

/// Observed coroutines: each run notes what happens.
const OBSERVED: u8 = 4;

impl Arrivals {
    /// Whether the next run has anything to do beside its polls.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.work.get() != 0
    }

    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.work.get() & NEWS != 0
    }

    #[inline]
    pub(crate) fn has_requests(&self) -> bool {
        self.work.get() & REQUESTS != 0
    }

    /// Notes that a call has left work to the next run: starts, ends, unobserved outputs, or
    /// a panic that must be passed on.
    pub(crate) fn note_news(&self) {
        self.note(NEWS, true);
    }

    /// Notes whether there are requests to stop with a time.
    pub(crate) fn note_requests(&self, any: bool) {
        self.note(REQUESTS, any);
    }

    /// Notes whether coroutines are observed.
    pub(crate) fn note_observed(&self, any: bool) {
        self.note(OBSERVED, any);
    }

    fn note(&self, work: u8, any: bool) {
        let other = self.work.get() & !work;
        self.work.set(if any { other | work } else { other });
    }

    pub(crate) fn add_call(&self, call: Foreign<Order>) {
        self.calls.borrow_mut().push(call);
        self.note_news();
    }

    pub(crate) fn take_calls(&self) -> Vec<Foreign<Order>> {
        self.note(NEWS, false);
        self.calls.take()
    }
}

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
    report::flush_unobserved(core);
    for call in calls {
        if !core.is_closed() {
            call.into_inner()(core.id);
        }
    }
    // The calls may have sent messages.
    wake::take_messages(core);
}
