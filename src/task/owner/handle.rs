//! A weak handle of an owner.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use crate::core::life::end;
use crate::core::owners::{OwnerKey, PauseChange};
use crate::core::{Core, pause, scope};
use crate::lend;
use crate::task::coroutine::{self, Coroutine, Place, ScriptBuilder};
use crate::time::Seconds;

use super::{Ended, OwnerEnd, PauseGuard, StopWithin, stop};

#[cfg(doc)]
use super::Owner;

/// A weak handle of an [`Owner`], made by [`Owner::handle`]. It starts and stops
/// the owner's coroutines, and keeps neither them nor the owner alive.
///
/// For a callback, or a coroutine of another owner, that may outlive the owner. The
/// handle is cheap to clone, and stays on the thread of its executor.
///
/// After the owner, an owner above it or the executor has been dropped:
///
/// - `spawn` and `start` drop the future and return the handle of a stopped
///   coroutine;
/// - `pause` and `resume` return `false`;
/// - `stop_all` and `request_stop` do nothing, nor does the guard of `pause_guard`;
/// - `ended` is over once the coroutines have ended.
///
/// # Examples
///
/// ```
/// use framestep::task::OwnerHandle;
/// use framestep::prelude::*;
///
/// async fn shake() {
///     wait_seconds(0.5).await;
/// }
///
/// let executor = Executor::new();
/// let camera = executor.owner();
/// let on_hit = {
///     let camera: OwnerHandle = camera.handle();
///     move || camera.start(shake())
/// };
/// on_hit();
/// assert_eq!(executor.len(), 1);
/// drop(camera);
/// assert!(on_hit().is_finished());
/// assert!(executor.is_empty());
/// ```
#[derive(Clone)]
pub struct OwnerHandle {
    /// The number of the executor, to find it. There is no pointer, so nothing keeps memory alive,
    /// whichever thread drops it.
    executor: u32,
    pub(super) key: OwnerKey,
    /// The executor is found only on its own thread.
    home: PhantomData<Rc<Core>>,
}

impl OwnerHandle {
    pub(super) fn new(executor: u32, key: OwnerKey) -> Self {
        OwnerHandle {
            executor,
            key,
            home: PhantomData,
        }
    }

    /// Calls `f` with the executor if the owner is alive.
    fn with_core<R>(&self, f: impl FnOnce(&Core) -> R) -> Option<R> {
        let found = self.with_executor(|core| {
            let alive = !core.is_closed() && core.owners.borrow().is_alive(self.key);
            alive.then(|| f(core))
        });
        found.flatten()
    }

    /// Calls `f` with the executor, if it is on this thread, even if the owner is gone.
    pub(super) fn with_executor<R>(&self, f: impl FnOnce(&Core) -> R) -> Option<R> {
        scope::with_executor(self.executor, f)
    }

    /// The place of a coroutine of the owner. If the owner is gone, it refuses coroutines.
    fn place(&self) -> Place {
        Place::of_owner(self.with_executor(Core::rc), self.key)
    }

    /// Like [`Owner::spawn`].
    #[track_caller]
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::spawn(self.place(), future)
    }

    /// Like [`Owner::start`].
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        coroutine::start(self.place(), future)
    }

    /// Like [`start`](Self::start), and lends `state` to the first poll, as
    /// [`Handle::lend`](crate::Handle::lend) does. Snapshots show the line of this call, so a host
    /// that starts scripts for its callers need not start them in a closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     doors: u32,
    /// }
    ///
    /// async fn open() {
    ///     with(|world: &mut World| world.doors += 1);
    ///     wait_seconds(1).await;
    /// }
    ///
    /// let executor = Executor::new();
    /// let room = executor.owner();
    /// let mut world = World { doors: 0 };
    /// room.handle().start_with(&mut world, open());
    /// assert_eq!(world.doors, 1);
    /// ```
    #[track_caller]
    pub fn start_with<S, F>(&self, state: &mut S, future: F) -> Coroutine<F::Output>
    where
        S: 'static,
        F: Future + 'static,
    {
        let line = Location::caller();
        let start = || coroutine::start((self.place(), line), future);
        let core = self.with_executor(Core::rc);
        match core.filter(|core| !core.is_closed()) {
            Some(core) => lend::plain(core, state, start),
            None => start(),
        }
    }

    /// Like [`Owner::script`].
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        ScriptBuilder::new(name.into(), self.place())
    }

    /// Like [`Owner::stop_all`].
    #[doc(alias = "StopAllCoroutines")]
    #[track_caller]
    pub fn stop_all(&self) {
        let line = Some(Location::caller());
        self.with_core(|core| end::stop_owned(core, self.key, line));
    }

    /// Like [`Owner::pause`].
    pub fn pause(&self) -> bool {
        self.set_paused(true)
    }

    /// Like [`Owner::resume`].
    pub fn resume(&self) -> bool {
        self.set_paused(false)
    }

    fn set_paused(&self, paused: bool) -> bool {
        self.change_pause(PauseChange::Set(paused))
    }

    /// Returns `false` if the owner is gone, or if nothing changes.
    pub(super) fn change_pause(&self, change: PauseChange) -> bool {
        let changed = self.with_core(|core| pause::change_owner_pause(core, self.key, change));
        changed.unwrap_or(false)
    }

    /// Like [`Owner::pause_guard`].
    pub fn pause_guard(&self) -> PauseGuard {
        PauseGuard::new(self.clone())
    }

    /// Like [`Owner::request_stop`].
    pub fn request_stop(&self) {
        self.with_core(|core| end::request_stop(core, self.key));
    }

    /// Like [`Owner::stop_within`].
    #[track_caller]
    pub fn stop_within(&self, seconds: impl Seconds) -> StopWithin {
        stop::stop_within(self.executor, self.key, seconds)
    }

    /// Like [`Owner::ended`].
    pub fn ended(&self) -> Ended {
        self.end().into()
    }

    pub(super) fn end(&self) -> OwnerEnd {
        OwnerEnd::new(self.executor, self.key, None)
    }

    /// Whether the owner is alive: neither the owner, nor an owner above it, nor
    /// the executor has been dropped. An inactive owner is alive.
    pub fn is_alive(&self) -> bool {
        self.with_core(|_| ()).is_some()
    }
}

impl fmt::Debug for OwnerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerHandle")
            .field("alive", &self.is_alive())
            .finish()
    }
}
