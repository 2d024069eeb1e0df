//! What `next_frame` and `in_phase` have in common: waiting for a run.

use std::task::{Context, Poll};

use crate::context::{self, LevelRef};
use crate::core::{Place, Registration};
use crate::phase::PhaseIndex;
use crate::records::Kind;

use super::{polled, polled_again, polled_outside};

/// Waits for the next run of a phase; if `LATER_FRAME`, the next one of a later
/// frame.
#[derive(Debug)]
pub(super) struct PhaseWait<const LATER_FRAME: bool> {
    registration: Registration,
}

impl<const LATER_FRAME: bool> PhaseWait<LATER_FRAME> {
    /// What it is called in messages.
    const NAME: &'static str = if LATER_FRAME {
        "next_frame()"
    } else {
        "in_phase()"
    };

    #[inline]
    pub(super) const fn new(phase: PhaseIndex) -> Self {
        PhaseWait {
            registration: Registration::new(phase, LATER_FRAME),
        }
    }

    #[inline]
    pub(super) fn set_phase(&mut self, phase: PhaseIndex) {
        self.registration.set_phase(phase);
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.registration.is_done()
    }

    #[inline(always)]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let level = context::innermost();
        // First what is known of a wait that has not begun: then nothing is left
        // of it in its first poll.
        if !self.registration.take_resumed(&level) {
            if self.registration.is_new() {
                if LATER_FRAME {
                    self.registration.note_frame(&level);
                } else {
                    self.registration.begin_at_run(&polled(Self::NAME));
                }
                if !self.registration.wait_with_task(&level, cx) {
                    self.wait_otherwise(level, cx);
                }
                return Poll::Pending;
            }
            if !self.registration.take_fired(level) && !self.poll_again(cx) {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    /// Begins where the wait cannot register with its coroutine itself.
    #[cold]
    #[inline(never)]
    fn wait_otherwise(&mut self, level: LevelRef, cx: &Context<'_>) {
        if level.is_outside() {
            polled_outside(Self::NAME);
        }
        let kind = Kind::queued(LATER_FRAME);
        self.registration.wait_with_record(&level, cx, kind);
    }

    /// Polled for another reason than that its own ticket came up, and not fired.
    /// `true`: it is ready.
    #[cold]
    #[inline(never)]
    fn poll_again(&mut self, cx: &Context<'_>) -> bool {
        let level = polled(Self::NAME);
        if self.registration.is_done() {
            polled_again(Self::NAME);
        }
        let (core, since) = (level.core(), self.registration.since());
        let ready = if LATER_FRAME {
            core.has_run_since(since)
        } else {
            since.is_before(core.runs_begun(since.phase()))
        };
        if ready {
            self.registration.finish_in(&level, Place::Queue);
        } else {
            self.registration.wait_for_phase(&level, cx);
        }
        ready
    }
}

impl<const LATER_FRAME: bool> Drop for PhaseWait<LATER_FRAME> {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(Place::Queue);
    }
}
