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

pub(crate) use animate::KeptAnimation;
#[doc(alias = "Lerp")]
#[doc(alias = "tween")]
#[doc(alias = "DOTween")]
#[doc(alias = "DOVirtual.Float")]
#[doc(alias = "OnUpdate")]
#[doc(alias = "OnComplete")]
pub use animate::animate;
pub use animate::{Animate, Ease, Easing, Leg, Sequence, Tween};
pub use changes_of::ChangesOf;
#[doc(alias = "EveryValueChanged")]
#[doc(alias = "ObserveEveryValueChanged")]
#[doc(alias = "DistinctUntilChanged")]
pub use changes_of::changes_of;
pub use debounce_by_key::DebounceByKey;
#[doc(alias = "groupBy")]
pub use debounce_by_key::debounce_by_key;
pub use every_frames::EveryFrames;
#[doc(alias = "IntervalFrame")]
pub use every_frames::every_frames;
pub(crate) use frames::Count;
#[doc(alias = "DelayFrame")]
pub use frames::wait_frames;
#[doc(alias = "WaitForFixedUpdate")]
pub use frames::wait_steps;
pub use frames::{WaitFrames, WaitSteps};
pub(crate) use interval::KeptTick;
#[doc(alias = "InvokeRepeating")]
#[doc(alias = "Observable.Interval")]
pub use interval::interval;
pub use interval::{Interval, MissedTicks, Tick};
pub use next_frame::NextFrame;
#[doc(alias = "yield return null")]
pub use next_frame::next_frame;
pub use next_item::{NextItem, NextTick, NextTicks};
pub use on::On;
#[doc(alias = "ignoreTimeScale")]
#[doc(alias = "SetUpdate")]
pub use on::on_clock;
#[doc(alias = "Debounce")]
#[doc(alias = "debounceTime")]
pub use pace::debounce;
#[doc(alias = "ThrottleFirst")]
#[doc(alias = "throttleTime")]
pub use pace::throttle;
pub use pace::{Debounce, Throttle};
#[doc(alias = "WaitForEndOfFrame")]
pub use phase::end_of_frame;
#[doc(alias = "WaitForFixedUpdate")]
pub use phase::fixed_update;
pub use phase::{InPhase, in_phase};
pub(crate) use phase_wait::{PhaseWait, take_resumed};

pub use sample::Sample;
#[doc(alias = "throttleLatest")]
#[doc(alias = "ThrottleLast")]
#[doc(alias = "Sample")]
#[doc(alias = "auditTime")]
#[doc(alias = "latest")]
pub use sample::sample;
#[doc(alias = "WaitForSeconds")]
#[doc(alias = "Delay")]
#[doc(alias = "sleep")]
#[doc(alias = "SetDelay")]
#[doc(alias = "AppendInterval")]
#[doc(alias = "Observable.Timer")]
pub use seconds::wait_seconds;
#[doc(alias = "WaitForSecondsRealtime")]
pub use seconds::wait_seconds_realtime;
pub use seconds::{WaitSeconds, WaitSecondsRealtime};
pub use stream::Frames;
#[doc(alias = "EveryUpdate")]
pub use stream::frames;
#[doc(alias = "Timeout")]
#[doc(alias = "CancelAfter")]
#[doc(alias = "CancelAfterSlim")]
pub use timeout::timeout;
pub use timeout::{Elapsed, Timeout, timeout_at};
pub(crate) use timer::Timer;
pub(crate) use until::Asked;
#[doc(alias = "WaitUntil")]
pub use until::wait_until;
#[doc(alias = "WaitWhile")]
pub use until::wait_while;
pub use until::{WaitUntil, WaitWhile};
pub use yield_now::{YieldNow, yield_now};

use crate::core::registration::{Registration, another_executor, another_script};
use crate::core::scope::{self, Scope, recording};

/// Calls `f` with the scope that polls the wait.
#[inline]
#[track_caller]
pub(crate) fn polled<R>(wait: &'static str, f: impl FnOnce(&Scope<'_>) -> R) -> R {
    match scope::with(|scope| scope.map(f)) {
        Some(result) => result,
        None => polled_outside(wait),
    }
}

/// Panics at the caller's line outside of an executor and of a replay.
#[inline]
#[track_caller]
fn expect_polled(wait: &'static str) {
    if scope::with(|scope| scope.is_none()) && !recording::is_recording() {
        polled_outside(wait)
    }
}

/// A poll that a wait must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// No executor polls it.
    Outside,
    /// It is over.
    Again,
    /// It began in another executor.
    Elsewhere,
    /// It began in a durable script, which is another one, or is not polled now.
    OtherScript,
}

impl Misuse {
    /// How a poll outside of an executor and of a replay misuses the wait.
    #[cold]
    pub(crate) fn outside(registration: &Registration) -> Misuse {
        if registration.is_done() {
            Misuse::Again
        } else {
            Misuse::Outside
        }
    }

    /// Whether a poll in `scope` misuses the wait.
    #[inline]
    fn of(registration: &Registration, scope: &Scope<'_>) -> Option<Misuse> {
        if registration.is_done() {
            Some(Misuse::Again)
        } else if !registration.is_of(scope.core()) {
            Some(if registration.is_shell() {
                Misuse::OtherScript
            } else {
                Misuse::Elsewhere
            })
        } else {
            None
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
            Misuse::OtherScript => another_script(),
        }
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
pub(crate) fn polled_outside(wait: &'static str) -> ! {
    panic!(
        "`{wait}` was polled outside of an executor: await it in a coroutine, which is made \
         with `Executor::spawn` or `Executor::start`"
    )
}
