//! Which scripts have been requested to stop, and which requests have a time.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::Location;

use framestep::durable::OwnerStop;

use crate::ids::{Birth, OwnerId, ScriptId};

/// The requests to stop of a runtime.
#[derive(Default)]
pub(crate) struct Stops {
    /// The scripts that have been requested to stop.
    pub(crate) asked: RefCell<BTreeSet<ScriptId>>,
    /// The requests to stop with a time that are not over.
    pub(crate) requests: RefCell<BTreeMap<ScriptId, StopRequest>>,
    /// Where these were made, for reports.
    pub(crate) places: RefCell<HashMap<ScriptId, &'static Location<'static>>>,
    /// Where `stop_within` was called, while that stops scripts.
    pub(crate) line: RefCell<Option<String>>,
}

/// A request to stop the scripts of an owner that is not over. It has a number among the scripts, so
/// that a [handle](crate::ScriptHandle) returns its result, and is none of them.
#[derive(Debug)]
pub(crate) struct StopRequest {
    pub(crate) birth: Birth,
    pub(crate) owner: OwnerId,
    /// `None` if there is no such owner.
    pub(crate) stop: Option<OwnerStop>,
    /// How many scripts it has stopped.
    pub(crate) left: u64,
    /// The line of the call.
    pub(crate) line: String,
}

/// The most places that are kept for reports.
const PLACES: usize = 1_024;

impl Stops {
    pub(crate) fn is_asked(&self, script: ScriptId) -> bool {
        self.asked.borrow().contains(&script)
    }

    /// Notes the line of a call of `stop_within`, for a report: a replay notes it, too.
    pub(crate) fn note_place(&self, id: ScriptId, at: &'static Location<'static>) {
        let mut places = self.places.borrow_mut();
        if places.len() >= PLACES {
            let stops = self.requests.borrow();
            places.retain(|id, _| stops.contains_key(id));
        }
        places.insert(id, at);
    }
}
