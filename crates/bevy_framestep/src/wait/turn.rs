//! The phase in which a wait resumes its script.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::task::home;
use framestep::wait::{InPhase, in_phase};
use framestep::{Phase, time};
use futures::Stream;

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
        let polled = if self.is_due() {
            poll(cx)
        } else {
            Poll::Pending
        };
        self.after(cx, polled.is_ready());
        polled
    }

    /// The same for a stream, whose wait is shown in the line of the caller.
    #[track_caller]
    pub(crate) fn poll_next<S: Stream + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<Option<S::Item>> {
        let polled = if self.is_due() {
            Pin::new(stream).poll_next(cx)
        } else {
            Poll::Pending
        };
        self.after(cx, polled.is_ready());
        polled
    }

    /// Waits for the next run of the phase, for a wait that nothing else can end.
    #[track_caller]
    pub(crate) fn poll_next_run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.is_polled = true;
        let phase = self.phase;
        let next = self
            .next
            .get_or_insert_with(|| in_phase(phase.unwrap_or_else(home)));
        Pin::new(next).poll(cx)
    }

    /// Whether the wait is to be polled in this run.
    fn is_due(&mut self) -> bool {
        self.is_polled = true;
        let is_due = |phase| time().phase == Some(phase);
        self.elsewhere().is_none_or(is_due)
    }

    #[track_caller]
    fn after(&mut self, cx: &mut Context<'_>, is_ready: bool) {
        let Some(phase) = self.elsewhere() else {
            return;
        };
        if is_ready {
            self.next = None;
        } else {
            self.wait(cx, phase);
        }
    }

    /// Waits for the next run of the phase.
    #[track_caller]
    pub(crate) fn wait(&mut self, cx: &mut Context<'_>, phase: Phase) {
        let next = self.next.get_or_insert_with(|| in_phase(phase));
        if Pin::new(&mut *next).poll(cx).is_ready() {
            *next = in_phase(phase);
            let polled = Pin::new(next).poll(cx);
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
