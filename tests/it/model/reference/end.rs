//! How coroutines end, and whom that concerns.

use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep::Outcome;

use super::choices::{DESTRUCTORS_WAKE_AS_THEIR_COROUTINE, WAITS_KEEP_THEIR_PLACE};
use super::state::{Cause, Kind};
use super::{Core, wake};
use crate::model::system::Script;

/// How deep stops nest.
const DEEP: usize = 100;

impl Core {
    /// Rule 10.
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
            if state.stops >= DEEP {
                state.deep.push_back(coroutine);
                return true;
            }
            state.stops += 1;
            state.coroutines[coroutine].future.take()
        };
        self.drop_and_end(coroutine, future.expect("it waits"));
        self.work_off_the_deep();
        self.state.borrow_mut().stops -= 1;
        true
    }

    /// What was too deep is left to the outermost stop.
    fn work_off_the_deep(&self) {
        loop {
            let (coroutine, future) = {
                let mut state = self.state.borrow_mut();
                if state.stops > 1 {
                    return;
                }
                let Some(coroutine) = state.deep.pop_front() else {
                    return;
                };
                let future = state.coroutines[coroutine].future.take();
                (coroutine, future.expect("it waits"))
            };
            self.drop_and_end(coroutine, future);
        }
    }

    /// Drops the future of one that is stopped, destructors and all.
    pub(super) fn drop_and_end(&self, coroutine: usize, future: Script) {
        {
            let mut state = self.state.borrow_mut();
            state.coroutines[coroutine].going = true;
            state.scopes.push(coroutine);
        }
        if DESTRUCTORS_WAKE_AS_THEIR_COROUTINE {
            wake::enter_poll(self.number(), coroutine);
        }
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
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
        let wakers = {
            let mut state = self.state.borrow_mut();
            state.coroutines[coroutine].outcome = Some(outcome);
            state.forget_readiness(coroutine);
            state.leave_waits(coroutine);
            let mut joins: Vec<usize> = (0..state.waits.len())
                .filter(|&at| matches!(state.waits[at].kind, Kind::Join(of) if of == coroutine))
                .collect();
            joins.sort_by_key(|&at| state.waits[at].order);
            let mut wakers = Vec::new();
            for at in joins {
                let wait = &mut state.waits[at];
                wait.ready = true;
                wakers.extend(wait.waker.clone().map(|waker| (wait.coroutine, waker)));
                let name = wait.name;
                let joiner = wait.coroutine;
                let Some(joiner) = joiner.filter(|&one| state.is_alive(one)) else {
                    continue;
                };
                let phase = state.coroutines[joiner].phase;
                let remember = state.is_paused(joiner) && !WAITS_KEEP_THEIR_PLACE;
                match &mut state.run {
                    Some(run) if !remember => run.joins.push(name),
                    _ => state.make_ready(joiner, phase, Cause::Other, false),
                }
            }
            wakers
        };
        self.fire(wakers);
    }
}
