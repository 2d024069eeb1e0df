//! Permits of a semaphore, and the wait for some.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::Event;

use crate::bytes::{Bytes, EventName};
use crate::events::OutsideWait;
use crate::events::outside::PlainSemaphore;
use crate::script::aligned::Hold;
use crate::script::{Numbered, ScriptCell, Slot, counts, outside};
use crate::wait::Semaphore;

/// A permit of [`Semaphore`], or several of [`acquire_many`](Semaphore::acquire_many). Dropping it returns
/// them: the first scripts that wait get them.
///
/// A permit that a script still has when its chapter ends is returned then, even if it was forgotten
/// or is kept elsewhere.
#[must_use = "dropping the permit returns it: bind it, as in `let _permit = SEATS.acquire().await`"]
pub struct Permit {
    pub(super) base: &'static str,
    pub(super) inner: Inner,
}

pub(super) enum Inner {
    /// The permit of this number of a script.
    Script { cell: Weak<ScriptCell>, number: u64 },
    Outside {
        _permit: framestep::sync::Permit,
        _of: Rc<PlainSemaphore>,
    },
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Inner::Script { cell, number } = &self.inner {
            if let Some(cell) = counts(cell, Hold::Permit(*number)) {
                cell.events().return_permit((cell.id, *number));
            }
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.base).finish()
    }
}

/// The future of [`Semaphore::acquire`] and [`Semaphore::acquire_many`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Acquire<N = &'static str> {
    pub(super) numbered: Numbered,
    pub(super) permits: Semaphore<N>,
    pub(super) wanted: usize,
}

#[track_caller]
fn poll_acquire(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    count: usize,
    wanted: usize,
    cx: &mut Context<'_>,
) -> Poll<Inner> {
    let kind = "permits.acquire()";
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let of = outside(kind).permits(name, count);
            let wait = of.of.acquire_many(wanted);
            OutsideWait::Permit { wait, of }
        });
        let polled = match slot.outside() {
            Some(OutsideWait::Permit { wait, of }) => {
                Pin::new(wait).poll(cx).map(|permit| Inner::Outside {
                    _permit: permit,
                    _of: Rc::clone(of),
                })
            }
            _ => Poll::Pending,
        };
        numbered.put_outside(slot, &polled);
        return polled;
    };
    let (declared, wanted) = (count as u64, wanted as u64);
    let begin = |cell: &ScriptCell| {
        let events = cell.events();
        let taken = events.take_permits(cell.id, name, declared, wanted);
        Slot::Permit(Box::new(match taken {
            // It is ready at once.
            Some(permit) => events.granted(cell.id, name, wanted, permit),
            None => events.await_permits(cell.latest_wait(), name, declared, wanted),
        }))
    };
    let event = Some(Event::Permit(base));
    let polled = numbered.poll_known(&cell, kind, event, begin, |_, slot| match slot {
        Slot::Permit(wait) => match wait.granted.take() {
            Some(permit) => Poll::Ready(Bytes::of(&permit)),
            None => Poll::Pending,
        },
        _ => Poll::Pending,
    });
    polled.map(|permit| Inner::Script {
        cell: Rc::downgrade(&cell),
        number: permit.read().unwrap_or(0),
    })
}

impl<N: EventName> Future for Acquire<N> {
    type Output = Permit;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let this = &mut *self;
        let Semaphore { name, count } = &this.permits;
        let (base, wanted) = (name.base(), this.wanted);
        match poll_acquire(&mut this.numbered, base, name.full(), *count, wanted, cx) {
            Poll::Ready(inner) => Poll::Ready(Permit { base, inner }),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<N> Unpin for Acquire<N> {}

impl<N: fmt::Debug> fmt::Debug for Acquire<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Acquire").field(&self.permits.name).finish()
    }
}
