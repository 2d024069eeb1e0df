//! `when_each`: the results of several scripts, in the order of their ends.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::{Stream, next_item};
use framestep::wait::NextItem;
use serde::de::DeserializeOwned;

use crate::runtime::ScriptHandle;
use crate::script::{JoinError, context};

/// Returns a stream of the results of scripts, in the order in which they end.
///
/// For the results in the order of the handles, use [`join_all`](framestep::combine::join_all()); for the first
/// result only, [`race`](framestep::combine::race()). Both take other futures, too.
///
/// # Resumes
///
/// [`next`](WhenEach::next) is ready as soon as one of the scripts has ended, in the same frame and
/// phase. Each end polls the script, and each poll looks at the handles that are left.
///
/// # Output
///
/// The index of the handle, and the result. Scripts that have ended before the first poll come first,
/// in the order of their handles. The stream ends when all results have been returned; without
/// handles, at once.
///
/// # Cancel safety
///
/// Dropping the wait for the next item loses nothing. Dropping the stream drops the handles that are
/// left, in order: their scripts go on, unless they [stop on drop](ScriptHandle::stop_on_drop).
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn run(name: String, seconds: f32) -> String {
///     wait_seconds(seconds).await;
///     name
/// }
///
/// #[durable]
/// async fn podium() -> Vec<String> {
///     let runners = [("tortoise", 2.0), ("hare", 1.0), ("snail", 4.0)];
///     let runners = runners.map(|(name, seconds)| start(run(name.into(), seconds)));
///     let (mut arrivals, mut podium) = (when_each(runners), Vec::new());
///     while let Some((_, name)) = arrivals.next().await {
///         podium.push(name.unwrap());
///     }
///     podium
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(run).script(podium));
/// let podium = runtime.start(podium());
/// for _ in 0..16 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(podium).unwrap().unwrap(), ["hare", "tortoise", "snail"]);
/// ```
///
/// # Source
///
/// [`framestep::combine::when_each`].
pub fn when_each<T>(handles: impl IntoIterator<Item = ScriptHandle<T>>) -> WhenEach<T>
where
    T: DeserializeOwned,
{
    let handles: Vec<ScriptHandle<T>> = handles.into_iter().collect();
    let is_plain = handles.first().is_some_and(ScriptHandle::is_plain);
    let inner = if is_plain {
        Inner::Plain(framestep::combine::when_each(handles))
    } else {
        Inner::Durable(InOrder {
            left: handles.len(),
            begun: 0,
            handles: handles.into_iter().map(Some).collect(),
        })
    };
    WhenEach { inner }
}

/// The stream of [`when_each`].
#[must_use = "streams do nothing unless they are polled"]
pub struct WhenEach<T> {
    inner: Inner<T>,
}

enum Inner<T> {
    Durable(InOrder<T>),
    /// Of scripts that were started outside of a durable one.
    Plain(framestep::combine::WhenEach<ScriptHandle<T>>),
}

struct InOrder<T> {
    /// `None` once the result has been returned.
    handles: Vec<Option<ScriptHandle<T>>>,
    left: usize,
    /// How many of the handles have been polled.
    begun: usize,
}

impl<T: DeserializeOwned> WhenEach<T> {
    /// Waits for the next script that ends, and returns its index and its result. Returns `None` once
    /// all results have been returned. Dropping the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        next_item(self)
    }
}

impl<T: DeserializeOwned> InOrder<T> {
    #[track_caller]
    fn poll_one(&mut self, index: usize, cx: &mut Context<'_>) -> Poll<(usize, Joined<T>)> {
        let Some(handle) = &mut self.handles[index] else {
            return Poll::Pending;
        };
        let polled = Pin::new(handle).poll(cx);
        if polled.is_ready() {
            self.handles[index] = None;
            self.left -= 1;
        }
        polled.map(|result| (index, result))
    }

    /// The handle of the script that has ended first, if one has.
    fn first_ended(&self) -> Option<usize> {
        let cell = context::current()?;
        if !cell.is_live() {
            // The journal says which one it was.
            return None;
        }
        let handles = self.handles.iter().enumerate();
        let ended = handles.filter_map(|(index, handle)| {
            let order = cell.shared().end_order(handle.as_ref()?.id())?;
            Some((order, index))
        });
        ended.min().map(|(_, index)| index)
    }

    #[track_caller]
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, Joined<T>)>> {
        // The first polls, in a fixed order: that numbers the waits.
        while self.begun < self.handles.len() {
            self.begun += 1;
            let polled = self.poll_one(self.begun - 1, cx);
            if polled.is_ready() {
                return polled.map(Some);
            }
        }
        if let Some(index) = self.first_ended() {
            return self.poll_one(index, cx).map(Some);
        }
        for index in 0..self.handles.len() {
            let polled = self.poll_one(index, cx);
            if polled.is_ready() {
                return polled.map(Some);
            }
        }
        if self.left == 0 {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }
}

type Joined<T> = Result<T, JoinError>;

impl<T: DeserializeOwned> Stream for WhenEach<T> {
    type Item = (usize, Joined<T>);

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.inner {
            Inner::Durable(each) => each.poll_next(cx),
            Inner::Plain(each) => Pin::new(each).poll_next(cx),
        }
    }
}

impl<T> Unpin for WhenEach<T> {}

impl<T> fmt::Debug for WhenEach<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            Inner::Durable(each) => f
                .debug_struct("WhenEach")
                .field("pending", &each.left)
                .finish_non_exhaustive(),
            Inner::Plain(each) => fmt::Debug::fmt(each, f),
        }
    }
}
