//! Scripts that wait as the code of their save did, and restart their chapters then.

use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll};

use crate::script::caller::expect_script;
use crate::script::{Begun, ChapterEnd, ChapterFuture, ScriptCell, Slot};

/// What the waits are called in messages.
const NAME: &str = "a wait of earlier code";

/// Waits until the first wait of the script ends, and begins a chapter then.
pub(crate) fn after_wait(begun: Begun) -> ChapterFuture {
    let mut begun = Some(begun);
    Box::pin(poll_fn(move |cx| {
        let cell = expect_script(NAME, Location::caller());
        if !has_ended(&cell, cx) {
            return Poll::Pending;
        }
        // The chapter takes its guards again.
        cell.shared().guards.end_all_of(cell.id);
        let begun = begun.take().expect("it ends once");
        Poll::Ready(ChapterEnd::Next(begun))
    }))
}

/// Whether one of the waits has ended. All are polled, so that each keeps its place.
fn has_ended(cell: &ScriptCell, cx: &mut Context<'_>) -> bool {
    let mut has_ended = false;
    for wait in cell.awaited() {
        // Taken out, because a waker that is dropped may use the runtime.
        if let Some(mut slot) = cell.take_slot(wait.number) {
            has_ended |= is_over(&mut slot, cell, cx);
            cell.put_slot(wait.number, slot);
        }
    }
    has_ended
}

fn is_over(slot: &mut Slot, cell: &ScriptCell, cx: &mut Context<'_>) -> bool {
    match slot {
        Slot::Plain(wait) => wait.poll(cx, NAME).is_ready(),
        Slot::Join(join) => join.end.poll(cx, NAME).is_ready(),
        Slot::OwnerEnd(awaited) => awaited.end.poll(cx, NAME).is_ready(),
        Slot::Stop(_) => cell.reads_request(),
        Slot::Signal(wait) => wait.given.value().is_some(),
        Slot::Next(wait) => cell.shared().events.stored_events(wait.stream) > 0,
        Slot::Value { is_new, .. } => *is_new,
        Slot::Permit(wait) => wait.granted.is_some(),
        Slot::Promise(number) => cell.shared().events.is_settled((cell.id, *number)),
        Slot::Request(request) => request.answer.is_some(),
        Slot::Replayed | Slot::Typed(_) | Slot::Polled => false,
    }
}
