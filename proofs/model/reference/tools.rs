//! Waits built from other waits: timeouts, intervals, animations.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::Poll;

use framestep::Phase;
use futures::FutureExt;

use super::Core;
use super::state::Timer;
use super::wait::{Plan, Waiting};
use framestep_testkit::program::{At, Got, Length, Waiting as Boxed, groups};

/// The future is polled first.
pub(super) fn timeout(core: &Rc<Core>, length: Length, at: At, mut future: Boxed) -> Boxed {
    let mut limit = Waiting::new(core, at, Plan::Seconds(None, length));
    poll_fn(move |cx| {
        if let Poll::Ready(got) = future.as_mut().poll(cx) {
            return Poll::Ready(got);
        }
        limit.poll(cx, |_| true).map(|()| Got::Elapsed)
    })
    // Drops the future as soon as it is over.
    .map(|got| got)
    .boxed_local()
}

/// docs/contract.md#decided-on-a-clock
pub(super) fn on_clock(core: &Rc<Core>, clock: usize, mut future: Boxed) -> Boxed {
    let core = core.clone();
    poll_fn(move |cx| {
        let shown = &core.shown;
        let outer = shown.replace(Some(clock));
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        shown.set(outer);
        polled.unwrap_or_else(|payload| resume_unwind(payload))
    })
    // Drops the future as soon as it is over.
    .map(|got| got)
    .boxed_local()
}

/// Waits for two, then for the next two.
pub(super) async fn two_by_two(waits: Vec<Boxed>) -> Got {
    let mut waits = waits.into_iter();
    let mut all = Vec::new();
    while let Some(one) = waits.next() {
        match groups::all(std::iter::once(one).chain(waits.next()).collect()).await {
            Got::All(both) => all.extend(both),
            _ => unreachable!("it gives all"),
        }
    }
    Got::All(all)
}

/// Waits for one; of several that are ready, the first. Each is beside all that follow it.
pub(super) fn one_in_the_other(waits: Vec<Boxed>) -> Boxed {
    let mut waits = waits.into_iter().enumerate().rev();
    let named = |at: usize, wait: Boxed| wait.map(move |got| Got::One(at, Box::new(got)));
    let (at, last) = waits.next().expect("there is one");
    waits.fold(named(at, last).boxed_local(), |rest, (at, wait)| {
        let pair = groups::first(vec![named(at, wait).boxed_local(), rest]);
        let inner = pair.map(|got| match got {
            Got::One(_, got) => *got,
            _ => unreachable!("it is one of two"),
        });
        inner.boxed_local()
    })
}

/// A condition is checked when it is due.
pub(super) fn condition(core: &Rc<Core>, at: At, holds: impl Fn() -> bool + 'static) -> Boxed {
    let mut wait = Waiting::new(core, at, Plan::Condition);
    poll_fn(move |cx| wait.poll(cx, |_| holds()).map(|()| Got::Done)).boxed_local()
}

/// A wait for the next frame, again and again, beside a timer of the whole length.
pub(super) fn animate(
    core: &Rc<Core>,
    at: At,
    length: Length,
    apply: impl Fn(f32) + 'static,
) -> Boxed {
    let core = Rc::downgrade(core);
    let mut waits: Option<(Phase, Waiting, Waiting)> = None;
    let mut last = 0.0;
    poll_fn(move |cx| {
        let core = core.upgrade().expect("it is polled in its executor");
        // In the fixed phase, once in every step.
        let later = |phase| {
            let in_steps = phase == Phase::FixedUpdate;
            let plan = if in_steps {
                Plan::Runs(1)
            } else {
                Plan::NextFrame
            };
            Waiting::new(&core, Some(phase), plan)
        };
        let (phase, next, end) = waits.get_or_insert_with(|| {
            let phase = core.phase_of(at);
            // Panics if the length is no number, before the first call.
            core.timer(None, phase, length);
            apply(0.0);
            let end = Waiting::new(&core, Some(phase), Plan::Seconds(None, length));
            (phase, later(phase), end)
        });
        loop {
            let is_next = next.poll(cx, |_| true).is_ready();
            if end.poll(cx, |_| true).is_ready() {
                apply(1.0);
                return Poll::Ready(Got::Done);
            }
            if !is_next {
                return Poll::Pending;
            }
            let (timer, now) = end.timer(&core).expect("it waits");
            last = share(timer, now, length).max(last);
            apply(last);
            *next = later(*phase);
        }
    })
    .boxed_local()
}

/// How much of an animation has passed.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "it is shown to few digits"
)]
fn share(timer: Timer, now: u64, length: Length) -> f32 {
    let left = timer.deadline.map(|deadline| {
        let now = timer.paused_at.unwrap_or(now);
        deadline.saturating_sub(now)
    });
    match (left, length) {
        (Some(0), _) => 1.0,
        (Some(left), Length::Nanos(length)) => (1.0 - left as f64 / length as f64) as f32,
        _ => 0.0,
    }
}

/// Late ticks do not move the others. Each tick is a separate wait for the
/// remaining time: if it is already late, it has reached its deadline, like a wait
/// of zero.
pub(super) async fn interval(core: Rc<Core>, at: At, period: u64, count: usize) -> Got {
    let mut all = Vec::new();
    let phase = core.phase_of(at);
    let first = core.timer(None, phase, Length::Nanos(period));
    let mut due = first.deadline.expect("it is finite");
    for _ in 0..count {
        let now = core.timer(None, phase, Length::Nanos(0));
        let begun = now.deadline.expect("it is finite").max(due);
        let timer = Timer {
            deadline: Some(begun),
            polled: Some(begun),
            ..now
        };
        let mut wait = Waiting::new(&core, Some(phase), Plan::Tick(timer));
        let tick = poll_fn(|cx| {
            let found = wait.timer(&core);
            wait.poll(cx, |_| true).map(|()| found)
        });
        let (found, now) = tick.await.expect("it has a timer");
        // Pauses delay all ticks.
        due += found.delay;
        all.push(Got::Tick(0, now.saturating_sub(due)));
        due += period;
    }
    Got::All(all)
}
