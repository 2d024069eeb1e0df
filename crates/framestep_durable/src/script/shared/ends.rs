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
    panicked: RefCell<VecDeque<PanickedScript>>,
    /// How many have panicked.
    panics: Cell<u64>,
}

/// A script that has panicked, for `framestep_live`.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PanickedScript {
    /// Which panic of the runtime it is, from 1.
    pub count: u64,
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: &'static str,
    /// In which frame.
    pub frame: u64,
    /// The text of the panic.
    pub text: String,
    /// The statement of its own that has panicked, where the attribute has made it.
    pub statement: Option<String>,
    /// The last call that its chapter had recorded.
    pub(crate) after: Option<String>,
    pub(crate) coroutine: Option<CoroutineId>,
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
    /// Notes that a script has panicked. The count is filled in.
    #[cold]
    pub(crate) fn note_panic(&self, script: PanickedScript) {
        let count = self.panics.get() + 1;
        self.panics.set(count);
        let mut panicked = self.panicked.borrow_mut();
        if panicked.len() == PANICS {
            panicked.pop_front();
        }
        panicked.push_back(PanickedScript { count, ..script });
    }

    /// Where a script was that has panicked.
    pub(crate) fn panicked_after(&self, id: CoroutineId) -> Option<String> {
        let panicked = self.panicked.borrow();
        let found = panicked.iter().rev().find(|it| it.coroutine == Some(id));
        found?.after.clone()
    }

    /// The scripts that have panicked last, after so many others.
    pub(crate) fn panicked_since(&self, count: u64) -> Vec<PanickedScript> {
        if count == self.panics.get() {
            return Vec::new();
        }
        let panicked = self.panicked.borrow();
        let since = panicked.iter().filter(|it| it.count > count);
        since.cloned().collect()
    }
}
