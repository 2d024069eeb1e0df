//! Which script runs, for another thread: the watchdog of `framestep_live`.
//!
//! Only in builds with debug assertions, in which alone that package compiles. In others, nothing is told and
//! nothing is paid for it.

use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::places::note::{self, Here};
use crate::places::table::Places;
use crate::script::ScriptCell;

/// A thread whose scripts another thread looks at.
#[derive(Debug, Default)]
pub struct Watched {
    script: Mutex<Option<Current>>,
    /// How often a script has been entered.
    entered: AtomicU64,
    /// The statement of the script.
    here: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    id: u64,
    name: &'static str,
    places: Places,
}

/// A script that is being polled or replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// It has another number for each poll.
    pub entered: u64,
    /// Its name and number: "`clerk` (#1)".
    pub script: String,
    /// The statement of its own that runs: `src/lib.rs:9`. `None` if that is not known.
    pub place: Option<String>,
}

thread_local! {
    /// Without a destructor, because scripts may be dropped while the thread ends.
    static WATCHED: Cell<Option<&'static Watched>> = const { Cell::new(None) };
}

/// What tells other threads about the scripts of this thread. Made once for each thread that asks, and kept.
#[must_use]
pub fn watch_this_thread() -> &'static Watched {
    WATCHED.with(|watched| {
        let made = watched
            .get()
            .unwrap_or_else(|| Box::leak(Box::<Watched>::default()));
        watched.set(Some(made));
        made
    })
}

impl Watched {
    /// The script that runs now. `None` between two of them.
    #[must_use]
    pub fn running(&self) -> Option<Running> {
        let current = (*self.script.lock().unwrap_or_else(PoisonError::into_inner))?;
        let number = note::number_of(self.here.load(Ordering::Relaxed));
        let Places { file, list, .. } = current.places;
        let place = usize::try_from(number).ok().and_then(|at| list.get(at));
        Some(Running {
            entered: self.entered.load(Ordering::Relaxed),
            script: format!("`{}` (#{})", current.name, current.id),
            // What no statement does has the line of the function.
            place: place.map(|place| format!("{file}:{}", place.line)),
        })
    }
}

/// The script that ran before another one. `None` if there was none, or if nobody is told.
pub(crate) type Before = Option<Current>;

/// Tells that a script runs from now on.
#[inline(always)]
pub(crate) fn enter(cell: &ScriptCell) -> Before {
    if cfg!(debug_assertions) {
        tell(Some(Current {
            id: cell.id.0,
            name: cell.code.name,
            places: cell.code.places,
        }))
    } else {
        None
    }
}

/// Tells that the script before it runs again.
#[inline(always)]
pub(crate) fn leave(before: Before) {
    if cfg!(debug_assertions) {
        tell(before);
    }
}

fn tell(current: Option<Current>) -> Before {
    let watched = WATCHED.get()?;
    let script = watched.script.lock();
    let before = mem::replace(
        &mut *script.unwrap_or_else(PoisonError::into_inner),
        current,
    );
    watched.entered.fetch_add(1, Ordering::Relaxed);
    before
}

/// Tells which statement runs from now on.
#[inline(always)]
pub(crate) fn note(here: Here) {
    if cfg!(debug_assertions) {
        if let Some(watched) = WATCHED.get() {
            watched.here.store(here, Ordering::Relaxed);
        }
    }
}
