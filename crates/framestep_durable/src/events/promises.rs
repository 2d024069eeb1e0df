//! Promises that scripts have made.

use std::iter;

use serde::{Deserialize, Serialize};

use crate::bytes::{Bytes, Contains, Marked, Topic};
use crate::events::Events;
use crate::ids::{Owned, ScriptId};

/// A promise that its script has not read or dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PromiseEntry {
    pub(crate) name: Topic,
    /// Differs between promises of the same number, in timelines that a rollback separates.
    pub(crate) stamp: u64,
    /// `None` as long as it is open.
    pub(crate) settled: Option<Settled>,
}

/// How a promise ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Settled {
    Resolved(Marked),
    Cancelled,
}

impl Contains for Settled {
    fn content(&self) -> Option<&Bytes> {
        match self {
            Settled::Resolved(value) => Some(value.value()),
            Settled::Cancelled => None,
        }
    }
}

impl Contains for Option<Settled> {
    fn content(&self) -> Option<&Bytes> {
        self.as_ref()?.content()
    }
}

impl Events {
    /// Makes a promise for a script.
    pub(crate) fn promise(&self, script: ScriptId, name: &str, stamp: u64) -> u64 {
        let number = self.next_ticket();
        let entry = PromiseEntry {
            name: Topic::new(name),
            stamp,
            settled: None,
        };
        let mut promises = self.promises.borrow_mut();
        promises.insert((script, number), entry);
        number
    }

    /// Whether a promise is open.
    pub(crate) fn is_promise_open(&self, promise: Owned, stamp: u64) -> bool {
        let promises = self.promises.borrow();
        let entry = promises.get(&promise);
        entry.is_some_and(|entry| entry.stamp == stamp && entry.settled.is_none())
    }

    /// Resolves a promise, or cancels it, and wakes its script if that waits for it. Returns `false`
    /// if it is not open.
    pub(crate) fn settle(&self, promise: Owned, stamp: u64, with: Settled) -> bool {
        if !self.is_promise_open(promise, stamp) {
            return false;
        }
        if let Some(entry) = self.promises.borrow_mut().get_mut(&promise) {
            entry.settled = Some(with);
        }
        if self.scripts.awaits_promise(promise) {
            self.scripts.wake(&mut iter::once(promise.0));
        }
        true
    }

    /// Whether a promise is resolved or cancelled, and its script has not read that.
    pub(crate) fn is_settled(&self, promise: Owned) -> bool {
        let promises = self.promises.borrow();
        let entry = promises.get(&promise);
        entry.is_some_and(|entry| entry.settled.is_some())
    }

    /// What a promise was settled with: then it is gone.
    pub(crate) fn take_settled(&self, promise: Owned) -> Option<Settled> {
        let mut promises = self.promises.borrow_mut();
        let settled = promises.get_mut(&promise)?.settled.take()?;
        promises.remove(&promise);
        Some(settled)
    }

    /// Drops a promise. Returns its name if it has a value that its script has not read.
    pub(crate) fn drop_promise(&self, promise: Owned) -> Option<Topic> {
        let dropped = self.promises.borrow_mut().remove(&promise)?;
        let is_resolved = matches!(dropped.settled, Some(Settled::Resolved(_)));
        is_resolved.then_some(dropped.name)
    }
}
