//! A name for a coroutine that is about to be made.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::time::Phase;

use super::handle::Coroutine;
use super::make::{self, Placed, Resolved};

/// Starts or spawns one coroutine under a name, which holds from the start: in the
/// first poll, in the trace, in snapshots and in reports.
///
/// In scripts, the free function [`named`](crate::named()) makes it. Hosts use the
/// method `script` of [`Executor`](crate::Executor::script),
/// [`Handle`](crate::Handle::script), [`Owner`](crate::Owner::script),
/// [`OwnerHandle`](crate::OwnerHandle::script),
/// [`SceneContext`](crate::SceneContext::script) and [`This`](crate::This::script).
///
/// To name a coroutine later, use [`Coroutine::named`].
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn boss() {
///     println!("{} wakes up", current_name());
///     named("minion").start(async { wait_seconds(1).await }).await.unwrap();
/// }
///
/// let mut executor = Executor::new();
/// let boss = executor.script("boss").start(boss());
/// assert!(executor.snapshot().iter().any(|script| script.name() == "minion"));
/// executor.run_until(boss, 0.25).unwrap();
/// ```
#[must_use = "a name starts nothing: call `start` or `spawn`"]
pub struct Named {
    resolved: Resolved,
}

impl Named {
    pub(crate) fn new(name: Cow<'static, str>, resolved: Resolved) -> Self {
        let resolved = resolved.named(name);
        Named { resolved }
    }

    /// Starts the coroutine, like [`start`](crate::start) or
    /// [`Executor::start`](crate::Executor::start).
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F>(self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        make::start(self.resolved, future)
    }

    /// Starts the coroutine with the home `phase`, like [`start_in`](crate::start_in).
    #[track_caller]
    pub fn start_in<F>(self, phase: Phase, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        make::start(self.resolved.at(phase), future)
    }

    /// Starts the coroutine as if the call were at `place`: snapshots, traces and reports show
    /// that line. For hosts that start scripts for their callers, and do so in a closure or later.
    ///
    /// # Examples
    ///
    /// A host that starts scripts between two frames:
    ///
    /// ```
    /// use std::panic::Location;
    ///
    /// use framestep::prelude::*;
    ///
    /// type Queue = Vec<Box<dyn FnOnce(&Executor)>>;
    ///
    /// #[track_caller]
    /// fn order(queue: &mut Queue, script: impl Future<Output = ()> + 'static) {
    ///     let place = Location::caller();
    ///     queue.push(Box::new(move |executor| {
    ///         executor.script("ordered").start_from(place, script);
    ///     }));
    /// }
    ///
    /// let mut queue = Queue::new();
    /// order(&mut queue, async { wait_seconds(1).await });
    /// let line = line!() - 1;
    ///
    /// let executor = Executor::builder().inspect(true).build();
    /// for start in queue {
    ///     start(&executor);
    /// }
    /// let snapshot = executor.snapshot();
    /// let place = snapshot.iter().next().unwrap().spawned_at();
    /// assert_eq!(place.unwrap().line(), line);
    /// ```
    pub fn start_from<F>(self, place: &'static Location<'static>, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        make::start(Placed(self.resolved, place), future)
    }

    /// Adds the coroutine, like [`spawn`](crate::spawn) or
    /// [`Executor::spawn`](crate::Executor::spawn).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        make::spawn(self.resolved, future)
    }

    /// Adds the coroutine with the home `phase`, like [`spawn_in`](crate::spawn_in).
    #[track_caller]
    pub fn spawn_in<F>(self, phase: Phase, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        make::spawn(self.resolved.at(phase), future)
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Named").field(&self.resolved.name()).finish()
    }
}
