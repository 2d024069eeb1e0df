//! Waits for messages.

use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::fmt;
use std::future::pending;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;
use framestep::{Signal, Subscription, with_ref};
use futures::{Stream, StreamExt};

use crate::executor::Shared;

/// Passes on to scripts what has been written since the last time.
pub(crate) trait Feed: Any {
    fn pass_on(&self, world: &World);

    /// Whether there is something to pass on to somebody.
    fn has_news(&self, world: &World) -> bool;
}

/// All that read messages of one type are fed from one cursor, so that scripts that wait
/// cost nothing.
struct MessageFeed<M: Message + Clone> {
    cursor: RefCell<MessageCursor<M>>,
    signal: Signal<M>,
    /// As many as there are streams, and one.
    readers: Rc<()>,
}

impl<M: Message + Clone> MessageFeed<M> {
    fn new(cursor: MessageCursor<M>) -> Self {
        MessageFeed {
            cursor: RefCell::new(cursor),
            signal: Signal::new().named(type_name::<M>()),
            readers: Rc::new(()),
        }
    }
}

impl<M: Message + Clone> Feed for MessageFeed<M> {
    fn pass_on(&self, world: &World) {
        let Some(messages) = world.get_resource::<bevy_ecs::message::Messages<M>>() else {
            return;
        };
        // A `clone` or a waker may ask for messages.
        let Ok(mut cursor) = self.cursor.try_borrow_mut() else {
            return;
        };
        if Rc::strong_count(&self.readers) == 1 {
            cursor.clear(messages);
        }
        for message in cursor.read(messages) {
            self.signal.emit(message.clone());
        }
    }

    fn has_news(&self, world: &World) -> bool {
        let messages = world.get_resource::<bevy_ecs::message::Messages<M>>();
        let cursor = self.cursor.try_borrow();
        let (Some(messages), Ok(cursor)) = (messages, cursor) else {
            return false;
        };
        Rc::strong_count(&self.readers) > 1 && !cursor.is_empty(messages)
    }
}

/// A stream of messages, by [`messages`].
#[must_use = "streams do nothing unless polled"]
pub struct Messages<M> {
    subscription: Subscription<M>,
    _reader: Rc<()>,
}

impl<M> Messages<M> {
    /// How many messages were dropped because this stream had not read them in time. It
    /// keeps the latest 1,024.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }
}

impl<M: Clone> Stream for Messages<M> {
    type Item = M;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        self.subscription.poll_next_unpin(cx)
    }
}

impl<M> fmt::Debug for Messages<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}

/// A stream of all messages of that type that are written after this call.
///
/// Messages reach scripts when a run begins: one that a system writes comes in the next
/// run of the phase in which the script waits, and one that a script writes too.
///
/// # Panics
///
/// If the app has no messages of that type; and where [`with_ref`] does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use futures::StreamExt;
///
/// #[derive(Message, Clone)]
/// struct Damage(u32);
///
/// async fn hero() {
///     let mut damage = messages::<Damage>();
///     let mut health = 100;
///     while health > 0 {
///         let Some(Damage(points)) = damage.next().await else {
///             return;
///         };
///         health -= points.min(health);
///         wait_seconds(0.5).await; // none is missed
///     }
/// }
/// ```
#[track_caller]
pub fn messages<M: Message + Clone>() -> Messages<M> {
    with_ref(|world: &World| {
        let Some(written) = world.get_resource::<bevy_ecs::message::Messages<M>>() else {
            panic!(
                "the app has no messages of type {0}: call `app.add_message::<{0}>()`",
                type_name::<M>()
            );
        };
        let feed = Shared::of(world).feed(TypeId::of::<M>(), || {
            Rc::new(MessageFeed::new(written.get_cursor_current()))
        });
        // What was written before this call is for those that wait already.
        feed.pass_on(world);
        let feed: &dyn Any = &*feed;
        let feed = feed.downcast_ref::<MessageFeed<M>>();
        let feed = feed.expect("it was made for this type");
        Messages {
            subscription: feed.signal.subscribe(),
            _reader: feed.readers.clone(),
        }
    })
}

/// Waits for the next message of that type that is written after this call.
///
/// A loop around it may miss messages between two rounds, for which there is
/// [`messages`].
///
/// # Resumes
///
/// In the home phase of the script, in the next run of it.
///
/// # Panics
///
/// If the app has no messages of that type; and where [`with_ref`] does.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Message, Clone)]
/// struct DoorOpened(u32);
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.add_message::<DoorOpened>();
/// let hero = app.world_mut().start_script(|| async {
///     let DoorOpened(number) = next_message::<DoorOpened>().await;
///     assert_eq!(number, 3);
/// });
/// app.update();
/// app.world_mut().write_message(DoorOpened(3));
/// app.update();
/// assert!(hero.is_finished());
/// ```
#[track_caller]
pub fn next_message<M: Message + Clone>() -> impl Future<Output = M> + use<M> {
    let mut messages = messages::<M>();
    async move {
        match messages.next().await {
            Some(message) => message,
            // The world is gone.
            None => pending().await,
        }
    }
}
