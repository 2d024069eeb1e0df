//! Permits: a limited number of scripts that do something at the same time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;

use crate::bytes::Bytes;
use crate::cell::ScriptCell;
use crate::events::counts;
use crate::outside::{OutsideWait, Place, PlainPermits, outside, place, place_outside_of_closures};
use crate::site::Call;
use crate::slot::Slot;
use crate::topic::{EventName, Keyed};

use super::Numbered;

/// A number of permits that scripts share, with a name: two enemies attack at the same time, one line
/// of dialogue is spoken at a time. Declare it as a constant: the runtime keeps which scripts have
/// one, and saves it.
///
/// [`acquire`](Self::acquire) waits for a permit: a guard, which returns it when it is dropped.
///
/// # Order
///
/// First come, first served: scripts get permits in the order in which they began to wait. A returned
/// permit belongs at once to the first script that waits, even if that resumes later or is paused.
///
/// # Keys
///
/// [`of`](Self::of) returns the permits of one entity: `SEATS.of(table)`. They have the same methods.
///
/// # Memory
///
/// Nothing is kept for permits that no script has, unless the host has
/// [set their number](crate::Host::set_permits).
///
/// # Outside of durable scripts
///
/// A plain script, in any executor, uses them in the same way. Each executor has permits of its own.
///
/// # Examples
///
/// Two attack tokens for three goblins:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const TOKENS: Permits = Permits::new("attack tokens", 2);
///
/// #[durable]
/// async fn attack() -> u64 {
///     let _token = TOKENS.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Attack>());
/// let goblins = [0, 1, 2].map(|_| runtime.start(attack()));
/// assert_eq!(runtime.available(&TOKENS), 0);
/// for _ in 0..8 {
///     runtime.run_frame(0.25);
/// }
/// let began = goblins.map(|goblin| runtime.take(goblin).unwrap().unwrap());
/// assert_eq!(began, [0, 0, 4]);
/// assert_eq!(runtime.available(&TOKENS), 2);
/// ```
///
/// # Source
///
/// [`framestep::Permits`].
#[derive(Clone, Copy)]
pub struct Permits<N = &'static str> {
    name: N,
    count: usize,
}

impl Permits {
    /// `count` permits with this name. Permits of the same name are the same, and must have the same
    /// number. Without any, each wait lasts until it is stopped, or the host sets another number.
    pub const fn new(name: &'static str, count: usize) -> Self {
        Permits { name, count }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The permits of this name for one key: an entity, an id, a text, or a tuple of these. There are
    /// as many for each key.
    ///
    /// Keys with the same text are the same: the type of a number does not matter, and an id is its
    /// number. In save states, snapshots and traces, the permits are named `seats[7]`.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of the key fails.
    #[track_caller]
    pub fn of(&self, key: impl Serialize) -> Permits<Keyed> {
        Permits {
            name: Keyed::new(self.name, &key),
            count: self.count,
        }
    }
}

impl<N: EventName> Permits<N> {
    pub(crate) fn full_name(&self) -> &str {
        self.name.full()
    }

    pub(crate) fn count(&self) -> u64 {
        self.count as u64
    }

    /// Waits for a permit. The place in the queue counts from the first poll.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if a permit is available. Else in the home phase, when one is returned:
    /// a script that returns a permit is like one that emits a [`Signal`](crate::Signal).
    ///
    /// # Output
    ///
    /// The [`Permit`]. Bind it to a variable, as in `let _permit = ..`, because `let _ = ..` returns
    /// it at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. If it was granted a permit that it has not
    /// returned yet, the next in the queue gets that permit.
    pub fn acquire(&self) -> Acquire<N> {
        Acquire {
            numbered: Numbered::default(),
            permits: self.clone(),
        }
    }

    /// Takes a permit if one is available, without waiting.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn try_acquire(&self) -> Option<Permit> {
        let caller = Call::new("try_acquire", self.name.base());
        let name = self.name.full();
        let inner = match place_outside_of_closures("try_acquire") {
            Place::Script(cell) => {
                let shared = cell.shared();
                let taken = cell.effect(caller, || {
                    Bytes::of(&shared.take_permit(cell.id, name, self.count()))
                });
                let taken: Option<Option<u64>> = taken.and_then(|taken| taken.read());
                let number = taken??;
                let cell = Rc::downgrade(&cell);
                Inner::Script { cell, number }
            }
            Place::Runtime(_) | Place::Outside(_) => {
                let permits = outside("try_acquire").permits(name, self.count);
                let permit = permits.of.try_acquire()?;
                let of = permits;
                Inner::Outside {
                    _permit: permit,
                    _of: of,
                }
            }
        };
        Some(Permit {
            base: self.name.base(),
            inner,
        })
    }

    /// How many permits are free. [`Runtime::available`](crate::Host::available) is for the host.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn available(&self) -> usize {
        let caller = Call::new("available", self.name.base());
        let name = self.name.full();
        let free = match place("available") {
            Place::Script(cell) => {
                let shared = cell.shared();
                let free = cell.effect(caller, || {
                    Bytes::of(&shared.free_permits(name, self.count()))
                });
                free.and_then(|free| free.read()).unwrap_or(0)
            }
            Place::Runtime(shared) => shared.free_permits(name, self.count()),
            Place::Outside(outside) => return outside.free_permits(name, self.count),
        };
        usize::try_from(free).unwrap_or(usize::MAX)
    }
}

impl<N: fmt::Debug> fmt::Debug for Permits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permits").field(&self.name).finish()
    }
}

/// A permit of [`Permits`]. Dropping it returns it: the first script that waits gets it.
///
/// A permit that a script still has when its chapter ends is returned then, even if it was forgotten
/// or is kept elsewhere.
#[must_use = "dropping the permit returns it: bind it, as in `let _permit = SEATS.acquire().await`"]
pub struct Permit {
    base: &'static str,
    inner: Inner,
}

enum Inner {
    /// The permit of this number of a script.
    Script { cell: Weak<ScriptCell>, number: u64 },
    Outside {
        _permit: framestep::Permit,
        _of: Rc<PlainPermits>,
    },
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Inner::Script { cell, number } = &self.inner {
            if let Some(cell) = counts(cell) {
                cell.shared().return_permit((cell.id, *number));
            }
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.base).finish()
    }
}

/// The future of [`Permits::acquire`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Acquire<N = &'static str> {
    numbered: Numbered,
    permits: Permits<N>,
}

#[track_caller]
fn poll_acquire(
    numbered: &mut Numbered,
    base: &'static str,
    name: &str,
    count: usize,
    cx: &mut Context<'_>,
) -> Poll<Inner> {
    let kind = "permits.acquire()";
    let Some(cell) = numbered.script(kind) else {
        let mut slot = numbered.take_outside(|| {
            let of = outside(kind).permits(name, count);
            let wait = of.of.acquire();
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
    let declared = count as u64;
    let begin = |cell: &ScriptCell| {
        let shared = cell.shared();
        match shared.take_permit(cell.id, name, declared) {
            // It is ready at once.
            Some(permit) => Slot::Permit(Box::new(shared.granted(cell.id, name, permit))),
            None => Slot::Permit(Box::new(shared.await_permit(cell, name, declared))),
        }
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
        let Permits { name, count } = &this.permits;
        let base = name.base();
        match poll_acquire(&mut this.numbered, base, name.full(), *count, cx) {
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
