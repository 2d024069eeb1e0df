//! The common part of the waits for a run of a phase.

use std::task::{Context, Poll};

use crate::core::scope::{self, Inside, Scope};
use crate::core::{Bound, Place, Registration};
use crate::time::PhaseIndex;

use super::{polled_again, polled_outside};

/// Waits for the next run of a phase, or for the next run in a later frame.
#[derive(Debug)]
pub(super) struct PhaseWait {
    registration: Registration,
}

impl PhaseWait {
    /// Waits for the next run of `phase` in a later frame.
    #[inline]
    pub(super) const fn later_frame(phase: PhaseIndex) -> Self {
        PhaseWait {
            registration: Registration::new(phase, Bound::Frame),
        }
    }

    /// Waits for the next run of `phase`.
    #[inline]
    pub(super) const fn next_run(phase: PhaseIndex) -> Self {
        PhaseWait {
            registration: Registration::new(phase, Bound::Run),
        }
    }

    /// Waits for the next step in the fixed phase, and for the next frame in other
    /// phases.
    pub(super) fn later(phase: PhaseIndex) -> Self {
        match phase {
            PhaseIndex::FIXED_UPDATE => Self::next_run(phase),
            _ => Self::later_frame(phase),
        }
    }

    #[inline]
    #[track_caller]
    pub(super) fn set_phase(&mut self, phase: PhaseIndex) {
        self.registration.set_phase(phase);
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.registration.is_done()
    }

    /// Polls the wait. Messages call it `name`.
    #[inline(always)]
    #[track_caller]
    pub(super) fn poll(&mut self, cx: &Context<'_>, name: &'static str) -> Poll<()> {
        let wait = self;
        scope::with_inlined(PollOf::<false> { wait, cx, name })
    }

    /// Polls a wait for the next frame, which mostly names no phase.
    #[inline(always)]
    #[track_caller]
    pub(super) fn poll_frame(&mut self, cx: &Context<'_>, name: &'static str) -> Poll<()> {
        let wait = self;
        scope::with_inlined(PollOf::<true> { wait, cx, name })
    }

    /// Handles a poll for another reason than that this wait resumes its coroutine.
    #[inline(never)]
    #[track_caller]
    fn poll_again(&mut self, scope: &Scope<'_>, cx: &Context<'_>, name: &'static str) -> Poll<()> {
        let core = scope.core();
        if self.registration.is_done() {
            polled_again(name);
        }
        if self.registration.is_due(core) {
            self.registration.finish(core);
            return Poll::Ready(());
        }
        self.registration.wait_on_for_run(scope, cx);
        Poll::Pending
    }
}

/// A poll of a wait; of a wait for the next frame if `FRAME`.
struct PollOf<'a, 'c, const FRAME: bool> {
    wait: &'a mut PhaseWait,
    cx: &'a Context<'c>,
    name: &'static str,
}

impl<const FRAME: bool> Inside for PollOf<'_, '_, FRAME> {
    type Output = Poll<()>;

    #[inline(always)]
    #[track_caller]
    fn call(self, scope: Option<&Scope<'_>>) -> Poll<()> {
        let PollOf { wait, cx, name } = self;
        let Some(scope) = scope else {
            polled_outside(name)
        };
        if wait.registration.take_resumed(scope) {
            return Poll::Ready(());
        }
        let begun = if FRAME && wait.registration.is_new_at_home() {
            wait.registration.begin_frame_plainly(scope, cx)
        } else if wait.registration.is_new() {
            wait.registration.begin_plainly(scope, cx)
        } else {
            return wait.poll_again(scope, cx, name);
        };
        if !begun {
            wait.registration.begin_for_run(scope, cx);
        }
        Poll::Pending
    }
}

impl Drop for PhaseWait {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(Place::Queue);
    }
}
