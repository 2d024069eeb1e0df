//! Owners: what coroutines end with.

#![deny(unsafe_code)]

mod handle;
#[allow(
    unsafe_code,
    reason = "an owner of numbers is `Send`, but its use is not"
)]
mod send;
mod table;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::core::{Core, scope};
use crate::coroutine::Coroutine;
use crate::time::ClockState;
use crate::time::PhaseIndex;
use crate::time::{Clock, Phase};

pub use handle::OwnerHandle;
pub use send::SendOwner;

pub(crate) use table::{OwnerIndex, Owners};

/// Owns coroutines: dropping it stops them.
///
/// Put it into whatever its scripts belong to: a behaviour, a component, a
/// scene. It is small, and an executor may have a hundred thousand of them. A
/// coroutine that is spawned inside one of an owner, with the free
/// [`spawn`](crate::spawn) or [`start`](crate::start), has the same owner.
///
/// Owners form a tree: stopping, pausing and deactivating one does it to all
/// [`child`](Owner::child)ren, and to theirs. Dropping one stops its children's
/// coroutines too, and nothing starts on those children any more.
///
/// An owner may be dropped anywhere, also in one of its own coroutines and in
/// their destructors; what is dropped in the middle of its poll goes on to its
/// next wait. Destructors cannot start anything on an owner that is going.
///
/// [`handle`](Owner::handle) makes a weak handle, for what has to start something but
/// must not keep it. An owner stays on the thread of its executor;
/// [`into_send`](Owner::into_send) makes a value of it that can be a component of an
/// engine which steps its systems on several threads.
///
/// # Examples
///
/// ```
/// use framestep::{Owner, prelude::*};
///
/// struct Enemy {
///     scripts: Owner,
/// }
///
/// async fn patrol() {
///     loop {
///         wait_seconds(0.5).await;
///     }
/// }
///
/// let mut executor = Executor::new();
/// let enemy = Enemy { scripts: executor.owner() };
/// enemy.scripts.start(patrol());
/// executor.run_frame(0.25);
/// assert_eq!(executor.len(), 1);
///
/// drop(enemy);
/// assert!(executor.is_empty());
/// ```
///
/// What has to be undone when a script is stopped goes into a guard, whose
/// destructor runs however the script ends:
///
/// ```
/// # use std::{cell::Cell, rc::Rc};
/// # use framestep::prelude::*;
/// struct Alarm(Rc<Cell<bool>>);
///
/// impl Alarm {
///     fn sound(on: &Rc<Cell<bool>>) -> Self {
///         on.set(true);
///         Alarm(on.clone())
///     }
/// }
///
/// impl Drop for Alarm {
///     fn drop(&mut self) {
///         self.0.set(false);
///     }
/// }
///
/// let executor = Executor::new();
/// let (tower, on) = (executor.owner(), Rc::new(Cell::new(false)));
/// let siren = on.clone();
/// tower.start(async move {
///     let _alarm = Alarm::sound(&siren);
///     wait_seconds(60).await;
/// });
/// assert!(on.get());
/// drop(tower);
/// assert!(!on.get());
/// ```
///
/// # Source
///
/// `MonoBehaviour` and `GameObject.SetActive`, Unity scripting reference:
/// coroutines end with their behaviour. Pausing is not in Unity.
pub struct Owner {
    /// The number of its executor, by which that is found. Nothing leads to it
    /// directly, so that an owner keeps no memory, on whichever thread it ends.
    executor: u32,
    index: OwnerIndex,
    /// The executor is found on its own thread only.
    home: PhantomData<Rc<Core>>,
}

impl Owner {
    /// An owner whose coroutines count on the clock of `parent`, or the game
    /// clock.
    pub(crate) fn new(core: &Core, parent: Option<OwnerIndex>) -> Self {
        let clock = {
            let owners = core.owners.borrow();
            parent.and_then(|parent| owners.clock(parent).cloned())
        };
        Self::with_clock(core, parent, clock)
    }

    /// An owner whose coroutines count on `clock`.
    #[track_caller]
    pub(crate) fn on(core: &Core, parent: Option<OwnerIndex>, clock: &Clock) -> Self {
        let clock = clock.state_for(&core.clock);
        Self::with_clock(core, parent, clock)
    }

    fn with_clock(core: &Core, parent: Option<OwnerIndex>, clock: Option<Rc<ClockState>>) -> Self {
        let index = core.owners.borrow_mut().insert(parent, clock);
        Owner {
            executor: core.id,
            index,
            home: PhantomData,
        }
    }

    /// An owner that takes nothing: executors are numbered from 1.
    fn of_nobody() -> Self {
        Owner {
            executor: 0,
            index: OwnerIndex::NONE,
            home: PhantomData,
        }
    }

    /// Calls `f` with the executor, if that is there, on this thread.
    fn with_core<R>(&self, f: impl FnOnce(&Core) -> R) -> Option<R> {
        scope::with_executor(self.executor, f)
    }

    fn core(&self) -> Option<Rc<Core>> {
        self.with_core(Core::rc)
    }

    pub(crate) fn index(&self) -> OwnerIndex {
        self.index
    }

    /// Adds a coroutine of this owner, like [`Executor::spawn`].
    ///
    /// On an owner that is [inactive](Owner::set_active), or whose executor or
    /// parent is gone, the future is dropped: the handle is one of a coroutine
    /// that was stopped before it began.
    ///
    /// [`Executor::spawn`]: crate::Executor::spawn
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        Coroutine::spawn_or_refuse(self.core(), future, None, Some(self.index))
    }

    /// Adds a coroutine of this owner, like [`Executor::spawn_in`], or refuses
    /// it, like [`spawn`](Owner::spawn).
    ///
    /// [`Executor::spawn_in`]: crate::Executor::spawn_in
    #[track_caller]
    pub fn spawn_in<F>(&self, phase: Phase, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        let phase = Some(PhaseIndex::new(phase));
        Coroutine::spawn_or_refuse(self.core(), future, phase, Some(self.index))
    }

    /// Adds a coroutine of this owner and polls it at once, up to its first
    /// wait, like [`Executor::start`], or refuses it, like
    /// [`spawn`](Owner::spawn). While the owner is paused it is added like a
    /// spawned one, and begins once the owner goes on.
    ///
    /// [`Executor::start`]: crate::Executor::start
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        Coroutine::start_or_refuse(self.core(), future, Some(self.index))
    }

    /// Stops all coroutines of this owner and of its children: those of the
    /// children first, each owner's in the order in which they were added. All
    /// destructors have run when this returns, except those of coroutines that
    /// are being polled: they go on until they next wait.
    ///
    /// Coroutines that a destructor spawns meanwhile are not among them, unless
    /// the owner is dropped: then they are refused.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let owner = executor.owner();
    /// let blink = owner.start(async { wait_seconds(1).await });
    /// owner.stop_all();
    /// assert!(blink.is_finished());
    /// ```
    #[doc(alias = "StopAllCoroutines")]
    pub fn stop_all(&self) {
        self.with_core(|core| core.stop_owned(self.index));
    }

    /// Pauses the coroutines of this owner and of its children: nothing of them
    /// resumes, and their timers stand still. `false`: it was paused already,
    /// and has to be resumed only once.
    ///
    /// Whatever makes a coroutine due meanwhile, however often, is remembered as
    /// one wake, which arrives when the owner is [resumed](Owner::resume): in the
    /// run under way if that is of its phase, else in the next one. Several
    /// coroutines resume in the order in which they were spawned. Frames and steps
    /// are counted on, conditions are not asked. A coroutine that is being polled
    /// goes on until it next waits, and that wait is paused from its beginning.
    ///
    /// A timer has as much time left afterwards as it had before, to the
    /// nanosecond, on whichever clock it counts; one whose deadline the clock had
    /// reached is due in the pause. For timers in [`Phase::FixedUpdate`] that is
    /// fixed time.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let enemies = executor.owner();
    /// let shot = enemies.start(async { wait_seconds(1).await });
    /// executor.run_frame(0.25);
    /// enemies.pause();
    /// for _ in 0..100 {
    ///     executor.run_frame(0.25);
    /// }
    /// enemies.resume();
    /// executor.run_until(shot, 0.25);
    /// assert_eq!(executor.time().frame, 104); // 3 more quarters of a second
    /// ```
    pub fn pause(&self) -> bool {
        self.set_paused(true)
    }

    /// Ends a [`pause`](Owner::pause). `false`: it was not paused. What is
    /// paused by itself, or by an owner above, stays paused.
    pub fn resume(&self) -> bool {
        self.set_paused(false)
    }

    fn set_paused(&self, paused: bool) -> bool {
        let set = self.with_core(|core| core.set_owner_paused(self.index, paused));
        set.unwrap_or(false)
    }

    /// Whether this owner is paused, or one above it.
    pub fn is_paused(&self) -> bool {
        let held = self.with_core(|core| core.owners.borrow().is_held(self.index));
        held.unwrap_or(false)
    }

    /// Makes the owner inactive: stops all it and its children own, and refuses
    /// new coroutines from then on; or active again, which starts nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let owner = executor.owner();
    /// owner.set_active(false);
    /// let refused = owner.start(async { println!("never said") });
    /// assert!(refused.is_finished());
    /// owner.set_active(true);
    /// assert!(executor.is_empty());
    /// ```
    ///
    /// # Source
    ///
    /// `GameObject.SetActive`, Unity scripting reference.
    #[doc(alias = "SetActive")]
    pub fn set_active(&self, active: bool) {
        self.with_core(|core| {
            core.owners.borrow_mut().set_active(self.index, active);
            if !active {
                core.stop_owned(self.index);
            }
        });
    }

    /// Whether coroutines can be added: neither this owner nor one above it is
    /// inactive or gone, and the executor is there.
    pub fn is_active(&self) -> bool {
        let active = self.with_core(|core| core.accepts(Some(self.index)));
        active.unwrap_or(false)
    }

    /// Names the owner, for [snapshots](crate::Snapshot). The owner of a
    /// [`Behaviour`](crate::Behaviour) goes by its type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let level = executor.owner();
    /// level.named("level 3");
    /// let door = level.start(wait_seconds(1));
    /// let snapshot = executor.snapshot();
    /// assert_eq!(snapshot.get(door.id()).unwrap().owner(), Some("level 3"));
    /// ```
    pub fn named(&self, name: impl Into<Cow<'static, str>>) -> &Self {
        let name = name.into();
        self.with_core(|core| {
            let previous = core.owners.borrow_mut().set_name(self.index, name);
            drop(previous);
        });
        self
    }

    /// Whether this owner and its children have no coroutine.
    pub fn is_empty(&self) -> bool {
        let empty = self.with_core(|core| core.owners.borrow().is_empty(self.index));
        empty.unwrap_or(true)
    }

    /// A new owner below this one: what is done to this one is done to it. Its
    /// coroutines count on the same clock.
    ///
    /// The child ends when this owner is dropped, so keep both: `owner().child()` gives
    /// a child that starts nothing.
    #[must_use = "dropping an owner stops what it owns"]
    pub fn child(&self) -> Owner {
        let child = self.with_core(|core| Owner::new(core, Some(self.index)));
        child.unwrap_or_else(Owner::of_nobody)
    }

    /// A new owner below this one whose coroutines count on `clock`, see
    /// [`Executor::owner_on`](crate::Executor::owner_on). It ends when this owner is
    /// dropped, as every [`child`](Owner::child) does.
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    #[must_use = "dropping an owner stops what it owns"]
    #[track_caller]
    pub fn child_on(&self, clock: &Clock) -> Owner {
        match self.core() {
            Some(core) => Owner::on(&core, Some(self.index), clock),
            None => Owner::of_nobody(),
        }
    }

    /// A weak handle: it keeps neither the owner nor its coroutines.
    ///
    /// # Examples
    ///
    /// See [`OwnerHandle`].
    pub fn handle(&self) -> OwnerHandle {
        OwnerHandle::new(self)
    }

    /// Makes an owner that may go to other threads: a component of an engine, say.
    ///
    /// # Examples
    ///
    /// See [`SendOwner`].
    pub fn into_send(self) -> SendOwner {
        SendOwner::new(self)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.with_core(|core| core.remove_owner(self.index));
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("active", &self.is_active())
            .field("paused", &self.is_paused())
            .field("empty", &self.is_empty())
            .finish()
    }
}
