//! The wait for a permit.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::wait::polled_again;

use super::{Permit, Shared};

/// The future of [`Semaphore::acquire`](super::Semaphore::acquire) and
/// [`Semaphore::acquire_many`](super::Semaphore::acquire_many).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Acquire {
    shared: Rc<Shared>,
    count: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    /// It has this waiter.
    Waiting(usize),
    Done,
}

impl Acquire {
    pub(super) fn new(shared: Rc<Shared>, count: usize) -> Self {
        Acquire {
            shared,
            count,
            stage: Stage::New,
        }
    }

    /// The waiter. `None` if the permits were available: they have been taken.
    #[track_caller]
    fn waiter(&mut self) -> Option<usize> {
        match self.stage {
            Stage::Done => polled_again("Semaphore::acquire()"),
            Stage::Waiting(waiter) => Some(waiter),
            Stage::New if self.shared.take_free(self.count) => None,
            Stage::New => {
                let waiter = self.shared.add_waiter(self.count);
                self.stage = Stage::Waiting(waiter);
                Some(waiter)
            }
        }
    }
}

impl Future for Acquire {
    type Output = Permit;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        if let Some(waiter) = self.waiter() {
            if !self.shared.is_granted(waiter) {
                self.shared.wait(waiter, cx);
            }
            if !self.shared.take_granted(waiter) {
                return Poll::Pending;
            }
        }
        self.stage = Stage::Done;
        Poll::Ready(self.shared.permit(self.count))
    }
}

impl FusedFuture for Acquire {
    fn is_terminated(&self) -> bool {
        self.stage == Stage::Done
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if let Stage::Waiting(waiter) = mem::replace(&mut self.stage, Stage::Done) {
            self.shared.remove_waiter(waiter);
        }
    }
}

impl fmt::Debug for Acquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
