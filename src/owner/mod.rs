//! Owners: what coroutines end with.

#![forbid(unsafe_code)]

mod table;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::core::Core;
use crate::coroutine::Coroutine;
use crate::time::ClockState;
use crate::time::PhaseIndex;
use crate::time::{Clock, Phase};

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
    core: Rc<Core>,
    index: OwnerIndex,
}

impl Owner {
    /// An owner whose coroutines count on the clock of `parent`, or the game
    /// clock.
    pub(crate) fn new(core: Rc<Core>, parent: Option<OwnerIndex>) -> Self {
        let clock = {
            let owners = core.owners.borrow();
            parent.and_then(|parent| owners.clock(parent).cloned())
        };
        Self::with_clock(core, parent, clock)
    }

    /// An owner whose coroutines count on `clock`.
    #[track_caller]
    pub(crate) fn on(core: Rc<Core>, parent: Option<OwnerIndex>, clock: &Clock) -> Self {
        let clock = clock.state_for(&core.clock);
        Self::with_clock(core, parent, clock)
    }

    fn with_clock(
        core: Rc<Core>,
        parent: Option<OwnerIndex>,
        clock: Option<Rc<ClockState>>,
    ) -> Self {
        let index = core.owners.borrow_mut().insert(parent, clock);
        Owner { core, index }
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.core
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
        Coroutine::spawn(self.core.clone(), future, None, Some(self.index))
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
        Coroutine::spawn(self.core.clone(), future, phase, Some(self.index))
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
        Coroutine::start(self.core.clone(), future, Some(self.index))
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
        self.core.stop_owned(self.index);
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
        self.core.set_owner_paused(self.index, true)
    }

    /// Ends a [`pause`](Owner::pause). `false`: it was not paused. What is
    /// paused by itself, or by an owner above, stays paused.
    pub fn resume(&self) -> bool {
        self.core.set_owner_paused(self.index, false)
    }

    /// Whether this owner is paused, or one above it.
    pub fn is_paused(&self) -> bool {
        self.core.owners.borrow().is_held(self.index)
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
        self.core.owners.borrow_mut().set_active(self.index, active);
        if !active {
            self.stop_all();
        }
    }

    /// Whether coroutines can be added: neither this owner nor one above it is
    /// inactive or gone, and the executor is there.
    pub fn is_active(&self) -> bool {
        !self.core.is_closed() && self.core.owners.borrow().is_open(self.index)
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
        let previous = self.core.owners.borrow_mut().set_name(self.index, name);
        drop(previous);
        self
    }

    /// Whether this owner and its children have no coroutine.
    pub fn is_empty(&self) -> bool {
        self.core.owners.borrow().is_empty(self.index)
    }

    /// A new owner below this one: what is done to this one is done to it. Its
    /// coroutines count on the same clock.
    #[must_use = "dropping an owner stops what it owns"]
    pub fn child(&self) -> Owner {
        Owner::new(self.core.clone(), Some(self.index))
    }

    /// A new owner below this one whose coroutines count on `clock`, see
    /// [`Executor::owner_on`](crate::Executor::owner_on).
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    #[must_use = "dropping an owner stops what it owns"]
    #[track_caller]
    pub fn child_on(&self, clock: &Clock) -> Owner {
        Owner::on(self.core.clone(), Some(self.index), clock)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.core.remove_owner(self.index);
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
