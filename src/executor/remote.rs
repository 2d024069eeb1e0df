//! A handle for other threads.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use crate::core::call::Foreign;
use crate::core::waker::sync::Arc;
use crate::core::waker::{Inbox, Message, RemoteSpawn};

/// Spawns coroutines from any thread.
///
/// It takes a closure that makes the future, because futures of gameplay
/// scripts are seldom `Send`: only the closure travels.
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
    /// [`Phase::Update`](crate::Phase::Update).
    ///
    /// `false`: the executor is gone, and `make` was dropped.
    #[track_caller]
    pub fn spawn<M, F>(&self, make: M) -> bool
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        let place = Location::caller();
        let spawn: RemoteSpawn = Box::new(move |core| {
            let script = async move {
                make().await;
            };
            if core.accepts(None) {
                let task = core.spawn(script, None, None, place);
                core.drop_coroutine(task);
            }
        });
        let spawn = Message::Spawn(Foreign::new(spawn));
        // What comes back is dropped here: it never reached the executor.
        self.inbox.push(spawn).is_ok()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").finish_non_exhaustive()
    }
}
