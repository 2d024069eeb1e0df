//! A coroutine that is about to be made.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::time::Phase;

use super::handle::Coroutine;
use super::make::{self, Place};

/// Starts or spawns one coroutine under a name, with another home phase if need be. The name
/// holds from the start: in the first poll, in the trace, in snapshots and in reports.
///
/// In scripts, the free function [`script`](crate::task::script()) makes it. Hosts use the
/// method `script` of [`Executor`](crate::Executor::script),
/// [`Handle`](crate::Handle::script), [`Owner`](crate::Owner::script),
/// [`OwnerHandle`](crate::task::OwnerHandle::script),
/// [`SceneContext`](crate::scene::SceneContext::script) and
/// [`BehaviourHandle`](crate::scene::BehaviourHandle::script). An empty name stands for the path
/// of the `async fn`, as without a builder.
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
///     script("minion").start(async { wait_seconds(1).await }).await.unwrap();
/// }
///
/// let mut executor = Executor::new();
/// let boss = executor.script("boss").start(boss());
/// assert!(executor.snapshot().iter().any(|script| script.name() == "minion"));
/// executor.run_until(boss, 0.25).unwrap();
/// ```
///
/// # Source
///
/// `std::thread::Builder`.
#[must_use = "a builder starts nothing: call `start` or `spawn`"]
pub struct ScriptBuilder {
    place: Place,
}

impl ScriptBuilder {
    pub(crate) fn new(name: Cow<'static, str>, place: Place) -> Self {
        let place = match &*name {
            "" => place,
            _ => place.named(name),
        };
        ScriptBuilder { place }
    }

    /// Makes `phase` the home of the coroutine. Waits that name no phase, and every other future,
    /// resume it there. Coroutines that it starts or spawns have the same home.
    ///
    /// [`start`](Self::start) still polls the coroutine at once. After [`spawn`](Self::spawn), it
    /// is first polled in the next run of `phase` that begins after the call.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let camera = executor.script("camera").in_phase(Phase::LateUpdate);
    /// let camera = camera.spawn(async { time().phase });
    /// assert_eq!(executor.run_until(camera, 0.1).unwrap(), Some(Phase::LateUpdate));
    /// ```
    pub fn in_phase(self, phase: Phase) -> Self {
        ScriptBuilder {
            place: self.place.at(phase),
        }
    }

    /// Starts the coroutine, like [`start`](crate::start) or
    /// [`Executor::start`](crate::Executor::start).
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F: Future + 'static>(self, future: F) -> Coroutine<F::Output> {
        make::start(self.place, future)
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
        make::start((self.place, place), future)
    }

    /// Adds the coroutine, like [`spawn`](crate::spawn) or
    /// [`Executor::spawn`](crate::Executor::spawn).
    #[track_caller]
    pub fn spawn<F: Future + 'static>(self, future: F) -> Coroutine<F::Output> {
        make::spawn(self.place, future)
    }
}

impl fmt::Debug for ScriptBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScriptBuilder")
            .field(&self.place.name())
            .finish()
    }
}
