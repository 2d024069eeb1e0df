//! Who waits for a signal or a watch: in order, and under its name if it has one.
//!
//! Nothing in here calls user code but [`Waiting::new`] and [`Waiting::wake`], which
//! borrow nothing. What has to be dropped is returned to the caller, who drops it
//! when nothing is borrowed any more.

#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::task::{Context, Waker};

use slab::Slab;

use crate::core::call;
use crate::core::named::{NamedWait, Source};

/// Those who may wait, each with what the source notes of it.
pub(crate) struct Waiters<D> {
    all: Slab<Waiter<D>>,
    /// Who waits, in the order in which they began to; some have stopped since.
    order: VecDeque<Place>,
    /// How many have stopped.
    stale: usize,
    /// Counts beginnings.
    began: u64,
    /// What they wait for, if it has a name.
    source: Option<Source>,
}

struct Waiter<D> {
    data: D,
    /// Set while it waits.
    waiting: Option<Waiting>,
    /// When it last began to.
    began: u64,
}

#[derive(Clone, Copy)]
struct Place {
    waiter: usize,
    began: u64,
}

/// How one who waits is woken.
pub(crate) struct Waiting {
    waker: Waker,
    named: Option<NamedWait>,
}

impl Waiting {
    /// For the coroutine that is being polled with `cx`. Clones a waker.
    pub(crate) fn new(cx: &Context<'_>, source: Option<&Source>) -> Self {
        Waiting {
            waker: cx.waker().clone(),
            named: source.and_then(NamedWait::begin),
        }
    }

    /// Wakes it. A hostile waker takes nothing from those behind it.
    pub(crate) fn wake(self) {
        if let Some(named) = self.named {
            named.note_woken();
        }
        call::quietly(|| self.waker.wake());
    }
}

impl<D> Waiters<D> {
    pub(crate) fn new() -> Self {
        Waiters {
            all: Slab::new(),
            order: VecDeque::new(),
            stale: 0,
            began: 0,
            source: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// What they wait for, if it has a name.
    pub(crate) fn source(&self) -> Option<Source> {
        self.source.clone()
    }

    pub(crate) fn set_source(&mut self, source: Source) {
        self.source = Some(source);
    }

    /// How often somebody has begun to wait: a limit for [`next`](Self::next).
    pub(crate) fn began(&self) -> u64 {
        self.began
    }

    /// Adds one who does not wait yet.
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

    /// Whether one waits, and would wake the same with `waker`.
    pub(crate) fn waits_with(&self, waiter: usize, waker: &Waker) -> bool {
        let waiting = self.all[waiter].waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.waker.will_wake(waker))
    }

    /// One waits; returns how it was to be woken before. It keeps its place if it
    /// waited already.
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

    /// One has got what it waited for, and waits no longer.
    pub(crate) fn stop(&mut self, waiter: usize) -> Option<Waiting> {
        let waiting = self.all[waiter].waiting.take();
        if waiting.is_some() {
            self.note_stale();
        }
        waiting
    }

    /// Takes the first who began to wait before `limit` out of those who wait.
    pub(crate) fn next(&mut self, limit: u64) -> Option<Waiting> {
        while let Some(&place) = self.order.front() {
            if place.began >= limit {
                return None;
            }
            self.order.pop_front();
            if self.is_waiting(place) {
                return self.all[place.waiter].waiting.take();
            }
            self.stale -= 1;
        }
        None
    }

    fn is_waiting(&self, place: Place) -> bool {
        let waiter = self.all.get(place.waiter);
        waiter.is_some_and(|waiter| waiter.waiting.is_some() && waiter.began == place.began)
    }

    /// One who stands in the list waits no longer.
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
