//! A weak handle of an executor, for its own thread.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::{Rc, Weak};

use futures::future::LocalFutureObj;
use futures::task::{LocalSpawn, SpawnError};

use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::scope::{self, recording};
use crate::core::view::View;
use crate::core::wake::calls;
use crate::core::{Core, pause, report};
use crate::inspect::{self, Snapshot, TraceEvent};
use crate::sync::{Named, named_in};
use crate::task::coroutine::{self, Coroutine, CoroutineId, OutputSource, Place, ScriptBuilder};
use crate::task::owner::Owner;
use crate::time::{Clock, Time};

use super::{Executor, RemoteHandle, TraceHook};

/// A weak handle of an [`Executor`]. It spawns, starts and stops coroutines
/// anywhere on the executor's thread: in a behaviour, a callback or a coroutine.
///
/// It does not keep the executor alive. After the executor has been dropped,
/// `spawn` and `start` drop the future and return the handle of a stopped
/// coroutine, and `stop` returns `false`.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// struct Door {
///     scripts: framestep::Handle,
/// }
///
/// impl Door {
///     fn interact(&self) {
///         self.scripts.start(async {
///             wait_seconds(0.5).await;
///             println!("open");
///         });
///     }
/// }
///
/// let mut executor = Executor::new();
/// let door = Door { scripts: executor.handle() };
/// door.interact();
/// assert_eq!(executor.len(), 1);
/// ```
#[derive(Clone)]
pub struct Handle {
    core: Weak<Core>,
}

impl Handle {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        Handle {
            core: Rc::downgrade(core),
        }
    }

    pub(crate) fn core(&self) -> Option<Rc<Core>> {
        self.core.upgrade().filter(|core| !core.is_closed())
    }

    fn place(&self) -> Place {
        Place::of_host(self.core())
    }

    /// Calls `f` with the key of a coroutine. Returns `false` if the executor has
    /// been dropped, or if the coroutine belongs to another executor.
    fn with_key(&self, id: CoroutineId, f: impl FnOnce(&Core, TaskKey) -> bool) -> bool {
        self.core().is_some_and(|core| core.with_key(id, f))
    }

    /// Like [`Executor::spawn`].
    #[track_caller]
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::spawn(self.place(), future)
    }

    /// Like [`Executor::start`].
    #[track_caller]
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::start(self.place(), future)
    }

    /// Like [`Executor::script`].
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        ScriptBuilder::new(name.into(), self.place())
    }

    /// Like [`Executor::stop`].
    #[track_caller]
    pub fn stop(&self, id: CoroutineId) -> bool {
        let place = Some(Location::caller());
        self.with_key(id, |core, key| end::stop(core, key, place))
    }

    /// Like [`Executor::pause`].
    pub fn pause(&self, id: CoroutineId) -> bool {
        self.with_key(id, |core, key| pause::set_paused(core, key, true))
    }

    /// Like [`Executor::resume`].
    pub fn resume(&self, id: CoroutineId) -> bool {
        self.with_key(id, |core, key| pause::set_paused(core, key, false))
    }

    /// Whether the coroutine is paused, itself or through an owner, like
    /// [`Coroutine::is_paused`]. Returns `false` if it has ended, belongs to another
    /// executor, or the executor has been dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let handle = executor.handle();
    /// let id = executor.start(wait_seconds(1)).id();
    /// handle.pause(id);
    /// assert!(handle.is_paused(id));
    /// ```
    pub fn is_paused(&self, id: CoroutineId) -> bool {
        self.with_key(id, Core::is_paused)
    }

    /// Like [`Executor::owner`]. Returns `None` if the executor has been dropped.
    pub fn owner(&self) -> Option<Owner> {
        Some(Owner::new(&*self.core()?, None))
    }

    /// Like [`Executor::owner_on`]. Returns `None` if the executor has been
    /// dropped.
    #[track_caller]
    pub fn owner_on(&self, clock: &Clock) -> Option<Owner> {
        Some(Owner::on(&*self.core()?, None, clock))
    }

    /// Like [`Executor::is_alive`].
    pub fn is_alive(&self, id: CoroutineId) -> bool {
        self.with_key(id, Core::is_alive)
    }

    /// Like [`Executor::enter`]. If the executor has been dropped, returns `None` and does
    /// not call `f`.
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        recording::refuse("Handle::enter");
        let core = self.core()?;
        Some(scope::call_in(&core, f))
    }

    /// Like [`Executor::named`]. If the executor has been dropped, returns `None`.
    #[track_caller]
    pub fn named<N: Named>(&self, source: &N) -> Option<N> {
        let core = self.core()?;
        Some(named_in(&core, source))
    }

    /// Makes the calls that a [`RemoteHandle`] has requested, such as [`RemoteHandle::stop`], now instead of when
    /// the next run begins. Does nothing during a run, while a coroutine is polled, or if the
    /// executor has been dropped.
    ///
    /// A panic of a call ends only that call, as in a run.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let search = executor.spawn(std::future::pending::<()>());
    /// executor.remote().stop(search.id());
    /// assert!(!search.is_finished());
    /// executor.handle().make_calls();
    /// assert!(search.is_finished());
    /// ```
    pub fn make_calls(&self) {
        if let Some(core) = self.core() {
            calls::make_between_runs(&core);
        }
    }

    /// Like [`Executor::snapshot`]. If a coroutine calls it, that coroutine is
    /// [`Running`](crate::inspect::State::Running) in the snapshot. Returns `None` if the
    /// executor has been dropped.
    pub fn snapshot(&self) -> Option<Snapshot> {
        Some(inspect::snapshot(View::new(&*self.core()?)))
    }

    /// Like [`Executor::on_unobserved`]. If the executor has been dropped, `hook` is
    /// dropped.
    pub fn on_unobserved<T: 'static>(&self, hook: impl FnMut(T, OutputSource) + 'static) {
        if let Some(core) = self.core() {
            report::on_unobserved(&core, hook);
        }
    }

    /// Like [`Executor::on_trace`]. If the executor has been dropped, `hook` is dropped.
    pub fn on_trace(&self, hook: impl FnMut(&TraceEvent) + 'static) -> TraceHook {
        TraceHook::add(self.core().as_ref(), Box::new(hook), false)
    }

    /// Like [`Executor::on_full_trace`]. If the executor has been dropped, `hook` is
    /// dropped.
    pub fn on_full_trace(&self, hook: impl FnMut(&TraceEvent) + 'static) -> TraceHook {
        TraceHook::add(self.core().as_ref(), Box::new(hook), true)
    }

    /// Like [`Executor::time`]. Returns `None` if the executor has been dropped.
    pub fn time(&self) -> Option<Time> {
        Some(self.core()?.game_time())
    }

    /// Like [`Executor::clock`]. Returns `None` if the executor has been dropped.
    pub fn clock(&self) -> Option<Clock> {
        Some(self.core()?.game_clock().clone())
    }

    /// Like [`Executor::realtime`]. Returns `None` if the executor has been
    /// dropped.
    pub fn realtime(&self) -> Option<Clock> {
        Some(self.core()?.realtime().clone())
    }

    /// Like [`Executor::remote`]. Returns `None` if the executor has been dropped.
    pub fn remote(&self) -> Option<RemoteHandle> {
        Some(RemoteHandle::new(self.core()?.host.injected.clone()))
    }
}

impl LocalSpawn for Handle {
    #[track_caller]
    fn spawn_local_obj(&self, future: LocalFutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.status_local()?;
        self.spawn(future);
        Ok(())
    }

    fn status_local(&self) -> Result<(), SpawnError> {
        self.core().map(drop).ok_or_else(SpawnError::shutdown)
    }
}

impl LocalSpawn for Executor {
    #[track_caller]
    fn spawn_local_obj(&self, future: LocalFutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.spawn(future);
        Ok(())
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = if self.core().is_some() {
            "alive"
        } else {
            "gone"
        };
        f.debug_tuple("Handle").field(&status).finish()
    }
}
