//! A handle for other threads.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::core::Core;
use crate::core::call::Foreign;
use crate::core::waker::sync::Arc;
use crate::core::waker::{Inbox, Message, Order};
use crate::coroutine::CoroutineId;
use crate::time::{Phase, PhaseIndex};

/// Spawns and stops coroutines, and calls closures on the executor's thread, from
/// any thread.
///
/// It takes a closure that makes the future, because futures of gameplay
/// scripts are seldom `Send`: only the closure travels.
///
/// Nothing of it blocks, and nothing has happened when it returns: `true` says that
/// the executor was there to take the request. Requests of one thread are met in the
/// order in which they were made, except that what is spawned is first polled after
/// all stops and calls that had arrived by then.
///
/// Once the executor is gone, everything returns `false`, and the closure is dropped
/// on the thread that brought it. If the executor is dropped before it has met a
/// request, the closure is dropped on the executor's thread and not called.
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
///         println!("said on the executor's thread");
///     });
/// })
/// .join()
/// .unwrap();
/// executor.run_frame(0.1);
/// assert_eq!(executor.len(), 1);
/// ```
#[derive(Clone)]
pub struct Remote {
    inbox: Arc<Inbox>,
}

impl Remote {
    pub(crate) fn new(inbox: Arc<Inbox>) -> Self {
        Remote { inbox }
    }

    /// Has the executor's thread call `make` and run its future as a coroutine:
    /// first polled, and `make` called, in the next run of
    /// [`Phase::Update`].
    ///
    /// `false`: the executor is gone, and `make` was dropped.
    #[track_caller]
    pub fn spawn<M, F>(&self, make: M) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.spawn_at(Location::caller(), None, make)
    }

    /// The same in the next run of `phase` that begins after this call.
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
        self.spawn_at(Location::caller(), Some(PhaseIndex::new(phase)), make)
    }

    fn spawn_at<M, F>(
        &self,
        place: &'static Location<'static>,
        phase: Option<PhaseIndex>,
        make: M,
    ) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.push(Message::Spawn, move |core| {
            let script = async move {
                make().await;
            };
            if core.accepts(None) {
                let task = core.spawn(script, phase, None, place);
                core.drop_coroutine(task);
            }
        })
    }

    /// Has the executor's thread stop a coroutine, when its next run of any phase
    /// begins: then its future is dropped, destructors and all, and those that join it
    /// get a [`JoinError`](crate::JoinError).
    ///
    /// Nothing happens if it has ended by then, or belongs to another executor.
    /// `false`: the executor is gone, and so is the coroutine.
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
                core.stop(key);
            }
        })
    }

    /// Has the executor's thread call `f`, when its next run of any phase begins,
    /// before anything is polled in it.
    ///
    /// It is as if the host [started](crate::Executor::start) a script without waits
    /// right before the run: the free functions work in it, and
    /// [`with`](crate::with()) borrows what the host lends for that run. What `f` spawns
    /// is first polled in the next run of Update, which may be the one that begins. If
    /// `f` panics, that ends `f` alone.
    ///
    /// A call that `f` asks for in turn is made in the run after that, so calls without
    /// end do not hold a run.
    ///
    /// `false`: the executor is gone, and `f` was dropped.
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
    pub fn call<F>(&self, f: F) -> bool
    where
        F: FnOnce() + Send + 'static,
    {
        let place = Location::caller();
        self.push(Message::Call, move |core| {
            if core.accepts(None) {
                let task = core.start(async move { f() }, None, place);
                core.drop_coroutine(task);
            }
        })
    }

    /// `false`: the executor is gone, and `order` was dropped here.
    fn push(
        &self,
        message: fn(Foreign<Order>) -> Message,
        order: impl FnOnce(&Core) + Send + 'static,
    ) -> bool {
        let order: Order = Box::new(order);
        self.inbox.push(message(Foreign::new(order))).is_ok()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").finish_non_exhaustive()
    }
}
