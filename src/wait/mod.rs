//! The waits of scripts: plain futures, one file for each family.
//!
//! A wait is due in a run that its contract names. It is ready from the beginning
//! of that run, and stays ready. Usually, the wait itself resumes its coroutine. If
//! it is polled for another reason, it compares the frame of its first poll with
//! that of the latest run of its phase.

#![forbid(unsafe_code)]

mod animate;
mod frames;
mod interval;
mod length;
mod next_frame;
mod on;
mod phase;
mod phase_wait;
mod seconds;
mod stream;
mod timeout;
mod until;
mod yield_now;

pub use animate::{Animate, animate};
pub use frames::{WaitFrames, WaitSteps, wait_frames, wait_steps};
pub use interval::{Interval, MissedTicks, Tick, interval};
pub use next_frame::{NextFrame, next_frame};
pub use on::{On, on};
pub use phase::{InPhase, end_of_frame, fixed_update, in_phase};
pub use seconds::{WaitSeconds, WaitSecondsRealtime, wait_seconds, wait_seconds_realtime};
pub use stream::{Frames, frames};
pub use timeout::{Elapsed, Timeout, timeout};
pub use until::{WaitUntil, WaitWhile, wait_until, wait_while};
pub use yield_now::{YieldNow, yield_now};

use crate::core::scope::{self, Scope};
use crate::core::{Registration, another_executor};

/// Calls `f` with the scope that polls the wait.
#[inline]
#[track_caller]
pub(crate) fn polled<R>(wait: &'static str, f: impl FnOnce(&Scope<'_>) -> R) -> R {
    match scope::with(|scope| scope.map(f)) {
        Some(result) => result,
        None => polled_outside(wait),
    }
}

/// Panics at the caller's line if the wait is over, or began in another executor.
#[inline]
#[track_caller]
fn expect_pollable(wait: &'static str, registration: &Registration) {
    if registration.is_done() {
        polled_again(wait);
    }
    let is_here = |scope: &Scope<'_>| registration.is_of(scope.core());
    if !scope::with(|scope| scope.is_none_or(is_here)) {
        another_executor();
    }
}

#[cold]
#[track_caller]
pub(crate) fn polled_again(wait: &'static str) -> ! {
    panic!("`{wait}` was polled again after it had finished")
}

#[cold]
#[inline(never)]
#[track_caller]
fn polled_outside(wait: &'static str) -> ! {
    panic!(
        "`{wait}` was polled outside of an executor: await it in a coroutine, which is made \
         with `Executor::spawn` or `Executor::start`"
    )
}
