//! Waiting for the end of a coroutine without taking its result.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::{fmt, mem};

use futures::future::FusedFuture;

use crate::core::Core;
use crate::core::life::end;
use crate::core::life::end::outcome;
use crate::core::registration::{Bound, Registration, WaitList};
use crate::core::scope::recording;
use crate::core::task::{Reference, Task};
use crate::image::{Damaged, Reader};
use crate::time::PhaseIndex;

use super::error::Outcome;

/// A wait for the end of a coroutine, made by [`Coroutine::finished`].
///
/// Any number of coroutines may clone, keep and await it, even after the coroutine
/// has ended and its handle has been dropped.
///
/// # Resumes
///
/// Like a join of a [`Coroutine`]. Several waits for the same coroutine resume in
/// the order they began.
///
/// # Output
///
/// How the coroutine ended.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. Nothing is lost: a clone waits for the
/// same end.
///
/// [`Coroutine`]: crate::Coroutine
/// [`Coroutine::finished`]: crate::Coroutine::finished
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Finished {
    target: Target,
    registration: Registration,
    done: bool,
}

enum Target {
    Stored(Rc<Core>, Reference),
    /// The outcome is known, and the coroutine is no longer stored.
    Known(Outcome),
}

impl Finished {
    pub(crate) fn of(core: Rc<Core>, task: &Reference) -> Self {
        let task = core.tasks.add_reference(task);
        Self::of_task(core, task)
    }

    pub(crate) fn of_task(core: Rc<Core>, task: Reference) -> Self {
        Self::new(Target::Stored(core, task))
    }

    pub(crate) fn known(outcome: Outcome) -> Self {
        Self::new(Target::Known(outcome))
    }

    fn new(target: Target) -> Self {
        Finished {
            target,
            registration: Registration::new(PhaseIndex::HOME, Bound::Run),
            done: false,
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.target {
            Target::Stored(core, task) => outcome(core.tasks.of(task)),
            Target::Known(outcome) => Some(*outcome),
        }
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Registers the wait of a new task as an image says. Its key is in no list yet.
    pub(crate) fn load(
        &mut self,
        core: &Core,
        task: Task<'_>,
        image: &mut Reader<'_>,
    ) -> Result<(), Damaged> {
        self.registration = Registration::load(core, task, image, true)?;
        Ok(())
    }
}

impl Future for Finished {
    type Output = Outcome;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        recording::refuse("Coroutine::finished");
        let this = &mut *self;
        if let (Target::Stored(core, task), None) = (&this.target, this.outcome()) {
            this.registration.wait_for_end(core, cx, task);
        }
        // Registering clones the waker, which is user code: it may have ended the
        // task.
        let Some(outcome) = this.outcome() else {
            return Poll::Pending;
        };
        this.registration.cancel(WaitList::Joins);
        this.done = true;
        Poll::Ready(outcome)
    }
}

impl FusedFuture for Finished {
    fn is_terminated(&self) -> bool {
        self.done
    }
}

impl Clone for Finished {
    fn clone(&self) -> Self {
        match &self.target {
            Target::Stored(core, task) => Finished::of(core.clone(), task),
            Target::Known(outcome) => Finished::known(*outcome),
        }
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Joins);
        let target = mem::replace(&mut self.target, Target::Known(Outcome::Stopped));
        if let Target::Stored(core, task) = target {
            end::drop_reference(&core, task);
        }
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished")
            .field("outcome", &self.outcome())
            .finish_non_exhaustive()
    }
}
