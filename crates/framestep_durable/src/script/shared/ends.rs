//! How scripts have ended.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use framestep::Coroutine;
use framestep::task::CoroutineId;

use crate::bytes::Marked;
use crate::ids::{Birth, ScriptId};
use crate::script::JoinError;

/// The ends of the scripts of a runtime.
#[derive(Default)]
pub(crate) struct Ends {
    /// The results of scripts that have ended, as long as there are handles or there may be.
    pub(crate) results: RefCell<BTreeMap<ScriptId, EndedScript>>,
    /// How many scripts have ended.
    pub(crate) count: Cell<u64>,
    /// Where the scripts that have panicked last were.
    panicked: RefCell<VecDeque<(CoroutineId, String)>>,
}

/// Of how many scripts it is known where they have panicked.
const PANICS: usize = 16;

/// A script that has ended.
pub(crate) struct EndedScript {
    pub(crate) birth: Birth,
    pub(crate) result: Result<Marked, JoinError>,
    /// A number that is larger than that of each script that has ended before. 0 of a request to
    /// stop.
    pub(crate) order: u64,
    /// Its coroutine, which keeps its panic until it is joined.
    pub(crate) coroutine: Option<Coroutine<()>>,
}

impl Ends {
    /// Notes where a script is that has panicked.
    #[cold]
    pub(crate) fn note_panic(&self, id: CoroutineId, place: String) {
        let mut panicked = self.panicked.borrow_mut();
        if panicked.len() == PANICS {
            panicked.pop_front();
        }
        panicked.push_back((id, place));
    }

    /// Where a script was that has panicked.
    pub(crate) fn panicked_after(&self, id: CoroutineId) -> Option<String> {
        let panicked = self.panicked.borrow();
        let found = panicked.iter().rev().find(|(of, _)| *of == id);
        found.map(|(_, place)| place.clone())
    }
}
