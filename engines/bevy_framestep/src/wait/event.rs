//! Waits for events that observers get.

use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use framestep::{with, with_soon};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt};

use crate::error::Missing;

/// A stream of the events of one type, by [`ScriptEntity::events`] and
/// [`Events::all`].
///
/// An observer of its own collects them. It is despawned when the stream is dropped.
///
/// [`ScriptEntity::events`]: crate::ScriptEntity::events
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Events;
/// use bevy_framestep::prelude::*;
/// use futures::StreamExt;
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
    receiver: UnboundedReceiver<E>,
    observer: Option<Entity>,
}

impl<E: Event + Clone> Events<E> {
    /// All events of that type, after this call, whichever entity they are on.
    ///
    /// # Panics
    ///
    /// Where [`with`](framestep::with()) does.
    #[track_caller]
    pub fn all() -> Self {
        with(|world: &mut World| {
            let (sender, receiver) = unbounded();
            let observer = world.spawn(observer_of::<E>(sender)).id();
            Events {
                receiver,
                observer: Some(observer),
            }
        })
    }
}

impl<E: EntityEvent + Clone> Events<E> {
    #[track_caller]
    pub(crate) fn of(entity: Entity) -> Self {
        with(|world: &mut World| {
            let (sender, receiver) = unbounded();
            let exists = world.get_entity(entity).is_ok();
            // Without the observer, the sender is dropped, and the stream has ended.
            let observer = exists.then(|| {
                let observer = observer_of::<E>(sender).with_entity(entity);
                world.spawn(observer).id()
            });
            Events { receiver, observer }
        })
    }
}

/// Bevy despawns it with the last entity that it watches, which drops the sender.
fn observer_of<E: Event + Clone>(sender: UnboundedSender<E>) -> Observer {
    Observer::new(move |event: On<'_, '_, E>| {
        // It fails for a stream that is dropped, whose observer is about to go.
        drop(sender.unbounded_send(event.event().clone()));
    })
}

impl<E> Stream for Events<E> {
    type Item = E;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<E>> {
        self.receiver.poll_next_unpin(cx)
    }
}

impl<E> Drop for Events<E> {
    fn drop(&mut self) {
        let Some(observer) = self.observer else {
            return;
        };
        with_soon(move |world: &mut World| {
            if let Ok(observer) = world.get_entity_mut(observer) {
                observer.despawn();
            }
        });
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("observer", &self.observer)
            .finish_non_exhaustive()
    }
}

/// Waits for the next event of that type after this call, whichever entity it is on.
///
/// A loop around it may miss events between two rounds, for which there is
/// [`Events`].
///
/// # Resumes
///
/// In the home phase of the script: later in the same run if a script
/// of that phase triggered the event, else in the next run of it.
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
pub fn next_event<E: Event + Clone>() -> impl Future<Output = E> + use<E> {
    let mut events = Events::<E>::all();
    async move {
        match events.next().await {
            Some(event) => event,
            // Somebody despawned the observer.
            None => pending().await,
        }
    }
}

#[track_caller]
pub(crate) fn next_event_of<E: EntityEvent + Clone>(
    entity: Entity,
) -> impl Future<Output = Result<E, Missing>> + use<E> {
    let mut events = Events::<E>::of(entity);
    async move {
        let event = events.next().await;
        event.ok_or(Missing::entity(entity))
    }
}
