//! The notes about one observed coroutine.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::core::base::key::{TaskKey, WaitKey};

use super::call_chain::CallChain;
use super::coroutine::Moment;
use super::trace::Waiting;
use super::wait::Wait;

/// A line of the program.
pub(crate) type Line = &'static Location<'static>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    /// Where it was spawned, and which coroutine was being polled then. `None` if
    /// it was spawned before observing began.
    pub(crate) place: Option<Line>,
    pub(crate) parent: Option<TaskKey>,
    /// When it was last polled, if known.
    pub(crate) since: Option<Moment>,
    /// Whether it may have been polled.
    pub(crate) has_begun: bool,
    /// The first named source that has woken it since its last poll.
    pub(crate) woken_by: Option<Arc<str>>,
    /// The named source that is about to wake it.
    pub(crate) wakes: Option<Arc<str>>,
    /// What it waits for, in the order of the begins.
    pub(crate) waits: Vec<NotedWait>,
    /// The line of the wait that was over when it was last polled, if `is_sorted_out`.
    pub(crate) resumed_from: Option<Line>,
    /// Whether the waits that were over when it was last polled have been removed.
    pub(crate) is_sorted_out: bool,
    /// What the script says of itself.
    pub(crate) description: Option<String>,
    pub(crate) profile: Profile,
}

impl Observed {
    /// The call chain of a wait, if it is noted.
    pub(crate) fn chain_of(&self, id: WaitId) -> Option<CallChain> {
        let noted = self.waits.iter().find(|noted| noted.id == id);
        noted.and_then(|noted| noted.chain.clone())
    }

    /// The notes about a coroutine that was spawned before observing began.
    pub(crate) fn unknown() -> Self {
        Observed {
            has_begun: true,
            ..Observed::default()
        }
    }

    /// The line of a wait, if it was noted.
    pub(crate) fn line_of(&self, id: WaitId) -> Option<Line> {
        let noted = self.waits.iter().find(|noted| noted.id == id);
        noted.and_then(|noted| noted.at)
    }
}

/// A wait of an observed coroutine.
#[derive(Clone, Debug)]
pub(crate) struct NotedWait {
    pub(crate) id: WaitId,
    pub(crate) at: Option<Line>,
    /// What it is for. Only noted for a full trace.
    pub(crate) wait: Option<Wait>,
    /// Whether it began in the latest poll.
    pub(crate) is_new: bool,
    /// The functions through which the script has come to it, if they are noted.
    pub(crate) chain: Option<CallChain>,
}

impl NotedWait {
    /// As an event of a full trace shows it.
    pub(crate) fn shown(&self) -> Option<Waiting> {
        Some(Waiting {
            wait: self.wait.clone()?,
            at: self.at,
            is_new: self.is_new,
        })
    }
}

/// Tells how to find out whether a noted wait is still under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitId {
    /// By its registration.
    Registered(WaitKey),
    /// It waits for a waker, and is in the list of those.
    Event(usize, u64),
    /// It cannot be found out. It counts as over when the coroutine is polled.
    Unknown,
}

/// How often a coroutine was polled, and how long its polls took. In a
/// [`CoroutineInfo`](crate::inspect::CoroutineInfo) of an executor that
/// [profiles](crate::Builder::profile).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Profile {
    /// How often it was polled.
    pub polls: u64,
    /// How long its polls took together, without the polls of coroutines that it
    /// started.
    pub total: Duration,
    /// How long its longest poll took, in the same sense.
    pub longest: Duration,
}

impl Profile {
    pub(crate) fn add(&mut self, took: Duration) {
        self.polls += 1;
        self.total = self.total.saturating_add(took);
        self.longest = self.longest.max(took);
    }
}
