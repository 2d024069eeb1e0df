//! Panics of coroutines that are kept for a join or for the host.

use std::cell::Cell;

use crate::core::call::{Foreign, Payload};
use crate::core::cell::Guarded;
use crate::inspect::{Line, Report};
use crate::time::Phase;

/// The payload of a coroutine's panic, and when the panic was raised.
#[derive(Debug)]
pub(crate) struct Panicked {
    pub(crate) payload: Foreign<Payload>,
    pub(crate) frame: u64,
    /// `None`: outside of a run.
    pub(crate) phase: Option<Phase>,
    /// Where the coroutine continued in that poll, if it was observed.
    pub(crate) from: Option<Line>,
    /// Whether the host hears of the panic, even if no join returns it.
    pub(crate) is_heard: bool,
}

impl Panicked {
    pub(crate) fn into_payload(self) -> Payload {
        self.payload.into_inner()
    }
}

/// Which panics of coroutines are passed on to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PassOn {
    /// No panics. Those that no join returns are reported.
    #[default]
    Nothing,
    /// The panics that no join returns.
    Unread,
    /// All panics.
    All,
}

/// How panics of coroutines are handled.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    pub(crate) pass_on: Cell<PassOn>,
    /// The first panic since the last one that was passed on.
    pub(crate) pending: Guarded<Option<Pending>>,
    pub(crate) is_pending: Cell<bool>,
}

pub(crate) type Pending = (Report, Foreign<Payload>);

impl Panics {
    pub(crate) fn new(pass_on: PassOn) -> Self {
        Panics {
            pass_on: Cell::new(pass_on),
            pending: Guarded::default(),
            is_pending: Cell::new(false),
        }
    }

    pub(crate) fn passes_on(&self, panics: PassOn) -> bool {
        self.pass_on.get() == panics
    }
}
