//! The waits of scripts, and their futures.
//!
//! The waits that every script uses stand in the root of the crate as well, and the prelude has all
//! functions of this module.
//!
//! A wait is a plain future: it works in [`select!`](crate::select), in
//! [`join!`](crate::join!) and in combinators of other crates. Three
//! [rules](crate#waiting) say when a wait resumes its script.
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//!
//! let mut executor = Executor::new();
//! let fade = executor.start(async {
//!     let mut alpha = 0.0;
//!     animate(0.5, |t| alpha = t).await;
//!     alpha
//! });
//! assert_eq!(executor.run_until(fade, 0.25).unwrap(), 1.0);
//! ```

mod animate;
mod changes_of;
mod debounce_by_key;
mod every_frames;
mod frames;
pub(crate) mod interval;
mod length;
mod next_frame;
mod next_item;
mod on;
mod pace;
mod phase;
mod phase_wait;
mod sample;
mod seconds;
mod stream;
mod timeout;
mod timer;
mod until;
mod yield_now;

pub use animate::{Animate, Ease, Easing, Tween, animate};
pub use changes_of::{ChangesOf, changes_of};
pub use debounce_by_key::{DebounceByKey, debounce_by_key};
pub use every_frames::{EveryFrames, every_frames};
pub(crate) use frames::Count;
pub use frames::{WaitFrames, WaitSteps, wait_frames, wait_steps};
pub use interval::{Interval, MissedTicks, Tick, interval};
pub use next_frame::{NextFrame, next_frame};
pub use next_item::{NextItem, NextTick, NextTicks};
pub use on::{On, on_clock};
pub use pace::{Debounce, Throttle, debounce, throttle};
pub use phase::{InPhase, end_of_frame, fixed_update, in_phase};
pub(crate) use phase_wait::{PhaseWait, take_resumed};
pub use sample::{Sample, sample};
pub use seconds::{WaitSeconds, WaitSecondsRealtime, wait_seconds, wait_seconds_realtime};
pub use stream::{Frames, frames};
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
pub(crate) use timer::Timer;
pub(crate) use until::Asked;
pub use until::{WaitUntil, WaitWhile, wait_until, wait_while};
pub use yield_now::{YieldNow, yield_now};

use crate::core::registration::{Registration, another_executor};
use crate::core::scope::{self, Scope};

/// Calls `f` with the scope that polls the wait.
#[inline]
#[track_caller]
pub(crate) fn polled<R>(wait: &'static str, f: impl FnOnce(&Scope<'_>) -> R) -> R {
    match scope::with(|scope| scope.map(f)) {
        Some(result) => result,
        None => polled_outside(wait),
    }
}

/// A poll that a wait must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misuse {
    /// No executor polls it.
    Outside,
    /// It is over.
    Again,
    /// It began in another executor.
    Elsewhere,
}

impl Misuse {
    /// The scope that polls the wait, unless such a poll misuses it.
    #[inline]
    fn check<'a, 'c>(
        registration: &Registration,
        scope: Option<&'a Scope<'c>>,
    ) -> Result<&'a Scope<'c>, Misuse> {
        match scope {
            _ if registration.is_done() => Err(Misuse::Again),
            None => Err(Misuse::Outside),
            Some(scope) if !registration.is_of(scope.core()) => Err(Misuse::Elsewhere),
            Some(scope) => Ok(scope),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn panic(self, wait: &'static str) -> ! {
        match self {
            Misuse::Outside => polled_outside(wait),
            Misuse::Again => polled_again(wait),
            Misuse::Elsewhere => another_executor(),
        }
    }
}

/// Panics at the caller's line if the wait is over, began in another executor, or is polled by none.
#[inline]
#[track_caller]
fn expect_pollable(wait: &'static str, registration: &Registration) {
    if let Err(misuse) = scope::with(|scope| Misuse::check(registration, scope).map(drop)) {
        misuse.panic(wait);
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
