//! When a frame is due, and how long the loop slept.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use framestep::prelude::*;

/// How long a frame takes while a script wants every frame.
///
/// softbuffer does not wait for the display. A host that presents with vsync can request
/// the next frame at once.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// How far back [`Pace::recent`] goes.
pub(crate) const RECENT: Duration = Duration::from_secs(10);

pub(crate) struct Pace {
    began: Instant,
    /// When the latest frame began.
    last: Instant,
    frames: u64,
    asleep_since: Option<Instant>,
    slept: Duration,
    longest: Duration,
    recent: VecDeque<Instant>,
}

/// The figures for the panel.
pub(crate) struct Figures {
    pub(crate) frames: u64,
    /// Since the start of the program.
    pub(crate) passed: Duration,
    pub(crate) slept: Duration,
    pub(crate) longest: Duration,
    /// When the next frame is due. `None`: after an event.
    pub(crate) next: Option<Duration>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Pace {
            began: now,
            last: now,
            frames: 0,
            asleep_since: None,
            slept: Duration::ZERO,
            longest: Duration::ZERO,
            recent: VecDeque::new(),
        }
    }

    /// When the next frame is due. `None`: no script is due before something wakes one.
    pub(crate) fn next(&self, executor: &Executor) -> Option<Instant> {
        // Counted from the latest frame. The timer may be beyond the range of the clock.
        let left = executor.idle_until()?;
        self.last.checked_add(left.max(FRAME))
    }

    /// Begins a frame. Returns its dt: all the time since the latest one.
    pub(crate) fn begin_frame(&mut self, now: Instant) -> Duration {
        self.frames += 1;
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|&at| now - at > RECENT) {
            self.recent.pop_front();
        }
        let dt = now - self.last;
        self.last = now;
        dt
    }

    pub(crate) fn fall_asleep(&mut self) {
        self.asleep_since = Some(Instant::now());
    }

    pub(crate) fn wake_up(&mut self) {
        if let Some(since) = self.asleep_since.take() {
            let slept = since.elapsed();
            self.slept += slept;
            self.longest = self.longest.max(slept);
        }
    }

    /// How long ago the recent frames began, the latest last.
    pub(crate) fn recent(&self) -> impl Iterator<Item = Duration> {
        self.recent.iter().map(Instant::elapsed)
    }

    pub(crate) fn figures(&self, executor: &Executor) -> Figures {
        let now = Instant::now();
        Figures {
            frames: self.frames,
            passed: now - self.began,
            slept: self.slept,
            longest: self.longest,
            next: self
                .next(executor)
                .map(|at| at.saturating_duration_since(now)),
        }
    }
}
