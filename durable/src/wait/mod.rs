//! The waits of durable scripts.

mod animate;
mod condition;
mod interval;
mod request;
mod signal;
mod timed;
mod timeout;
mod value;

pub use animate::{Animate, animate};
pub use condition::{WaitUntil, wait_until, wait_while};
pub use interval::{Interval, MissedTicks, NextTick, Tick, interval};
pub use request::{Ask, Request, RequestId, ask};
pub use signal::{Signal, WaitSignal};
pub use timed::{
    Wait, end_of_frame, fixed_update, in_phase, next_frame, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps,
};
pub use timeout::{Elapsed, Timeout, timeout};
pub(crate) use value::read as read_value;
pub use value::{Changed, Value, WaitValue};

use std::panic::Location;
use std::rc::{Rc, Weak};
use std::task::Poll;

use crate::bytes::Bytes;
use crate::cell::{Polling, ScriptCell};
use crate::context::{self, Current};
use crate::slot::Slot;

/// The part that all waits have in common: the number of a wait in its chapter.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    begun: Option<(Weak<ScriptCell>, u32)>,
    is_done: bool,
}

impl Numbered {
    /// Whether the wait has been polled.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_some() || self.is_done
    }

    /// Polls the wait. `begin` makes its state at the first poll, and `poll` polls that.
    /// What `poll` gives is recorded.
    #[track_caller]
    pub(crate) fn poll(
        &mut self,
        name: &str,
        begin: impl FnOnce(&Current) -> Slot,
        poll: impl FnOnce(&Current, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        assert!(
            !self.is_done,
            "`{name}` was polled again after it had finished"
        );
        let at = Location::caller();
        let current = context::expect(name);
        let (shared, cell) = (&current.shared, &current.cell);
        let (number, is_new) = self.number(cell, name);
        let value = match cell.polling(shared, number, at) {
            Polling::Live(()) => {
                let mut slot = if is_new {
                    cell.add_slot(number, Slot::Polled);
                    begin(&current)
                } else {
                    cell.take_slot(number).unwrap_or(Slot::Polled)
                };
                let polled = poll(&current, &mut slot);
                let Poll::Ready(value) = polled else {
                    cell.put_slot(number, slot);
                    return Poll::Pending;
                };
                drop(slot);
                cell.record_end(shared, number, value.get(), at);
                value
            }
            Polling::Ended(value) => value,
            Polling::Pending => {
                if is_new {
                    cell.add_slot(number, Slot::Replayed);
                }
                return Poll::Pending;
            }
        };
        drop(cell.remove_slot(number));
        self.begun = None;
        self.is_done = true;
        Poll::Ready(value)
    }

    fn number(&mut self, cell: &Rc<ScriptCell>, name: &str) -> (u32, bool) {
        let Some((of, number)) = &self.begun else {
            let number = cell.take_number();
            self.begun = Some((Rc::downgrade(cell), number));
            return (number, true);
        };
        assert!(
            std::ptr::eq(of.as_ptr(), Rc::as_ptr(cell)),
            "`{name}` was begun by one script and polled by another: durable scripts cannot share \
             waits"
        );
        (*number, false)
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        if let Some((cell, number)) = self.begun.take() {
            let slot = cell.upgrade().and_then(|cell| cell.remove_slot(number));
            drop(slot);
        }
    }
}

/// No value: that of a wait that only ends.
pub(crate) fn nothing() -> Bytes {
    thread_local! {
        static NOTHING: Bytes = Bytes::new(&[]);
    }
    NOTHING.with(Bytes::clone)
}
