//! Promises outside of durable scripts: one table for each executor.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use framestep::sync::{Promise, Resolver};

/// The promises of one executor.
#[derive(Default)]
pub(crate) struct Outside {
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
        Rc::default()
    }

    /// Makes a promise. Returns its number.
    pub(crate) fn promise<T: 'static>(&self) -> (u64, Promise<T>) {
        if self.open.borrow().len() >= self.sweeps_at.get() {
            let left = self.sweep();
            self.sweeps_at.set((2 * left).max(16));
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let (resolver, promise) = framestep::sync::promise::<T>();
        self.open.borrow_mut().insert(number, Box::new(resolver));
        (number, promise)
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

    pub(crate) fn is_open(&self, number: Option<u64>) -> bool {
        let open = self.open.borrow();
        let resolver = number.and_then(|number| open.get(&number));
        resolver.is_some_and(|resolver| !resolver.is_canceled())
    }

    /// Takes the resolver of a promise. `None` if it has been taken, or is of another type.
    pub(crate) fn take<T: 'static>(&self, number: Option<u64>) -> Option<Resolver<T>> {
        let taken = self.open.borrow_mut().remove(&number?)?;
        Some(*taken.into_any().downcast().ok()?)
    }
}
