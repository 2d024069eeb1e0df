//! The waits for frames, phases and times.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::{DurableWait, length_ns};
use framestep::time::Seconds;
use serde::{Deserialize, Serialize};

use crate::ids::ClockId;
use crate::script::{Numbered, ScriptCell, clock_of};

/// The future of [`next_frame`], [`wait_frames`] and the other waits for frames and phases.
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

enum What {
    NextFrame,
    NextRun(Phase),
    Frames(u64),
    Steps(u64),
    /// On the clock of the script.
    Seconds(Ns),
    SecondsOf(ClockId, Ns),
    Until(ClockId, Ns),
    /// A point on the clock of the script.
    UntilOwn(Ns),
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Ns(u64);

impl Ns {
    const INFINITE: Ns = Ns(u64::MAX);

    #[track_caller]
    pub(super) fn of(seconds: impl Seconds) -> Self {
        length_ns(seconds).map_or(Ns::INFINITE, Ns)
    }

    /// `None` if it is infinite.
    pub(super) fn finite(self) -> Option<u64> {
        (self.0 != Ns::INFINITE.0).then_some(self.0)
    }
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
        if matches!((&self.what, self.phase), (What::NextFrame, None)) {
            let name = self.name;
            if let Some(polled) = self.numbered.poll_frame(name, cx) {
                return polled;
            }
        }
        self.poll_slowly(cx)
    }
}

impl Wait {
    #[inline(never)]
    #[track_caller]
    fn poll_slowly(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Wait {
            numbered,
            name,
            what,
            phase,
        } = self;
        let simple = || match *what {
            What::Seconds(length) => Some(DurableWait::seconds(length.finite(), None, *phase)),
            What::Frames(frames) => Some(DurableWait::frames(frames, *phase)),
            _ => None,
        };
        numbered.poll_plain(name, cx, simple, &mut |cell| begin(cell, what, *phase))
    }
}

/// Begins the wait.
///
/// # Panics
///
/// If there is no such clock.
fn begin(cell: Option<&ScriptCell>, what: &What, phase: Option<Phase>) -> DurableWait {
    let clock = |id| clock_of(cell, id);
    match *what {
        What::NextFrame => DurableWait::next_frame(phase),
        What::NextRun(run) => DurableWait::next_run(run),
        What::Frames(frames) => DurableWait::frames(frames, phase),
        What::Steps(steps) => DurableWait::steps(steps),
        What::Seconds(length) => DurableWait::seconds(length.finite(), None, phase),
        What::SecondsOf(id, length) => {
            DurableWait::seconds(length.finite(), Some(&clock(id)), phase)
        }
        What::Until(id, point) => DurableWait::until(point.finite(), &clock(id), phase),
        What::UntilOwn(point) => DurableWait::until_own(point.finite(), phase),
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The future of [`wait_seconds`], [`wait_seconds_realtime`], [`ClockId::wait_seconds`] and
/// [`ClockId::wait_until`].
///
/// Outside of a durable script, it is the plain wait of framestep, in any executor.
///
/// # Panics
///
/// When polled outside of an executor, or inside a [`with`](crate::with()).
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSeconds {
    wait: Wait,
}

impl WaitSeconds {
    fn new(name: &'static str, what: What) -> Self {
        WaitSeconds {
            wait: Wait::new(name, what),
        }
    }

    /// Resumes in `phase` instead of the home phase.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(self, phase: Phase) -> Self {
        WaitSeconds {
            wait: self.wait.in_phase(phase),
        }
    }

    /// Moves the deadline: the wait is as new, with a length of `seconds`, on the same clock and in
    /// the same phase. See [`framestep::wait::WaitSeconds::reset`].
    ///
    /// **The time runs from the next poll**, as that of a new wait from the first one. The new
    /// deadline is saved, like that of any wait.
    ///
    /// # Panics
    ///
    /// If the wait is over, or if `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// A combo: each hit prolongs it.
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const HIT: Signal<()> = signal("hit");
    ///
    /// #[durable]
    /// async fn combo() -> u32 {
    ///     let mut hits = HIT.subscribe();
    ///     let mut window = wait_seconds(1);
    ///     let mut count = 0;
    ///     loop {
    ///         select! {
    ///             () = hits.next() => {
    ///                 count += 1;
    ///                 window.reset(1);
    ///             }
    ///             () = &mut window => return count,
    ///         }
    ///     }
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Combo>());
    /// let combo = runtime.start(combo());
    /// for frame in 1..=11 {
    ///     if [1, 4, 7].contains(&frame) {
    ///         runtime.emit(&HIT, ());
    ///     }
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(combo), Some(Ok(3))); // the last hit is read in frame 7
    /// ```
    #[doc(alias = "restart")]
    #[track_caller]
    pub fn reset(&mut self, seconds: impl Seconds) {
        let length = Ns::of(seconds);
        let Wait {
            numbered,
            name,
            what,
            ..
        } = &mut self.wait;
        assert!(
            !numbered.is_done(),
            "`reset` was called on a `{name}` that is over: make a new one"
        );
        *what = match *what {
            What::SecondsOf(clock, _) | What::Until(clock, _) => What::SecondsOf(clock, length),
            _ => What::Seconds(length),
        };
        // A wait of its own in the chapter: a replay gives it the deadline that was saved.
        *numbered = Numbered::default();
    }
}

impl Future for WaitSeconds {
    type Output = ();

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.poll_slowly(cx)
    }
}

/// Waits for the next frame. See [`framestep::next_frame`].
pub fn next_frame() -> Wait {
    Wait::new("next_frame()", What::NextFrame)
}

/// Waits for the next run of `phase`. See [`framestep::wait::in_phase`].
pub fn in_phase(phase: Phase) -> Wait {
    Wait::new("in_phase()", What::NextRun(phase))
}

/// Waits for the end of the frame. See [`framestep::end_of_frame`].
pub fn end_of_frame() -> Wait {
    Wait::new("end_of_frame()", What::NextRun(Phase::EndOfFrame))
}

/// Waits for the next fixed step. See [`framestep::fixed_update`].
pub fn fixed_update() -> Wait {
    Wait::new("fixed_update()", What::NextRun(Phase::FixedUpdate))
}

/// Waits for `frames` frames; 0 counts as 1. See [`framestep::wait_frames`].
pub fn wait_frames(frames: u64) -> Wait {
    Wait::new("wait_frames()", What::Frames(frames))
}

/// Waits for `steps` fixed steps; 0 counts as 1. See [`framestep::wait::wait_steps`].
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
pub fn wait_seconds(seconds: impl Seconds) -> WaitSeconds {
    WaitSeconds::new("wait_seconds()", What::Seconds(Ns::of(seconds)))
}

/// Waits until `seconds` of realtime have passed. See [`framestep::wait::wait_seconds_realtime`].
///
/// # Panics
///
/// If `seconds` is NaN.
#[track_caller]
pub fn wait_seconds_realtime(seconds: impl Seconds) -> WaitSeconds {
    let what = What::SecondsOf(ClockId::REALTIME, Ns::of(seconds));
    WaitSeconds::new("wait_seconds_realtime()", what)
}

/// Waits until the script's clock reads `point`, for a [`timeout_at`](super::timeout_at).
#[track_caller]
pub(super) fn wait_until_own(point: impl Seconds) -> WaitSeconds {
    WaitSeconds::new("timeout_at()", What::UntilOwn(Ns::of(point)))
}

impl ClockId {
    /// Waits until `seconds` of this clock have passed since the first poll. See
    /// [`framestep::time::Clock::wait_seconds`].
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    #[track_caller]
    pub fn wait_seconds(self, seconds: impl Seconds) -> WaitSeconds {
        let what = What::SecondsOf(self, Ns::of(seconds));
        WaitSeconds::new("wait_seconds()", what)
    }

    /// Waits until this clock reads `point`. See [`framestep::time::Clock::wait_until`].
    ///
    /// # Panics
    ///
    /// If `point` is NaN.
    #[track_caller]
    pub fn wait_until(self, point: impl Seconds) -> WaitSeconds {
        WaitSeconds::new("wait_until()", What::Until(self, Ns::of(point)))
    }
}
