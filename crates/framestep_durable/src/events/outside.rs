//! Promises outside of durable scripts: one table for each executor.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use framestep::sync::{Promise, Resolver};

/// The promises of one executor.
pub(crate) struct Outside {
    /// Tells it from those of other executors, which have promises of the same numbers.
    stamp: u64,
    open: RefCell<HashMap<u64, Box<dyn AnyResolver>>>,
    last: Cell<u64>,
    /// How many there are when those are removed that nobody awaits any more.
    sweeps_at: Cell<usize>,
}

/// A resolver of any type.
trait AnyResolver {
    fn is_canceled(&self) -> bool;

    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: 'static> AnyResolver for Resolver<T> {
    fn is_canceled(&self) -> bool {
        Resolver::is_canceled(self)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Outside {
    pub(crate) fn new() -> Rc<Self> {
        static LATEST: AtomicU64 = AtomicU64::new(0);
        Rc::new(Outside {
            stamp: LATEST.fetch_add(1, Ordering::Relaxed),
            open: RefCell::default(),
            last: Cell::default(),
            sweeps_at: Cell::default(),
        })
    }

    /// Makes a promise. Returns its number and the stamp of this.
    pub(crate) fn promise<T: 'static>(&self) -> ([u64; 2], Promise<T>) {
        if self.open.borrow().len() >= self.sweeps_at.get() {
            let left = self.sweep();
            self.sweeps_at.set((2 * left).max(16));
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let (resolver, promise) = framestep::sync::promise::<T>();
        self.open.borrow_mut().insert(number, Box::new(resolver));
        ([number, self.stamp], promise)
    }

    /// Removes those that nobody awaits any more. Returns how many are left.
    pub(crate) fn sweep(&self) -> usize {
        let all = self.open.take();
        let (over, left): (HashMap<_, _>, _) = all
            .into_iter()
            .partition(|(_, resolver)| resolver.is_canceled());
        let count = left.len();
        drop((over, self.open.replace(left)));
        count
    }

    pub(crate) fn is_open(&self, promise: Option<[u64; 2]>) -> bool {
        let open = self.open.borrow();
        let resolver = self.own(promise).and_then(|number| open.get(&number));
        resolver.is_some_and(|resolver| !resolver.is_canceled())
    }

    /// The number of a promise, if it is one of these.
    fn own(&self, promise: Option<[u64; 2]>) -> Option<u64> {
        promise.and_then(|[number, stamp]| (stamp == self.stamp).then_some(number))
    }

    /// Takes the resolver of a promise. `None` if it has been taken, or is of another executor or type.
    pub(crate) fn take<T: 'static>(&self, promise: Option<[u64; 2]>) -> Option<Resolver<T>> {
        let number = self.own(promise)?;
        let taken = self.open.borrow_mut().remove(&number)?;
        Some(*taken.into_any().downcast().ok()?)
    }
}
