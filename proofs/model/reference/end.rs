//! How coroutines end, and the effect on others.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep::task::Outcome;

use super::choices::DESTRUCTORS_WAKE_AS_THEIR_COROUTINE;
use super::state::{Cause, Kind, State};
use super::{Core, wake};
use framestep_testkit::program::Scripted;

/// How deep stops nest on a thread.
const DEEP: usize = 100;

thread_local! {
    /// How many stops are nested, of all executors.
    static STOPS: Cell<usize> = const { Cell::new(0) };
}

impl Core {
    /// docs/contract.md#rule-10-stop, docs/contract.md#rule-10-depth
    pub(super) fn stop(&self, coroutine: usize) -> bool {
        let future = {
            let mut state = self.state.borrow_mut();
            if !state.is_alive(coroutine) {
                return false;
            }
            if state.polling.contains(&coroutine) {
                state.coroutines[coroutine].stopping = true;
                return true;
            }
            state.coroutines[coroutine].going = true;
            state.forget_readiness(coroutine);
            if STOPS.get() >= DEEP {
                state.deeper.push_back(coroutine);
                return true;
            }
            state.coroutines[coroutine].future.take()
        };
        self.nested(|| self.drop_and_end(coroutine, future.expect("it waits")));
        true
    }

    /// A stop. The outermost one of the executor works off those that were too deep.
    fn nested(&self, stop: impl FnOnce()) {
        STOPS.set(STOPS.get() + 1);
        self.state.borrow_mut().nested += 1;
        stop();
        while let Some((coroutine, future)) = self.deeper() {
            self.drop_and_end(coroutine, future);
        }
        self.state.borrow_mut().nested -= 1;
        STOPS.set(STOPS.get() - 1);
    }

    /// The next stop that was too deep, if no other one of the executor is under way around this.
    fn deeper(&self) -> Option<(usize, Scripted)> {
        let mut state = self.state.borrow_mut();
        let coroutine = (state.nested == 1).then(|| state.deeper.pop_front())??;
        let future = state.coroutines[coroutine].future.take();
        Some((coroutine, future.expect("it waits")))
    }

    /// The next run works off what no stop of the executor was under way for.
    pub(super) fn work_off_the_deeper(&self) {
        let any = !self.state.borrow().deeper.is_empty();
        if any {
            self.nested(|| ());
        }
    }

    /// Drops the future of a stopped coroutine, with its destructors.
    pub(super) fn drop_and_end(&self, coroutine: usize, future: Scripted) {
        {
            let mut state = self.state.borrow_mut();
            state.coroutines[coroutine].going = true;
            state.scopes.push(coroutine);
        }
        if DESTRUCTORS_WAKE_AS_THEIR_COROUTINE {
            wake::enter_poll(self.number(), coroutine);
        }
        wake::enter_code(self.number(), coroutine);
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        wake::leave_code();
        if DESTRUCTORS_WAKE_AS_THEIR_COROUTINE {
            wake::leave_poll();
        }
        self.state.borrow_mut().scopes.pop();
        let outcome = match dropped {
            Ok(()) => Outcome::Stopped,
            Err(_) => Outcome::Panicked,
        };
        self.end(coroutine, outcome);
    }

    pub(super) fn end(&self, coroutine: usize, outcome: Outcome) {
        let joins = {
            let mut state = self.state.borrow_mut();
            state.coroutines[coroutine].outcome = Some(outcome);
            state.forget_readiness(coroutine);
            state.leave_waits(coroutine);
            let mut joins = state.over(|kind| matches!(kind, Kind::Join(of) if *of == coroutine));
            // Then the waits for owners without coroutines, the inner owners first.
            let mut owner = Some(state.coroutines[coroutine].owner);
            while let Some(here) = owner.filter(|&one| state.is_idle(one)) {
                joins.extend(state.over(|kind| matches!(kind, Kind::Ended(of) if *of == here)));
                state.end_requests(here);
                owner = state.owners[here].above;
            }
            if let Some(run) = &mut state.run {
                // Once the poll is over.
                run.joins.append(&mut joins);
            }
            joins
        };
        for name in joins {
            self.hear(name);
            let mut state = self.state.borrow_mut();
            if let Some(joiner) = state.joiner(name) {
                let phase = state.coroutines[joiner].home;
                state.make_ready(joiner, phase, Cause::Other, false);
            }
        }
    }

    /// Calls the waker of a join whose coroutine has ended.
    pub(super) fn hear(&self, name: u64) {
        let waker = {
            let mut state = self.state.borrow_mut();
            let wait = state.wait(name);
            wait.and_then(|wait| wait.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl State {
    /// Makes the waits of a kind ready, and returns their names, in order.
    fn over(&mut self, is_over: impl Fn(&Kind) -> bool) -> Vec<u64> {
        let waits = self
            .waits
            .iter_mut()
            .filter(|wait| !wait.ready && is_over(&wait.kind));
        let mut over: Vec<(u64, u64)> = waits
            .map(|wait| {
                wait.ready = true;
                (wait.order, wait.name)
            })
            .collect();
        over.sort_unstable();
        over.into_iter().map(|(_, name)| name).collect()
    }

    /// The coroutine that a join makes due, if it has not been dropped.
    pub(super) fn joiner(&mut self, name: u64) -> Option<usize> {
        let joiner = self.wait(name)?.coroutine?;
        self.is_alive(joiner).then_some(joiner)
    }
}
