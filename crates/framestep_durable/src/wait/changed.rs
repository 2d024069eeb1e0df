//! Waiting for the changes of a value.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName};
use crate::events::OutsideWait;
use crate::script::{Numbered, ScriptCell, Slot, outside};
use crate::wait::value::{Watch, read};

/// The future of [`Watch::wait_for`](crate::Watch::wait_for).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitWatch<T, P, N = &'static str> {
    numbered: Numbered,
    /// Whether the state at the first poll does not count.
    skips_present: bool,
    condition: P,
    value: Watch<T, N>,
}

impl<T: Serialize + DeserializeOwned, P, N: Clone> WaitWatch<T, P, N> {
    pub(super) fn new(value: &Watch<T, N>, skips_present: bool, condition: P) -> Self {
        WaitWatch {
            numbered: Numbered::reading::<T>(),
            skips_present,
            condition,
            value: value.clone(),
        }
    }
}

/// Polls a wait for a state that `holds` accepts. `None` is the start value; `holds` returns
/// its bytes, if it accepts it.
#[track_caller]
fn poll_value(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    skips_present: bool,
    cx: &mut Context<'_>,
    holds: &mut dyn FnMut(Option<Bytes>) -> Option<Bytes>,
) -> Poll<Bytes> {
    let kind = if skips_present {
        "value.changed()"
    } else {
        "value.wait_for()"
    };
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let of = outside(kind).watch(name);
            let changed = of.of.changed();
            let is_new = !skips_present;
            OutsideWait::Value {
                changed,
                of,
                is_new,
            }
        });
        let polled = poll_outside(&mut slot, cx, holds);
        numbered.put_outside(slot, &polled);
        return polled;
    };
    let begins = Cell::new(false);
    let begin = |cell: &ScriptCell| {
        begins.set(true);
        Slot::Value {
            listing: cell.events().await_value(cell.latest_wait(), name),
            is_new: !skips_present,
        }
    };
    let event = Some(Event::Value(base));
    numbered.poll_known(&cell, kind, event, begin, |cell, slot| {
        let Slot::Value { listing, is_new } = slot else {
            return Poll::Pending;
        };
        if !std::mem::take(is_new) {
            return Poll::Pending;
        }
        let (change, value) = cell.events().value(name);
        if let Some(value) = cell.in_closure(|| holds(value)) {
            return Poll::Ready(value);
        }
        if !begins.get() {
            cell.events().await_change_again(listing);
        }
        if cell.events().value(name).0 != change {
            // The condition has changed it, and is called again: while the wait is
            // being polled, a change does not find it.
            *is_new = true;
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

/// The same outside of durable scripts.
#[track_caller]
fn poll_outside(
    slot: &mut Slot,
    cx: &mut Context<'_>,
    holds: &mut dyn FnMut(Option<Bytes>) -> Option<Bytes>,
) -> Poll<Bytes> {
    let Some(OutsideWait::Value {
        changed,
        of,
        is_new,
    }) = slot.outside()
    else {
        return Poll::Pending;
    };
    if Pin::new(&mut *changed).poll(cx).is_ready() {
        *changed = of.of.changed();
        *is_new = true;
    }
    if !std::mem::take(is_new) {
        return Poll::Pending;
    }
    if let Some(value) = holds(of.of.get()) {
        return Poll::Ready(value);
    }
    if Pin::new(&mut *changed).poll(cx).is_ready() {
        // The condition has changed it, and is called again in the next run.
        *changed = of.of.changed();
        *is_new = true;
        cx.waker().wake_by_ref();
    }
    Poll::Pending
}

impl<T, P, N> Future for WaitWatch<T, P, N>
where
    T: Serialize + DeserializeOwned + 'static,
    P: Fn(&T) -> bool,
    N: EventName,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        let (base, name, skips) = (
            this.value.name.base(),
            this.value.name.full(),
            this.skips_present,
        );
        let condition = &this.condition;
        let mut holds = |value: Option<Bytes>| {
            let value = value.unwrap_or_else(|| Bytes::of(&this.value.start()));
            let holds = condition(&read(name, &value));
            holds.then_some(value)
        };
        let polled = poll_value(&mut this.numbered, base, name, skips, cx, &mut holds);
        let polled = this.numbered.note_event::<T>(polled);
        polled.map(|value| read(name, &value))
    }
}

impl<T, P, N> Unpin for WaitWatch<T, P, N> {}

impl<T, P, N: fmt::Debug> fmt::Debug for WaitWatch<T, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitWatch").field(&self.value.name).finish()
    }
}

/// The future of [`Watch::changed`](crate::Watch::changed).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Changed<T, N = &'static str> {
    pub(super) wait: WaitWatch<T, fn(&T) -> bool, N>,
}

impl<T, N> Future for Changed<T, N>
where
    T: Serialize + DeserializeOwned + 'static,
    N: EventName,
{
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.wait).poll(cx)
    }
}

impl<T, N: fmt::Debug> fmt::Debug for Changed<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changed")
            .field(&self.wait.value.name)
            .finish()
    }
}
