//! The phase in which a wait resumes its script.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::{InPhase, Phase, home, in_phase, time};
use futures::FutureExt;

/// The phase of a wait that is not ended by a frame, but by a message, an event or a
/// condition.
///
/// Wakes resume a script in its home phase. So a wait for another phase is polled in each run
/// of that phase.
#[derive(Default)]
pub(crate) struct Turn {
    /// `None`: the home phase.
    phase: Option<Phase>,
    next: Option<InPhase>,
    is_polled: bool,
}

impl Turn {
    /// The phase of the wait, if it is not the home of the script.
    pub(crate) fn elsewhere(&self) -> Option<Phase> {
        self.phase.filter(|&phase| phase != home())
    }

    #[track_caller]
    pub(crate) fn set(&mut self, phase: Phase) {
        assert!(
            !self.is_polled,
            "`in_phase` was called on a wait that has begun"
        );
        self.phase = Some(phase);
    }

    /// Polls a wait in the runs of its phase. In other runs, it stays pending.
    pub(crate) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.is_polled = true;
        let Some(phase) = self.elsewhere() else {
            return poll(cx);
        };
        if time().phase == Some(phase) {
            let polled = poll(cx);
            if polled.is_ready() {
                self.next = None;
                return polled;
            }
        }
        self.wait(cx, phase);
        Poll::Pending
    }

    /// Waits for the next run of the phase.
    pub(crate) fn wait(&mut self, cx: &mut Context<'_>, phase: Phase) {
        let next = self.next.get_or_insert_with(|| in_phase(phase));
        if Pin::new(&mut *next).poll_unpin(cx).is_ready() {
            *next = in_phase(phase);
            let polled = next.poll_unpin(cx);
            debug_assert!(polled.is_pending(), "a run does not follow itself");
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.next.is_some()
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phase.fmt(f)
    }
}
