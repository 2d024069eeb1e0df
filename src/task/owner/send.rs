//! An owner that may be sent to other threads.

#![expect(
    unsafe_code,
    reason = "an owner is numbers, which are `Send`; its use is not"
)]

use std::fmt;

use crate::core::base::call;
use crate::core::life::end;
use crate::core::owners::OwnerKey;
use crate::core::scope;
use crate::core::wake::waker::sync::Arc;
use crate::core::wake::waker::{InjectionQueue, Message};

use super::Owner;

/// An [`Owner`] that is `Send` and `Sync`, made by [`Owner::into_send`], so that it
/// can be a component of an engine.
///
/// Its coroutines stay on the thread of their executor. [`get`](SendOwner::get)
/// returns the owner only on that thread. The `SendOwner` may be dropped on any
/// thread:
///
/// | dropped | its coroutines |
/// |---|---|
/// | on the executor's thread | are stopped at once, as by dropping an `Owner` |
/// | on another thread | are stopped on the executor's thread, at the latest when the next run begins; the host is [woken](crate::Executor::on_wake) |
/// | after the executor or its thread has ended | have ended with the executor |
///
/// It does not keep the executor's memory alive, and leaks nothing, whichever is
/// dropped first.
///
/// # Examples
///
/// ```
/// use framestep::task::SendOwner;
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
    /// Its methods and its drop have an effect only on the executor's thread.
    owner: Owner,
    /// The injection queue of the executor. `None` if the executor had been dropped.
    injected: Option<Arc<InjectionQueue>>,
}

// An owner is numbers that are `Send` and `Sync`, and a marker without size. The queue is
// `Send` and `Sync`, too.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() -> usize {
        size_of::<T>()
    }
    assert!(size_of::<Owner>() == is_send_and_sync::<(u32, OwnerKey)>());
    is_send_and_sync::<Option<Arc<InjectionQueue>>>();
};

// SAFETY: the queue is `Send`, and `Owner` is numbers. Executors have unique numbers, and
// an owner finds its executor only on the executor's thread. On another thread, its
// methods and its drop do nothing.
unsafe impl Send for SendOwner {}
// SAFETY: as for `Send`, and the queue is `Sync`. `get` returns a reference to the `Owner`
// only on the executor's thread, and the reference cannot leave that thread.
unsafe impl Sync for SendOwner {}

impl SendOwner {
    pub(super) fn new(owner: Owner) -> Self {
        let injected = owner.with_core(|core| core.host.injected.clone());
        SendOwner { owner, injected }
    }

    /// Returns the owner. Returns `None` on any thread but the executor's, or if
    /// the executor has been dropped.
    pub fn get(&self) -> Option<&Owner> {
        let open = self.owner.with_core(|core| !core.is_closed());
        open.unwrap_or(false).then_some(&self.owner)
    }
}

impl Drop for SendOwner {
    fn drop(&mut self) {
        let at_home = self.owner.with_core(|_| ()).is_some();
        if let (false, Some(injected)) = (at_home, &self.injected) {
            // If `push` returns the order, the executor is gone.
            let key = self.owner.key();
            let remove = scope::order(move |core| end::remove_owner(core, key));
            // `push` wakes the host, which is user code, and this destructor may
            // run while the stack unwinds.
            call::quietly(|| drop(injected.push(Message::Call(remove))));
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
