//! The table of the contract: the run in which a wait is due, and the order.

use framestep::Phase;

use super::choices::TIMERS_FALL_DUE_IN_PAUSES;
use super::clocks::Clocks;
use super::state::{Kind, Timer, Wait};

/// Whether the wait is due in a run of `phase` that begins now.
pub(super) fn is_due(wait: &Wait, phase: Phase, clocks: &Clocks) -> bool {
    if wait.phase != phase {
        return false;
    }
    match &wait.kind {
        Kind::NextFrame => clocks.frame > wait.frame,
        Kind::Frames(frames) => clocks.frame >= wait.frame + frames,
        Kind::Runs(runs, begun) => begun >= runs,
        Kind::Timer(timer) => is_later(wait, clocks) && is_reached(timer, phase, clocks),
        Kind::Again => is_later(wait, clocks),
        Kind::Join(_) | Kind::Ended(_) => false,
    }
}

/// "Frame > N", and the same for fixed steps. Every run of the fixed phase is a
/// step, so a run that begins is a later step.
fn is_later(wait: &Wait, clocks: &Clocks) -> bool {
    wait.phase == Phase::FixedUpdate || clocks.frame > wait.frame
}

fn is_reached(timer: &Timer, phase: Phase, clocks: &Clocks) -> bool {
    let now = clocks.of_waits(timer.clock, phase);
    if timer.paused_at.is_some() && !TIMERS_FALL_DUE_IN_PAUSES {
        return false;
    }
    let now = timer.paused_at.map_or(now, |paused_at| now.min(paused_at));
    timer.deadline.is_some_and(|deadline| now >= deadline)
}

/// Whether the order of two waits that are neighbours in it is open:
/// docs/contract.md#rule-8-delayed-timers
pub(super) fn is_order_open(waits: [&Wait; 2]) -> bool {
    let [Some(one), Some(other)] = waits.map(Wait::timer) else {
        return false;
    };
    let same = one.clock == other.clock && one.deadline == other.deadline;
    same && (one.delay > 0 || other.delay > 0)
}

/// The order of the waits due in one run: lower values are polled first.
pub(super) fn place(wait: &Wait) -> impl Ord + use<> {
    let order = wait.order;
    match &wait.kind {
        // The phase's waiters, as they began to wait.
        Kind::NextFrame
        | Kind::Again
        | Kind::Join(_)
        | Kind::Ended(_)
        | Kind::Frames(1)
        | Kind::Runs(1, _) => (0, 0, 0, order),
        // Counts, frames before runs.
        Kind::Frames(frames) => (1, 0, wait.frame + frames, order),
        Kind::Runs(..) => (1, 1, 0, order),
        // Timers, clock by clock.
        Kind::Timer(timer) => (2, timer.clock as u64, timer.deadline.unwrap_or(0), order),
    }
}
