//! Promises of a runtime: one value that is sent once, to one script.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::durable::{Event, Refused, RuntimePromise, promise_of};
use framestep::sync::Promise;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Mark, Marked};
use crate::events::{Loss, Settled, Typed};
use crate::ids::{Owned, ScriptId};
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::caller::{caller, in_place, in_script_of};
use crate::script::{
    Awaited, Numbered, ScriptCell, Slot, context, counts, expect_read, outside, unreadable,
};

/// Makes a promise: one value that is sent once, and awaited by the script that makes it. `name` says
/// in save states, snapshots and traces what it is for.
///
/// It is a [`framestep::sync::Promise`] whose value a runtime can save, so helpers that know only framestep can await
/// it. Its sender is a [`PromiseId`], a plain value, which can be saved, too: in the world, in the state of another
/// script, in a question to the host. [`PromiseId::send`] sends the value.
///
/// # Resumes
///
/// In the home phase. If the value has already been sent, the script continues without a wait.
///
/// # Output
///
/// The value, or [`Canceled`](crate::Canceled) if it has been [cancelled](PromiseId::cancel).
///
/// An id may have copies, in files, too. So a promise whose id is lost is not cancelled: it stays open, and its script
/// waits. A [`SaveState`](crate::SaveState) prints the promises that are open.
///
/// # Cancel safety
///
/// Dropping the promise loses the value: [`PromiseId::send`] returns an error. To keep it in a
/// `select!` loop, await `&mut promise`.
///
/// # Panics
///
/// Outside of an executor. The promise panics if it is polled by another script, or in a closure of its own.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct Menu {
///     answer: Option<PromiseId<bool>>,
/// }
///
/// #[durable]
/// async fn quit() -> bool {
///     let (id, answer) = promise("answer of the menu");
///     with(move |menu: &mut Menu| menu.answer = Some(id));
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
) -> (PromiseId<T>, Promise<T>) {
    let call = Call::new("promise", name);
    let Some(cell) = context::current() else {
        let ([number, stamp], promise) = outside("promise").promise();
        let id = PromiseId::of(Key {
            number,
            stamp,
            ..Key::NONE
        });
        return (id, promise);
    };
    cell.expect_outside_of_closures("promise", call.at);
    let key = make(&cell, call);
    if let Some(Key { number, .. }) = key {
        cell.note_held(Typed::Promised(number, Mark::of::<T>()));
    }
    let held = Held {
        key: key.unwrap_or(Key::NONE),
        recorder: cell.serial(),
        name,
        wait: None,
    };
    let value = PhantomData;
    let promise = promise_of(Box::new(Promised::<T> { held, value }));
    (PromiseId::of(key.unwrap_or(Key::NONE)), promise)
}

/// Makes a promise of a script. `None` in the destructor of a script that is taken back: nothing comes.
fn make(cell: &Rc<ScriptCell>, caller: Call) -> Option<Key> {
    let made = cell.effect(caller, || {
        let stamp = cell.stamp(caller.name.as_bytes());
        let number = cell.events().promise(cell.id, caller.name, stamp);
        Bytes::of(&Key {
            script: cell.id,
            number,
            stamp,
        })
    });
    made?.read()
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

    /// The number and the stamp of a promise outside of durable scripts.
    fn outside(self) -> Option<[u64; 2]> {
        (self.script == Key::NONE.script).then_some([self.number, self.stamp])
    }

    fn owned(self) -> Owned {
        (self.script, self.number)
    }
}

/// The sending half of a [`promise`]: a plain value, which can be copied and saved.
///
/// One of a promise that a rollback has taken back, or of another executor, resolves no other one.
pub struct PromiseId<T> {
    key: Key,
    value: PhantomData<fn(T)>,
}

impl<T> PromiseId<T> {
    fn of(key: Key) -> Self {
        PromiseId {
            key,
            value: PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned + 'static> PromiseId<T> {
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
        let (key, value) = (self.key, Cell::new(Some(value)));
        let is_sent = in_place(
            Call::new("send", ""),
            |events| {
                let sent = value.take();
                let with = sent.as_ref().map(Marked::of);
                value.set(sent);
                with.is_some_and(|with| {
                    events.settle(key.owned(), key.stamp, Settled::Resolved(with))
                })
            },
            |outside| {
                let resolver = outside.take(key.outside());
                let unsent = match (resolver, value.take()) {
                    (Some(resolver), Some(sent)) => resolver.send(sent).err(),
                    (_, unsent) => unsent,
                };
                let is_sent = unsent.is_none();
                value.set(unsent);
                is_sent
            },
        );
        match value.take() {
            Some(value) if !is_sent => Err(value),
            _ => Ok(()),
        }
    }

    /// Cancels the promise: it returns [`Canceled`](crate::Canceled). Returns `false` if it was dropped, or was resolved
    /// or cancelled before.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn cancel(&self) -> bool {
        let key = self.key;
        in_place(
            Call::new("cancel", ""),
            |events| events.settle(key.owned(), key.stamp, Settled::Cancelled),
            |outside| {
                let resolver = outside.take::<T>(key.outside());
                resolver.is_some_and(|resolver| !resolver.is_canceled())
            },
        )
    }

    /// Whether the promise was dropped, resolved or cancelled.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn is_canceled(&self) -> bool {
        let key = self.key;
        let is_open = in_place(
            Call::new("is_canceled", ""),
            |events| events.is_promise_open(key.owned(), key.stamp),
            |outside| outside.is_open(key.outside()),
        );
        !is_open
    }
}
impl<T> Clone for PromiseId<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PromiseId<T> {}

impl<T> PartialEq for PromiseId<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for PromiseId<T> {}

impl<T> Serialize for PromiseId<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for PromiseId<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Key::deserialize(deserializer).map(PromiseId::of)
    }
}

impl<T> fmt::Debug for PromiseId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromiseId").field(&self.key.number).finish()
    }
}

/// A promise that a script has. These are numbers, so that it may be sent to another thread, although it is of no use
/// there.
struct Held {
    /// [`Key::NONE`] if nothing comes.
    key: Key,
    /// That of its script.
    recorder: u32,
    name: &'static str,
    /// The ticket of the wait for it.
    wait: Option<u64>,
}

const PROMISE: &str = "promise()";

impl Held {
    /// Its script, which makes a call.
    fn own_script(&self, call: &str) -> Result<Rc<ScriptCell>, Refused> {
        let cell = in_script_of(call)?;
        if cell.serial() == self.recorder {
            Ok(cell)
        } else {
            Err(format!(
                "`{call}` was polled by another script than that which has made the promise: give it the id, not the \
                 promise"
            ))
        }
    }

    /// Its script, if it can be found here.
    fn find_script(&self) -> Option<Rc<ScriptCell>> {
        let is_it = |cell: &Rc<ScriptCell>| cell.serial() == self.recorder;
        if let Some(cell) = context::current().filter(is_it) {
            return Some(cell);
        }
        let place = caller()?;
        let scripts = &place.shared().scripts;
        scripts.get(self.key.script).filter(is_it)
    }

    /// Polls it, as one that reads its value so.
    fn poll(
        &mut self,
        new: Numbered,
        at: &'static Location<'static>,
    ) -> Result<Poll<Settled>, Refused> {
        let cell = self.own_script(PROMISE)?;
        if self.key == Key::NONE {
            return Ok(Poll::Pending);
        }
        let Key { script, number, .. } = self.key;
        let mut numbered = match self.wait.take() {
            Some(ticket) => new.begun(&cell, cell.expect_number_of(ticket, PROMISE)),
            None => new,
        };
        let awaited = Awaited::at(PROMISE, Some(Event::Answer(self.name)), at);
        let begin = |_: &ScriptCell| Slot::Promise(number);
        let polled = numbered.poll_at(&cell, awaited, begin, |cell, _| {
            match cell.events().take_settled((script, number)) {
                Some(settled) => Poll::Ready(Bytes::of(&settled)),
                None => Poll::Pending,
            }
        });
        if polled.is_pending() {
            numbered.note(|wait| Typed::Promise(wait, number));
        }
        self.wait = numbered.into_number().map(|number| cell.ticket(number));
        Ok(polled.map(|settled| {
            let read = settled.read();
            read.unwrap_or_else(|| unreadable(format_args!("`{PROMISE}` was changed")))
        }))
    }

    /// Takes what it is settled with. `mark` is that of the effect.
    fn try_take(
        &mut self,
        mark: Option<Mark>,
        at: &'static Location<'static>,
    ) -> Result<Option<Settled>, Refused> {
        let call = Call {
            mark,
            ..Call::at("try_take", self.name, at)
        };
        let cell = self.own_script(call.function)?;
        if self.key == Key::NONE {
            return Ok(None);
        }
        let taken = cell.effect(call, || {
            Bytes::of(&cell.events().take_settled(self.key.owned()))
        });
        Ok(taken.and_then(|taken| expect_read(&taken)))
    }
}

/// If it has left its script, and nothing says where that is, the promise stays open until the script ends.
impl Drop for Held {
    fn drop(&mut self) {
        let Some(cell) = self.find_script() else {
            return;
        };
        let wait = self.wait.and_then(|ticket| cell.number_of(ticket));
        drop(wait.and_then(|number| cell.remove_wait(number)));
        if self.key == Key::NONE
            || counts(&Rc::downgrade(&cell), Hold::Promise(self.key.number)).is_none()
        {
            return;
        }
        let unread = cell.events().drop_promise(self.key.owned());
        if let Some(promise) = unread.filter(|_| cell.is_live()) {
            cell.shared().losses.report(&Loss::PromiseUnread {
                script: cell.id,
                name: cell.name(),
                promise: promise.to_string(),
            });
        }
    }
}

/// The promise of a script, for framestep.
struct Promised<T> {
    held: Held,
    value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Promised<T> {
    fn read(&self, settled: Settled) -> Option<T> {
        let Settled::Resolved(value) = settled else {
            return None;
        };
        let value = value.into_value().read();
        Some(value.unwrap_or_else(|| {
            unreadable(format_args!(
                "the promise `{}` was resolved with a value that is no `{}`",
                self.held.name,
                std::any::type_name::<T>()
            ))
        }))
    }
}

impl<T: Serialize + DeserializeOwned + 'static> RuntimePromise<T> for Promised<T> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        _: &mut Context<'_>,
    ) -> Result<Poll<Option<T>>, Refused> {
        let polled = self
            .held
            .poll(Numbered::reading_within::<Settled, T>(), at)?;
        Ok(polled.map(|settled| self.read(settled)))
    }

    fn try_take(&mut self, at: &'static Location<'static>) -> Result<Poll<Option<T>>, Refused> {
        let mark = (size_of::<T>() != 0).then_some(const { Mark::within::<Option<Settled>, T>() });
        Ok(match self.held.try_take(mark, at)? {
            Some(settled) => Poll::Ready(self.read(settled)),
            None => Poll::Pending,
        })
    }
}
