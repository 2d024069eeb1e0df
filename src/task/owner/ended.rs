//! The wait for the end of all coroutines of an owner.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::owners::{NextEnd, OwnerKey};
use crate::core::registration::{Bound, Registration, WaitList, join};
use crate::core::scope::recording;
use crate::core::task::Task;
use crate::core::{Core, scope};
use crate::image::{Damaged, Reader, Writer};
use crate::time::PhaseIndex;
use crate::wait::polled_again;

/// The future of [`Owner::ended`](super::Owner::ended) and
/// [`OwnerHandle::ended`](super::OwnerHandle::ended).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ended {
    executor: u32,
    owner: OwnerKey,
    /// The end that it waits for. `None` before the first poll.
    end: Option<NextEnd>,
    registration: Registration,
}

impl Ended {
    /// A wait for the next end, or none if the owner has no coroutine, as of the first poll.
    pub(super) fn of(executor: u32, owner: OwnerKey) -> Self {
        Self::new(executor, owner, None)
    }

    /// A wait for this end.
    pub(super) fn of_end(executor: u32, owner: OwnerKey, end: NextEnd) -> Self {
        Self::new(executor, owner, Some(end))
    }

    fn new(executor: u32, owner: OwnerKey, end: Option<NextEnd>) -> Self {
        Ended {
            executor,
            owner,
            end,
            registration: Registration::new(PhaseIndex::HOME, Bound::Run),
        }
    }

    /// Makes a wait of a new task as an image says. Its key is in no list yet.
    pub(crate) fn load(
        core: &Core,
        owner: OwnerKey,
        task: Task<'_>,
        image: &mut Reader<'_>,
    ) -> Result<Self, Damaged> {
        let registration = Registration::load(core, task, image, true)?;
        let end = if registration.is_registered() {
            core.owners.borrow().end_from_now(owner)
        } else {
            NextEnd::COME
        };
        Ok(Ended {
            executor: core.id,
            owner,
            end: Some(end),
            registration,
        })
    }

    /// Writes the wait to an image.
    pub(crate) fn save(&self, core: &Core, out: &mut Writer) {
        let has_come = |end| core.owners.borrow().has_come(self.owner, end);
        if self.end.is_some_and(has_come) {
            self.registration.save_endless(out);
        } else {
            self.registration.save(core, out);
        }
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Panics if the coroutine that is being polled is on the owner. `function` is what it
    /// awaits.
    #[track_caller]
    pub(super) fn expect_from_outside(&self, function: &str) {
        let owner = self.owner;
        scope::with_executor(self.executor, |core| {
            join::expect_from_outside(core, owner, function);
        });
    }
}

impl Future for Ended {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        recording::refuse("Owner::ended");
        let this = &mut *self;
        if this.registration.is_done() {
            polled_again("Owner::ended()");
        }
        let registration = &mut this.registration;
        let Some(core) = scope::with_executor(this.executor, Core::rc) else {
            return registration.end_without_owner();
        };
        let next = || core.owners.borrow().next_end(this.owner);
        let end = *this.end.get_or_insert_with(next);
        registration.poll_owner_end(&core, cx, this.owner, end, "ended()")
    }
}

impl FusedFuture for Ended {
    fn is_terminated(&self) -> bool {
        self.registration.is_done()
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Joins);
    }
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ended")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
