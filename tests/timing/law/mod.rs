//! The table of waits in docs/contract.md#frame, row by row: when each wait is due.

mod animate;
mod conditions;
mod ended;
mod home;
mod interval;
mod next_frame;
mod phases;
mod readiness;
mod skipped_runs;
mod steps;
mod timeout;
mod wait_frames;
mod wait_seconds;
mod wait_steps;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;

use framestep_testkit::timeline::{DRAWN, Log, Timeline, unclamped};
use framestep_testkit::{PHASES, forever, poll_once, update};

/// A row for each phase of diagrams: marks the phase in frame 1, and the end of
/// the wait that begins there.
fn begun_in_each_phase<F: Future + 'static>(wait: fn() -> F) -> Timeline {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in DRAWN {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            in_phase(phase).await;
            mark.hit();
            wait().await;
            mark.hit();
        });
    }
    timeline
}

/// A row for each phase of diagrams: marks the end of the wait that `wait` makes
/// for the phase in frame 0.
// docs/contract.md#law-in-phase
fn ended_in_each_phase<F: Future + 'static>(wait: fn(Phase) -> F) -> Timeline {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in DRAWN {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            wait(phase).await;
            mark.hit();
        });
    }
    timeline
}
