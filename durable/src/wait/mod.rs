//! The waits of durable scripts.

mod animate;
mod condition;
mod interval;
mod on;
mod request;
mod signal;
mod timed;
mod timeout;
mod value;
mod yield_now;

pub(crate) use animate::poll_animation;
pub use animate::{Animate, animate};
pub use condition::{WaitUntil, wait_until, wait_while};
pub use interval::{Interval, MissedTicks, NextTick, Tick, interval};
pub use on::{On, on};
pub use request::{Ask, Request, RequestId, ask};
pub use signal::{Signal, WaitSignal};
pub use timed::{
    Wait, end_of_frame, fixed_update, in_phase, next_frame, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps,
};
pub use timeout::{Elapsed, Timeout, timeout};
pub(crate) use value::read as read_value;
pub use value::{Changed, Value, WaitValue};
pub use yield_now::{YieldNow, yield_now};

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::{DurableWait, Event};

use crate::bytes::Bytes;
use crate::cell::{Polling, ScriptCell};
use crate::context;
use crate::driver::message_of;
use crate::slot::{Awaited, Slot};

/// The part that all waits have in common: the number of a wait in its chapter.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    begun: Option<(Weak<ScriptCell>, u32)>,
    /// The state of a wait that has begun outside of a durable script, in any executor.
    outside: Option<Box<Slot>>,
    is_done: bool,
}

impl Numbered {
    /// Whether the wait has been polled.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_some() || self.outside.is_some() || self.is_done
    }

    /// Polls the wait, which a call of `kind` has made. `begin` makes its state at the first
    /// poll, and `poll` polls that state. What `poll` returns is recorded; a panic of either ends
    /// the wait, and is recorded, too.
    #[track_caller]
    pub(crate) fn poll(
        &mut self,
        kind: &'static str,
        event: Option<Event>,
        begin: impl FnOnce(&ScriptCell) -> Slot,
        poll: impl FnOnce(&ScriptCell, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        let cell = self.expect_pollable(kind);
        self.poll_in(&cell, kind, event, begin, poll)
    }

    /// The same in a known script.
    #[track_caller]
    fn poll_in(
        &mut self,
        cell: &Rc<ScriptCell>,
        kind: &'static str,
        event: Option<Event>,
        begin: impl FnOnce(&ScriptCell) -> Slot,
        poll: impl FnOnce(&ScriptCell, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        let awaited = Awaited::new(kind, event);
        let caller = awaited.call();
        let (number, is_new) = self.number(cell, kind);
        let value = match cell.polling(number, &caller) {
            Polling::Live => {
                // Taken out meanwhile, because `poll` may drop other waits.
                let mut slot = Slot::Polled;
                let polled = catch_unwind(AssertUnwindSafe(|| {
                    slot = if is_new {
                        begin(cell)
                    } else {
                        cell.take_slot(number).unwrap_or(Slot::Polled)
                    };
                    poll(cell, &mut slot)
                }));
                let polled = match polled {
                    Ok(polled) => polled,
                    Err(payload) => {
                        cell.record_failure(number, &message_of(&*payload), &caller);
                        drop(slot);
                        self.end(cell, number);
                        resume_unwind(payload);
                    }
                };
                let Poll::Ready(value) = polled else {
                    if is_new {
                        cell.add_slot(number, awaited, slot);
                    } else {
                        cell.put_slot(number, slot);
                    }
                    return Poll::Pending;
                };
                drop(slot);
                cell.record_end(number, value.get(), &caller);
                value
            }
            Polling::Ended(value) => value,
            Polling::Failed(message) => {
                self.end(cell, number);
                resume_unwind(Box::new(message));
            }
            Polling::Pending => return wait_in_replay(cell, number, awaited, is_new),
        };
        self.end(cell, number);
        Poll::Ready(value)
    }

    /// The same for a wait that belongs to no runtime: outside of a durable script, it is the plain
    /// one.
    #[track_caller]
    pub(crate) fn poll_anywhere(
        &mut self,
        kind: &'static str,
        begin: impl FnOnce(Option<&ScriptCell>) -> Slot,
        poll: impl FnOnce(Option<&ScriptCell>, &mut Slot) -> Poll<Bytes>,
    ) -> Poll<Bytes> {
        if let Some(cell) = self.script(kind) {
            let begin = |cell: &ScriptCell| begin(Some(cell));
            let poll = |cell: &ScriptCell, slot: &mut Slot| poll(Some(cell), slot);
            return self.poll_in(&cell, kind, None, begin, poll);
        }
        self.is_done = true;
        let mut slot = self.outside.take().unwrap_or_else(|| Box::new(begin(None)));
        let polled = poll(None, &mut slot);
        if polled.is_pending() {
            self.outside = Some(slot);
            self.is_done = false;
        }
        polled
    }

    /// The script that polls the wait. `None` outside of durable scripts.
    #[inline]
    #[track_caller]
    fn script(&self, name: &str) -> Option<Rc<ScriptCell>> {
        assert!(
            !self.is_done,
            "`{name}` was polled again after it had finished"
        );
        if self.begun.is_some() {
            return Some(context::expect(name));
        }
        let script = context::find(name)?;
        assert!(
            self.outside.is_none(),
            "`{name}` was begun outside of a durable script and polled by one: durable scripts \
             cannot share waits"
        );
        Some(script)
    }

    /// The same for a wait of framestep that returns nothing.
    #[inline]
    #[track_caller]
    pub(crate) fn poll_plain(
        &mut self,
        kind: &'static str,
        cx: &mut Context<'_>,
        begin: impl FnOnce(Option<&ScriptCell>) -> DurableWait,
    ) -> Poll<()> {
        let Some(cell) = self.script(kind) else {
            self.is_done = true;
            let begin = || Box::new(Slot::Plain(begin(None)));
            let mut slot = self.outside.take().unwrap_or_else(begin);
            let polled = match &mut *slot {
                Slot::Plain(wait) => wait.poll(cx, kind),
                _ => Poll::Pending,
            };
            if polled.is_pending() {
                self.outside = Some(slot);
                self.is_done = false;
            }
            return polled;
        };
        let awaited = Awaited::new(kind, None);
        let caller = awaited.call();
        let (number, is_new) = self.number(&cell, kind);
        match cell.polling(number, &caller) {
            Polling::Live => {
                let polled = if is_new {
                    let mut wait = begin(Some(&cell));
                    let polled = wait.poll(cx, kind);
                    if polled.is_pending() {
                        cell.add_slot(number, awaited, Slot::Plain(wait));
                    }
                    polled
                } else {
                    cell.poll_slot(number, cx, kind)
                };
                if polled.is_pending() {
                    return Poll::Pending;
                }
                cell.record_end(number, &[], &caller);
            }
            Polling::Ended(_) | Polling::Failed(_) => {}
            Polling::Pending => {
                return wait_in_replay(&cell, number, awaited, is_new).map(drop);
            }
        }
        self.end(&cell, number);
        Poll::Ready(())
    }

    #[inline]
    #[track_caller]
    fn expect_pollable(&self, name: &str) -> Rc<ScriptCell> {
        match self.script(name) {
            Some(script) => script,
            None => context::expect(name),
        }
    }

    #[inline]
    fn end(&mut self, cell: &ScriptCell, number: u32) {
        drop(cell.remove_slot(number));
        self.begun = None;
        self.is_done = true;
    }

    #[inline]
    #[track_caller]
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

/// Records that a wait is pending in a replay: it gets its state when the replay ends.
fn wait_in_replay(cell: &ScriptCell, number: u32, awaited: Awaited, is_new: bool) -> Poll<Bytes> {
    if is_new {
        cell.add_slot(number, awaited, Slot::Replayed);
    }
    Poll::Pending
}
