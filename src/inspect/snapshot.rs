//! All coroutines at one moment.

use std::slice;

use crate::task::coroutine::CoroutineId;
use crate::time::Time;

use super::coroutine::{CoroutineInfo, State};
use super::cycles;
use super::stop::PendingStop;
use super::wait::Wait;

/// What every coroutine of an executor waited for at one moment.
///
/// Returned by [`Executor::snapshot`](crate::Executor::snapshot) and
/// [`Handle::snapshot`](crate::Handle::snapshot). A snapshot is plain data: it
/// borrows nothing, keeps nothing alive, can be sent to another thread, and
/// does not change.
///
/// # What it prints
///
/// One line for each coroutine: its id, its name, and what it waits for. A
/// coroutine that joins another is printed below that one, so a group waits for
/// the coroutine in its first line. The lines also show:
///
/// - the phase, unless it is `Update`,
/// - the clock, unless it is the game clock,
/// - the owners, if there are any,
/// - the requests to stop whose time is not over,
/// - if the executor was built with [`inspect`](crate::Builder::inspect): since
///   when each coroutine waits, which coroutine spawned it, and where,
/// - with [`call_chains`](crate::Builder::call_chains): below each coroutine, the functions
///   through which it has come to its waits, innermost first.
///
/// A line that begins with `!` is about coroutines that cannot continue by
/// themselves: one that nothing can resume, or several that wait for each other's
/// end.
///
/// The same state prints the same bytes.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::inspect::Wait;
///
/// let mut executor = Executor::new();
/// let dialogue = executor.start(async { wait_seconds(2).await }).named("dialogue");
/// let id = dialogue.id();
/// executor.start(dialogue).named("intro");
/// executor.start(fixed_update()).named("physics");
/// executor.run_frame(0.25);
///
/// let snapshot = executor.snapshot();
/// assert_eq!(
///     snapshot.to_string(),
///     "\
/// frame 1, 250ms: 2 coroutines
///   id   name      state
///   0v1  dialogue  1.75s, until 2s
///   1v1    intro   the end of 0v1 dialogue
/// "
/// );
///
/// let dialogue = snapshot.get(id).unwrap();
/// assert!(matches!(dialogue.waits().next(), Some(Wait::Timer { .. })));
/// let hanging: Vec<_> = snapshot.waiting_for(id).map(|c| c.name()).collect();
/// assert_eq!(hanging, ["intro"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    time: Time,
    /// By id.
    coroutines: Vec<CoroutineInfo>,
    /// In the order of their calls.
    stops: Vec<PendingStop>,
}

impl Snapshot {
    pub(crate) fn new(time: Time, coroutines: Vec<CoroutineInfo>, stops: Vec<PendingStop>) -> Self {
        debug_assert!(coroutines.is_sorted_by_key(|coroutine| coroutine.id));
        Snapshot {
            time,
            coroutines,
            stops,
        }
    }

    /// The readings of the clocks when the snapshot was taken.
    pub fn time(&self) -> Time {
        self.time
    }

    /// How many coroutines were alive.
    pub fn len(&self) -> usize {
        self.coroutines.len()
    }

    /// Whether no coroutine was alive.
    pub fn is_empty(&self) -> bool {
        self.coroutines.is_empty()
    }

    /// All coroutines, by id.
    pub fn iter(&self) -> slice::Iter<'_, CoroutineInfo> {
        self.coroutines.iter()
    }

    /// The requests to stop whose time is not over, in the order of the calls of
    /// [`stop_within`](crate::Owner::stop_within).
    pub fn stops(&self) -> slice::Iter<'_, PendingStop> {
        self.stops.iter()
    }

    /// The coroutine of that id, if it was alive.
    pub fn get(&self, id: CoroutineId) -> Option<&CoroutineInfo> {
        self.position(id).map(|position| &self.coroutines[position])
    }

    pub(super) fn at(&self, position: usize) -> &CoroutineInfo {
        &self.coroutines[position]
    }

    pub(super) fn position(&self, id: CoroutineId) -> Option<usize> {
        let found = self.coroutines.binary_search_by_key(&id, |c| c.id);
        found.ok()
    }

    /// The coroutines that join the coroutine of that id.
    pub fn waiting_for(&self, id: CoroutineId) -> impl Iterator<Item = &CoroutineInfo> {
        let joins = move |wait: &Wait| wait.joins() == Some(id);
        self.iter().filter(move |c| c.waits().any(joins))
    }

    /// Cycles of coroutines: each joins the next, and the last joins the first. None
    /// of them continues, unless one is stopped.
    ///
    /// Only coroutines that wait for nothing else are in a cycle. (Wakers that they
    /// may have given away do not count.)
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let cell = Rc::new(Cell::new(None::<Coroutine<()>>));
    /// let south = cell.clone();
    /// let north = executor.spawn(async move { drop(south.take().unwrap().await) });
    /// let north_id = north.id();
    /// let south = executor.spawn(async { drop(north.await) });
    /// let south_id = south.id();
    /// cell.set(Some(south));
    ///
    /// executor.run_frame(0.25);
    /// assert_eq!(executor.snapshot().cycles(), [[north_id, south_id]]);
    /// ```
    pub fn cycles(&self) -> Vec<Vec<CoroutineId>> {
        let next: Vec<_> = self.iter().map(|c| self.only_join(c)).collect();
        let cycles = cycles::of(&next).into_iter();
        let ids = |cycle: Vec<usize>| cycle.into_iter().map(|at| self.coroutines[at].id).collect();
        cycles.map(ids).collect()
    }

    /// The coroutine that `coroutine` joins, if it waits for nothing else.
    fn only_join(&self, coroutine: &CoroutineInfo) -> Option<usize> {
        if coroutine.state != State::Waiting {
            return None;
        }
        let mut waits = coroutine
            .waits()
            .filter(|wait| !matches!(wait, Wait::Wake { .. }));
        let (first, second) = (waits.next(), waits.next());
        let joined = first.filter(|_| second.is_none())?.joins()?;
        self.position(joined)
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = &'a CoroutineInfo;
    type IntoIter = slice::Iter<'a, CoroutineInfo>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
