//! Promises outside of durable scripts: one table for each executor.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::bytes::Bytes;
use crate::events::Settled;

/// The promises of one executor.
#[derive(Default)]
pub(crate) struct Outside {
    promises: RefCell<HashMap<u64, framestep::sync::Resolver<Bytes>>>,
    last_promise: Cell<u64>,
}

impl Outside {
    pub(crate) fn new() -> Rc<Self> {
        Rc::default()
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

    /// How many there are.
    pub(crate) fn entries(&self) -> usize {
        self.promises.borrow().len()
    }
}
