//! The waits for frames, phases and times.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::{DurableWait, length_ns};
use framestep::{Phase, Seconds};

use crate::cell::ScriptCell;
use crate::owner::{ClockId, clock_of};

use super::Numbered;

/// The future of [`next_frame`], [`wait_seconds`] and the other waits for frames, phases and
/// times.
///
/// Outside of a durable script, it is the plain wait of framestep, in any executor. So one `async
/// fn` serves both kinds of scripts.
///
/// # Panics
///
/// When polled outside of an executor, or inside a [`with`](crate::with()).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Wait {
    numbered: Numbered,
    name: &'static str,
    what: What,
    phase: Option<Phase>,
}

#[derive(Clone, Copy)]
enum What {
    NextFrame,
    NextRun(Phase),
    Frames(u64),
    Steps(u64),
    Seconds(Option<u64>, Option<ClockId>),
    Until(Option<u64>, ClockId),
}

impl Wait {
    fn new(name: &'static str, what: What) -> Self {
        Wait {
            numbered: Numbered::default(),
            name,
            what,
            phase: None,
        }
    }

    /// Resumes in `phase` instead of the home phase.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            !self.numbered.has_begun(),
            "`in_phase` was called on a wait that has begun: call it before the wait is first \
             polled"
        );
        self.phase = Some(phase);
        self
    }
}

impl Future for Wait {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (name, what, phase) = (this.name, this.what, this.phase);
        this.numbered
            .poll_plain(name, cx, |cell| begin(cell, what, phase))
    }
}

#[inline]
fn begin(cell: Option<&ScriptCell>, what: What, phase: Option<Phase>) -> DurableWait {
    let clock = |id| clock_of(cell, id);
    match what {
        What::NextFrame => DurableWait::next_frame(phase),
        What::NextRun(run) => DurableWait::next_run(run),
        What::Frames(frames) => DurableWait::frames(frames, phase),
        What::Steps(steps) => DurableWait::steps(steps),
        What::Seconds(length_ns, id) => {
            DurableWait::seconds(length_ns, id.map(clock).as_ref(), phase)
        }
        What::Until(point_ns, id) => DurableWait::until(point_ns, &clock(id), phase),
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Waits for the next frame. See [`framestep::next_frame`].
pub fn next_frame() -> Wait {
    Wait::new("next_frame()", What::NextFrame)
}

/// Waits for the next run of `phase`. See [`framestep::in_phase`].
pub fn in_phase(phase: Phase) -> Wait {
    Wait::new("in_phase()", What::NextRun(phase))
}

/// Waits for the end of the frame. See [`framestep::end_of_frame`].
pub fn end_of_frame() -> Wait {
    in_phase(Phase::EndOfFrame)
}

/// Waits for the next fixed step. See [`framestep::fixed_update`].
pub fn fixed_update() -> Wait {
    in_phase(Phase::FixedUpdate)
}

/// Waits for `frames` frames; 0 counts as 1. See [`framestep::wait_frames`].
pub fn wait_frames(frames: u64) -> Wait {
    Wait::new("wait_frames()", What::Frames(frames))
}

/// Waits for `steps` fixed steps; 0 counts as 1. See [`framestep::wait_steps`].
pub fn wait_steps(steps: u64) -> Wait {
    Wait::new("wait_steps()", What::Steps(steps))
}

/// Waits until `seconds` of the script's clock have passed since the first poll. See
/// [`framestep::wait_seconds`].
///
/// # Panics
///
/// If `seconds` is NaN.
#[track_caller]
pub fn wait_seconds(seconds: impl Seconds) -> Wait {
    Wait::new("wait_seconds()", What::Seconds(length_ns(seconds), None))
}

/// Waits until `seconds` of realtime have passed. See [`framestep::wait_seconds_realtime`].
///
/// # Panics
///
/// If `seconds` is NaN.
#[track_caller]
pub fn wait_seconds_realtime(seconds: impl Seconds) -> Wait {
    let what = What::Seconds(length_ns(seconds), Some(ClockId::REALTIME));
    Wait::new("wait_seconds_realtime()", what)
}

impl ClockId {
    /// Waits until `seconds` of this clock have passed since the first poll. See
    /// [`framestep::Clock::wait_seconds`].
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    #[track_caller]
    pub fn wait_seconds(self, seconds: impl Seconds) -> Wait {
        let what = What::Seconds(length_ns(seconds), Some(self));
        Wait::new("wait_seconds()", what)
    }

    /// Waits until this clock reads `point`. See [`framestep::Clock::wait_until`].
    ///
    /// # Panics
    ///
    /// If `point` is NaN.
    #[track_caller]
    pub fn wait_until(self, point: impl Seconds) -> Wait {
        Wait::new("wait_until()", What::Until(length_ns(point), self))
    }
}
