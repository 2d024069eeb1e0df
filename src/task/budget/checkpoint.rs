//! The future of a checkpoint: a job may wait in it for the next frame.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::future::FusedFuture;

use crate::core::base::call::{self, Foreign};
use crate::core::report::panics;
use crate::core::scope::recording;
use crate::inspect::TimeSource;
use crate::time::Phase;
use crate::wait;
use crate::wait::{NextFrame, next_frame};

use super::Budget;

/// The future of [`Budget::checkpoint`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Checkpoint<'a> {
    budget: &'a Budget,
    units: u64,
    /// The phase it resumes in. Before it begins, `Some` only if the caller names
    /// one.
    phase: Phase,
    is_at_home: bool,
    frame: NextFrame,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    /// It waits for the next frame, or for an unspent part of another job's share.
    Waiting,
    /// It waits only for the next frame, because another checkpoint of the same job
    /// is `Waiting`.
    Beside,
    Done,
}

/// The frame and the phase in which a checkpoint is polled.
#[derive(Clone, Copy)]
struct Now {
    frame: u64,
    phase: Option<Phase>,
}

impl<'a> Checkpoint<'a> {
    pub(super) fn new(budget: &'a Budget, units: u64) -> Self {
        Checkpoint {
            budget,
            units,
            phase: Phase::Update,
            is_at_home: true,
            frame: next_frame(),
            state: State::New,
        }
    }

    /// Resumes in `phase` of the next frame, if it must wait.
    ///
    /// # Panics
    ///
    /// If the checkpoint has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.state == State::New,
            "`in_phase` was called on a checkpoint that has begun: call it before the \
             checkpoint is first polled"
        );
        self.frame = next_frame().in_phase(phase);
        self.phase = phase;
        self.is_at_home = false;
        self
    }

    /// Ends the step. Returns whether the job may continue at once.
    fn begin(&mut self, now: Now, time_source: &TimeSource) -> bool {
        let (shared, job) = (&self.budget.shared, self.budget.job);
        let cost = shared.meter.cost(self.units, time_source);
        let mut ledger = shared.ledger.borrow_mut();
        if ledger.charge(now.frame, job, cost) {
            return true;
        }
        if ledger.wait(job, self.phase) {
            self.state = State::Waiting;
            // This was the last turn: divide the unspent shares of the others.
            if now.phase == Some(self.phase) && !ledger.has_turns_to_come(self.phase) {
                ledger.settle(now.frame, self.phase);
            }
        } else {
            self.state = State::Beside;
        }
        false
    }

    /// Whether the job was granted more in this frame.
    fn is_granted(&self, now: Now) -> bool {
        let (shared, job) = (&self.budget.shared, self.budget.job);
        let mut ledger = shared.ledger.borrow_mut();
        if self.state != State::Waiting {
            return false;
        }
        if ledger.take_watcher(job) && now.phase == Some(self.phase) {
            ledger.settle(now.frame, self.phase);
        }
        ledger.is_granted(now.frame, job)
    }

    /// Ends the wait and begins another step.
    fn go_on(&mut self, now: Now, time_source: &TimeSource) {
        let (shared, job) = (&self.budget.shared, self.budget.job);
        let (own, watcher) = {
            let mut ledger = shared.ledger.borrow_mut();
            let own = ledger.begin_turn(now.frame, job);
            let phase = now.phase.filter(|&phase| phase == self.phase);
            (own, phase.and_then(|phase| ledger.choose_watcher(phase)))
        };
        self.state = State::Done;
        drop(own);
        if let Some(watcher) = watcher {
            wake(watcher);
        }
        shared.meter.begin(time_source);
    }

    /// Wakes all other jobs that were granted more.
    fn wake_granted(&self) {
        loop {
            let granted = self.budget.shared.ledger.borrow_mut().next_granted();
            match granted {
                Some(waker) => wake(waker),
                None => return,
            }
        }
    }

    fn set_waker(&self, cx: &Context<'_>) {
        let (ledger, job) = (&self.budget.shared.ledger, self.budget.job);
        if self.state == State::Waiting && !ledger.borrow().waits_with(job, cx.waker()) {
            let waker = Foreign::new(call::out(|| cx.waker().clone()));
            let previous = ledger.borrow_mut().set_waker(job, waker);
            drop(previous);
        }
    }
}

/// Swallows a panic of the waker, so that the jobs after it are still woken.
fn wake(waker: Foreign<Waker>) {
    call::quietly(|| waker.into_inner().wake());
}

impl Future for Checkpoint<'_> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.state == State::New {
            recording::refuse("Budget::checkpoint", Location::caller());
        }
        let (core, home) = wait::polled("Budget::checkpoint()", |scope| {
            (scope.core().rc(), scope.home().phase())
        });
        if self.state == State::New && self.is_at_home {
            self.phase = home;
        }
        let (time, time_source) = (core.game_time(), &core.instruments.time_source);
        let now = Now {
            frame: time.frame,
            phase: time.phase,
        };
        let state = self.state;
        match state {
            State::Done => wait::polled_again("Budget::checkpoint()"),
            State::New if self.begin(now, time_source) => {
                self.state = State::Done;
                panics::report_time_source_panic(&core);
                return Poll::Ready(());
            }
            _ => {}
        }
        let goes_on = self.is_granted(now) || Pin::new(&mut self.frame).poll(cx).is_ready();
        if goes_on {
            self.go_on(now, time_source);
        } else {
            self.set_waker(cx);
        }
        self.wake_granted();
        panics::report_time_source_panic(&core);
        if goes_on {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl FusedFuture for Checkpoint<'_> {
    fn is_terminated(&self) -> bool {
        self.state == State::Done
    }
}

impl Drop for Checkpoint<'_> {
    fn drop(&mut self) {
        if self.state == State::Waiting {
            let (ledger, job) = (&self.budget.shared.ledger, self.budget.job);
            let waker = ledger.borrow_mut().stop_waiting(job);
            drop(waker);
        }
    }
}
