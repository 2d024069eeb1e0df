//! The waits as futures.

use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::task::Outcome;

use super::Core;
use super::state::{Cause, Kind, Timer, Wait};
use super::wake;
use framestep_testkit::program::{At, Length};

/// What a wait is before it is polled.
pub(super) enum Plan {
    NextFrame,
    Frames(u64),
    /// Of its phase.
    Runs(u64),
    /// On a clock, or on that of the coroutine.
    Seconds(Option<usize>, Length),
    /// Until a clock reads this.
    Point(usize, u64),
    Condition,
    /// A tick of an interval, and when it is due.
    Tick(Timer),
    Join(usize),
    /// For the coroutines of an owner.
    Ended(usize),
}

/// A wait that may be polled, moved and dropped like any other.
pub(crate) struct Waiting {
    core: Weak<Core>,
    at: At,
    plan: Plan,
    /// Its name, from the first poll on.
    name: Option<u64>,
}

impl Waiting {
    pub(super) fn new(core: &Rc<Core>, at: At, plan: Plan) -> Self {
        Waiting {
            core: Rc::downgrade(core),
            at,
            plan,
            name: None,
        }
    }

    /// Ready once the wait is due and `look` returns that it is over. If not,
    /// it begins again.
    pub(super) fn poll(&mut self, cx: &Context<'_>, look: impl FnOnce(&Core) -> bool) -> Poll<()> {
        let Some(core) = self.core.upgrade() else {
            return Poll::Pending;
        };
        let Some(name) = self.name else {
            self.name = core.register(self.at, &self.plan, cx);
            return if self.name.is_some() {
                Poll::Pending
            } else {
                Poll::Ready(())
            };
        };
        if !core.look_at(name, cx) {
            return Poll::Pending;
        }
        if look(&core) {
            let wait = core.state.borrow_mut().drop_wait(name);
            drop(wait);
            self.name = None;
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// A timer is as new, with another length. It keeps its clock and its phase, and the
    /// coroutine that waits for it polls it: docs/contract.md#decided-reset
    pub(super) fn reset(&mut self, length: Length) {
        let (Some(core), Plan::Seconds(clock, _)) = (self.core.upgrade(), &self.plan) else {
            return;
        };
        let mut clock = *clock;
        let wait = self.name.take().and_then(|name| {
            let mut state = core.state.borrow_mut();
            let run = state.run.as_ref();
            let mut places = run.iter().flat_map(|run| &run.queue);
            // If the run in which it is due has polled its coroutine, nobody waits any more.
            let has_place = places.any(|place| place.cause == Cause::Wait(name));
            let wait = state.drop_wait(name)?;
            let is_waiting = has_place || !wait.ready;
            Some((wait, is_waiting))
        });
        if let Some((wait, is_waiting)) = wait {
            clock = wait.timer().map(|timer| timer.clock);
            self.at = Some(wait.phase);
            self.plan = Plan::Seconds(clock, length);
            if !is_waiting {
                return;
            }
            if let Some(coroutine) = wait.coroutine {
                core.wake(coroutine);
            }
            if let Some(waker) = wait.waker {
                waker.wake();
            }
        } else {
            self.plan = Plan::Seconds(clock, length);
        }
    }

    /// The state of its timer: its deadline, and the reading of its clock.
    pub(super) fn timer(&self, core: &Core) -> Option<(Timer, u64)> {
        let mut state = core.state.borrow_mut();
        let wait = state.wait(self.name?)?;
        let (timer, phase) = (*wait.timer()?, wait.phase);
        let now = state.clocks.of_waits(timer.clock, phase);
        Some((timer, now))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let (Some(core), Some(name)) = (self.core.upgrade(), self.name) {
            let wait = core.state.borrow_mut().drop_wait(name);
            drop(wait);
        }
    }
}

impl Core {
    /// Begins a wait. `None`: it is already over.
    fn register(&self, at: At, plan: &Plan, cx: &Context<'_>) -> Option<u64> {
        let coroutine = self.polling();
        let phase = self.phase_of(at);
        let kind = match *plan {
            Plan::NextFrame => Kind::NextFrame,
            Plan::Frames(frames) => Kind::Frames(frames.max(1)),
            Plan::Runs(runs) => Kind::Runs(runs.max(1), 0),
            Plan::Condition => Kind::Again,
            Plan::Tick(timer) => Kind::Timer(timer),
            Plan::Seconds(clock, length) => Kind::Timer(self.timer(clock, phase, length)),
            Plan::Point(clock, point) => Kind::Timer(Timer {
                deadline: Some(point),
                ..self.timer(Some(clock), phase, Length::Infinite)
            }),
            Plan::Join(of) => {
                if self.outcome(of).0.is_some() {
                    return None;
                }
                // docs/contract.md#decided-self-join
                assert!(coroutine != Some(of), "a coroutine awaits itself");
                Kind::Join(of)
            }
            Plan::Ended(owner) => {
                if self.state.borrow().is_idle(owner) {
                    return None;
                }
                self.expect_from_outside(coroutine, owner);
                Kind::Ended(owner)
            }
        };
        let own = self.is_own_waker(coroutine, cx);
        let mut state = self.state.borrow_mut();
        let name = state.number();
        let wait = Wait {
            name,
            coroutine,
            waker: (!own).then(|| cx.waker().clone()),
            wrapped: !own,
            kind,
            phase,
            order: name,
            frame: state.clocks.frame,
            ready: false,
        };
        state.waits.push(wait);
        if coroutine.is_some_and(|one| state.is_paused(one)) {
            let at = state.waits.len() - 1;
            state.stand_still(at);
        }
        Some(name)
    }

    /// docs/contract.md#decided-self-join
    fn expect_from_outside(&self, coroutine: Option<usize>, owner: usize) {
        let state = self.state.borrow();
        let inside = coroutine.is_some_and(|one| {
            let of = state.coroutines[one].owner;
            state.is_within(of, owner)
        });
        assert!(!inside, "a coroutine awaits the end of its own owner");
    }

    /// The coroutine that is being polled, if it belongs to this executor.
    pub(super) fn polling(&self) -> Option<usize> {
        let (executor, coroutine) = wake::innermost()?;
        (executor == self.number()).then_some(coroutine)
    }

    fn is_own_waker(&self, coroutine: Option<usize>, cx: &Context<'_>) -> bool {
        let state = self.state.borrow();
        coroutine.is_some_and(|one| state.coroutines[one].waker.will_wake(cx.waker()))
    }

    /// The phase that a new wait names, else home.
    pub(super) fn phase_of(&self, at: At) -> Phase {
        let state = self.state.borrow();
        let home = |one: usize| state.coroutines[one].home;
        at.unwrap_or_else(|| self.polling().map_or(Phase::Update, home))
    }

    /// A wait that begins now, on a clock or on that of the coroutine.
    pub(super) fn timer(&self, clock: Option<usize>, phase: Phase, length: Length) -> Timer {
        let state = self.state.borrow();
        let coroutine = self.polling().expect("only coroutines wait");
        let own = || {
            self.shown
                .get()
                .unwrap_or(state.coroutines[coroutine].clock)
        };
        let clock = clock.unwrap_or_else(own);
        let now = match length {
            // It is over in the next frame or step.
            Length::Nanos(0) | Length::Negative => state.clocks.of_waits(clock, phase),
            _ => state.clocks.begin_for(clock, phase, state.phase()),
        };
        let deadline = match length {
            Length::Nanos(length) => now.checked_add(length),
            Length::Negative => Some(now),
            Length::Infinite => None,
            Length::NotANumber => panic!("a wait for NaN seconds"),
        };
        Timer {
            clock,
            deadline,
            paused_at: None,
            polled: deadline,
            delay: 0,
            shared: false,
        }
    }

    /// A poll of a wait that has begun: whether it is ready.
    fn look_at(&self, name: u64, cx: &Context<'_>) -> bool {
        let coroutine = self.polling();
        let own = self.is_own_waker(coroutine, cx);
        let mut state = self.state.borrow_mut();
        let order = state.number();
        state.move_to(name, coroutine);
        let wait = state.wait(name).expect("it has begun");
        wait.waker = (!own).then(|| cx.waker().clone());
        wait.wrapped = !own;
        if !wait.ready {
            let itself = matches!(wait.kind, Kind::Join(of) if coroutine == Some(of));
            assert!(!itself, "a coroutine awaits itself");
            return false;
        }
        if matches!(wait.kind, Kind::Again) {
            wait.ready = false;
            wait.order = order;
        }
        true
    }

    /// How a coroutine has ended, and what it returned.
    pub(super) fn outcome(&self, coroutine: usize) -> (Option<Outcome>, Option<usize>) {
        let state = self.state.borrow();
        let coroutine = &state.coroutines[coroutine];
        (coroutine.outcome, coroutine.returned)
    }
}

/// Polls without checking anything.
impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Waiting::poll(&mut self, cx, |_| true)
    }
}
