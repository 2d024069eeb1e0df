//! All coroutines at one moment.

use std::slice;

use crate::coroutine::CoroutineId;
use crate::time::Time;

use super::coroutine::{CoroutineInfo, State};
use super::cycles;
use super::wait::Wait;

/// What every coroutine of an executor waited for at one moment.
///
/// Taken by [`Executor::snapshot`](crate::Executor::snapshot) and
/// [`Handle::snapshot`](crate::Handle::snapshot). It is plain data: it borrows
/// nothing, keeps nothing alive, may go to another thread, and does not change.
///
/// # What it prints
///
/// One line for each coroutine: its id, its name and what it waits for. A coroutine that
/// joins another stands below that one, so the first line of a group is what all
/// of it hangs on. Phases are named unless they are `Update`, clocks unless they
/// are the game clock, and owners if there are any; an executor that was built
/// with [`inspect`](crate::Builder::inspect) also tells since when, and who has
/// spawned which coroutine, and where.
///
/// Lines that begin with `!` are about coroutines that will not go on by
/// themselves: those that nothing will ever resume, and those that wait for one
/// another's end.
///
/// The same state prints the same bytes.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::Wait;
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
}

impl Snapshot {
    pub(crate) fn new(time: Time, coroutines: Vec<CoroutineInfo>) -> Self {
        debug_assert!(coroutines.is_sorted_by_key(|coroutine| coroutine.id));
        Snapshot { time, coroutines }
    }

    /// What the clocks read when it was taken.
    pub fn time(&self) -> Time {
        self.time
    }

    /// How many coroutines were alive.
    pub fn len(&self) -> usize {
        self.coroutines.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.coroutines.is_empty()
    }

    /// All coroutines, by id.
    pub fn iter(&self) -> slice::Iter<'_, CoroutineInfo> {
        self.coroutines.iter()
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

    /// Those that join the coroutine of that id.
    pub fn waiting_for(&self, id: CoroutineId) -> impl Iterator<Item = &CoroutineInfo> {
        let joins = move |wait: &Wait| wait.joins() == Some(id);
        self.iter().filter(move |c| c.waits().any(joins))
    }

    /// Circles of coroutines of which each joins the next, and the last one the
    /// first: none of them goes on, unless one is stopped.
    ///
    /// Only those are in one that wait for nothing else. (That somebody may have
    /// their waker does not count.)
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let give = Rc::new(Cell::new(None::<Coroutine<()>>));
    /// let take = give.clone();
    /// let north = executor.spawn(async move { drop(take.take().unwrap().await) });
    /// let ids = [north.id(), executor.spawn(async { drop(north.await) }).id()];
    /// # drop(ids);
    /// ```
    pub fn cycles(&self) -> Vec<Vec<CoroutineId>> {
        let next: Vec<_> = self.iter().map(|c| self.only_join(c)).collect();
        let cycles = cycles::of(&next).into_iter();
        let ids = |cycle: Vec<usize>| cycle.into_iter().map(|at| self.coroutines[at].id).collect();
        cycles.map(ids).collect()
    }

    /// The coroutine that a coroutine joins which waits for nothing else.
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
