//! Signals, values, permits and promises outside of durable scripts: those of framestep, by name,
//! one table for each executor.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use crate::bytes::{Bytes, Topic};
use crate::events::{DEFAULT_LIMIT, Settled};

pub(crate) type PlainSignal = Named<Emitter>;
pub(crate) type PlainWatch = Named<framestep::sync::Watch<Option<Bytes>>>;
pub(crate) type PlainSemaphore = Named<framestep::sync::Semaphore>;

/// The signals, values, permits and promises of one executor. Those for which nothing waits, and
/// which have nothing to keep, have no entry.
pub(crate) struct Outside {
    this: Weak<Outside>,
    signals: Table<Emitter>,
    watches: Table<framestep::sync::Watch<Option<Bytes>>>,
    permits: Table<framestep::sync::Semaphore>,
    /// The values that are set.
    kept: RefCell<HashMap<Topic, Rc<PlainWatch>>>,
    /// The permits of another number than the code says.
    kept_semaphores: RefCell<HashMap<Topic, Rc<PlainSemaphore>>>,
    promises: RefCell<HashMap<u64, framestep::sync::Resolver<Bytes>>>,
    last_promise: Cell<u64>,
}

type Table<X> = RefCell<HashMap<Topic, Weak<Named<X>>>>;

/// A signal, a value or permits of framestep, with a name. They are in the table as long as
/// something uses them.
pub(crate) struct Named<X> {
    pub(crate) of: X,
    topic: Topic,
    outside: Weak<Outside>,
    table: fn(&Outside) -> &Table<X>,
}

impl<X> Drop for Named<X> {
    fn drop(&mut self) {
        if let Some(outside) = self.outside.upgrade() {
            let table = (self.table)(&outside);
            table.borrow_mut().remove(&self.topic);
        }
    }
}

/// A signal that counts its events.
pub(crate) struct Emitter {
    pub(crate) signal: framestep::sync::Signal<Emitted>,
    pub(crate) emitted: Cell<u64>,
}

/// An event outside of durable scripts.
#[derive(Clone)]
pub(crate) struct Emitted {
    pub(crate) value: Bytes,
    /// Whether it is for one reader alone.
    is_for_one: bool,
}

impl Outside {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new_cyclic(|this| Outside {
            this: this.clone(),
            signals: Table::default(),
            watches: Table::default(),
            permits: Table::default(),
            kept: RefCell::default(),
            kept_semaphores: RefCell::default(),
            promises: RefCell::default(),
            last_promise: Cell::new(0),
        })
    }

    fn get<X>(&self, table: fn(&Outside) -> &Table<X>, name: &str) -> Option<Rc<Named<X>>> {
        table(self).borrow().get(name).and_then(Weak::upgrade)
    }

    fn get_or_make<X>(
        &self,
        table: fn(&Outside) -> &Table<X>,
        name: &str,
        make: impl FnOnce() -> X,
    ) -> Rc<Named<X>> {
        if let Some(known) = self.get(table, name) {
            return known;
        }
        let topic = Topic::new(name);
        let named = Rc::new(Named {
            of: make(),
            topic: topic.clone(),
            outside: self.this.clone(),
            table,
        });
        let weak = Rc::downgrade(&named);
        table(self).borrow_mut().insert(topic, weak);
        named
    }

    /// A signal that is there as long as the result is. `limit` counts if it was not there before.
    pub(crate) fn signal(&self, name: &str, limit: Option<u64>) -> Rc<PlainSignal> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let make = || Emitter {
            signal: framestep::sync::Signal::with_limit(limit).named(name.to_owned()),
            emitted: Cell::new(0),
        };
        self.get_or_make(|outside| &outside.signals, name, make)
    }

    pub(crate) fn emit(&self, name: &str, value: Bytes) {
        if let Some(named) = self.get(|outside| &outside.signals, name) {
            let emitted = &named.of.emitted;
            emitted.set(emitted.get() + 1);
            let is_for_one = false;
            named.of.signal.emit(Emitted { value, is_for_one });
        }
    }

    /// Emits an event to the wait that has waited longest. Returns `false` if there is none.
    pub(crate) fn emit_one(&self, name: &str, value: Bytes) -> bool {
        self.get(|outside| &outside.signals, name)
            .is_some_and(|named| {
                let is_for_one = true;
                let event = Emitted { value, is_for_one };
                named.of.signal.emit_one(event).is_none()
            })
    }

    pub(crate) fn watch(&self, name: &str) -> Rc<PlainWatch> {
        let make = || framestep::sync::Watch::new(None).named(name.to_owned());
        self.get_or_make(|outside| &outside.watches, name, make)
    }

    /// Sets a value, or removes it. Returns whether it was set before.
    pub(crate) fn set(&self, name: &str, value: Option<Bytes>) -> bool {
        let is_set = value.is_some();
        let before = self.kept.borrow_mut().remove(name);
        let was_set = before.is_some();
        if is_set || was_set {
            let watch = self.watch(name);
            if is_set {
                let mut kept = self.kept.borrow_mut();
                kept.insert(watch.topic.clone(), Rc::clone(&watch));
            }
            watch.of.set(value);
        }
        was_set
    }

    pub(crate) fn value(&self, name: &str) -> Option<Bytes> {
        self.get(|outside| &outside.watches, name)?.of.get()
    }

    pub(crate) fn permits(&self, name: &str, declared: usize) -> Rc<PlainSemaphore> {
        let make = || framestep::sync::Semaphore::new(declared).named(name.to_owned());
        self.get_or_make(|outside| &outside.permits, name, make)
    }

    pub(crate) fn free_permits(&self, name: &str, declared: usize) -> usize {
        let permits = self.get(|outside| &outside.permits, name);
        permits.map_or(declared, |permits| permits.of.available())
    }

    pub(crate) fn permit_count(&self, name: &str, declared: usize) -> usize {
        let permits = self.get(|outside| &outside.permits, name);
        permits.map_or(declared, |permits| permits.of.count())
    }

    /// Changes how many permits there are.
    #[track_caller]
    pub(crate) fn change_permits(
        &self,
        name: &str,
        declared: usize,
        change: impl FnOnce(&framestep::sync::Semaphore),
    ) {
        let permits = self.permits(name, declared);
        change(&permits.of);
        let is_declared = permits.of.count() == declared;
        let mut kept = self.kept_semaphores.borrow_mut();
        let before = if is_declared {
            kept.remove(name)
        } else {
            kept.insert(permits.topic.clone(), permits)
        };
        drop(kept);
        drop(before);
    }

    /// Makes a promise. Returns its number.
    pub(crate) fn promise(&self) -> (u64, framestep::sync::Promise<Bytes>) {
        let number = self.last_promise.get() + 1;
        self.last_promise.set(number);
        let (resolver, promise) = framestep::sync::promise();
        self.promises.borrow_mut().insert(number, resolver);
        (number, promise)
    }

    pub(crate) fn is_promise_open(&self, number: u64) -> bool {
        self.promises.borrow().contains_key(&number)
    }

    /// Resolves a promise, or cancels it. Returns `false` if it is not open.
    pub(crate) fn settle(&self, number: u64, with: Settled) -> bool {
        let resolver = self.promises.borrow_mut().remove(&number);
        match (resolver, with) {
            (Some(resolver), Settled::Resolved(value)) => resolver.send(value.into_value()).is_ok(),
            (resolver, _) => resolver.is_some(),
        }
    }

    /// How many entries there are: signals, values, permits and promises.
    pub(crate) fn entries(&self) -> [usize; 4] {
        [
            self.signals.borrow().len(),
            self.watches.borrow().len(),
            self.permits.borrow().len(),
            self.promises.borrow().len(),
        ]
    }
}

/// The state of a wait outside of durable scripts.
pub(crate) enum OutsideWait {
    Signal {
        wait: framestep::sync::WaitSignal<Emitted>,
        _of: Rc<PlainSignal>,
    },
    /// The next event that a condition accepts.
    Accepted(PlainSubscription),
    /// The first field is dropped first: the last `PlainWatch` wakes what still waits for it.
    Value {
        changed: framestep::sync::Changed<Option<Bytes>>,
        of: Rc<PlainWatch>,
        is_new: bool,
    },
    Permit {
        wait: framestep::sync::Acquire,
        of: Rc<PlainSemaphore>,
    },
}

/// A subscription outside of durable scripts.
pub(crate) struct PlainSubscription {
    subscription: framestep::sync::Subscription<Emitted>,
    of: Rc<PlainSignal>,
    /// How many events of the signal it has read or missed, or were before it.
    read: u64,
    missed: u64,
}

impl PlainSubscription {
    pub(crate) fn of(signal: Rc<PlainSignal>) -> Self {
        PlainSubscription {
            subscription: signal.of.signal.subscribe(),
            read: signal.of.emitted.get(),
            missed: 0,
            of: signal,
        }
    }

    pub(crate) fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// The name of its signal.
    pub(crate) fn name(&self) -> &str {
        self.of.topic.as_ref()
    }

    /// Reads the next event.
    #[track_caller]
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        self.poll_event(cx).map(|event| event.value)
    }

    #[track_caller]
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Emitted> {
        let mut next = self.subscription.next();
        match Pin::new(&mut next).poll(cx) {
            Poll::Ready(Some(event)) => {
                self.read += u64::from(!event.is_for_one);
                Poll::Ready(event)
            }
            // The signal is there as long as `of` is.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Reads the next event that `accept` accepts, of those that are there now. An event that
    /// `accept` emits is read in a later poll, so that it cannot block a frame.
    #[track_caller]
    pub(crate) fn poll_accepted(
        &mut self,
        cx: &mut Context<'_>,
        accept: &mut dyn FnMut(&Bytes) -> bool,
    ) -> Poll<Bytes> {
        let end = self.of.of.emitted.get();
        loop {
            let missed = self.missed();
            self.read += missed - std::mem::replace(&mut self.missed, missed);
            let has_more = self.read < self.of.of.emitted.get();
            if self.read >= end && has_more {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.poll_event(cx) {
                Poll::Ready(event) if accept(&event.value) => return Poll::Ready(event.value),
                Poll::Ready(event) if event.is_for_one => {
                    // To the next one that waits.
                    drop(self.of.of.signal.emit_one(event));
                }
                Poll::Ready(_) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl fmt::Debug for PlainSubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.of.topic, f)
    }
}

impl fmt::Debug for OutsideWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutsideWait").finish_non_exhaustive()
    }
}
