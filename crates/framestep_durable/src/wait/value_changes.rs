//! The stream of a value's changes.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use framestep::durable::{Stream, next_item};
use framestep::wait::NextItem;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::EventName;
use crate::wait::{Changed, Watch};

/// The changes of a [`Watch`] after the call of [`subscribe`](Watch::subscribe).
///
/// **No change is lost between two items**: if the value has changed since, the next item is ready at
/// once. **States in between are skipped**: several changes between two items are one item, the latest
/// state. If every one counts, use a [`Signal`](crate::Signal).
///
/// A script waits for the value as long as it has the stream, also while it awaits something else:
/// save states say so, and with [`Policy::RestartAfterWait`](crate::Policy::RestartAfterWait) a change is
/// the end of a wait. A chapter that begins reads the state with [`get`](Watch::get), and subscribes
/// anew.
///
/// # Resumes
///
/// As [`Watch::changed`]: in the run of the change, if another script of this phase sets the value.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const SCORE: Watch<u32> = watch("score", Default::default);
///
/// #[durable]
/// async fn display() -> Vec<u32> {
///     let (mut scores, mut shown) = (SCORE.subscribe(), Vec::new());
///     while shown.len() < 2 {
///         shown.extend(scores.next().await);
///         wait_seconds(1).await; // during this, the score may change
///     }
///     shown
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Display>());
/// let display = runtime.start(display());
/// runtime.set(&SCORE, 10);
/// runtime.run_frame(0.25);
/// runtime.set(&SCORE, 20);
/// runtime.set(&SCORE, 30);
/// for _ in 0..9 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(display), Some(Ok(vec![10, 30])));
/// ```
///
/// # Source
///
/// [`framestep::sync::Changes`]. A value with a name does not end, and neither does the stream.
#[must_use = "streams do nothing unless they are polled"]
pub struct Changes<T, N = &'static str> {
    value: Watch<T, N>,
    /// It has begun: a change between two items ends it.
    next: Changed<T, N>,
}

impl<T, N> Changes<T, N>
where
    T: Serialize + DeserializeOwned + 'static,
    N: EventName,
{
    #[track_caller]
    pub(super) fn new(value: &Watch<T, N>) -> Self {
        let mut next = value.changed();
        // It begins here, and is polled with the waker of the script before that waits for it.
        let mut cx = Context::from_waker(Waker::noop());
        let begun = Pin::new(&mut next).poll(&mut cx);
        debug_assert!(begun.is_pending(), "nothing has changed since it has begun");
        let value = value.clone();
        Changes { value, next }
    }

    /// Waits for the next change, and returns the latest state: never `None`.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }
}

impl<T, N> Stream for Changes<T, N>
where
    T: Serialize + DeserializeOwned + 'static,
    N: EventName,
{
    type Item = T;

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        let Poll::Ready(changed) = Pin::new(&mut this.next).poll(cx) else {
            return Poll::Pending;
        };
        this.next = this.value.changed();
        let begun = Pin::new(&mut this.next).poll(cx);
        debug_assert!(begun.is_pending(), "nothing has changed since it has begun");
        Poll::Ready(Some(changed))
    }
}

impl<T, N> Unpin for Changes<T, N> {}

impl<T, N: fmt::Debug> fmt::Debug for Changes<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changes").field(&self.value).finish()
    }
}
