//! The free functions of scripts, which find the executor that runs the caller; and the
//! type of a boxed script.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;

use crate::core::Core;
use crate::core::life::end;
use crate::core::owners::OwnerKey;
use crate::core::scope::{self, Scope, named, recording};
use crate::executor::{Handle, RemoteHandle};
use crate::task::coroutine::{
    self, ByScript, Coroutine, CoroutineId, Place, ScriptBuilder, outside,
};
use crate::task::owner::Owner;
use crate::time::{Clock, Phase, PhaseIndex, Time};

/// A boxed script: for tables, fields and traits that hold scripts of different
/// functions.
///
/// Each `async fn` returns a future with its own type. `Box::pin` makes a `Script` from
/// it, which can be spawned, started and awaited like any future.
///
/// # Examples
///
/// A table of scripts, by name:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn wave() -> u32 {
///     wait_seconds(0.5).await;
///     10
/// }
///
/// async fn boss(health: u32) -> u32 {
///     wait_seconds(1).await;
///     health
/// }
///
/// const LEVELS: &[(&str, fn() -> Script<u32>)] = &[
///     ("wave", || Box::pin(wave())),
///     ("small boss", || Box::pin(boss(50))),
///     ("large boss", || Box::pin(boss(100))),
/// ];
///
/// fn level(name: &str) -> Script<u32> {
///     let (_, script) = LEVELS.iter().find(|(of, _)| *of == name).expect("a known level");
///     script()
/// }
///
/// let mut executor = Executor::new();
/// assert_eq!(executor.run_until(level("small boss"), 0.25), 50);
/// ```
///
/// # Source
///
/// `LocalBoxFuture` of the `futures` crate; `IEnumerator`, Unity scripting reference.
pub type Script<T = ()> = Pin<Box<dyn Future<Output = T>>>;

/// Calls `f` with the scope around the caller of `function`.
#[track_caller]
#[inline]
fn inside<R>(function: &str, f: impl FnOnce(&Scope<'_>) -> R) -> R {
    match scope::with(|scope| scope.map(f)) {
        Some(returned) => returned,
        None => outside(function),
    }
}

/// A clock of the executor that runs the caller of `function`, or in a replay of the one that ran it.
#[track_caller]
fn clock_here(
    function: &str,
    of_core: fn(&Core) -> &Clock,
    of_replay: fn([Clock; 2]) -> Clock,
) -> Clock {
    let clock = scope::with(|scope| Some(of_core(scope?.core()).clone()));
    match clock.or_else(|| recording::clocks().map(of_replay)) {
        Some(clock) => clock,
        None => outside(function),
    }
}

/// The executor that runs the caller of `function`.
#[track_caller]
#[inline]
pub(super) fn executor(function: &'static str) -> Rc<Core> {
    recording::refuse(function);
    inside(function, |scope| scope.core().rc())
}

/// The executor that runs the caller of `function`, and the owner that the caller's
/// coroutines inherit.
#[track_caller]
fn executor_and_owner(function: &'static str) -> (Rc<Core>, Option<OwnerKey>) {
    recording::refuse(function);
    inside(function, |scope| {
        let (_, owner) = scope.heritage();
        (scope.core().rc(), owner)
    })
}

/// Adds a coroutine to the executor that runs the caller, like
/// [`Executor::spawn`](crate::Executor::spawn): it is first polled later in the
/// current run.
///
/// The coroutine has the owner, the clock and the home of the caller. To make one
/// that outlives the caller's owner, use [`handle`].
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let sum = executor.run_until(
///     async {
///         let one = spawn(async { 1 });
///         one.await.unwrap() + 1
///     },
///     0.1,
/// );
/// assert_eq!(sum, 2);
/// ```
#[track_caller]
pub fn spawn<F: Future + 'static>(future: F) -> Coroutine<F::Output> {
    coroutine::spawn(ByScript("spawn"), future)
}

/// Adds a coroutine to the executor that runs the caller and polls it at once, up
/// to its first wait, like [`Executor::start`](crate::Executor::start).
///
/// The coroutine has the owner, the clock and the home of the caller. To make one
/// that outlives the caller's owner, use [`handle`].
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// A script that awaits a nested coroutine:
///
/// ```
/// # use framestep::prelude::*;
/// async fn open_door() {
///     wait_seconds(1).await;
/// }
///
/// async fn cutscene() {
///     start(open_door()).await.unwrap();
///     println!("the door is open");
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(cutscene(), 0.25);
/// assert_eq!(executor.time().frame, 4);
/// ```
///
/// # Source
///
/// `MonoBehaviour.StartCoroutine`, Unity scripting reference.
#[track_caller]
pub fn start<F: Future + 'static>(future: F) -> Coroutine<F::Output> {
    coroutine::start(ByScript("start"), future)
}

/// Names the coroutine that is about to be started or spawned, and may give it another home
/// phase. The name holds from the start: in the first poll, in the trace, in snapshots and in
/// reports.
///
/// `script("boss").start(..)` is otherwise like the free function [`start`], and so is
/// `script("boss").spawn(..)` like [`spawn`]. Hosts use the method `script`, such as
/// [`Executor::script`](crate::Executor::script).
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// async fn patrol() {
///     assert_eq!(current_name(), "goblin 3");
///     wait_seconds(60).await;
/// }
///
/// async fn ambush() {
///     for number in 1..=3 {
///         script(format!("goblin {number}")).start(async { wait_seconds(1).await });
///     }
///     script("goblin 3").start(patrol());
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(ambush(), 0.25);
/// let snapshot = executor.snapshot();
/// assert_eq!(snapshot.iter().filter(|script| script.name() == "goblin 3").count(), 2);
/// ```
#[track_caller]
pub fn script(name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
    let place = Place::of_script("script");
    ScriptBuilder::new(name.into(), place)
}

/// Makes an [`Owner`] that is a child of the calling coroutine's owner.
///
/// Keep it in a local variable. When the variable is dropped, the coroutines that were
/// spawned on it are stopped, even if that is because the calling coroutine is stopped.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// Sparks that fly while the fuse burns:
///
/// ```
/// # use framestep::prelude::*;
/// # async fn sparks() { loop { wait_seconds(0.1).await; } }
/// async fn fuse() {
///     let effects = owner();
///     effects.start(sparks());
///     effects.start(sparks());
///     wait_seconds(1).await;
/// }
///
/// let mut executor = Executor::new();
/// let fuse = executor.start(fuse());
/// assert_eq!(executor.len(), 3);
/// fuse.stop(); // also stops the sparks
/// assert!(executor.is_empty());
/// ```
#[must_use = "dropping an owner stops what it owns"]
#[track_caller]
pub fn owner() -> Owner {
    owner_of_caller("owner")
}

/// Makes a child of the owner of the caller of `function`.
#[track_caller]
pub(crate) fn owner_of_caller(function: &'static str) -> Owner {
    let (core, owner) = executor_and_owner(function);
    Owner::new(&core, owner)
}

/// Makes an [`Owner`] like [`owner()`], whose coroutines count on `clock`.
///
/// Plain waits of these coroutines count on the clock, and [`time()`] and
/// [`delta_seconds()`] read it, as with
/// [`Executor::owner_on`](crate::Executor::owner_on). The scripts of an owner on
/// [`realtime()`] keep running while the game clock is paused.
///
/// # Panics
///
/// If the clock belongs to another executor; or if called outside an executor and
/// outside [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// A script pauses the game and animates a menu:
///
/// ```
/// # use framestep::prelude::*;
/// async fn pause_menu() {
///     let _paused = clock().pause_guard();
///     let menu = owner_on(&realtime());
///     menu.start(animate(0.5, |t| println!("the menu is at {t}"))).await.unwrap();
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(pause_menu(), 0.25);
/// assert_eq!(executor.time().frame, 2);
/// assert!(executor.time().elapsed.is_zero());
/// ```
#[must_use = "dropping an owner stops what it owns"]
#[track_caller]
pub fn owner_on(clock: &Clock) -> Owner {
    let (core, owner) = executor_and_owner("owner_on");
    Owner::on(&core, owner, clock)
}

/// Returns the game clock, like [`Executor::clock`](crate::Executor::clock): to slow
/// the game down, to pause it, and to make clocks that follow it.
///
/// This holds even in a coroutine whose owner counts on another clock.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// The game in slow motion for a second of realtime:
///
/// ```
/// # use framestep::prelude::*;
/// async fn slow_motion() {
///     let _slow = clock().scaled(0.25);
///     wait_seconds_realtime(1).await;
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(slow_motion(), 0.25);
/// assert_eq!(executor.time().frame, 4);
/// assert_eq!(executor.time().elapsed.as_secs_f32(), 0.25);
/// ```
#[track_caller]
pub fn clock() -> Clock {
    clock_here("clock", Core::game_clock, |[game, _]| game)
}

/// Returns realtime as a clock, like
/// [`Executor::realtime`](crate::Executor::realtime): the sum of the dt that the
/// host passes in, neither scaled nor paused.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// See [`owner_on`].
#[track_caller]
pub fn realtime() -> Clock {
    clock_here("realtime", Core::realtime, |[_, realtime]| realtime)
}

/// Returns a weak [`Handle`] of the executor that runs the caller, to start
/// coroutines that **outlive the owner** of the calling coroutine.
///
/// A coroutine that the free [`spawn`] or [`start`] makes belongs to the owner of
/// the caller. It counts on the owner's clock and ends with the owner.
///
/// A coroutine that a handle makes has no owner, as if the host had made it. It
/// counts on the game clock, and keeps running when the caller's owner is dropped,
/// paused or inactive.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// An explosion that outlives the enemy:
///
/// ```
/// # use framestep::prelude::*;
/// async fn explosion() {
///     wait_seconds(2).await;
/// }
///
/// async fn enemy() {
///     wait_seconds(1).await;
///     handle().start(explosion()); // `start(explosion())` would end with the enemy
///     next_frame().await;
/// }
///
/// let mut executor = Executor::new();
/// let goblin = executor.owner();
/// let dies = goblin.start(enemy()).id();
/// (0..4).for_each(|_| executor.run_frame(0.25));
/// drop(goblin);
/// assert!(!executor.is_alive(dies));
/// assert_eq!(executor.len(), 1); // the explosion
/// ```
#[track_caller]
pub fn handle() -> Handle {
    let core = executor("handle");
    Handle::new(&core)
}

/// Returns a [`RemoteHandle`] of the executor that runs the caller, like
/// [`Executor::remote`](crate::Executor::remote): for a thread that the script starts.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// struct World {
///     progress: u32,
/// }
///
/// async fn load() {
///     let remote = remote();
///     std::thread::spawn(move || {
///         // a part of the work, then
///         remote.call(|| with(|world: &mut World| world.progress = 50));
///     });
///     wait_until(|| with_ref(|world: &World| world.progress == 50)).await;
/// }
///
/// let mut world = World { progress: 0 };
/// let mut executor = Executor::new();
/// executor.lend(&mut world, |executor| executor.run_until(load(), 0.25));
/// ```
#[track_caller]
pub fn remote() -> RemoteHandle {
    let core = executor("remote");
    RemoteHandle::new(core.host.injected.clone())
}

/// Returns the home phase of the calling coroutine: the one that its
/// [builder](super::ScriptBuilder::in_phase) names, or inherited from the coroutine that started it, else
/// [`Phase::Update`]. Outside coroutines it is [`Phase::Update`].
///
/// Waits that name no phase, and every other future, resume the coroutine at home.
/// Futures of other crates can ask for it.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let last = executor.script("last").in_phase(Phase::LateUpdate).start(async {
///     in_phase(Phase::EarlyUpdate).await;
///     framestep::task::home()
/// });
/// assert_eq!(executor.run_until(last, 0.1).unwrap(), Phase::LateUpdate);
/// ```
#[track_caller]
pub fn home() -> Phase {
    let number = recording::number("home()", Location::caller(), || {
        inside("home", |scope| scope.home().as_usize() as u64)
    });
    PhaseIndex::from_number(number).map_or(Phase::Update, PhaseIndex::phase)
}

/// Stops a coroutine of the executor that runs the caller, like
/// [`Executor::stop`](crate::Executor::stop). A coroutine that stops itself
/// continues to its next wait.
///
/// Returns `false` if the coroutine has ended, or belongs to another executor.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// executor.start(async {
///     stop(current());
///     println!("still printed");
///     next_frame().await;
///     unreachable!();
/// });
/// assert!(executor.is_empty());
/// ```
#[track_caller]
pub fn stop(id: CoroutineId) -> bool {
    let line = Some(Location::caller());
    executor("stop").with_key(id, |core, key| end::stop(core, key, line))
}

/// Returns the id of the calling coroutine.
///
/// # Panics
///
/// If called outside a coroutine.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let coroutine = executor.start(async { current() });
/// let id = coroutine.id();
/// assert_eq!(executor.run_until(coroutine, 0.1).unwrap(), id);
/// ```
#[track_caller]
pub fn current() -> CoroutineId {
    recording::refuse("current");
    let current = inside("current", |scope| {
        scope.current().map(|task| scope.core().id_of(task))
    });
    match current {
        Some(id) => id,
        None => panic!("`current` was called outside of a coroutine"),
    }
}

/// Returns the name of the calling coroutine, or if it has none, the name of its
/// future's type.
///
/// # Panics
///
/// If called outside a coroutine.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let boss = executor.spawn(async { current_name() }).named("boss");
/// assert_eq!(executor.run_until(boss, 0.1).unwrap(), "boss");
/// ```
#[track_caller]
pub fn current_name() -> Cow<'static, str> {
    if let Some(name) = recording::name() {
        return name.into();
    }
    let name = inside("current_name", |scope| {
        scope.current().map(|task| scope.core().name_of(task))
    });
    match name {
        Some(name) => name,
        None => panic!("`current_name` was called outside of a coroutine"),
    }
}

/// Returns the clocks of the executor that runs the caller. In a coroutine whose
/// owner is bound to a clock, `delta`, `elapsed` and `scale` are those of that
/// clock.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         wait_seconds(1).await;
///         assert_eq!(time().elapsed.as_secs(), 1);
///         assert_eq!(time().frame, 4);
///     },
///     0.25,
/// );
/// ```
#[track_caller]
pub fn time() -> Time {
    match named::read_time("time()", Location::caller()) {
        Some(time) => time,
        None => outside("time"),
    }
}

/// Returns how many seconds the calling coroutine's clock has advanced in this frame,
/// or, inside a fixed step, in this step. It is [`time()`](time)`.delta` as an `f32`,
/// for multiplying with a speed.
///
/// The clock is the game clock, unless the coroutine's owner is [bound](owner_on)
/// to another clock.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let x = executor.run_until(
///     async {
///         let mut x = 0.0;
///         while x < 1.0 {
///             next_frame().await;
///             x += 2.0 * delta_seconds();
///         }
///         x
///     },
///     0.25,
/// );
/// assert_eq!(x, 1.0);
/// ```
#[track_caller]
pub fn delta_seconds() -> f32 {
    match named::read_delta_seconds(Location::caller()) {
        Some(seconds) => seconds,
        None => outside("time"),
    }
}
