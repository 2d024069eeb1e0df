//! The questions of scripts to the host: which it has received, and which were withdrawn.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::bytes::Marked;
use crate::ids::RequestKey;

/// How many withdrawn questions are kept for a host that does not ask for them.
pub(crate) const KEPT: usize = 1_024;

#[derive(Clone)]
pub(crate) struct Questions {
    /// The number of the next one.
    pub(crate) next: Cell<u64>,
    /// Those that the host has received and not answered, with their names.
    pub(crate) received: RefCell<BTreeMap<RequestKey, String>>,
    /// Those of them that were withdrawn.
    pub(crate) withdrawn: RefCell<VecDeque<(RequestKey, String)>>,
    /// How many withdrawn ones were forgotten, which no rollback takes back.
    pub(crate) forgotten: Cell<u64>,
}

impl Default for Questions {
    fn default() -> Self {
        Questions {
            next: Cell::new(1),
            received: RefCell::default(),
            withdrawn: RefCell::default(),
            forgotten: Cell::default(),
        }
    }
}

impl Questions {
    pub(crate) fn replace(&self, with: &Questions) {
        self.received.replace(with.received.borrow().clone());
        self.withdrawn.replace(with.withdrawn.borrow().clone());
    }
}

impl Question {
    pub(crate) fn key(&self) -> RequestKey {
        RequestKey {
            number: self.id,
            stamp: self.stamp,
        }
    }
}

/// A question to the world outside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: u64,
    /// Differs between questions of the same number, in timelines that a rollback separates.
    pub(crate) stamp: u64,
    pub(crate) name: String,
    pub(crate) content: Marked,
    pub(crate) answer: Option<Marked>,
}
