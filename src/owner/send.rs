//! An owner that may go to other threads.

use std::fmt;

use crate::core::Core;
use crate::core::call::{self, Foreign};
use crate::core::waker::sync::Arc;
use crate::core::waker::{Inbox, Message, Order};

use super::Owner;

/// An [`Owner`] that may be moved to and shared with other threads, by
/// [`Owner::into_send`]: so it can be a component of an engine.
///
/// Its coroutines stay where they are. Only on the thread of their executor does
/// [`get`](SendOwner::get) give the owner. It may be dropped anywhere:
///
/// | dropped | its coroutines |
/// |---|---|
/// | on the executor's thread | are stopped at once, as by dropping an `Owner` |
/// | on another thread | are stopped on their own thread, at the latest when the next run begins; the host is [woken](crate::Executor::on_wake) |
/// | when the executor or its thread is gone | have ended with the executor |
///
/// It holds no memory of the executor: one that is dropped last, on whichever thread,
/// leaks nothing.
///
/// # Examples
///
/// ```
/// use framestep::SendOwner;
/// use framestep::prelude::*;
///
/// struct Enemy {
///     scripts: SendOwner,
/// }
///
/// let mut executor = Executor::new();
/// let enemy = Enemy { scripts: executor.owner().into_send() };
/// enemy.scripts.get().unwrap().start(async { wait_seconds(60).await });
///
/// // A system on another thread despawns the enemy.
/// std::thread::spawn(move || {
///     assert!(enemy.scripts.get().is_none());
///     drop(enemy);
/// })
/// .join()
/// .unwrap();
/// assert_eq!(executor.len(), 1);
/// executor.run_frame(0.1);
/// assert!(executor.is_empty());
/// ```
pub struct SendOwner {
    /// What dropping this does, is done on the executor's thread only.
    owner: Owner,
    /// The way there. `None`: the executor was gone.
    inbox: Option<Arc<Inbox>>,
}

// SAFETY: `Owner` is two numbers. On another thread than that of its executor, of
// which there is one in the program with its number, it finds none, so that all it
// does there is nothing, its drop included.
unsafe impl Send for SendOwner {}
// SAFETY: the same. A reference to the `Owner` inside is given on the executor's
// thread only, and cannot leave it.
unsafe impl Sync for SendOwner {}

impl SendOwner {
    pub(super) fn new(owner: Owner) -> Self {
        let inbox = owner.with_core(|core| core.inbox.clone());
        SendOwner { owner, inbox }
    }

    /// The owner, on the thread of its executor. `None`: this is another thread, or
    /// the executor has been dropped.
    pub fn get(&self) -> Option<&Owner> {
        let open = self.owner.with_core(|core| !core.is_closed());
        open.unwrap_or(false).then_some(&self.owner)
    }
}

impl Drop for SendOwner {
    fn drop(&mut self) {
        let at_home = self.owner.with_core(|_| ()).is_some();
        if let (false, Some(inbox)) = (at_home, &self.inbox) {
            // What comes back has no executor any more.
            let index = self.owner.index;
            let remove =
                Foreign::new(Box::new(move |core: &Core| core.remove_owner(index)) as Order);
            // It wakes the host, which is user code, and this may be a destructor while
            // the stack unwinds.
            call::quietly(|| drop(inbox.push(Message::Call(remove))));
        }
    }
}

impl fmt::Debug for SendOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendOwner")
            .field("at_home", &self.get().is_some())
            .finish_non_exhaustive()
    }
}
