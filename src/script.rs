//! What a script calls without a handle: it finds the executor that runs it.

#![forbid(unsafe_code)]

use std::future::Future;

use crate::context::{self, LevelRef};
use crate::phase::PhaseIndex;
use crate::{Coroutine, CoroutineId, Owner, Phase, Time};

/// The executor around the caller of `function`.
#[track_caller]
#[inline]
fn inside(function: &str) -> LevelRef {
    match context::level() {
        Some(level) => level,
        None => panic!(
            "`{function}` was called outside of an executor: call it in a coroutine or inside \
             `Executor::enter`, or use the method of the same name of `Executor` or `Handle`"
        ),
    }
}

/// Adds a coroutine to the executor that runs the caller, like
/// [`Executor::spawn`](crate::Executor::spawn): it is first polled later in the
/// current run. It has the owner and the clock of the coroutine that calls this.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
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
pub fn spawn<F>(future: F) -> Coroutine<F::Output>
where
    F: Future + 'static,
{
    let level = inside("spawn");
    let core = level.core();
    Coroutine::spawn(core.rc(), future, None, core.owner_in(&level))
}

/// Adds a coroutine to the executor that runs the caller, to be first polled in
/// the next run of `phase`, like
/// [`Executor::spawn_in`](crate::Executor::spawn_in).
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
#[track_caller]
pub fn spawn_in<F>(phase: Phase, future: F) -> Coroutine<F::Output>
where
    F: Future + 'static,
{
    let level = inside("spawn_in");
    let core = level.core();
    let phase = Some(PhaseIndex::new(phase));
    Coroutine::spawn(core.rc(), future, phase, core.owner_in(&level))
}

/// Adds a coroutine to the executor that runs the caller and polls it at once,
/// up to its first wait, like [`Executor::start`](crate::Executor::start). It
/// has the owner and the clock of the coroutine that calls this.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// A nested coroutine, awaited:
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
#[doc(alias = "StartCoroutine")]
#[track_caller]
pub fn start<F>(future: F) -> Coroutine<F::Output>
where
    F: Future + 'static,
{
    let level = inside("start");
    let core = level.core();
    Coroutine::start(core.rc(), future, core.owner_in(&level))
}

/// A new [`Owner`] below the one of the coroutine that calls this.
///
/// Keep it in a local: what is spawned on it ends with the coroutine, however
/// that ends, in the place where the local is dropped.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// Sparks that fly for as long as the fuse burns:
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
/// fuse.stop(); // or let it end
/// assert!(executor.is_empty());
/// ```
#[must_use = "dropping an owner stops what it owns"]
#[track_caller]
pub fn owner() -> Owner {
    let level = inside("owner");
    let core = level.core();
    Owner::new(core.rc(), core.owner_in(&level))
}

/// Stops a coroutine of the executor that runs the caller, like
/// [`Executor::stop`](crate::Executor::stop). A coroutine that stops itself
/// goes on until it next waits.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// executor.start(async {
///     stop(current());
///     println!("still said");
///     next_frame().await;
///     unreachable!();
/// });
/// assert!(executor.is_empty());
/// ```
#[doc(alias = "StopCoroutine")]
#[track_caller]
pub fn stop(id: CoroutineId) -> bool {
    let level = inside("stop");
    let core = level.core();
    core.key_of(id).is_some_and(|key| core.stop(key))
}

/// The coroutine that calls this.
///
/// # Panics
///
/// Outside of a coroutine.
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
    let level = inside("current");
    match level.current.get() {
        Some(task) => level.core().id_of(task),
        None => panic!("`current` was called outside of a coroutine"),
    }
}

/// The clocks of the executor that runs the caller. For a coroutine of an owner
/// with a clock of its own, `delta`, `elapsed` and `scale` are of that one.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
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
    inside("time").core().time()
}

/// How far the coroutine's clock, as a rule the game clock, went in this frame,
/// in seconds; inside a fixed step, in the step. The same as
/// [`time()`](time)`.delta`, as the float that movement is multiplied with.
///
/// # Panics
///
/// Outside of an executor, and of [`Executor::enter`](crate::Executor::enter).
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
#[doc(alias = "deltaTime")]
#[track_caller]
pub fn delta_seconds() -> f32 {
    time().delta.as_secs_f32()
}
