//! The handle of a coroutine.

use std::borrow::Cow;
use std::cell::Cell;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::{fmt, mem};

use futures::future::FusedFuture;

use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::registration::{Bound, Registration, WaitList};
use crate::core::scope::recording;
use crate::core::task::TaskHandle;
use crate::core::{Core, pause};
use crate::time::{Phase, PhaseIndex};

use super::error::{JoinError, Outcome};
use super::finished::Finished;
use super::id::CoroutineId;

/// The handle of a coroutine that has been spawned or started.
///
/// Awaiting the handle *joins* the coroutine: it waits for the end, like
/// `yield return StartCoroutine(..)`, and returns the result.
///
/// Dropping the handle *detaches* the coroutine, which keeps running. A panic of a
/// detached coroutine is [reported](crate::inspect::Report::CoroutinePanicked). If the
/// coroutine panicked before the drop, the drop reports the panic, unless a join
/// has returned it. To handle errors that the coroutine returns, use
/// [`on_error`](crate::combine::on_error()).
///
/// # Resumes
///
/// - As soon as the coroutine has ended: in the same frame and phase, before
///   everything that is queued.
/// - At once, without a wait, if the coroutine has already ended.
/// - If the host stops the coroutine outside a run: in the next run of the home
///   phase of the awaiting coroutine.
///
/// # Output
///
/// The result of the coroutine, or a [`JoinError`] if it was stopped or panicked.
/// So a stop or a panic never leaves a join hanging.
///
/// # Cancel safety
///
/// `(&mut coroutine).await` in a `select!` may be dropped and awaited again. The
/// result is not lost.
///
/// # Panics
///
/// If a coroutine awaits itself, even in a branch of [`select!`](crate::select) or
/// [`join!`](crate::join!). Behind a combinator with its task wakers, such as
/// `FuturesUnordered`, it waits until it is stopped. So do two coroutines that await
/// each other.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn walk_to(x: u32) -> u32 {
///     wait_seconds(1).await;
///     x
/// }
///
/// let mut executor = Executor::new();
/// let x = executor.run_until(
///     async {
///         let walk = start(walk_to(3));
///         // do something else
///         next_frame().await;
///         walk.await.unwrap()
///     },
///     0.25,
/// );
/// assert_eq!(x, 3);
/// ```
///
/// A host takes the result of a coroutine that has ended, with
/// [`take_output`](Coroutine::take_output):
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let answer = executor.spawn(async { 42 });
/// executor.run_frame(0.1);
/// assert_eq!(answer.take_output().unwrap().unwrap(), 42);
/// ```
///
/// # Source
///
/// `Coroutine`, Unity scripting reference; `JoinHandle` of tokio. Unlike in Unity, any
/// number of coroutines may wait for the same one, and a join of a stopped coroutine
/// ends.
pub struct Coroutine<T> {
    state: State<T>,
    registration: Registration,
    stop_on_drop: bool,
    /// Whether [`take_output`](Coroutine::take_output) has taken the result.
    taken: Cell<bool>,
}

enum State<T> {
    /// It is alive, or its result is stored.
    Stored(Rc<Core>, TaskHandle<T>),
    /// No executor accepted it.
    Refused,
    /// The result has been returned.
    Done(CoroutineId, Outcome),
}

impl<T> Coroutine<T> {
    /// The handle of a task that has just been made; or of none, because no executor accepted it:
    /// stopped from the start.
    #[inline]
    pub(crate) fn made(task: Option<(Rc<Core>, TaskHandle<T>)>) -> Self {
        Self::new(match task {
            Some((core, task)) => State::Stored(core, task),
            None => State::Refused,
        })
    }

    #[inline]
    fn new(state: State<T>) -> Self {
        Coroutine {
            state,
            registration: Registration::new(PhaseIndex::HOME, Bound::Run),
            stop_on_drop: false,
            taken: Cell::new(false),
        }
    }

    /// Returns the id of the coroutine, for [`stop`](crate::stop) or as a key. The
    /// id may be used after the handle has been dropped.
    pub fn id(&self) -> CoroutineId {
        match &self.state {
            State::Stored(core, task) => core.id_of(core.tasks.of(task.reference())),
            State::Refused => CoroutineId::NEVER,
            State::Done(id, _) => *id,
        }
    }

    /// The home phase of the coroutine. It resumes there unless a wait names another
    /// phase. `None` if the coroutine was refused, or if its result has been returned
    /// by a join.
    pub fn home(&self) -> Option<Phase> {
        match &self.state {
            State::Stored(core, task) => Some(core.tasks.of(task.reference()).home().phase()),
            _ => None,
        }
    }

    /// Stops the coroutine: drops its future and runs its destructors, before this
    /// returns. A coroutine that is being polled continues to its next wait and is
    /// dropped there; if it returns first, it finishes normally.
    ///
    /// Returns `false` if it has already ended.
    #[doc(alias = "Kill")]
    #[doc(alias = "abort")]
    #[doc(alias = "KillCoroutines")]
    #[doc(alias = "StopCoroutine")]
    #[track_caller]
    pub fn stop(&self) -> bool {
        let place = Some(Location::caller());
        match &self.state {
            State::Stored(core, task) => end::stop(core, key(core, task), place),
            _ => false,
        }
    }

    /// Asks the coroutine to stop. It is not stopped: it ends in its own way once it reads the
    /// request, with [`stop_requested`](crate::task::stop_requested) or
    /// [`is_stop_requested`](crate::task::is_stop_requested). A script that does not read it goes on.
    ///
    /// The request concerns this coroutine alone, not those that it starts or joins. To ask all
    /// coroutines of an owner, use [`Owner::request_stop`](crate::Owner::request_stop). A request
    /// cannot be withdrawn.
    ///
    /// Returns `false` if the coroutine has already ended.
    ///
    /// # Examples
    ///
    /// A guard who finishes his round before he goes:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn guard() -> u32 {
    ///     let mut rounds = 0;
    ///     while !is_stop_requested() {
    ///         wait_seconds(1).await; // a round
    ///         rounds += 1;
    ///     }
    ///     rounds
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let guards = [guard(), guard()].map(|guard| executor.start(guard));
    /// executor.run_frames(6, 0.25);
    /// assert!(guards[0].request_stop());
    /// executor.run_frames(2, 0.25);
    /// assert_eq!(guards[0].take_output().unwrap().unwrap(), 2);
    /// assert!(!guards[1].is_finished());
    /// ```
    ///
    /// # Source
    ///
    /// `CancellationTokenSource.Cancel` of .NET, for one task.
    pub fn request_stop(&self) -> bool {
        match &self.state {
            State::Stored(core, task) => end::request_stop_of(core, key(core, task)),
            _ => false,
        }
    }

    /// Pauses the coroutine: it does not resume, and its timers stand still, as
    /// with [`Owner::pause`](crate::Owner::pause). Returns `false` if the coroutine
    /// itself is already paused, or has ended.
    ///
    /// A coroutine that joins it waits for as long as it is paused. The coroutines
    /// that it has started keep running. To pause all of them, pause their
    /// [`Owner`](crate::Owner).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let fuse = executor.start(async { wait_seconds(1).await });
    /// executor.run_frame(0.25);
    /// fuse.pause();
    /// (0..100).for_each(|_| executor.run_frame(0.25));
    /// fuse.resume();
    /// executor.run_until(fuse, 0.25);
    /// assert_eq!(executor.time().frame, 104);
    /// ```
    pub fn pause(&self) -> bool {
        self.set_paused(true)
    }

    /// Ends a [`pause`](Coroutine::pause). Returns `false` if the coroutine itself
    /// was not paused, or has ended. The coroutine stays paused while an owner of
    /// it is paused.
    pub fn resume(&self) -> bool {
        self.set_paused(false)
    }

    fn set_paused(&self, paused: bool) -> bool {
        match &self.state {
            State::Stored(core, task) => pause::set_paused(core, key(core, task), paused),
            _ => false,
        }
    }

    /// Whether the coroutine is paused, itself or through an owner.
    pub fn is_paused(&self) -> bool {
        match &self.state {
            State::Stored(core, task) => core.is_paused(key(core, task)),
            _ => false,
        }
    }

    /// Whether the coroutine has ended: it returned, was stopped or panicked.
    pub fn is_finished(&self) -> bool {
        match &self.state {
            State::Stored(core, task) => core.tasks.of(task.reference()).has_ended(),
            _ => true,
        }
    }

    /// Names the coroutine in snapshots, traces and reports, and returns the
    /// handle. The default name is the name of its future's type, which for an
    /// `async fn` is the path of the function.
    ///
    /// A coroutine that was started has already run up to its first wait. The function
    /// [`script`](crate::task::script()) names a coroutine before that.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let boss = executor.start(async { wait_seconds(60).await }).named("boss");
    /// assert_eq!(executor.snapshot().get(boss.id()).unwrap().name(), "boss");
    /// ```
    #[expect(
        clippy::return_self_not_must_use,
        reason = "dropping the handle detaches, so `start(door()).named(\"door\");` is complete"
    )]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        if let State::Stored(core, task) = &self.state {
            core.name(core.tasks.of(task.reference()), name.into());
        }
        self
    }

    /// Makes dropping the handle stop the coroutine instead of detaching it, and
    /// returns the handle.
    ///
    /// The script then lives as long as the local variable or field that holds its
    /// handle. **Assigning another handle to the field stops the old script.** The new
    /// script is already running: it runs up to its first wait before the old script
    /// is dropped. If the old script must end first, make the field an `Option`, and
    /// first assign `None`.
    ///
    /// # Examples
    ///
    /// An enemy that has one order at a time:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct Enemy {
    ///     order: Coroutine<()>,
    /// }
    ///
    /// async fn patrol() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// async fn chase() {
    ///     wait_seconds(10).await;
    /// }
    ///
    /// let executor = Executor::new();
    /// let mut enemy = Enemy { order: executor.start(patrol()).stop_on_drop() };
    /// let patrolling = enemy.order.id();
    ///
    /// enemy.order = executor.start(chase()).stop_on_drop();
    /// assert!(!executor.is_alive(patrolling));
    ///
    /// drop(enemy);
    /// assert!(executor.is_empty());
    /// ```
    #[must_use = "the handle stops the coroutine when it is dropped: keep it"]
    pub fn stop_on_drop(mut self) -> Self {
        self.stop_on_drop = true;
        self
    }

    /// Drops the handle, and lets the coroutine continue, even if the handle
    /// [stops on drop](Coroutine::stop_on_drop). The coroutine stays on its owner.
    ///
    /// # Examples
    ///
    /// A spell that is lost if its mage is hit, until it is cast:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn fireball() {
    ///     wait_seconds(3).await;
    /// }
    ///
    /// async fn cast(hit: Signal<()>) -> bool {
    ///     let spell = start(fireball()).stop_on_drop();
    ///     select! {
    ///         () = hit.wait() => return false,
    ///         () = wait_seconds(1) => {}
    ///     }
    ///     spell.detach(); // it flies
    ///     true
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let cast = executor.start(cast(Signal::new()));
    /// assert!(executor.run_until(cast, 0.25).unwrap());
    /// assert_eq!(executor.len(), 1);
    /// ```
    ///
    /// # Source
    ///
    /// `detach` of smol's `Task`.
    pub fn detach(mut self) {
        self.stop_on_drop = false;
    }

    /// Takes the result of a coroutine that has ended, without waiting. Hosts and
    /// callbacks use it, for a handle that they keep in a field.
    ///
    /// Returns `None` if the coroutine has not ended, or if its result has been
    /// taken. Do not await a handle whose result has been taken: that panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let answer = executor.start(async {
    ///     next_frame().await;
    ///     42
    /// });
    /// assert!(answer.take_output().is_none());
    /// executor.run_frame(0.1);
    /// assert_eq!(answer.take_output().unwrap().unwrap(), 42);
    /// assert!(answer.take_output().is_none());
    /// ```
    pub fn take_output(&self) -> Option<Result<T, JoinError>> {
        if !self.is_finished() || self.is_terminated() {
            return None;
        }
        self.taken.set(true);
        Some(match &self.state {
            State::Stored(core, task) => end::take_result(core, core.tasks.open(task)).0,
            State::Refused | State::Done(..) => Err(self.refusal()),
        })
    }

    /// Returns a wait for the coroutine's end that does not take the result. Any
    /// number of coroutines may await clones of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::task::Outcome;
    ///
    /// let mut executor = Executor::new();
    /// let gate = executor.start(async { wait_seconds(1).await });
    /// for _ in 0..3 {
    ///     let opened = gate.finished();
    ///     executor.start(async move { assert_eq!(opened.await, Outcome::Finished) });
    /// }
    /// executor.run_until(gate, 0.5).unwrap();
    /// assert!(executor.is_empty());
    /// ```
    pub fn finished(&self) -> Finished {
        match &self.state {
            State::Stored(core, task) => Finished::of(Rc::clone(core), task.reference()),
            State::Refused => Finished::known(Outcome::Stopped),
            State::Done(_, outcome) => Finished::known(*outcome),
        }
    }

    /// Takes the result of a coroutine that has ended.
    #[inline]
    pub(crate) fn take_result(&mut self) -> Result<T, JoinError> {
        let State::Stored(core, task) = &self.state else {
            let refusal = self.refusal();
            self.state = State::Done(refusal.id(), Outcome::Stopped);
            return Err(refusal);
        };
        let (result, outcome) = end::take_result(core, core.tasks.open(task));
        let id = core.id_of(core.tasks.of(task.reference()));
        self.set_done(id, outcome);
        result
    }

    /// Records that the result has been returned, and releases the task.
    #[inline(always)]
    fn set_done(&mut self, id: CoroutineId, outcome: Outcome) {
        if let State::Stored(core, task) = mem::replace(&mut self.state, State::Done(id, outcome)) {
            end::drop_coroutine(&core, task);
        }
    }

    fn drop_stored(&mut self) {
        if let State::Stored(core, task) = mem::replace(&mut self.state, State::Refused) {
            if self.stop_on_drop {
                end::stop_unobserved(&core, key(&core, &task));
            }
            end::drop_coroutine(&core, task);
        }
    }

    #[cold]
    fn refusal(&self) -> JoinError {
        JoinError::stopped(self.id(), "never started".into(), None)
    }
}

fn key<T>(core: &Core, task: &TaskHandle<T>) -> TaskKey {
    core.tasks.of(task.reference()).task_key()
}

impl<T> Future for Coroutine<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(
            !self.is_terminated(),
            "a coroutine handle was awaited again after its result had been taken"
        );
        let this = &mut *self;
        let State::Stored(core, handle) = &this.state else {
            return Poll::Ready(this.take_result());
        };
        let task = core.tasks.open(handle);
        if !task.get().has_ended() {
            recording::refuse("Coroutine::await");
            this.registration.wait_for_end(core, cx, handle.reference());
            // Registering clones the waker, which is user code: it may have ended the
            // task.
            if !task.get().has_ended() {
                return Poll::Pending;
            }
        }
        // Joiners that the coroutine's end has yet to resume keep their list.
        this.registration.cancel(WaitList::Joins);
        let (result, outcome) = end::take_result(core, task);
        let id = core.id_of(task.get());
        this.set_done(id, outcome);
        Poll::Ready(result)
    }
}

impl<T> FusedFuture for Coroutine<T> {
    #[inline]
    fn is_terminated(&self) -> bool {
        matches!(self.state, State::Done(..)) || self.taken.get()
    }
}

/// A coroutine that has ended and was never started: its join returns `Err`,
/// stopped. So a struct with a field of this type can derive `Default`.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// #[derive(Default)]
/// struct Enemy {
///     order: Coroutine<()>,
/// }
///
/// let executor = Executor::new();
/// let mut enemy = Enemy::default();
/// assert!(enemy.order.is_finished());
/// enemy.order = executor.start(async { wait_seconds(1).await });
/// assert!(!enemy.order.is_finished());
/// ```
impl<T> Default for Coroutine<T> {
    fn default() -> Self {
        Self::made(None)
    }
}

impl<T> Unpin for Coroutine<T> {}

impl<T> Drop for Coroutine<T> {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Joins);
        if matches!(self.state, State::Stored(..)) {
            self.drop_stored();
        }
    }
}

impl<T> fmt::Debug for Coroutine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coroutine")
            .field("id", &self.id())
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

/// The handle of a script, which [`join`] awaits: a [`Coroutine`], or that of a durable script.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the handle of a script",
    note = "`join` takes what `start` and `spawn` return; for several futures, use `join_all` or the macro `join!`"
)]
pub trait ScriptJoin: Future {}

impl<T> ScriptJoin for Coroutine<T> {}

/// Waits for the end of a script: the same as awaiting its handle.
///
/// See [`Coroutine`] for when it resumes and for its output.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let sum = executor.run_until(
///     async {
///         let first = spawn(async { 1 });
///         let second = spawn(async { 2 });
///         join(first).await.unwrap() + join(second).await.unwrap()
///     },
///     0.1,
/// );
/// assert_eq!(sum, 3);
/// ```
pub fn join<H: ScriptJoin>(script: H) -> H {
    script
}
