//! A stream that settles for each key by itself: `debounce_by_key`.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{FusedStream, Stream};
use pin_project::pin_project;

use crate::core::base::call;
use crate::time::Seconds;

use super::length::Length;
use super::next_item::NextItem;
use super::pace::quiet;
use super::{WaitSeconds, expect_polled};

/// Like [`debounce`](super::debounce()), for each key by itself: returns a stream of the items of `stream`
/// after which no other item **of the same key** has come for `seconds`. `key` returns the key of an
/// item.
///
/// # Memory
///
/// Only keys with an item that waits are kept: as many as have come within `seconds`, and at most
/// 1,024, or the limit of [`with_limit`](DebounceByKey::with_limit). If another key comes then, the item
/// that has waited longest is returned at once, without its quiet time. So a stream whose keys have
/// no end takes bounded memory, and each key that has come has its last item returned.
///
/// # Resumes
///
/// Like [`wait_seconds`](crate::wait_seconds()): in the home phase of the first later frame
/// in which `seconds` have passed since the poll that has received the item. Items that are due in
/// one poll come in the order in which they have been received. When `stream` ends, the items that
/// wait come at once, in the same order.
///
/// # Cancel safety
///
/// Dropping a wait for the next item loses nothing: the items and their times stay in the stream.
///
/// # Panics
///
/// When polled: if `seconds` is NaN, naming the location of this call; or outside an
/// [`Executor`](crate::Executor). A panic of `key` is a panic of the coroutine; the item is dropped.
///
/// # Examples
///
/// Each player's name is saved once that player has stopped to edit it:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn saves(edits: Subscription<(u32, &'static str)>) -> Vec<(u64, u32, &'static str)> {
///     let mut settled = debounce_by_key(1, edits, |&(player, _)| player);
///     let mut saves = Vec::new();
///     while let Some((player, name)) = settled.next().await {
///         saves.push((time().frame, player, name));
///     }
///     saves
/// }
///
/// let mut executor = Executor::new();
/// let edits = Signal::new();
/// let saves = executor.start(saves(edits.subscribe()));
/// for edit in [(1, "A"), (2, "B"), (1, "An"), (1, "Ann")] {
///     edits.emit(edit);
///     executor.run_frames(2, 0.25);
/// }
/// executor.run_frames(4, 0.25);
/// drop(edits);
/// assert_eq!(executor.run_until(saves, 0.25).unwrap(), [(7, 2, "B"), (11, 1, "Ann")]);
/// ```
///
/// # Source
///
/// `groupBy` and `debounce` of Reactive Extensions, in one.
#[track_caller]
pub fn debounce_by_key<S, K, F>(seconds: impl Seconds, stream: S, key: F) -> DebounceByKey<S, K, F>
where
    S: Stream,
    K: Hash + Eq + Clone,
    F: FnMut(&S::Item) -> K,
{
    DebounceByKey {
        stream,
        key,
        length: Length::of(seconds),
        limit: 1_024,
        kept: Kept {
            items: VecDeque::new(),
            first: 0,
            by_key: HashMap::new(),
        },
        has_ended: false,
    }
}

/// The stream of [`debounce_by_key`].
#[pin_project]
#[must_use = "streams do nothing unless they are polled"]
pub struct DebounceByKey<S: Stream, K, F> {
    #[pin]
    stream: S,
    key: F,
    length: Length,
    limit: usize,
    kept: Kept<K, S::Item>,
    has_ended: bool,
}

/// The items that wait, at most one of each key.
struct Kept<K, T> {
    /// In the order in which they were received, which is that of their deadlines. `None` in place of
    /// one that a later one of its key has replaced.
    items: VecDeque<Option<Waiting<K, T>>>,
    /// The number of the first of them.
    first: u64,
    /// The number of the item of each key.
    by_key: HashMap<K, u64>,
}

struct Waiting<K, T> {
    key: K,
    item: T,
    wait: WaitSeconds,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first poll of its wait has not returned: the clone of a waker may panic.
    New,
    Waits,
    /// Its first poll was ready, as only that of a durable script can be, which reads what another build has
    /// recorded.
    Over,
}

impl<K: Hash + Eq + Clone, T> Kept<K, T> {
    /// Adds an item, in place of an earlier one of its key.
    fn add(&mut self, item: Waiting<K, T>) {
        let number = self.first + self.items.len() as u64;
        let before = self.by_key.insert(item.key.clone(), number);
        self.items.push_back(Some(item));
        let index = before.and_then(|before| before.checked_sub(self.first));
        let replaced = index.and_then(|index| {
            let index = usize::try_from(index).ok()?;
            self.items.get_mut(index)?.take()
        });
        drop(replaced);
        if self.items.len() > 8 + 2 * self.by_key.len() {
            self.sweep();
        }
    }

    /// Removes the places of items that were replaced.
    #[cold]
    fn sweep(&mut self) {
        self.items.retain(Option::is_some);
        self.first = 0;
        for (item, number) in self.items.iter().flatten().zip(0..) {
            self.by_key.insert(item.key.clone(), number);
        }
    }

    /// The item that was received last.
    fn latest(&mut self) -> Option<&mut Waiting<K, T>> {
        self.items.back_mut()?.as_mut()
    }

    /// The item that has waited longest.
    fn first(&mut self) -> Option<&mut Waiting<K, T>> {
        while let Some(None) = self.items.front() {
            self.items.pop_front();
            self.first += 1;
        }
        self.items.front_mut()?.as_mut()
    }

    fn take_first(&mut self) -> Option<T> {
        self.first()?;
        let Waiting { key, item, .. } = self.items.pop_front()??;
        self.first += 1;
        self.by_key.remove(&key);
        Some(item)
    }
}

impl<S: Stream, K, F> DebounceByKey<S, K, F> {
    /// Sets how many keys may have an item that waits; 1,024 by default.
    ///
    /// # Panics
    ///
    /// If `keys` is zero.
    #[track_caller]
    pub fn with_limit(mut self, keys: usize) -> Self {
        assert!(
            keys > 0,
            "the limit of a `debounce_by_key` must be at least 1 key"
        );
        self.limit = keys;
        self
    }
}

impl<S: Stream + Unpin, K, F> DebounceByKey<S, K, F> {
    /// Waits for the next item.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }
}

impl<S, K, F> Stream for DebounceByKey<S, K, F>
where
    S: Stream,
    K: Hash + Eq + Clone,
    F: FnMut(&S::Item) -> K,
{
    type Item = S::Item;

    #[track_caller]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        let length = this.length.nanos("debounce_by_key()");
        let length = length.map(Duration::from_nanos);
        expect_polled("debounce_by_key()");
        loop {
            // Its time counts from this poll. From then on, only the first of them is polled: it is due before the
            // others, whose timers run meanwhile.
            if let Some(latest) = this
                .kept
                .latest()
                .filter(|latest| latest.stage == Stage::New)
            {
                let begun = Pin::new(&mut latest.wait).poll(cx);
                latest.stage = match begun {
                    Poll::Pending => Stage::Waits,
                    Poll::Ready(()) => Stage::Over,
                };
            }
            if *this.has_ended {
                break;
            }
            if this.kept.by_key.len() > *this.limit {
                return Poll::Ready(this.kept.take_first());
            }
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => {
                    let key = call::out(|| (this.key)(&item));
                    this.kept.add(Waiting {
                        key,
                        item,
                        wait: quiet(length),
                        stage: Stage::New,
                    });
                }
                Poll::Ready(None) => *this.has_ended = true,
                Poll::Pending => break,
            }
        }
        let is_due = match this.kept.first() {
            Some(first) => {
                *this.has_ended
                    || first.stage == Stage::Over
                    || Pin::new(&mut first.wait).poll(cx).is_ready()
            }
            None => *this.has_ended,
        };
        if !is_due {
            return Poll::Pending;
        }
        Poll::Ready(this.kept.take_first())
    }
}

impl<S, K, F> FusedStream for DebounceByKey<S, K, F>
where
    S: Stream,
    K: Hash + Eq + Clone,
    F: FnMut(&S::Item) -> K,
{
    fn is_terminated(&self) -> bool {
        self.has_ended && self.kept.by_key.is_empty()
    }
}

impl<S: Stream, K, F> fmt::Debug for DebounceByKey<S, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebounceByKey")
            .field("waiting", &self.kept.by_key.len())
            .field("ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}
