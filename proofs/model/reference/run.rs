//! A run of a phase: everything is checked, and due coroutines are polled.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

use framestep::Phase;
use framestep::task::Outcome;

use super::choices::{
    CONDITIONS_FALL_DUE_IN_PAUSES, WAITS_KEEP_THEIR_PLACE, WAITS_OF_THE_RUN_COME_FIRST,
};
use super::law;
use super::state::{Cause, Kind, Place, Run, State};
use super::{Core, wake};
use framestep_testkit::program::Refused;

impl Core {
    /// docs/contract.md#rule-13-one-run
    pub(super) fn may_be_driven(&self) -> Result<(), Refused> {
        let state = self.state.borrow();
        if state.run.is_some() || !state.polling.is_empty() {
            return Err(Refused);
        }
        Ok(())
    }

    pub(super) fn run(&self, phase: Phase) -> Result<(), Refused> {
        self.may_be_driven()?;
        self.state.borrow_mut().take_over();
        self.work_off_the_deeper();
        let wakers = {
            let mut state = self.state.borrow_mut();
            state.take_over();
            state.clocks.begin_run(phase);
            if phase == Phase::FixedUpdate {
                state.step_begins();
            }
            state.begin_run(phase)
        };
        // The wakers of combinators are called before any coroutine is polled.
        self.fire(wakers);
        self.poll_all_due();
        // docs/contract.md#decided-stop-within
        {
            let mut state = self.state.borrow_mut();
            let number = state.run.as_ref().expect("it is under way").number;
            let due = state.requests_due(phase, number);
            state.run.as_mut().expect("it is under way").due.extend(due);
        }
        while self.serve_request() {
            self.poll_all_due();
        }
        self.state.borrow_mut().run = None;
        Ok(())
    }

    fn poll_all_due(&self) {
        while let Some(coroutine) = self.next_of_run() {
            self.poll(coroutine);
        }
    }

    /// Calls the wakers of waits that make their coroutines due by themselves.
    pub(super) fn fire(&self, wakers: Vec<(Option<usize>, Waker)>) {
        for (coroutine, waker) in wakers {
            let outer = std::mem::replace(&mut self.state.borrow_mut().firing, coroutine);
            waker.wake();
            self.state.borrow_mut().firing = outer;
        }
    }

    /// The coroutine that is polled next.
    fn next_of_run(&self) -> Option<usize> {
        let joins = {
            let mut state = self.state.borrow_mut();
            let run = state.run.as_mut().expect("it is under way");
            std::mem::take(&mut run.joins)
        };
        for &name in &joins {
            self.hear(name);
        }
        let mut state = self.state.borrow_mut();
        state.joiners_go_first(&joins);
        let limit = state.limit;
        loop {
            let run = state.run.as_mut().expect("it is under way");
            let place = run.queue.pop_front()?;
            let coroutine = place.coroutine;
            let has_remembered = run.remembering.contains(&coroutine);
            let before = run.woken.iter().filter(|&&one| one == coroutine);
            let too_often = place.cause == Cause::Wake && before.count() >= limit;
            if !state.stands(&place) {
                continue;
            }
            if state.is_paused(coroutine) {
                // It was ready before the pause, or the wait has been since the run
                // began: that came first.
                let is_first = match place.cause {
                    Cause::Wait(_) => WAITS_OF_THE_RUN_COME_FIRST && has_remembered,
                    Cause::Join(_) => false,
                    Cause::Wake | Cause::Other => true,
                };
                if is_first {
                    state.coroutines[coroutine].remembered = None;
                }
                state.remember(coroutine, place.phase, place.cause);
            } else if too_often {
                // It continues in the next run.
                state.arrive(coroutine, place.phase);
            } else {
                if place.cause == Cause::Wake {
                    let run = state.run.as_mut().expect("it is under way");
                    run.woken.push(coroutine);
                }
                return Some(coroutine);
            }
        }
    }

    /// Polls a coroutine that is alive, not paused, and not being polled.
    pub(super) fn poll(&self, coroutine: usize) {
        let (mut future, waker) = {
            let mut state = self.state.borrow_mut();
            state.forget_readiness(coroutine);
            state.polling.push(coroutine);
            state.scopes.push(coroutine);
            let record = &mut state.coroutines[coroutine];
            let future = record.future.take().expect("it waits");
            (future, record.waker.clone())
        };
        wake::enter_poll(self.number(), coroutine);
        wake::enter_code(self.number(), coroutine);
        let shown = self.shown.take();
        let mut cx = Context::from_waker(&waker);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut cx)));
        wake::leave_code();
        wake::leave_poll();
        self.shown.set(shown);
        let stopping = {
            let mut state = self.state.borrow_mut();
            state.polling.pop();
            state.scopes.pop();
            state.coroutines[coroutine].stopping
        };
        match polled {
            Ok(Poll::Pending) if stopping => self.drop_and_end(coroutine, future),
            Ok(Poll::Pending) => {
                self.state.borrow_mut().coroutines[coroutine].future = Some(future);
            }
            Ok(Poll::Ready(value)) => {
                self.state.borrow_mut().coroutines[coroutine].returned = Some(value);
                drop(future);
                self.end(coroutine, Outcome::Finished);
            }
            Err(_) => {
                drop(catch_unwind(AssertUnwindSafe(|| drop(future))));
                self.end(coroutine, Outcome::Panicked);
            }
        }
    }
}

impl State {
    /// Checks everything, and returns the wakers to call.
    fn begin_run(&mut self, phase: Phase) -> Vec<(Option<usize>, Waker)> {
        for wait in self.waits.iter_mut().filter(|wait| wait.phase == phase) {
            if let Kind::Runs(_, begun) = &mut wait.kind {
                *begun += 1;
            }
        }
        let mut run = Run {
            phase,
            queue: VecDeque::new(),
            joins: Vec::new(),
            woken: Vec::new(),
            number: self.number(),
            due: VecDeque::new(),
            remembering: Vec::new(),
        };
        // First what became ready before.
        for coroutine in &mut self.coroutines {
            coroutine.unmade = false;
        }
        self.arrivals.sort_by_key(|arrival| arrival.order);
        self.arrivals.retain(|arrival| {
            let of_this = arrival.phase == phase;
            if of_this {
                // Wakes before the run do not count as wakes of the run.
                run.queue(arrival.coroutine, phase, Cause::Other);
            }
            !of_this
        });
        // Then the waiters. A ready wait stays ready: a condition that has not been
        // checked since makes no coroutine due again.
        let mut due = Vec::new();
        for (at, wait) in self.waits.iter().enumerate() {
            if !wait.ready && law::is_due(wait, phase, &self.clocks) {
                due.push(at);
            }
        }
        due.sort_by_key(|&at| law::place(&self.waits[at]));
        let mut pairs = due
            .windows(2)
            .map(|pair| [&self.waits[pair[0]], &self.waits[pair[1]]]);
        self.open_ended |= pairs.any(law::is_order_open);
        let mut wakers = Vec::new();
        for at in due {
            let wait = &mut self.waits[at];
            wait.ready = true;
            wakers.extend(wait.waker.clone().map(|waker| (wait.coroutine, waker)));
            let cause = Cause::Wait(wait.name);
            let asks = matches!(wait.kind, Kind::Again);
            let Some(coroutine) = wait.coroutine.filter(|&one| self.is_alive(one)) else {
                continue;
            };
            let paused = self.is_paused(coroutine);
            if paused && asks && !CONDITIONS_FALL_DUE_IN_PAUSES {
                continue;
            }
            if paused && !WAITS_KEEP_THEIR_PLACE {
                self.remember(coroutine, phase, cause);
            } else {
                run.queue(coroutine, phase, cause);
            }
        }
        self.run = Some(run);
        wakers
    }

    /// The joiners of coroutines that have ended since the last poll run next:
    /// docs/contract.md#rule-6-joins-continue
    fn joiners_go_first(&mut self, joins: &[u64]) {
        let mut joiners: Vec<(usize, u64)> = Vec::new();
        for &name in joins {
            // A wait that has since been dropped or polled makes no coroutine due.
            let Some(joiner) = self.joiner(name) else {
                continue;
            };
            let phase = self.coroutines[joiner].home;
            if self.is_paused(joiner) && !WAITS_KEEP_THEIR_PLACE {
                self.remember(joiner, phase, Cause::Join(name));
            } else if joiners.iter().all(|&(other, _)| other != joiner) {
                joiners.push((joiner, name));
            }
        }
        for (coroutine, name) in joiners.into_iter().rev() {
            let phase = self.coroutines[coroutine].home;
            let run = self.run.as_mut().expect("it is under way");
            run.queue.push_front(Place {
                coroutine,
                phase,
                cause: Cause::Join(name),
            });
        }
    }
}
