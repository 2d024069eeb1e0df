//! Messages, events and changes for durable scripts: passed on to signals, which are in the save.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bevy_app::App;
use bevy_ecs::message::{MessageCursor, Messages};
use bevy_ecs::prelude::*;
use framestep_durable::{
    NextFrame, RuntimeHandle, Signal, StableHash, Subscription, WaitSignal, signal,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::entity::{DurableEntities, DurableId};
use super::error::Missing;
use super::runtime::DurableRuntime;
use super::types::types;

/// A message or an event that durable scripts can wait for, and what they record of it.
///
/// A save keeps what a script has heard and not read yet, so that must serialise. An
/// [`Entity`](bevy_ecs::entity::Entity) is recorded as its number, since it is another one after a load.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::prelude::*;
///
/// #[derive(Message)]
/// struct Hit {
///     target: Entity,
///     points: u32,
/// }
///
/// impl Heard for Hit {
///     const NAME: &'static str = "hit";
///     type Record = (DurableId, u32);
///
///     fn record(&self, entities: &DurableEntities) -> Option<Self::Record> {
///         Some((entities.id(self.target)?, self.points))
///     }
/// }
///
/// #[durable]
/// async fn scoreboard(total: u32) -> Chapter {
///     let (target, points) = next_message::<Hit>().await;
///     effect(|| println!("{target} has lost {points}, together {}", total + points));
///     Chapter::Next(scoreboard(total + points))
/// }
///
/// fn build(app: &mut bevy_app::App) {
///     app.hear_messages::<Hit>();
/// }
/// ```
pub trait Heard: Send + Sync + 'static {
    /// Its name in saves, which must not change as long as there are saves with it. No signal has the
    /// same.
    const NAME: &'static str;

    /// What scripts get.
    type Record: Clone + Serialize + DeserializeOwned + 'static;

    /// What scripts get of this one. `None` if they do not hear it.
    fn record(&self, entities: &DurableEntities) -> Option<Self::Record>;
}

/// Has messages and events passed on to durable scripts, on an `App`.
pub trait HearAppExt {
    /// Passes on messages, for [`next_message`] and [`messages`]. Adds the messages to the app.
    ///
    /// Those that are written reach scripts when the next run of durable scripts begins. Those that are
    /// written after the last run before a save are not in it.
    fn hear_messages<M: Message + Heard>(&mut self) -> &mut Self;

    /// Passes on events when they are triggered, for [`next_event`].
    fn hear_events<E: Event + Heard>(&mut self) -> &mut Self;

    /// Passes on the events of [`Durable`](super::Durable) entities when they are triggered, for
    /// [`DurableId::next_event`].
    fn hear_entity_events<E: EntityEvent + Heard>(&mut self) -> &mut Self;
}

impl HearAppExt for App {
    fn hear_messages<M: Message + Heard>(&mut self) -> &mut Self {
        self.add_message::<M>();
        let cursor = self.world().resource::<Messages<M>>().get_cursor_current();
        if note::<M>(self) {
            DurableRuntime::of(self.world()).add_feed(Box::new(MessageFeed {
                cursor: RefCell::new(cursor),
            }));
        }
        self
    }

    fn hear_events<E: Event + Heard>(&mut self) -> &mut Self {
        if note::<E>(self) {
            self.add_observer(
                |event: On<E>, entities: Res<DurableEntities>, scripts: NonSend<DurableRuntime>| {
                    if let Some(record) = heard(event.event(), &entities) {
                        emit(scripts.host(), &signal_of::<E>(), record);
                    }
                },
            );
        }
        self
    }

    fn hear_entity_events<E: EntityEvent + Heard>(&mut self) -> &mut Self {
        if note::<E>(self) {
            self.add_observer(
                |event: On<E>, entities: Res<DurableEntities>, scripts: NonSend<DurableRuntime>| {
                    let event = event.event();
                    if let Some(id) = entities.id(event.event_target())
                        && let Some(record) = heard(event, &entities)
                    {
                        emit(scripts.host(), &signal_of::<E>().keyed(id), record);
                    }
                },
            );
        }
        self
    }
}

/// Whether it is the first time.
fn note<T: Heard>(app: &mut App) -> bool {
    _ = HEARD.try_with(|heard| heard.borrow_mut().insert(T::NAME));
    types(app).heard.insert(T::NAME)
}

/// What happens while a save is loaded is not part of the game.
fn heard<T: Heard>(what: &T, entities: &DurableEntities) -> Option<T::Record> {
    if entities.is_loading() {
        return None;
    }
    what.record(entities)
}

fn signal_of<T: Heard>() -> Signal<T::Record> {
    signal(T::NAME)
}

fn emit<T>(host: &RuntimeHandle, signal: &Signal<T>, value: T) {
    host.executor().enter(|| signal.emit(value));
}

thread_local! {
    /// The names that apps of this thread hear. Not in the world, which a script reads only in effects.
    static HEARD: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// Panics in the line of the script if nothing passes these on: the wait would never end.
#[track_caller]
fn expect_heard<T: Heard>(call: &str) {
    // While the thread ends, it is not known.
    let is_heard = HEARD.try_with(|heard| heard.borrow().contains(T::NAME));
    if !is_heard.unwrap_or(true) {
        let name = std::any::type_name::<T>();
        panic!("durable scripts do not hear `{name}`: call `app.{call}::<{name}>()`");
    }
}

/// Passes on to the scripts what has come since the last run.
pub(super) trait Feed {
    fn pass_on(&self, world: &World, host: &RuntimeHandle);

    /// Leaves out what has come before now.
    fn skip(&self, world: &World);
}

struct MessageFeed<M: Message> {
    cursor: RefCell<MessageCursor<M>>,
}

impl<M: Message + Heard> Feed for MessageFeed<M> {
    fn pass_on(&self, world: &World, host: &RuntimeHandle) {
        let messages = world.get_resource::<Messages<M>>();
        let entities = world.get_resource::<DurableEntities>();
        let (Some(messages), Some(entities)) = (messages, entities) else {
            return;
        };
        for message in self.cursor.borrow_mut().read(messages) {
            if let Some(record) = message.record(entities) {
                emit(host, &signal_of::<M>(), record);
            }
        }
    }

    fn skip(&self, world: &World) {
        if let Some(messages) = world.get_resource::<Messages<M>>() {
            self.cursor.borrow_mut().clear(messages);
        }
    }
}

/// Waits for the next message of this type, which the app [hears](HearAppExt::hear_messages).
///
/// A script that waits for something else meanwhile misses messages: there, use [`messages`].
///
/// # Resumes
///
/// In the home phase of the script, in the next run after the message is written.
///
/// # Panics
///
/// If the app does not hear these messages, at the line of the call.
#[track_caller]
pub fn next_message<M: Message + Heard>() -> WaitSignal<M::Record> {
    expect_heard::<M>("hear_messages");
    signal_of::<M>().wait()
}

/// All messages of this type from now on, which the app [hears](HearAppExt::hear_messages).
///
/// # Panics
///
/// As [`next_message`].
#[track_caller]
pub fn messages<M: Message + Heard>() -> Subscription<M::Record> {
    expect_heard::<M>("hear_messages");
    signal_of::<M>().subscribe()
}

/// Waits for the next event of this type, which the app [hears](HearAppExt::hear_events).
///
/// # Resumes
///
/// In the home phase of the script: in the same run, if a script of that phase triggers it.
///
/// # Panics
///
/// If the app does not hear these events, at the line of the call.
#[track_caller]
pub fn next_event<E: Event + Heard>() -> WaitSignal<E::Record> {
    expect_heard::<E>("hear_events");
    signal_of::<E>().wait()
}

/// An entity has left: its events are over.
const GONE: Signal<()> = signal("bevy_framestep: an entity is gone");

/// Ends the waits for events of an entity that leaves.
pub(super) fn entity_is_gone(host: &RuntimeHandle, id: DurableId) {
    emit(host, &GONE.keyed(id), ());
}

impl DurableId {
    /// Waits for the next event of this type on the entity, which the app
    /// [hears](HearAppExt::hear_entity_events).
    ///
    /// # Errors
    ///
    /// When the entity is despawned, or if it does not exist: then in the next frame.
    ///
    /// # Resumes
    ///
    /// As [`next_event`].
    ///
    /// # Panics
    ///
    /// If the app does not hear these events, at the line of the call.
    #[track_caller]
    pub fn next_event<E: EntityEvent + Heard>(self) -> NextEventOf<E> {
        expect_heard::<E>("hear_entity_events");
        NextEventOf {
            entity: self,
            event: signal_of::<E>().keyed(self).wait(),
            gone: if self.exists() {
                Gone::Later(GONE.keyed(self).wait())
            } else {
                Gone::Already(framestep::next_frame())
            },
        }
    }
}

/// The future of [`DurableId::next_event`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextEventOf<E: Heard> {
    entity: DurableId,
    event: WaitSignal<E::Record>,
    gone: Gone,
}

enum Gone {
    Later(WaitSignal<()>),
    Already(NextFrame),
}

impl<E: Heard> Future for NextEventOf<E> {
    type Output = Result<E::Record, Missing>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(event) = Pin::new(&mut this.event).poll(cx) {
            return Poll::Ready(Ok(event));
        }
        match &mut this.gone {
            Gone::Later(gone) => ready!(Pin::new(gone).poll(cx)),
            Gone::Already(next) => ready!(Pin::new(next).poll(cx)),
        }
        Poll::Ready(Err(Missing::entity(this.entity)))
    }
}

impl<E: Heard> Unpin for NextEventOf<E> {}

impl<E: Heard> fmt::Debug for NextEventOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextEventOf")
            .field("entity", &self.entity)
            .finish_non_exhaustive()
    }
}

/// A number that tells values apart: of what they serialise to, so that it is the same in each process.
pub(super) fn fingerprint<C: Serialize>(component: &C) -> u64 {
    // What cannot be serialised cannot be saved either, and the save says so.
    StableHash::digest(&postcard::to_stdvec(component).unwrap_or_default())
}
