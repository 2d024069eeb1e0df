//! A name for a coroutine that is about to be made.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use crate::time::Phase;

use super::handle::Coroutine;
use super::make::{self, Resolved};

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
