//! Waits for messages.

use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;
use framestep::Phase;
use framestep::sync::{Signal, Subscription};
use framestep::wait::NextItem;
use futures::Stream;
use futures::future::FusedFuture;

use super::for_each::ForEach;
use super::turn::Turn;
use crate::access::no_messages;
use crate::borrow::{Call, with_ref};
use crate::executor::Shared;

const MESSAGES: Call = Call::new("messages", "take a `MessageReader<M>` as a parameter");

/// Passes on what has been written since the last call.
pub(crate) trait Feed: Any {
    fn pass_on(&self, world: &World);

    /// Whether there is a message to pass on, and a script that waits for it.
    fn has_news(&self, world: &World) -> bool;

    fn entity_is_gone(&self, _entity: Entity) {}

    fn observer_is_gone(&self, _observer: Entity) {}
}

/// One cursor feeds all readers of a message type, so waiting scripts cost nothing.
struct MessageFeed<M: Message + Clone> {
    cursor: RefCell<MessageCursor<M>>,
    signal: Signal<M>,
    /// The number of streams plus one.
    readers: Rc<()>,
}

impl<M: Message + Clone> MessageFeed<M> {
    fn new(cursor: MessageCursor<M>, signal: Signal<M>) -> Self {
        MessageFeed {
            cursor: RefCell::new(cursor),
            signal: signal.named(type_name::<M>()),
            readers: Rc::new(()),
        }
    }
}

impl<M: Message + Clone> Feed for MessageFeed<M> {
    fn pass_on(&self, world: &World) {
        let Some(messages) = world.get_resource::<bevy_ecs::message::Messages<M>>() else {
            return;
        };
        // A `clone` or a waker can use messages.
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
    turn: Turn,
    _reader: Rc<()>,
}

impl<M> Messages<M> {
    /// How many messages were dropped because this stream had not read them in time. It
    /// keeps the latest 1,024, or [as many as the plugin
    /// says](crate::FramestepPlugin::keep_events).
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// Delivers messages in the runs of `phase`, instead of the home phase of the script. A
    /// run delivers all messages since the run before.
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

impl<M: Clone> Messages<M> {
    /// Waits for the next message. Dropping the wait loses nothing.
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

    /// Calls `f` with each message, in the run in which it comes. It never returns.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Message, Clone)]
    /// struct Scored(u32);
    ///
    /// async fn scoreboard() {
    ///     let mut total = 0;
    ///     messages()
    ///         .for_each(|scored: Scored| {
    ///             total += scored.0;
    ///             println!("{total}");
    ///         })
    ///         .await;
    /// }
    /// ```
    pub fn for_each(self, f: impl FnMut(M)) -> impl Future<Output = ()> {
        // The stream ends only with the world.
        ForEach::new(self, f)
    }
}

impl<M: Clone> Stream for Messages<M> {
    type Item = M;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        let this = &mut *self;
        this.turn.poll_next(&mut this.subscription, cx)
    }
}

impl<M> fmt::Debug for Messages<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}

/// A stream of all messages of this type that are written after this call.
///
/// Messages reach scripts when a run begins: a message comes in the next run of the home
/// phase after it is written, by a system or by a script. [`in_phase`](Messages::in_phase)
/// chooses another phase.
///
/// A script that begins in `OnEnter` does not hear what was written before it, also in the same
/// frame. What it must not miss is written by a system that runs after the transition, or is
/// kept in a resource.
///
/// # Panics
///
/// If the app has no messages of this type; and where [`with_ref`](framestep::lend::with_ref) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
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
    let made = with_ref(MESSAGES, |world| {
        let written = world.get_resource::<bevy_ecs::message::Messages<M>>()?;
        let shared = Shared::of(world);
        let feed = shared.feed(TypeId::of::<M>(), || {
            Rc::new(MessageFeed::new(
                written.get_cursor_current(),
                shared.signal(),
            ))
        });
        // Messages from before this call are only for the streams that exist already.
        feed.pass_on(world);
        let feed: &dyn Any = &*feed;
        let feed = feed.downcast_ref::<MessageFeed<M>>();
        let feed = feed.expect("it was made for this type");
        Some(Messages {
            subscription: feed.signal.subscribe(),
            turn: Turn::default(),
            _reader: feed.readers.clone(),
        })
    });
    match made {
        Some(messages) => messages,
        None => no_messages(type_name::<M>()),
    }
}

/// Waits for the next message of this type that is written after this call.
///
/// If several messages come in one run, the next call of the same script in that run
/// continues with the second one. So a loop gets all messages, if it waits for nothing else.
/// What is written while the script waits for something else is missed: there, use
/// [`messages`].
///
/// # Resumes
///
/// In the next run of the home phase of the script; or of another phase, with
/// [`in_phase`](NextMessage::in_phase).
///
/// # Panics
///
/// If the app has no messages of this type; and where [`with_ref`](framestep::lend::with_ref) does.
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
pub fn next_message<M: Message + Clone>() -> NextMessage<M> {
    let left = with_ref(MESSAGES, Shared::of)
        .left()
        .take::<Messages<M>>(None);
    let messages = match left {
        Some(left) => Messages {
            turn: Turn::default(),
            ..left
        },
        None => messages(),
    };
    NextMessage {
        messages: Some(messages),
    }
}

/// The future of [`next_message`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct NextMessage<M> {
    /// `None` once it has been ready.
    messages: Option<Messages<M>>,
}

impl<M> NextMessage<M> {
    /// Resumes in the first run of `phase` after a message, instead of the home phase.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(self, phase: Phase) -> Self {
        NextMessage {
            messages: self.messages.map(|messages| messages.in_phase(phase)),
        }
    }
}

impl<M: Clone + 'static> Future for NextMessage<M> {
    type Output = M;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<M> {
        let Some(messages) = &mut self.messages else {
            panic!("`next_message` was polled after it had ended");
        };
        match Pin::new(messages).poll_next(cx) {
            Poll::Ready(Some(message)) => {
                let rest = self.messages.take();
                if let Some(rest) = rest.filter(|rest| !rest.subscription.is_empty()) {
                    with_ref(MESSAGES, Shared::of).left().keep(None, rest);
                }
                Poll::Ready(message)
            }
            // The stream ends only with the world.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<M: Clone + 'static> FusedFuture for NextMessage<M> {
    fn is_terminated(&self) -> bool {
        self.messages.is_none()
    }
}

impl<M> fmt::Debug for NextMessage<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextMessage")
            .field("done", &self.messages.is_none())
            .finish_non_exhaustive()
    }
}
