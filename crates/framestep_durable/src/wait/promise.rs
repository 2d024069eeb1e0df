//! Promises: one value that is sent once, to one script.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::durable::Event;
use framestep::sync::Canceled;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Mark, Marked};
use crate::events::{Loss, Outside, Settled, Typed};
use crate::ids::{Owned, ScriptId};
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::place::in_place;
use crate::script::{Numbered, ScriptCell, Slot, context, counts, outside, unreadable};

/// Makes a promise: one value that is sent once, and awaited by the script that makes it. `name` says
/// in save states, snapshots and traces what it is for.
///
/// The [`Resolver`] is a plain value, which can be saved: in the world, in the state of another
/// script, in a question to the host. [`Resolver::send`] sends the value.
///
/// # Resumes
///
/// In the home phase. If the value has already been sent, the script continues without a wait.
///
/// # Output
///
/// The value, or [`Canceled`] if the resolver has [cancelled](Resolver::cancel) it.
///
/// A resolver may have copies, in files, too. So a promise whose resolver is lost is not cancelled:
/// it stays open, and its script waits. A [`SaveState`](crate::SaveState) prints the promises that are
/// open.
///
/// # Cancel safety
///
/// Dropping the promise loses the value: [`Resolver::send`] returns an error. To keep it in a
/// `select!` loop, await `&mut promise`.
///
/// # Panics
///
/// Outside of an executor.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct Menu {
///     answer: Option<Resolver<bool>>,
/// }
///
/// #[durable]
/// async fn quit() -> bool {
///     let (resolver, answer) = promise("answer of the menu");
///     with(|menu: &mut Menu| menu.answer = Some(resolver));
///     answer.await.unwrap_or(false)
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(quit));
/// let mut menu = Menu::default();
/// let quits = runtime.spawn(quit());
/// runtime.run_frame_with(&mut menu, 0.25);
///
/// // The button for "yes":
/// assert!(runtime.enter(|| menu.answer.take().unwrap().send(true).is_ok()));
/// runtime.run_frame_with(&mut menu, 0.25);
/// assert_eq!(runtime.take(quits), Some(Ok(true)));
/// ```
///
/// # Source
///
/// [`framestep::sync::promise`].
#[track_caller]
pub fn promise<T: Serialize + DeserializeOwned + 'static>(
    name: &'static str,
) -> (Resolver<T>, Promise<T>) {
    let (key, inner) = make(name);
    if let Inner::Script { cell, number } = &inner {
        if let Some(cell) = cell.upgrade() {
            cell.note_held(Typed::Promised(*number, Mark::of::<T>()));
        }
    }
    let promise = Promise {
        numbered: Numbered::reading_within::<Settled, T>(),
        name,
        inner,
        value: PhantomData,
    };
    let resolver = Resolver {
        key,
        value: PhantomData,
    };
    (resolver, promise)
}

/// Names a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Key {
    script: ScriptId,
    number: u64,
    /// Differs between promises of the same number, in timelines that a rollback separates.
    stamp: u64,
}

impl Key {
    /// The key of no promise.
    const NONE: Key = Key {
        script: ScriptId::from_raw(0),
        number: 0,
        stamp: 0,
    };

    /// Whether it is of a promise outside of durable scripts.
    fn is_outside(self) -> bool {
        self.script == Key::NONE.script
    }

    fn owned(self) -> Owned {
        (self.script, self.number)
    }
}

#[track_caller]
fn make(name: &'static str) -> (Key, Inner) {
    let caller = Call::new("promise", name);
    let Some(cell) = context::find_outside_of_closures("promise") else {
        let outside = outside("promise");
        let (number, receiver) = outside.promise();
        let key = Key {
            number,
            ..Key::NONE
        };
        let outside = Rc::downgrade(&outside);
        let inner = Inner::Outside {
            receiver,
            number,
            outside,
        };
        return (key, inner);
    };
    let made = cell.effect(caller, || {
        let stamp = cell.stamp(name.as_bytes());
        let number = cell.events().promise(cell.id, name, stamp);
        Bytes::of(&Key {
            script: cell.id,
            number,
            stamp,
        })
    });
    match made.and_then(|made| made.read::<Key>()) {
        Some(key) => {
            let number = key.number;
            let cell = Rc::downgrade(&cell);
            (key, Inner::Script { cell, number })
        }
        None => (Key::NONE, Inner::Void),
    }
}

/// The sending half of a [`promise`]: a plain value, which can be copied and saved.
///
/// A resolver of a promise that a rollback has taken back resolves no other one.
pub struct Resolver<T> {
    key: Key,
    value: PhantomData<fn(T)>,
}

impl<T: Serialize + DeserializeOwned + 'static> Resolver<T> {
    /// Sends the value. The host does so in [`Runtime::enter`](crate::Runtime::enter).
    ///
    /// # Errors
    ///
    /// Returns the value if the promise was dropped, or was resolved or cancelled before.
    ///
    /// # Panics
    ///
    /// Outside of an executor; or if the value does not serialise.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), T> {
        let sent = settle("send", self.key, || Settled::Resolved(Marked::of(&value)));
        if sent { Ok(()) } else { Err(value) }
    }

    /// Cancels the promise: it returns [`Canceled`]. Returns `false` if it was dropped, or was resolved or cancelled
    /// before.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn cancel(&self) -> bool {
        settle("cancel", self.key, || Settled::Cancelled)
    }

    /// Whether the promise was dropped, resolved or cancelled.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn is_canceled(&self) -> bool {
        let caller = Call::new("is_canceled", "");
        let key = self.key;
        let is_open = in_place(
            caller,
            |events| events.is_promise_open(key.owned(), key.stamp),
            |outside| key.is_outside() && outside.is_promise_open(key.number),
        );
        !is_open
    }
}

#[track_caller]
fn settle(name: &'static str, key: Key, with: impl FnOnce() -> Settled) -> bool {
    let caller = Call::new(name, "");
    let with = Cell::new(Some(with));
    let settled = || with.take().map(|with| with()).expect("it is settled once");
    in_place(
        caller,
        |events| events.settle(key.owned(), key.stamp, settled()),
        |outside| key.is_outside() && outside.settle(key.number, settled()),
    )
}

impl<T> Clone for Resolver<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Resolver<T> {}

impl<T> PartialEq for Resolver<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Resolver<T> {}

impl<T> Serialize for Resolver<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Resolver<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Resolver {
            key: Key::deserialize(deserializer)?,
            value: PhantomData,
        })
    }
}

impl<T> fmt::Debug for Resolver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resolver").field(&self.key.number).finish()
    }
}

/// The receiving half of a [`promise`]: a future of the value.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Promise<T> {
    numbered: Numbered,
    name: &'static str,
    inner: Inner,
    value: PhantomData<fn() -> T>,
}

enum Inner {
    /// The promise of this number of a script.
    Script { cell: Weak<ScriptCell>, number: u64 },
    Outside {
        receiver: framestep::sync::Promise<Bytes>,
        number: u64,
        outside: Weak<Outside>,
    },
    /// In the destructor of a script that is taken back: nothing comes.
    Void,
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self {
            Inner::Script { cell, number } => {
                let Some(cell) = counts(cell, Hold::Promise(*number)) else {
                    return;
                };
                let unread = cell.events().drop_promise((cell.id, *number));
                if let Some(promise) = unread.filter(|_| cell.is_live()) {
                    cell.shared().losses.report(&Loss::PromiseUnread {
                        script: cell.id,
                        name: cell.name(),
                        promise: promise.to_string(),
                    });
                }
            }
            Inner::Outside {
                number, outside, ..
            } => {
                if let Some(outside) = outside.upgrade() {
                    outside.settle(*number, Settled::Cancelled);
                }
            }
            Inner::Void => {}
        }
    }
}

#[track_caller]
fn poll_promise(
    numbered: &mut Numbered,
    name: &'static str,
    inner: &mut Inner,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    let kind = "promise()";
    let (of, number) = match inner {
        Inner::Script { cell, number } => (&*cell, *number),
        Inner::Outside { receiver, .. } => {
            return Pin::new(receiver).poll(cx).map(Result::ok);
        }
        Inner::Void => return Poll::Pending,
    };
    let cell = numbered.expect_script(kind);
    assert!(
        std::ptr::eq(of.as_ptr(), Rc::as_ptr(&cell)),
        "`{kind}` was polled by another script than that which has made it: store the resolver, not \
         the promise"
    );
    let promise = (cell.id, number);
    let begin = |_: &ScriptCell| Slot::Promise(number);
    let event = Some(Event::Answer(name));
    let polled = numbered.poll_known(&cell, kind, event, begin, |cell, _| {
        match cell.events().take_settled(promise) {
            Some(settled) => Poll::Ready(Bytes::of(&settled)),
            None => Poll::Pending,
        }
    });
    if polled.is_pending() {
        numbered.note(|wait| Typed::Promise(wait, number));
    }
    polled.map(|settled| {
        let read = settled.read();
        match read.unwrap_or_else(|| unreadable(format_args!("`{kind}` was changed"))) {
            Settled::Resolved(value) => Some(value.into_value()),
            Settled::Cancelled => None,
        }
    })
}

impl<T: DeserializeOwned + 'static> Future for Promise<T> {
    type Output = Result<T, Canceled>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let name = this.name;
        match poll_promise(&mut this.numbered, name, &mut this.inner, cx) {
            Poll::Ready(Some(value)) => Poll::Ready(Ok(value.read().unwrap_or_else(|| {
                unreadable::<T>(format_args!(
                    "the promise `{name}` was resolved with a value that is no `{}`",
                    std::any::type_name::<T>()
                ))
            }))),
            Poll::Ready(None) => Poll::Ready(Err(Canceled)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Unpin for Promise<T> {}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promise").field(&self.name).finish()
    }
}
