//! How fast the game runs.

use std::time::Duration;

use framestep::Time;

/// A dt: seconds as a float, or a `Duration`.
pub trait Dt: Copy + sealed::Sealed {
    #[doc(hidden)]
    #[must_use]
    fn times(self, factor: f64) -> Self;
    #[doc(hidden)]
    fn of(time: Duration) -> Self;
}

mod sealed {
    use std::time::Duration;

    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for Duration {}
}

impl Dt for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a dt has few digits")]
    fn times(self, factor: f64) -> Self {
        self * factor as f32
    }
    fn of(time: Duration) -> Self {
        time.as_secs_f32()
    }
}

impl Dt for f64 {
    fn times(self, factor: f64) -> Self {
        self * factor
    }
    fn of(time: Duration) -> Self {
        time.as_secs_f64()
    }
}

impl Dt for Duration {
    fn times(self, factor: f64) -> Self {
        Duration::try_from_secs_f64(self.as_secs_f64() * factor).unwrap_or(self)
    }
    fn of(time: Duration) -> Self {
        time
    }
}

/// The speed of the game, as set in the panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Whether the game is paused, except for single frames and steps.
    pub paused: bool,
    /// The factor of each dt.
    pub speed: f64,
    pub(crate) once: Option<Once>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Once {
    Frame,
    Step,
    /// Run up to the next step after this reading of the fixed clock.
    StepAfter(Duration),
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            paused: false,
            speed: 1.0,
            once: None,
        }
    }
}

impl Pace {
    /// The speeds that views offer.
    pub const SPEEDS: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0];

    pub(crate) fn dt<D: Dt>(&mut self, dt: D, time: Option<Time>) -> Option<D> {
        let once = self.once.take();
        if self.paused {
            return match (once?, time) {
                (Once::Step, Some(time)) => Some(Self::to_next_step(time).map_or(dt, D::of)),
                _ => Some(dt),
            };
        }
        #[expect(clippy::float_cmp, reason = "the dt must not change by a rounding")]
        let is_usual = self.speed == 1.0;
        Some(if is_usual { dt } else { dt.times(self.speed) })
    }

    /// The speed of the next frame, if the host has its own clock. `time` is that of the
    /// latest frame.
    pub(crate) fn speed_of_frame(&mut self, time: Option<Time>) -> Option<f64> {
        let once = self.once.take();
        if !self.paused {
            return Some(self.speed);
        }
        let fixed = time.map_or(Duration::ZERO, |time| time.fixed_elapsed);
        match once? {
            Once::Frame => {}
            Once::Step => self.once = Some(Once::StepAfter(fixed)),
            Once::StepAfter(then) if then == fixed => self.once = once,
            Once::StepAfter(_) => return None,
        }
        Some(self.speed)
    }

    /// The dt up to the next fixed step. `None` if the clock stands still.
    fn to_next_step(time: Time) -> Option<Duration> {
        let next = time.fixed_elapsed.saturating_add(time.fixed_delta);
        // A float can be rounded down.
        let left = next.saturating_sub(time.elapsed) + Duration::from_micros(1);
        let factor = time.scale.recip();
        let is_sound = factor.is_finite() && factor > 0.0;
        is_sound.then(|| Duration::try_from_secs_f64(left.as_secs_f64() * factor).ok())?
    }

    /// The next speed of [`SPEEDS`](Self::SPEEDS), up or down.
    pub fn shift(&mut self, faster: bool) {
        let speed = self.speed;
        let next = if faster {
            Self::SPEEDS.iter().find(|known| **known > speed * 1.01)
        } else {
            Self::SPEEDS
                .iter()
                .rev()
                .find(|known| **known < speed * 0.99)
        };
        self.speed = next.copied().unwrap_or(speed);
    }
}
