//! Waits for events of observers.

use std::any::{Any, TypeId, type_name};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::future::pending;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_platform::hash::FixedHasher;
use framestep::sync::{Signal, Subscription};
use framestep::task::current;
use framestep::wait::NextItem;
use framestep::{Phase, stop};
use futures::future::FusedFuture;
use futures::{FutureExt, Stream};

use super::for_each::ForEach;
use super::message::Feed;
use super::turn::Turn;
use crate::Framestep;
use crate::borrow::{Call, with, with_ref};
use crate::error::Missing;
use crate::executor::Shared;

const EVENTS: Call = Call::wait("next_event");

/// Passes on the events of one type: all, or those of the entities that scripts wait for.
///
/// From the first wait on, there is one observer for each type, even if many scripts wait.
struct EventFeed<E, K> {
    /// Empty when the observer was despawned.
    signals: RefCell<HashMap<Option<Entity>, Channel<E>, FixedHasher>>,
    observer: RefCell<Option<Entity>>,
    kind: PhantomData<K>,
}

struct Channel<E> {
    signal: Signal<E>,
    /// The number of streams plus one.
    readers: Rc<()>,
}

/// All events of a type.
struct OfAll;

/// The events of some entities.
struct OfEntities;

impl<E: Clone + 'static, K: 'static> EventFeed<E, K> {
    fn emit(&self, key: Option<Entity>, event: &E) {
        let signals = self.signals.borrow();
        let Some(channel) = signals.get(&key) else {
            return;
        };
        if Rc::strong_count(&channel.readers) > 1 {
            let (signal, event) = (channel.signal.clone(), event.clone());
            // This calls wakers, which can end other waits.
            drop(signals);
            signal.emit(event);
        }
    }

    /// `name` is called if there is no channel yet.
    fn subscribe(
        &self,
        shared: &Shared,
        key: Option<Entity>,
        name: impl FnOnce() -> Cow<'static, str>,
    ) -> Events<E> {
        let mut signals = self.signals.borrow_mut();
        let channel = signals.entry(key).or_insert_with(|| Channel {
            signal: shared.signal().named(name()),
            readers: Rc::new(()),
        });
        Events {
            subscription: Some(channel.signal.subscribe()),
            turn: Turn::default(),
            _reader: Some(channel.readers.clone()),
        }
    }
}

impl<E: Clone + 'static, K: 'static> Feed for EventFeed<E, K> {
    fn pass_on(&self, _: &World) {}

    fn has_news(&self, _: &World) -> bool {
        false
    }

    fn entity_is_gone(&self, entity: Entity) {
        let gone = self.signals.borrow_mut().remove(&Some(entity));
        // This wakes.
        drop(gone);
    }

    fn observer_is_gone(&self, observer: Entity) {
        let was = self.observer.borrow_mut().take_if(|of| *of == observer);
        if was.is_some() {
            let signals = self.signals.take();
            drop(signals);
        }
    }
}

/// An observer of a feed.
#[derive(Component)]
#[component(on_remove = observer_is_gone)]
struct FeedObserver;

/// An entity whose events scripts have waited for.
#[derive(Component)]
#[component(on_remove = entity_is_gone)]
struct Observed;

fn observer_is_gone(world: DeferredWorld<'_>, context: HookContext) {
    each_feed(&world, |feed| feed.observer_is_gone(context.entity));
}

fn entity_is_gone(world: DeferredWorld<'_>, context: HookContext) {
    each_feed(&world, |feed| feed.entity_is_gone(context.entity));
}

fn each_feed(world: &World, f: impl FnMut(&dyn Feed)) {
    if let Some(framestep) = world.get_non_send::<Framestep>() {
        framestep.shared().each_feed(f);
    }
}

/// The name of an event of an entity. Entities without a [`Name`] have one only in debug
/// builds, because there are many.
fn name_in(world: &World, event: &'static str, entity: Entity) -> Cow<'static, str> {
    match world.get::<Name>(entity) {
        Some(name) => format!("{event} of {name} ({entity})").into(),
        None if cfg!(debug_assertions) => format!("{event} of entity {entity}").into(),
        None => event.into(),
    }
}

fn feed_of<E: Clone + 'static, K: 'static, R>(
    shared: &Shared,
    f: impl FnOnce(&EventFeed<E, K>) -> R,
) -> R {
    let feed = shared.feed(TypeId::of::<EventFeed<E, K>>(), || {
        Rc::new(EventFeed::<E, K> {
            signals: RefCell::default(),
            observer: RefCell::default(),
            kind: PhantomData,
        })
    });
    let feed: &dyn Any = &*feed;
    f(feed.downcast_ref().expect("it was made for this type"))
}

/// A stream of the events of one type, made by [`ScriptEntity::events`] and [`Events::all`].
///
/// From the first wait on, one observer for each type of event collects them. If the app
/// despawns it, the streams end.
///
/// [`ScriptEntity::events`]: crate::ScriptEntity::events
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Events;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Event, Clone)]
/// struct Scored(u32);
///
/// async fn announce() {
///     let mut scored = Events::<Scored>::all();
///     while let Some(Scored(points)) = scored.next().await {
///         println!("{points} points");
///         wait_seconds(1).await; // none is missed
///     }
/// }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct Events<E> {
    /// `None`: the entity did not exist.
    subscription: Option<Subscription<E>>,
    turn: Turn,
    _reader: Option<Rc<()>>,
}

impl<E: Event + Clone> Events<E> {
    /// All events of this type after this call, on any entity.
    ///
    /// # Panics
    ///
    /// Where [`with`](framestep::with()) does.
    #[track_caller]
    pub fn all() -> Self {
        with(EVENTS, |world| {
            let shared = Shared::of(world);
            feed_of(&shared, |feed: &EventFeed<E, OfAll>| {
                if feed.observer.borrow().is_none() {
                    let observe = |event: On<E>, framestep: NonSend<Framestep>| {
                        feed_of(framestep.shared(), |feed: &EventFeed<E, OfAll>| {
                            feed.emit(None, event.event());
                        });
                    };
                    let observer = world.spawn((Observer::new(observe), FeedObserver));
                    feed.observer.replace(Some(observer.id()));
                }
                feed.subscribe(&shared, None, || type_name::<E>().into())
            })
        })
    }
}

impl<E: EntityEvent + Clone> Events<E> {
    #[track_caller]
    pub(crate) fn of(entity: Entity) -> Self {
        with(EVENTS, |world| {
            let shared = Shared::of(world);
            let Ok(mut found) = world.get_entity_mut(entity) else {
                return Events {
                    subscription: None,
                    turn: Turn::default(),
                    _reader: None,
                };
            };
            if !found.contains::<Observed>() {
                found.insert(Observed);
            }
            feed_of(&shared, |feed: &EventFeed<E, OfEntities>| {
                if feed.observer.borrow().is_none() {
                    let observe = |event: On<E>, framestep: NonSend<Framestep>| {
                        feed_of(framestep.shared(), |feed: &EventFeed<E, OfEntities>| {
                            let event = event.event();
                            feed.emit(Some(event.event_target()), event);
                        });
                    };
                    let observer = world.spawn((Observer::new(observe), FeedObserver));
                    feed.observer.replace(Some(observer.id()));
                }
                feed.subscribe(&shared, Some(entity), || {
                    name_in(world, type_name::<E>(), entity)
                })
            })
        })
    }
}

impl<E: 'static> Events<E> {
    /// What the last wait of the running script for such an event has left.
    fn left(entity: Option<Entity>) -> Option<Self> {
        let left = with_ref(EVENTS, Shared::of).left().take::<Self>(entity)?;
        Some(Events {
            turn: Turn::default(),
            ..left
        })
    }
}

impl<E> Events<E> {
    fn has_more(&self) -> bool {
        let subscription = self.subscription.as_ref();
        subscription.is_some_and(|subscription| !subscription.is_empty())
    }

    /// How many events were dropped because this stream had not read them in time. It keeps
    /// the latest 1,024, or [as many as the plugin says](crate::FramestepPlugin::keep_events).
    pub fn missed(&self) -> u64 {
        self.subscription.as_ref().map_or(0, Subscription::missed)
    }

    /// Delivers events in the runs of `phase`, instead of the home phase of the script. A run
    /// delivers all events since the run before.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the stream was polled already.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.turn.set(phase);
        self
    }
}

impl<E: Clone> Events<E> {
    /// Waits for the next event. `None` if the entity or the observer was despawned. Dropping
    /// the wait loses nothing.
    ///
    /// It is `StreamExt::next` of `futures`, without the import, and with the line of its
    /// `.await` in snapshots.
    #[allow(
        clippy::should_implement_trait,
        reason = "streams have a method of this name"
    )]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }

    /// Calls `f` with each event, in the run in which it comes. It returns when the entity or
    /// the observer is despawned.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(EntityEvent, Clone)]
    /// struct Clicked(Entity);
    ///
    /// async fn button(button: Entity) {
    ///     button.events().for_each(|_: Clicked| println!("click")).await;
    /// }
    /// ```
    pub fn for_each(self, f: impl FnMut(E)) -> impl Future<Output = ()> {
        ForEach::new(self, f)
    }
}

impl<E: Clone> Stream for Events<E> {
    type Item = E;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<E>> {
        let this = &mut *self;
        match &mut this.subscription {
            Some(subscription) => this.turn.poll_next(subscription, cx),
            None => Poll::Ready(None),
        }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

/// Waits for the next event of this type after this call, on any entity.
///
/// If several events come before the script resumes, the next call of the same script in that
/// run continues with the second one. So a loop gets all events, if it waits for nothing else.
/// What is triggered while the script waits for something else is missed: there, use
/// [`Events`].
///
/// If the app despawns the observer behind it, for example because a level despawns all
/// observers, no event can come any more. Then the script ends, as if its entity were
/// despawned, and a join of it returns an `Err`.
///
/// # Resumes
///
/// In the home phase of the script: later in the same run if a script of that phase triggered
/// the event, else in the next run of it. With [`in_phase`](NextEvent::in_phase), in another
/// phase.
///
/// # Panics
///
/// Where [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Event, Clone)]
/// struct Alarm;
///
/// async fn guard() {
///     next_event::<Alarm>().await;
///     println!("to arms");
/// }
/// ```
#[track_caller]
pub fn next_event<E: Event + Clone>() -> NextEvent<E> {
    NextEvent {
        events: Some(Events::left(None).unwrap_or_else(Events::all)),
        entity: None,
    }
}

/// The future of [`next_event`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextEvent<E> {
    /// `None` once it has been ready.
    events: Option<Events<E>>,
    entity: Option<Entity>,
}

/// The future of [`ScriptEntity::next_event`](crate::ScriptEntity::next_event).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextEventOf<E> {
    missing: Missing,
    wait: NextEvent<E>,
}

impl<E> NextEvent<E> {
    /// Resumes in the first run of `phase` after an event, instead of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(self, phase: Phase) -> Self {
        NextEvent {
            events: self.events.map(|events| events.in_phase(phase)),
            entity: self.entity,
        }
    }
}

impl<E: Clone + 'static> NextEvent<E> {
    #[track_caller]
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<E>> {
        let Some(events) = &mut self.events else {
            panic!("`next_event` was polled after it had ended");
        };
        // There was no entity, so nothing would hold up a loop that ignores the error.
        if events.subscription.is_none() && events.turn.poll_next_run(cx).is_pending() {
            return Poll::Pending;
        }
        let polled = Pin::new(events).poll_next(cx);
        if let Poll::Ready(event) = &polled {
            // A stream that has ended has nothing more.
            let rest = self.events.take().filter(|_| event.is_some());
            if let Some(rest) = rest.filter(Events::has_more) {
                with_ref(EVENTS, Shared::of).left().keep(self.entity, rest);
            }
        }
        polled
    }
}

impl<E: Clone + 'static> Future for NextEvent<E> {
    type Output = E;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<E> {
        match self.poll_event(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            Poll::Ready(None) => {
                stop(current());
                pending().poll_unpin(cx)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<E: Clone + 'static> FusedFuture for NextEvent<E> {
    fn is_terminated(&self) -> bool {
        self.events.is_none()
    }
}

impl<E> NextEventOf<E> {
    /// Resumes in the first run of `phase` after an event or the end of the entity, instead
    /// of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.wait = self.wait.in_phase(phase);
        self
    }
}

impl<E: EntityEvent + Clone> NextEventOf<E> {
    #[track_caller]
    pub(crate) fn new(entity: Entity) -> Self {
        let left = Events::left(Some(entity));
        NextEventOf {
            missing: Missing::entity(entity),
            wait: NextEvent {
                events: Some(left.unwrap_or_else(|| Events::of(entity))),
                entity: Some(entity),
            },
        }
    }
}

impl<E: Clone + 'static> Future for NextEventOf<E> {
    type Output = Result<E, Missing>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let event = self.wait.poll_event(cx);
        event.map(|event| event.ok_or(self.missing))
    }
}

impl<E: Clone + 'static> FusedFuture for NextEventOf<E> {
    fn is_terminated(&self) -> bool {
        self.wait.is_terminated()
    }
}

impl<E> fmt::Debug for NextEvent<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextEvent")
            .field("done", &self.events.is_none())
            .finish_non_exhaustive()
    }
}

impl<E> fmt::Debug for NextEventOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextEventOf")
            .field("entity", &self.wait.entity)
            .field("done", &self.wait.events.is_none())
            .finish_non_exhaustive()
    }
}
