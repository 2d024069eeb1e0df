//! The wait for the end of all coroutines of an owner.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::owners::{NextEnd, OwnerKey};
use crate::core::registration::{Bound, Registration, WaitList, join};
use crate::core::scope::recording;
use crate::core::task::Task;
use crate::core::{Core, scope};
use crate::durable::RuntimeEnd;
use crate::image::{Damaged, Reader, Writer};
use crate::sync::source::expect_called;
use crate::time::PhaseIndex;
use crate::wait::polled_again;

/// The future of [`Owner::ended`](super::Owner::ended) and
/// [`OwnerHandle::ended`](super::OwnerHandle::ended).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ended {
    inner: Inner,
}

enum Inner {
    Own(OwnerEnd),
    /// A runtime of durable scripts has it. `None` once it has been ready.
    Runtime(Option<Box<dyn RuntimeEnd>>),
}

impl Ended {
    /// A wait for this end.
    pub(super) fn of_end(executor: u32, owner: OwnerKey, end: NextEnd) -> Self {
        OwnerEnd::new(executor, owner, Some(end)).into()
    }

    pub(crate) fn of_runtime(end: Box<dyn RuntimeEnd>) -> Self {
        Ended {
            inner: Inner::Runtime(Some(end)),
        }
    }

    /// The wait of a runtime that has not been ready.
    pub(crate) fn into_runtime(self) -> Option<Box<dyn RuntimeEnd>> {
        match self.inner {
            Inner::Own(_) => None,
            Inner::Runtime(end) => end,
        }
    }

    /// Panics if the coroutine that is being polled is on the owner. `function` is what it
    /// awaits.
    #[track_caller]
    pub(super) fn expect_from_outside(&self, function: &str) {
        if let Inner::Own(end) = &self.inner {
            end.expect_from_outside(function);
        }
    }

    /// Polls the wait, which `function` has made. `None` if only the caller knows how many coroutines were stopped.
    #[track_caller]
    pub(super) fn poll_stopped(
        &mut self,
        cx: &mut Context<'_>,
        function: &'static str,
    ) -> Poll<Option<usize>> {
        match &mut self.inner {
            Inner::Own(end) => end.poll(cx, function).map(|()| None),
            Inner::Runtime(end) => {
                let Some(awaited) = end else {
                    polled_again(function);
                };
                let polled = expect_called(awaited.poll(Location::caller(), cx));
                if polled.is_ready() {
                    *end = None;
                }
                polled.map(Some)
            }
        }
    }
}

impl From<OwnerEnd> for Ended {
    fn from(end: OwnerEnd) -> Self {
        Ended {
            inner: Inner::Own(end),
        }
    }
}

impl Future for Ended {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_stopped(cx, "Owner::ended()").map(drop)
    }
}

impl FusedFuture for Ended {
    fn is_terminated(&self) -> bool {
        match &self.inner {
            Inner::Own(end) => end.registration.is_done(),
            Inner::Runtime(end) => end.is_none(),
        }
    }
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ended")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// A wait for the end of an owner of an executor.
#[derive(Debug)]
pub(crate) struct OwnerEnd {
    executor: u32,
    owner: OwnerKey,
    /// The end that it waits for. `None` before the first poll.
    end: Option<NextEnd>,
    registration: Registration,
}

impl OwnerEnd {
    /// A wait for this end; or for the next one, or none if the owner has no coroutine, as of the first poll.
    pub(super) fn new(executor: u32, owner: OwnerKey, end: Option<NextEnd>) -> Self {
        OwnerEnd {
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
        Ok(OwnerEnd {
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

    #[track_caller]
    fn expect_from_outside(&self, function: &str) {
        let owner = self.owner;
        scope::with_executor(self.executor, |core| {
            join::expect_from_outside(core, owner, function);
        });
    }

    /// Polls the wait, which `function` has made.
    #[track_caller]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, function: &'static str) -> Poll<()> {
        recording::refuse("Owner::ended");
        if self.registration.is_done() {
            polled_again(function);
        }
        let registration = &mut self.registration;
        let Some(core) = scope::with_executor(self.executor, Core::rc) else {
            return registration.end_without_owner();
        };
        let next = || core.owners.borrow().next_end(self.owner);
        let end = *self.end.get_or_insert_with(next);
        registration.poll_owner_end(&core, cx, self.owner, end, "ended()")
    }
}

impl Drop for OwnerEnd {
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Joins);
    }
}
