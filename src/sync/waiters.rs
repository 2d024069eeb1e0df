//! The waiters of a signal, a watch or a semaphore, in order, with the name of the source
//! if it has one.
//!
//! Only [`Waiting::new`], [`Waiting::wake`] and the drop of a [`Waiting`] call user code, and they
//! borrow nothing. The other functions return each value that must be dropped. The caller drops it
//! after the borrow has ended.

use std::collections::VecDeque;
use std::panic::Location;
use std::task::{Context, Waker};

use slab::Slab;

use crate::core::base::call::{self, Foreign};
use crate::core::scope::recording;
use crate::core::wake::kept::{Grant, GrantKind, Keeper};
use crate::inspect::events::EventWait;
use crate::inspect::{Line, Source};

/// The waiters of one source, each with the data that the source keeps for it.
pub(crate) struct Waiters<D> {
    all: Slab<Waiter<D>>,
    /// The places of the waiters, in the order they began to wait. Stale places are included.
    order: VecDeque<Place>,
    /// How many places are stale: their waiters have stopped waiting.
    stale: usize,
    /// How often a waiter has begun to wait.
    began: u64,
    /// How often the source, which is found by its name, has been removed.
    removals: u64,
    /// The source, if it has a name.
    source: Option<Source>,
}

struct Waiter<D> {
    data: D,
    /// `Some` while it waits.
    waiting: Option<Waiting>,
    /// The value of [`Waiters::began`] when it last began to wait.
    began: u64,
}

#[derive(Clone, Copy)]
struct Place {
    waiter: usize,
    began: u64,
}

/// How to wake a waiter that waits.
pub(crate) struct Waiting {
    waker: Foreign<Waker>,
    noted: Option<EventWait>,
    /// The coroutine, if the waker is its own.
    keeper: Option<Keeper>,
    line: Line,
}

impl Waiting {
    /// Wakes the coroutine that is being polled with `cx`, whose wait is [noted](Waiters::note).
    /// Clones its waker, which is user code. The caller is the `.await`.
    #[track_caller]
    pub(crate) fn new(cx: &Context<'_>, noted: Option<EventWait>) -> Self {
        let call = "the wait for a signal, a watch or a semaphore";
        recording::refuse_source(call);
        Waiting {
            waker: Foreign::new(call::out(|| cx.waker().clone())),
            noted,
            keeper: Keeper::of(cx),
            line: Location::caller(),
        }
    }

    /// Notes that the waiter is granted something. The source keeps the result until the waiter
    /// takes it, or is gone.
    pub(crate) fn grant(&self, kind: GrantKind, source: Option<Source>) -> Option<Grant> {
        let keeper = self.keeper.as_ref()?;
        let noted = self.noted.as_ref().and_then(EventWait::line);
        let line = noted.unwrap_or(self.line);
        // A reference to a wait is polled by a function of the standard library.
        let is_of_script = !line.file().starts_with("/rustc/");
        keeper.grant(is_of_script.then_some(line), kind, source)
    }

    /// Wakes the waiter. A panic of the waker is swallowed, so that the waiters after this one are
    /// still woken.
    pub(crate) fn wake(self) {
        if let Some(noted) = self.noted {
            noted.note_woken();
        }
        call::quietly(|| self.waker.into_inner().wake());
    }
}

impl<D> Waiters<D> {
    pub(crate) fn new() -> Self {
        Waiters {
            all: Slab::new(),
            order: VecDeque::new(),
            stale: 0,
            began: 0,
            removals: 0,
            source: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The source, if it has a name.
    pub(crate) fn source(&self) -> Option<Source> {
        self.source.clone()
    }

    /// The same, without a clone of it.
    #[inline]
    pub(crate) fn named(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Notes that the coroutine that is being polled begins to wait. The caller is the `.await`.
    #[track_caller]
    pub(crate) fn note(&self) -> Option<EventWait> {
        EventWait::begin(self.named(), Location::caller())
    }

    pub(crate) fn set_source(&mut self, source: Source) {
        self.source = Some(source);
    }

    /// How often a waiter has begun to wait: a limit for [`next`](Self::next).
    pub(crate) fn began(&self) -> u64 {
        self.began
    }

    /// How often the source has been removed.
    pub(crate) fn removals(&self) -> u64 {
        self.removals
    }

    /// Notes that it is removed. The caller wakes the waiters.
    pub(crate) fn note_removed(&mut self) {
        self.removals += 1;
    }

    /// Adds a waiter that does not wait yet.
    pub(crate) fn add(&mut self, data: D) -> usize {
        self.all.insert(Waiter {
            data,
            waiting: None,
            began: 0,
        })
    }

    pub(crate) fn remove(&mut self, waiter: usize) -> (D, Option<Waiting>) {
        let Waiter { data, waiting, .. } = self.all.remove(waiter);
        if waiting.is_some() {
            self.note_stale();
        }
        (data, waiting)
    }

    pub(crate) fn data(&self, waiter: usize) -> &D {
        &self.all[waiter].data
    }

    pub(crate) fn data_mut(&mut self, waiter: usize) -> &mut D {
        &mut self.all[waiter].data
    }

    /// Whether a waiter waits with a waker that wakes the same task as `waker`.
    pub(crate) fn waits_with(&self, waiter: usize, waker: &Waker) -> bool {
        let waiting = self.all[waiter].waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.waker.get().will_wake(waker))
    }

    /// Makes a waiter wait, and returns its previous `Waiting`. It keeps its place if it was
    /// already waiting.
    pub(crate) fn wait(&mut self, waiter: usize, waiting: Waiting) -> Option<Waiting> {
        let entry = &mut self.all[waiter];
        let previous = entry.waiting.replace(waiting);
        if previous.is_none() {
            let began = self.began;
            entry.began = began;
            self.began += 1;
            self.order.push_back(Place { waiter, began });
        }
        previous
    }

    /// Makes a waiter stop waiting.
    pub(crate) fn stop(&mut self, waiter: usize) -> Option<Waiting> {
        let waiting = self.all[waiter].waiting.take();
        if waiting.is_some() {
            self.note_stale();
        }
        waiting
    }

    /// Takes the first waiter out of the order, if it began to wait before `limit`.
    pub(crate) fn next(&mut self, limit: u64) -> Option<Waiting> {
        self.next_with_data(limit).map(|(waiting, _)| waiting)
    }

    /// The same, and which one it is.
    pub(crate) fn next_waiter(&mut self, limit: u64) -> Option<(usize, Waiting)> {
        self.first()?;
        let waiter = self.order.front()?.waiter;
        self.next(limit).map(|waiting| (waiter, waiting))
    }

    /// Whether any waiter waits.
    pub(crate) fn has_waiting(&self) -> bool {
        self.order.len() > self.stale
    }

    /// The data of the waiter that has waited longest.
    pub(crate) fn first(&mut self) -> Option<&D> {
        while let Some(&place) = self.order.front() {
            if self.is_waiting(place) {
                return Some(&self.all[place.waiter].data);
            }
            self.order.pop_front();
            self.stale -= 1;
        }
        None
    }

    /// The same, and the waiter's data.
    pub(crate) fn next_with_data(&mut self, limit: u64) -> Option<(Waiting, &mut D)> {
        while let Some(&place) = self.order.front() {
            if place.began >= limit {
                return None;
            }
            self.order.pop_front();
            if !self.is_waiting(place) {
                self.stale -= 1;
                continue;
            }
            let Waiter { waiting, data, .. } = &mut self.all[place.waiter];
            return Some((waiting.take()?, data));
        }
        None
    }

    fn is_waiting(&self, place: Place) -> bool {
        let waiter = self.all.get(place.waiter);
        waiter.is_some_and(|waiter| waiter.waiting.is_some() && waiter.began == place.began)
    }

    /// Counts a place that has become stale, and sweeps the order if many are.
    fn note_stale(&mut self) {
        self.stale += 1;
        if self.stale > 8 + self.order.len() / 2 {
            let mut order = std::mem::take(&mut self.order);
            order.retain(|&place| self.is_waiting(place));
            self.order = order;
            self.stale = 0;
        }
    }
}
