//! Beginning frames and fixed steps: clocks and queues advance, no coroutine is
//! polled.

use std::time::Duration;

use crate::core::Core;
use crate::core::phase::skipped;
use crate::core::report;
use crate::inspect::Report;
use crate::time::{Nanos, Step};

/// Begins a frame of length `dt`. Calls user code: the hook for reports.
pub(crate) fn begin_frame(core: &Core, dt: Nanos) {
    skipped::end_frame(core);
    let dt = Step::of(dt);
    let clock = &*core.clock;
    let dropped_ns = clock.begin_frame(dt);
    begin_queues(core);
    if dt.is_invalid || dropped_ns > 0 {
        report_dt(core, dt, dropped_ns);
    }
}

#[cold]
#[inline(never)]
fn report_dt(core: &Core, dt: Step, dropped_ns: u64) {
    report_if_invalid(core, dt);
    if dropped_ns > 0 {
        report::send(
            core,
            &Report::TimeDropped {
                frame: core.clock.frame(),
                dropped: Duration::from_nanos(dropped_ns),
            },
        );
    }
}

/// Begins a frame for a host that also passes the length of the game clock's step.
pub(crate) fn begin_frame_with(core: &Core, dt: Nanos, game_dt: Nanos) {
    skipped::end_frame(core);
    let (dt, game_dt) = (Step::of(dt), Step::of(game_dt));
    core.clock.begin_frame_with(dt, game_dt);
    begin_queues(core);
    report_if_invalid(core, dt);
    report_if_invalid(core, game_dt);
}

#[inline(always)]
fn begin_queues(core: &Core) {
    core.runs.limits.begin_frame();
    core.phases.each(|_, state| state.begin_frame());
}

fn report_if_invalid(core: &Core, step: Step) {
    if step.is_invalid {
        report::send(
            core,
            &Report::InvalidDelta {
                frame: core.clock.frame(),
                counted_as: Duration::from_nanos(step.counted_ns()),
            },
        );
    }
}

/// Begins a fixed step with a length that the host passes.
pub(crate) fn begin_fixed_step_of(core: &Core, step: Nanos) {
    let step = Step::of(step);
    core.clock.begin_fixed_step_of(step);
    report_if_invalid(core, step);
}

/// Begins the next fixed step. Returns `false` if no step is due, if the game clock is
/// paused, or if the frame has had as many steps as allowed. In the last case the steps
/// left over are dropped and reported.
pub(crate) fn begin_fixed_step(core: &Core) -> bool {
    let clock = &*core.clock;
    let begins = clock.begin_fixed_step();
    if !begins && clock.has_steps_left_over() {
        drop_steps(core);
    }
    begins
}

#[cold]
#[inline(never)]
fn drop_steps(core: &Core) {
    let dropped_ns = core.clock.drop_fixed_steps();
    report::send(
        core,
        &Report::StepsDropped {
            frame: core.clock.frame(),
            dropped: Duration::from_nanos(dropped_ns),
        },
    );
}

/// Ends the fixed step under way: until the next one begins, time is frame time.
pub(crate) fn end_fixed_step(core: &Core) {
    core.clock.end_fixed_step();
}
