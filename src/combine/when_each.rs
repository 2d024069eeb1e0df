//! `when_each`: the outputs of several futures, in the order in which they are ready.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::mem;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::stream::{FusedStream, Stream};

use crate::core::base::call::{self, Foreign};
use crate::core::scope::recording;
use crate::core::wake::waker::sync::{AtomicBool, Ordering};
use crate::wait::NextItem;

use super::pinned;

/// Returns a stream of the outputs of `futures`, in the order in which they are ready.
///
/// It takes coroutine handles and any other futures of one type, and runs the futures
/// concurrently inside the coroutine that awaits it. With handles, it yields what the
/// coroutines return, in the order in which they end.
///
/// For the outputs in the order the futures were passed, use
/// [`join_all`](crate::combine::join_all()); for the first output only, [`race`](crate::combine::race()).
///
/// # Resumes
///
/// [`next`](WhenEach::next) is ready as soon as one of the futures is, in the phase in
/// which that future resumes. A poll of the stream polls only the futures that have been
/// woken, so thousands of futures cost no more than a few. They are all polled once more when
/// another coroutine polls the stream than before. In a durable script, a poll polls all that are left, in order.
///
/// **Futures run only while the next item is awaited.** If the body of the loop waits for a
/// second, the futures stand still for that second, except for what needs no poll: timers and
/// frames pass, events are stored, and coroutines whose handles are among them go on. So pass the
/// handles of coroutines if the body waits.
///
/// # Output
///
/// The index of the future, and its output. Futures that are ready at the first poll come
/// first, in the order they were passed. The stream ends when all outputs have been
/// returned; without futures, at once.
///
/// # Cancel safety
///
/// Dropping the wait for the next item loses nothing. Dropping the stream drops the
/// futures that are left, in order. Coroutines whose handles are among them keep running,
/// unless they [stop on drop](crate::Coroutine::stop_on_drop).
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn run(name: &'static str, seconds: f32) -> &'static str {
///     wait_seconds(seconds).await;
///     name
/// }
///
/// async fn podium() -> Vec<&'static str> {
///     let runners = [("tortoise", 2.0), ("hare", 1.0), ("snail", 4.0)];
///     let mut arrivals = when_each(runners.map(|(name, seconds)| start(run(name, seconds))));
///     let mut podium = Vec::new();
///     while let Some((_, name)) = arrivals.next().await {
///         podium.push(name.unwrap());
///     }
///     podium
/// }
///
/// let mut executor = Executor::new();
/// assert_eq!(executor.run_until(podium(), 0.25), ["hare", "tortoise", "snail"]);
/// ```
///
/// # Source
///
/// `UniTask.WhenEach`; `asyncio.as_completed`; `JoinSet::join_next` of tokio.
pub fn when_each<F: Future>(futures: impl IntoIterator<Item = F>) -> WhenEach<F> {
    let futures: Box<[_]> = futures.into_iter().map(Some).collect();
    let woken = Woken::of(futures.len());
    WhenEach {
        left: futures.len(),
        futures: Box::into_pin(futures),
        woken,
        begun: 0,
        ready_at: None,
    }
}

/// When a future has become ready, as a number that grows. `None` if it is not, or if nothing says so.
pub(crate) type ReadyAt<F> = fn(&F) -> Option<u64>;

/// The stream of [`when_each`].
#[must_use = "streams do nothing unless they are polled"]
pub struct WhenEach<F> {
    /// `None` once the output has been returned.
    futures: Pin<Box<[Option<F>]>>,
    left: usize,
    woken: Woken,
    /// How many a coroutine has polled that records its waits.
    begun: usize,
    /// Of such a coroutine.
    ready_at: Option<ReadyAt<F>>,
}

impl<F: Future> WhenEach<F> {
    /// The same with another order for a coroutine that records its waits.
    pub(crate) fn in_order_of(self, ready_at: ReadyAt<F>) -> Self {
        WhenEach {
            ready_at: Some(ready_at),
            ..self
        }
    }

    /// Waits for the next future that is ready, and returns its index and its output.
    /// Returns `None` once all outputs have been returned.
    ///
    /// It is `StreamExt::next` of the `futures` crate, without the import. Dropping
    /// the wait loses nothing.
    #[allow(clippy::should_implement_trait, reason = "streams use this name")]
    pub fn next(&mut self) -> NextItem<'_, Self> {
        NextItem::new(self)
    }

    /// The future of that index, unless its output has been returned.
    fn future(&mut self, index: usize) -> Option<Pin<&mut F>> {
        pinned::at(self.futures.as_mut(), index).as_pin_mut()
    }

    #[track_caller]
    fn poll_one(&mut self, index: usize, cx: &mut Context<'_>) -> Poll<(usize, F::Output)> {
        let Some(future) = self.future(index) else {
            return Poll::Pending;
        };
        let polled = future.poll(cx);
        if polled.is_ready() {
            self.remove(index);
        }
        polled.map(|output| (index, output))
    }

    /// Polls in a coroutine that records its waits. It hears its wakes itself, and a replay has none. So each poll looks
    /// at all that are left, in their order, which the journal has.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn poll_recorded(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, F::Output)>> {
        let known = 0..self.begun;
        // The first polls, of which some may be later: they number the waits.
        while self.begun < self.futures.len() {
            self.begun += 1;
            if let Poll::Ready(item) = self.poll_one(self.begun - 1, cx) {
                return Poll::Ready(Some(item));
            }
        }
        let ready_at = |future: &Option<F>| self.ready_at?(future.as_ref()?);
        let futures = self.futures[known.clone()].iter().enumerate();
        let ready = futures.filter_map(|(index, future)| Some((ready_at(future)?, index)));
        let first = ready.min().map(|(_, index)| index);
        let others = known.filter(|index| Some(*index) != first);
        for index in first.into_iter().chain(others) {
            if let Poll::Ready(item) = self.poll_one(index, cx) {
                return Poll::Ready(Some(item));
            }
        }
        if self.left == 0 {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn remove(&mut self, index: usize) {
        self.left -= 1;
        pinned::at(self.futures.as_mut(), index).set(None);
    }
}

impl<F: Future> Stream for WhenEach<F> {
    type Item = (usize, F::Output);

    #[track_caller]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if recording::is_recording() {
            return this.poll_recorded(cx);
        }
        this.woken.begin_poll(cx.waker());
        while let Some((index, waker)) = this.woken.next() {
            let Some(future) = this.future(index) else {
                this.woken.forget(index);
                continue;
            };
            let mut cx = Context::from_waker(&waker);
            if let Poll::Ready(output) = future.poll(&mut cx) {
                this.remove(index);
                this.woken.forget(index);
                return Poll::Ready(Some((index, output)));
            }
        }
        if this.left == 0 {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<F: Future> FusedStream for WhenEach<F> {
    fn is_terminated(&self) -> bool {
        self.left == 0
    }
}

impl<F> fmt::Debug for WhenEach<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenEach")
            .field("pending", &self.left)
            .finish_non_exhaustive()
    }
}

/// Which futures to poll. It knows no future, so it is compiled once.
struct Woken {
    shared: Arc<Shared>,
    /// The waker of each future that has been polled and is not ready.
    slots: Box<[Option<Arc<Slot>>]>,
    /// The futures to poll in turn, without a wake.
    turns: Range<usize>,
    /// How many of the futures have had their first turn.
    begun: usize,
    /// So many futures have another turn before the stream is pending, because another
    /// waker polls it than before: their waits move with it.
    moved: usize,
    /// The waker of the latest poll.
    waker: Option<Foreign<Waker>>,
    /// How many wakes this poll may still serve. What is woken beyond that comes in a later
    /// poll, so that a future that wakes itself cannot block the frame.
    budget: usize,
}

struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The futures to poll, in the order of their wakes.
    queue: VecDeque<usize>,
    /// The waker of the coroutine that polls the stream, unless that has been woken.
    parent: Option<Waker>,
}

/// The waker of one future.
struct Slot {
    index: usize,
    is_queued: AtomicBool,
    shared: Arc<Shared>,
}

impl Woken {
    fn of(count: usize) -> Self {
        Woken {
            shared: Arc::new(Shared {
                state: Mutex::default(),
            }),
            slots: (0..count).map(|_| None).collect(),
            turns: 0..count,
            begun: 0,
            moved: 0,
            waker: None,
            budget: 0,
        }
    }

    /// Begins a poll. Calls user code: clones and drops wakers.
    fn begin_poll(&mut self, waker: &Waker) {
        let parent = call::out(|| waker.clone());
        let known = self.waker.as_ref();
        // Clones are compared: the waker that a coroutine is polled with may be another one than
        // its clones.
        if !known.is_some_and(|known| known.get().will_wake(&parent)) {
            self.moved = self.begun;
            self.waker = Some(Foreign::new(call::out(|| waker.clone())));
        }
        let before = {
            let mut state = self.shared.lock();
            self.budget = state.queue.len();
            state.parent.replace(parent)
        };
        drop(before.map(Foreign::new));
    }

    /// The next future to poll: one in turn, or one that has been woken.
    fn next(&mut self) -> Option<(usize, Waker)> {
        if self.turns.is_empty() && self.budget == 0 {
            self.turns = 0..mem::take(&mut self.moved);
        }
        let index = if let Some(index) = self.turns.next() {
            self.begun = self.begun.max(index + 1);
            index
        } else {
            self.budget = self.budget.checked_sub(1)?;
            self.shared.lock().queue.pop_front()?
        };
        let slot = self.slots[index].get_or_insert_with(|| {
            Arc::new(Slot {
                index,
                is_queued: AtomicBool::new(false),
                shared: self.shared.clone(),
            })
        });
        // A wake that has found the slot in the queue is over before this poll: the swap acquires
        // what the waking thread has written. A store would not.
        slot.is_queued.swap(false, Ordering::AcqRel);
        Some((index, Waker::from(slot.clone())))
    }

    /// Forgets a future that is ready.
    fn forget(&mut self, index: usize) {
        self.slots[index] = None;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Slot {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let parent = {
            let mut state = self.shared.lock();
            state.queue.push_back(self.index);
            // Taken: a coroutine that has been woken polls again, and sets it anew.
            state.parent.take()
        };
        if let Some(parent) = parent {
            parent.wake();
        }
    }
}

impl Drop for Woken {
    /// Wakers of the futures may live on: they must not keep the coroutine's waker.
    fn drop(&mut self) {
        let parent = mem::take(&mut self.shared.lock().parent);
        drop(parent.map(Foreign::new));
    }
}
