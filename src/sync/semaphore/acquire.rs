//! The wait for a permit.

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::durable::RuntimeAcquire;
use crate::sync::source::expect_called;
use crate::wait::polled_again;

use super::{Permit, Shared};

/// The future of [`Semaphore::acquire`](super::Semaphore::acquire) and
/// [`Semaphore::acquire_many`](super::Semaphore::acquire_many).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Acquire {
    inner: Inner,
}

enum Inner {
    Executor(Acquiring),
    /// A runtime of durable scripts has the permits. `None` once it has been ready.
    Runtime(Option<Box<dyn RuntimeAcquire>>),
}

struct Acquiring {
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
            inner: Inner::Executor(Acquiring {
                shared,
                count,
                stage: Stage::New,
            }),
        }
    }

    pub(super) fn of_runtime(acquires: Box<dyn RuntimeAcquire>) -> Self {
        Acquire {
            inner: Inner::Runtime(Some(acquires)),
        }
    }
}

impl Acquiring {
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
        let acquiring = match &mut self.inner {
            Inner::Executor(acquiring) => acquiring,
            Inner::Runtime(acquires) => return poll_in_runtime(acquires, cx),
        };
        if let Some(waiter) = acquiring.waiter() {
            if !acquiring.shared.is_granted(waiter) {
                acquiring.shared.wait(waiter, cx);
            }
            if !acquiring.shared.take_granted(waiter) {
                return Poll::Pending;
            }
        }
        acquiring.stage = Stage::Done;
        Poll::Ready(acquiring.shared.permit(acquiring.count))
    }
}

impl FusedFuture for Acquire {
    fn is_terminated(&self) -> bool {
        match &self.inner {
            Inner::Executor(acquiring) => acquiring.stage == Stage::Done,
            Inner::Runtime(acquires) => acquires.is_none(),
        }
    }
}

#[cold]
#[track_caller]
fn poll_in_runtime(
    acquires: &mut Option<Box<dyn RuntimeAcquire>>,
    cx: &mut Context<'_>,
) -> Poll<Permit> {
    let Some(acquiring) = acquires else {
        polled_again("Semaphore::acquire()");
    };
    let polled = expect_called(acquiring.poll(Location::caller(), cx));
    if polled.is_ready() {
        *acquires = None;
    }
    polled.map(Permit::of_runtime)
}

impl Drop for Acquiring {
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
