//! A handle of an executor, for other threads.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::core::base::call::{self, Foreign};
use crate::core::life::end;
use crate::core::life::start::{self, Home, refuse};
use crate::core::task::{MoveIn, Moved, Moving, move_in};
use crate::core::wake::waker::sync::Arc;
use crate::core::wake::waker::{InjectionQueue, Message, Order};
use crate::core::{Core, scope};
use crate::task::coroutine::{self, CoroutineId};
use crate::time::Phase;

use super::remote_call::RemoteCall;

/// A handle of an [`Executor`](crate::Executor) for other threads: it spawns and
/// stops coroutines, and calls closures on the executor's thread.
///
/// [`spawn`](RemoteHandle::spawn) takes a closure that makes the future, because the
/// futures of gameplay scripts are seldom `Send`. Only the closure is sent to the
/// executor's thread.
///
/// Each method sends a request, and does not block. It returns `true` if the executor was
/// alive to receive the request. The request is carried out later. The requests of a
/// thread are carried out in the order they were made. The exception is a spawn: its
/// coroutine is first polled after all stops and calls that have arrived by then.
///
/// After the executor has been dropped, every method returns `false`, and drops its
/// closure on the calling thread. If the executor is dropped before it carries out
/// a request, the closure is not called, and is dropped on the executor's thread.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let remote = executor.remote();
/// std::thread::spawn(move || {
///     remote.spawn(|| async {
///         wait_seconds(1).await;
///         println!("printed on the executor's thread");
///     });
/// })
/// .join()
/// .unwrap();
/// executor.run_frame(0.1);
/// assert_eq!(executor.len(), 1);
/// ```
#[derive(Clone)]
pub struct RemoteHandle {
    injected: Arc<InjectionQueue>,
}

impl RemoteHandle {
    pub(crate) fn new(injected: Arc<InjectionQueue>) -> Self {
        RemoteHandle { injected }
    }

    /// Requests that the executor's thread calls `make` and runs its future as a
    /// coroutine. The next run of [`Phase::Update`] calls `make`, and polls the future for
    /// the first time.
    ///
    /// If the executor has been dropped, drops `make` and returns `false`.
    #[track_caller]
    pub fn spawn<M, F>(&self, make: M) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.spawn_at(Location::caller(), Home::HOST, make)
    }

    /// Like [`spawn`](RemoteHandle::spawn), with `phase` as home: the next run of `phase` that
    /// begins after this call polls the future.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let remote = executor.remote();
    /// remote.spawn_in(Phase::EndOfFrame, || async {
    ///     assert_eq!(time().phase, Some(Phase::EndOfFrame));
    /// });
    /// executor.run_frame(0.1);
    /// assert!(executor.is_empty());
    /// ```
    #[track_caller]
    pub fn spawn_in<M, F>(&self, phase: Phase, make: M) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.spawn_at(Location::caller(), Home::named(phase), make)
    }

    fn spawn_at<M, F>(&self, place: &'static Location<'static>, home: Home, make: M) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.push(Message::Spawn, move |core| {
            // An output that is not `()` goes to the hook for unobserved outputs.
            let script = async move { make().await };
            let order = Ordered {
                core,
                home: Some(home),
                place,
            };
            if let Some(((), task)) = move_in(script, order) {
                end::drop_coroutine(core, task);
            }
        })
    }

    /// Requests that the executor's thread stops a coroutine, when the next run of
    /// any phase begins, or the host [makes calls](crate::Handle::make_calls). Then the future is dropped, with its destructors, and the
    /// coroutines that join it resume with a [`JoinError`](crate::JoinError).
    ///
    /// Nothing happens if the coroutine has ended by then, or belongs to another
    /// executor. Returns `false` if the executor has been dropped: then its coroutines
    /// have ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let search = executor.spawn(std::future::pending::<()>());
    /// let (remote, id) = (executor.remote(), search.id());
    /// std::thread::spawn(move || assert!(remote.stop(id))).join().unwrap();
    /// assert!(!search.is_finished());
    /// executor.run_frame(0.1);
    /// assert!(search.is_finished());
    /// ```
    pub fn stop(&self, id: CoroutineId) -> bool {
        self.push(Message::Call, move |core| {
            if let Some(key) = core.key_of(id) {
                end::stop(core, key, None);
            }
        })
    }

    /// Requests that the executor's thread calls `f`, when the next run of any
    /// phase begins, before that run polls a coroutine, or when the host [makes
    /// calls](crate::Handle::make_calls).
    ///
    /// The call is like a script without waits that the host
    /// [starts](crate::Executor::start) right before the run. The free functions
    /// work in it, and [`with`](crate::with()) borrows the state that the host
    /// lends for that run. A coroutine that `f` spawns is first polled in the next
    /// run of Update, which may be the run that begins. A panic of `f` ends only
    /// `f`.
    ///
    /// A call that `f` itself requests is made in the following run. So an endless chain
    /// of calls does not block a run.
    ///
    /// If the executor has been dropped, drops `f` and returns `false`.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     players: Vec<String>,
    /// }
    ///
    /// let mut world = World { players: Vec::new() };
    /// let mut executor = Executor::new();
    /// let remote = executor.remote();
    /// std::thread::spawn(move || {
    ///     let name = "Ada".to_string(); // read from a socket
    ///     remote.call(|| with(|world: &mut World| world.players.push(name)));
    /// })
    /// .join()
    /// .unwrap();
    /// executor.lend(&mut world, |executor| executor.run_frame(0.1));
    /// assert_eq!(world.players, ["Ada"]);
    /// ```
    #[track_caller]
    pub fn call<F: FnOnce() + Send + 'static>(&self, f: F) -> bool {
        self.call_at(Location::caller(), f)
    }

    /// Requests a [`call`](RemoteHandle::call) of `f`, and returns a future of its result: for a task
    /// that runs on tokio or on a thread pool, and needs an answer from the game.
    ///
    /// **The request is sent at this call**, not at the first poll.
    ///
    /// # Resumes
    ///
    /// `f` is called as by [`call`](RemoteHandle::call). Then the task is woken, and continues where its
    /// own runtime runs it. A script that awaits it continues in the next run of its home phase.
    ///
    /// On the executor's thread, do not block on the future: nothing would run the executor.
    ///
    /// # Output
    ///
    /// What `f` returns.
    ///
    /// # Errors
    ///
    /// A [`RemoteCallError`](super::RemoteCallError) if the executor is dropped before it makes the call, or if `f` panics.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the result. `f` is called all the same.
    ///
    /// # Panics
    ///
    /// When polled in a durable script, which does not record it.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::task::{RemoteCallError, RemoteHandle};
    ///
    /// struct World {
    ///     players: Vec<String>,
    /// }
    ///
    /// // A task of a server, on another thread.
    /// async fn join(remote: RemoteHandle, name: String) -> Result<usize, RemoteCallError> {
    ///     let join = || with(|world: &mut World| {
    ///         world.players.push(name);
    ///         world.players.len()
    ///     });
    ///     remote.call_async(join).await
    /// }
    ///
    /// let mut world = World { players: vec!["Ada".to_string()] };
    /// let mut executor = Executor::new();
    /// let remote = executor.remote();
    /// // In place of tokio: any runtime can run the task.
    /// let server = std::thread::spawn(|| Executor::new().run_until(join(remote, "Bob".to_string()), 1));
    /// while !server.is_finished() {
    ///     executor.run_frame_with(&mut world, 0.25);
    /// }
    /// assert_eq!(server.join().unwrap(), Ok(2));
    /// ```
    ///
    /// # Source
    ///
    /// `Dispatcher.InvokeAsync` of WPF; `MainActor.run` of Swift.
    #[track_caller]
    pub fn call_async<R, F>(&self, f: F) -> RemoteCall<R>
    where
        R: Send + 'static,
        F: FnOnce() -> R + Send + 'static,
    {
        let place = Location::caller();
        let (result, call) = RemoteCall::new(place);
        // Where it is refused, the sender is dropped, which the future reports.
        self.call_at(place, move || drop(result.send(f())));
        call
    }

    fn call_at(
        &self,
        place: &'static Location<'static>,
        f: impl FnOnce() + Send + 'static,
    ) -> bool {
        self.push(Message::Call, move |core| {
            let order = Ordered {
                core,
                home: None,
                place,
            };
            if let Some(((), task)) = move_in(async move { f() }, order) {
                end::drop_coroutine(core, task);
            }
        })
    }

    /// Sends `order`. If the executor has been dropped, drops `order` here and returns
    /// `false`. The executor may also end while it takes messages. So `order` must check
    /// that the executor accepts it.
    fn push(
        &self,
        message: fn(Foreign<Order>) -> Message,
        order: impl FnOnce(&Core) + Send + 'static,
    ) -> bool {
        let pushed = self.injected.push(message(scope::order(order)));
        pushed.map_err(refuse).is_ok()
    }
}

impl fmt::Debug for RemoteHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteHandle").finish_non_exhaustive()
    }
}

/// Stores a coroutine that another thread has ordered. Drops it if the executor is closed.
struct Ordered<'c> {
    core: &'c Core,
    /// Of a spawn. `None` for a start.
    home: Option<Home>,
    place: &'static Location<'static>,
}

impl MoveIn for Ordered<'_> {
    type Beside = ();

    fn move_in(self, future: Moving<'_>) -> Option<((), Moved<'_>)> {
        let Ordered { core, home, place } = self;
        if core.is_closed() {
            call::quietly(|| refuse(future));
            return None;
        }
        if !start::accepts(core, None) {
            call::quietly(|| coroutine::refuse(Some(core), None, future, None, place));
            return None;
        }
        let task = match home {
            Some(home) => start::spawn(core, None, future, home, None, place),
            None => start::start(core, None, future, Home::HOST, None, place),
        };
        Some(((), task))
    }
}
