//! Owners: dropping one stops its coroutines.

mod ended;
mod group;
mod guard;
mod handle;
pub(crate) mod outputs;
mod send;
pub(crate) mod stop;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::life::{end, start};
use crate::core::owners::{OwnerKey, PauseChange};
use crate::core::{Core, pause};
use crate::inspect::Line;
use crate::task::coroutine::{Coroutine, ScriptBuilder};
use crate::time::{Clock, ClockState, Seconds};

pub use ended::Ended;
pub(crate) use ended::OwnerEnd;
pub use group::{Group, JoinGroup, TryJoinGroup, group};
pub use guard::PauseGuard;
pub use handle::OwnerHandle;
pub use send::SendOwner;
pub use stop::{StopRequested, StopWithin, is_stop_requested, stop_requested};

/// Owns coroutines: dropping the owner stops them.
///
/// Make it a field of the object that its scripts belong to: a behaviour, a
/// component, a scene. It is small: an executor may have a hundred thousand owners.
/// A coroutine that a script spawns with the free [`spawn`](crate::spawn) or
/// [`start`](crate::start) has the owner of the script.
///
/// Owners form a tree. Stopping, pausing or deactivating an owner applies to all
/// owners below it, which are its [`child`](Owner::child)ren and their children.
/// Dropping an owner stops the coroutines of all owners below it, and those owners
/// refuse new coroutines.
///
/// An owner may be dropped anywhere, even in one of its own coroutines or their
/// destructors. A coroutine that is being polled then continues to its next wait.
/// Destructors that run during the drop cannot start coroutines on the owner.
///
/// [`handle`](Owner::handle) makes a weak handle, for code that starts coroutines
/// on the owner but must not keep it alive. An owner stays on the thread of its
/// executor. [`into_send`](Owner::into_send) makes it a value that can be a
/// component of an engine that runs its systems on several threads.
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
/// To undo something when a script is stopped, put it into the destructor of a guard.
/// The destructor runs however the script ends:
///
/// ```
/// # use framestep::prelude::*;
/// #[derive(Default)]
/// struct World {
///     siren: bool,
/// }
///
/// struct Alarm;
///
/// impl Alarm {
///     fn sound() -> Self {
///         with(|world: &mut World| world.siren = true);
///         Alarm
///     }
/// }
///
/// impl Drop for Alarm {
///     fn drop(&mut self) {
///         with_deferred(|world: &mut World| world.siren = false);
///     }
/// }
///
/// let mut world = World::default();
/// let mut executor = Executor::new();
/// let tower = executor.owner();
/// executor.lend(&mut world, |_| {
///     tower.start(async {
///         let _alarm = Alarm::sound();
///         wait_seconds(60).await;
///     });
/// });
/// assert!(world.siren);
/// executor.lend(&mut world, |_| drop(tower));
/// assert!(!world.siren);
/// ```
///
/// # Source
///
/// `MonoBehaviour` and `GameObject.SetActive`, Unity scripting reference:
/// coroutines end with their behaviour. Unity has no pause of coroutines.
pub struct Owner {
    handle: OwnerHandle,
}

impl Owner {
    /// Makes an owner whose coroutines count on the clock of `parent`, or on the
    /// game clock.
    pub(crate) fn new(core: &Core, parent: Option<OwnerKey>) -> Self {
        let clock = {
            let owners = core.owners.borrow();
            parent.and_then(|parent| owners.clock(parent).cloned())
        };
        Self::with_clock(core, parent, clock)
    }

    /// Makes an owner whose coroutines count on `clock`.
    #[track_caller]
    pub(crate) fn on(core: &Core, parent: Option<OwnerKey>, clock: &Clock) -> Self {
        let clock = clock.state_for(&core.clock);
        Self::with_clock(core, parent, clock)
    }

    fn with_clock(core: &Core, parent: Option<OwnerKey>, clock: Option<Rc<ClockState>>) -> Self {
        let key = core.owners.borrow_mut().insert(parent, clock);
        Owner {
            handle: OwnerHandle::new(core.id, key),
        }
    }

    /// Makes an owner that refuses all coroutines: executors are numbered from 1.
    fn of_nobody() -> Self {
        Owner {
            handle: OwnerHandle::new(0, OwnerKey::NONE),
        }
    }

    /// Calls `f` with the executor, if it is alive and on this thread.
    fn with_core<R>(&self, f: impl FnOnce(&Core) -> R) -> Option<R> {
        self.handle.with_executor(f)
    }

    pub(crate) fn key(&self) -> OwnerKey {
        self.handle.key
    }

    /// Adds a coroutine of this owner, like [`Executor::spawn`]. In a coroutine of the
    /// same executor, it has the home of the caller.
    ///
    /// The owner *refuses* the coroutine if it is [inactive](Owner::set_active), or
    /// if its executor or an owner above it has been dropped. Then the future is
    /// dropped, and the handle is that of a stopped coroutine.
    ///
    /// [`Executor::spawn`]: crate::Executor::spawn
    #[track_caller]
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.handle.spawn(future)
    }

    /// Adds a coroutine of this owner and polls it at once, up to its first wait,
    /// like [`Executor::start`]. The owner may refuse it, as with
    /// [`spawn`](Owner::spawn). While the owner is paused, the coroutine is only
    /// added, and begins after the owner has been resumed.
    ///
    /// [`Executor::start`]: crate::Executor::start
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.handle.start(future)
    }

    /// Names the coroutine of this owner that is about to be started or spawned, like
    /// [`Executor::script`](crate::Executor::script). To name the owner itself, use
    /// [`named`](Owner::named).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let enemies = executor.owner();
    /// enemies.script("goblin").start(async { wait_seconds(1).await });
    /// assert!(executor.snapshot().to_string().contains("goblin"));
    /// ```
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        self.handle.script(name)
    }

    /// Stops all coroutines of this owner and of the owners below it. The coroutines
    /// of the children are stopped first, those of one owner in the order they were
    /// added. All destructors have run when this returns, except for coroutines that
    /// are being polled, which continue to their next wait.
    ///
    /// Coroutines that destructors spawn on the owner during this call are not
    /// stopped. (If the owner is being dropped, it refuses them.)
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
    #[track_caller]
    pub fn stop_all(&self) {
        let place = Some(Location::caller());
        self.with_core(|core| end::stop_owned(core, self.key(), place));
    }

    /// Pauses the coroutines of this owner and of the owners below it: they do not
    /// resume, and their timers stand still. Returns `false` if the owner is already
    /// paused; one [`resume`](Owner::resume) ends the pause. If several scripts may
    /// pause it, each takes a guard: [`pause_guard`](Owner::pause_guard).
    ///
    /// Everything that makes a coroutine due during the pause is remembered as one
    /// wake. The wake arrives when the owner is resumed. If the current run is of the
    /// coroutine's phase, it is polled in that run, otherwise in the next run of its
    /// phase. Its phase is that of the wait that was due first, or, for a join or
    /// another future, the home phase of the coroutine. Several coroutines resume in
    /// the order they were spawned.
    ///
    /// During the pause:
    ///
    /// - A timer stands still. Its remaining time after the pause is the same as
    ///   before, to the nanosecond, on the clock that it counts on. (In
    ///   [`Phase::FixedUpdate`](crate::Phase::FixedUpdate), that is fixed time.) A timer whose deadline the
    ///   clock had already reached is due during the pause.
    /// - Waits for frames and steps keep counting.
    /// - Conditions are not checked.
    /// - A coroutine that is being polled continues to its next wait, which is
    ///   paused from its beginning.
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

    /// Ends a [`pause`](Owner::pause). Returns `false` if the owner itself was not
    /// paused. A coroutine stays paused if it is paused itself, or through another
    /// owner, or while a guard [holds](Owner::pause_guard) the owner.
    pub fn resume(&self) -> bool {
        self.set_paused(false)
    }

    fn set_paused(&self, paused: bool) -> bool {
        let change = PauseChange::Set(paused);
        let set = self.with_core(|core| pause::change_owner_pause(core, self.key(), change));
        set.unwrap_or(false)
    }

    /// Holds the owner until the guard is dropped: a [`pause`](Owner::pause) that
    /// several scripts can use independently.
    ///
    /// Guards and a `pause` are independent: the owner is paused until the last guard
    /// is dropped and [`resume`](Owner::resume) has ended the pause. The coroutines
    /// resume as after `resume`.
    ///
    /// # Examples
    ///
    /// An enemy that is frozen by two spells:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let enemy = executor.owner();
    /// let attack = enemy.start(wait_seconds(0.5));
    /// let ice = enemy.pause_guard();
    /// let web = enemy.pause_guard();
    /// drop(ice);
    /// executor.run_frame(0.25);
    /// assert!(enemy.is_paused());
    /// drop(web);
    /// executor.run_until(attack, 0.25);
    /// assert_eq!(executor.time().frame, 3);
    /// ```
    pub fn pause_guard(&self) -> PauseGuard {
        self.handle.pause_guard()
    }

    /// Whether this owner or an owner above it is paused, or [held](Owner::pause_guard) by
    /// a guard.
    pub fn is_paused(&self) -> bool {
        let paused = self.with_core(|core| core.owners.borrow().is_paused(self.key()));
        paused.unwrap_or(false)
    }

    /// Makes the owner inactive or active. Making it inactive stops the coroutines
    /// of this owner and of the owners below it, which then [refuse](Owner::spawn)
    /// new coroutines. Making it active again restarts nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let owner = executor.owner();
    /// owner.set_active(false);
    /// let refused = owner.start(async { println!("never printed") });
    /// assert!(refused.is_finished());
    /// owner.set_active(true);
    /// assert!(executor.is_empty());
    /// ```
    ///
    /// # Source
    ///
    /// `GameObject.SetActive`, Unity scripting reference.
    #[doc(alias = "SetActive")]
    #[track_caller]
    pub fn set_active(&self, active: bool) {
        self.set_active_at(active, Some(Location::caller()));
    }

    /// The same for a call at `place`.
    pub(crate) fn set_active_at(&self, active: bool, place: Option<Line>) {
        self.with_core(|core| {
            core.owners.borrow_mut().set_active(self.key(), active);
            if !active {
                end::stop_owned(core, self.key(), place);
            }
        });
    }

    /// Makes the owner of a behaviour that is being removed inactive.
    pub(crate) fn retire(&self) {
        self.with_core(|core| {
            core.owners.borrow_mut().retire(self.key());
            end::stop_owned(core, self.key(), None);
        });
    }

    /// Whether coroutines can be added: neither this owner nor an owner above it is
    /// inactive or dropped, and the executor is alive.
    pub fn is_active(&self) -> bool {
        let active = self.with_core(|core| start::is_open(core, self.key()));
        active.unwrap_or(false)
    }

    /// Names the owner in [snapshots](crate::inspect::Snapshot). The owner of a
    /// [`Behaviour`](crate::scene::Behaviour) has the name of the behaviour's type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let level = executor.owner().named("level 3");
    /// let door = level.start(wait_seconds(1));
    /// let snapshot = executor.snapshot();
    /// assert_eq!(snapshot.get(door.id()).unwrap().owner(), Some("level 3"));
    /// ```
    #[must_use = "dropping an owner stops what it owns"]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        self.with_core(|core| {
            let previous = core.owners.borrow_mut().set_name(self.key(), name);
            drop(previous);
        });
        self
    }

    /// Whether this owner and the owners below it have no coroutine.
    pub fn is_empty(&self) -> bool {
        let empty = self.with_core(|core| core.owners.borrow().is_empty(self.key()));
        empty.unwrap_or(true)
    }

    /// Asks the coroutines of this owner and of the owners below it to stop. They are not
    /// stopped: each ends in its own way once it reads the request, with
    /// [`stop_requested`] or [`is_stop_requested`].
    ///
    /// Like [`stop_all`](Owner::stop_all), it concerns the coroutines that exist now, and
    /// what these start on this owner or below it from now on. Other scripts that are
    /// started later on the same owner are not asked. A request cannot be withdrawn.
    ///
    /// To stop what is left after some time, use [`stop_within`](Owner::stop_within); to
    /// wait until all have ended, [`ended`](Owner::ended). A script that does not read the
    /// request goes on.
    ///
    /// # Examples
    ///
    /// See [`stop_requested`].
    ///
    /// # Source
    ///
    /// `CancellationTokenSource.Cancel` of .NET.
    pub fn request_stop(&self) {
        self.with_core(|core| end::request_stop(core, self.key()));
    }

    /// [Asks](Owner::request_stop) the coroutines of this owner and of the owners below it to
    /// stop, at once. After `seconds`, stops the coroutines that are left on them, as
    /// [`stop_all`](Owner::stop_all) does.
    ///
    /// That happens even if the returned future is dropped. The returned future resolves once all
    /// have ended. The request is state of the owner, not a coroutine.
    ///
    /// The time counts on the clock of the owner. It begins in the first run of the coroutines'
    /// home phase that begins after this call, and is over at the end of the run that reaches it.
    /// So a script that reads the request, and then waits for `seconds` at home, ends by itself.
    /// If the coroutines have several home phases, the time is over once it is over in each. A
    /// zero or negative length is over a frame later, and with infinity, nothing is stopped. A
    /// pause of the owner, or of one above it, does not move the deadline; a pause of its clock
    /// does.
    ///
    /// The request is over once all coroutines of the owner have ended: what is started on the
    /// owner later goes on. What is started there while one is left is stopped with it. To use an
    /// owner again, await this first.
    ///
    /// # Resumes
    ///
    /// Like a join: as soon as the last coroutine has ended, in the same frame and phase. At
    /// once if there is none.
    ///
    /// # Output
    ///
    /// How many coroutines were left and had to be stopped.
    ///
    /// # Reports
    ///
    /// If none of the coroutines has read this request or an earlier one when the time is over:
    /// [`Report::StopIgnored`](crate::inspect::Report::StopIgnored), with the line of this call.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn fade() {
    ///     stop_requested().await;
    ///     wait_seconds(0.5).await;
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let level = executor.owner();
    /// level.start(fade());
    /// level.start(async { wait_seconds(60).await }); // reads no request
    /// let stopped = level.stop_within(1);
    /// assert_eq!(executor.run_until(stopped, 0.25), 1);
    /// assert_eq!(executor.time().frame, 5); // read in frame 1, over in frame 5
    /// ```
    ///
    /// # Source
    ///
    /// `move_on_after` of trio, for the clean-up of a cancelled scope.
    #[track_caller]
    pub fn stop_within(&self, seconds: impl Seconds) -> StopWithin {
        self.handle.stop_within(seconds)
    }

    /// Waits until this owner and the owners below it have no coroutine.
    ///
    /// The scripts may have been started at any time, and by anything: the host, another
    /// script, or one of themselves. The wait borrows nothing: it may be started as a
    /// coroutine or kept in a field. It keeps nothing alive, and continues after the owner
    /// has been dropped.
    ///
    /// # Resumes
    ///
    /// Like a join: as soon as the last coroutine has ended, in the same frame and phase.
    /// At once, without a wait, if there is none. The coroutine is not polled in between.
    /// If a coroutine is started before the waiting one has resumed, the wait is over
    /// nevertheless.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. Nothing is lost.
    ///
    /// # Panics
    ///
    /// When polled by a coroutine of this owner, or of an owner below it, because the wait
    /// would never be over.
    ///
    /// # Examples
    ///
    /// Waves of enemies:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn goblin(lives: f32) {
    ///     wait_seconds(lives).await;
    /// }
    ///
    /// async fn waves() -> Vec<u64> {
    ///     let mut frames = Vec::new();
    ///     let enemies = owner();
    ///     for wave in 1..=3 {
    ///         for number in 0..8 {
    ///             enemies.start(goblin(0.25 * (wave + number) as f32));
    ///         }
    ///         enemies.ended().await;
    ///         frames.push(time().frame);
    ///     }
    ///     frames
    /// }
    ///
    /// let mut executor = Executor::new();
    /// assert_eq!(executor.run_until(waves(), 0.25), [8, 17, 27]);
    /// ```
    ///
    /// # Source
    ///
    /// The nurseries of trio; `TaskTracker::wait` of tokio.
    #[doc(alias = "TaskTracker")]
    pub fn ended(&self) -> Ended {
        self.handle.ended()
    }

    /// What [`ended`](Self::ended) waits for, for a runtime.
    pub(crate) fn end(&self) -> OwnerEnd {
        self.handle.end()
    }

    /// Makes an owner that is a child of this one: stopping, pausing, deactivating
    /// and dropping this owner apply to the child. Its coroutines count on the same
    /// clock.
    ///
    /// Keep both owners. When this owner is dropped, the child refuses new
    /// coroutines. So `owner().child()`, which drops the parent, returns a child that
    /// refuses everything.
    #[must_use = "dropping an owner stops what it owns"]
    pub fn child(&self) -> Owner {
        let child = self.with_core(|core| Owner::new(core, Some(self.key())));
        child.unwrap_or_else(Owner::of_nobody)
    }

    /// Makes a [`child`](Owner::child) whose coroutines count on `clock`, as with
    /// [`Executor::owner_on`](crate::Executor::owner_on).
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    #[must_use = "dropping an owner stops what it owns"]
    #[track_caller]
    pub fn child_on(&self, clock: &Clock) -> Owner {
        match self.with_core(Core::rc) {
            Some(core) => Owner::on(&core, Some(self.key()), clock),
            None => Owner::of_nobody(),
        }
    }

    /// Returns a weak handle, which keeps neither the owner nor its coroutines
    /// alive.
    ///
    /// # Examples
    ///
    /// See [`OwnerHandle`].
    pub fn handle(&self) -> OwnerHandle {
        self.handle.clone()
    }

    /// Makes an owner that may be sent to other threads, such as a component of an
    /// engine.
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
        self.with_core(|core| end::remove_owner(core, self.key()));
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
