//! Easing curves.

/// A curve for [`Animate::ease`](super::Animate::ease): an [`Ease`], or any function of a share of the
/// time.
pub trait Easing {
    /// The value at `t`, a share of the time from 0 to 1.
    fn at(&self, t: f32) -> f32;
}

impl<F: Fn(f32) -> f32> Easing for F {
    fn at(&self, t: f32) -> f32 {
        self(t)
    }
}

impl Easing for Ease {
    fn at(&self, t: f32) -> f32 {
        (*self).at(t)
    }
}

/// The usual easing curves that need only arithmetic. They begin at exactly 0, end at exactly 1, and
/// are the same on every machine, which `sin`, `exp` and `powf` [are
/// not](https://doc.rust-lang.org/std/primitive.f32.html#unspecified-precision). For other curves, pass a
/// function to [`Animate::ease`](super::Animate::ease), such as those of the crate `simple-easing`, or
/// Bevy's: `|t| EaseFunction::ElasticOut.sample_clamped(t)`.
///
/// `In` begins slowly, `Out` ends slowly, `InOut` does both. Not in the prelude, because Bevy has a trait
/// of this name.
///
/// # Examples
///
/// ```
/// use framestep::wait::Ease;
///
/// assert_eq!(Ease::InQuad.at(0.5), 0.25);
/// assert_eq!(Ease::OutQuad.at(0.5), 0.75);
/// assert!(Ease::OutBack.at(0.7) > 1.0); // it overshoots
/// ```
///
/// # Source
///
/// Robert Penner's easing functions, as on easings.net; `Ease` of `DOTween`. The smooth step is that of
/// GLSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of the field")]
pub enum Ease {
    /// `t`.
    #[default]
    Linear,
    /// `t² (3 - 2t)`, close to the curve of a sine.
    Smooth,
    InQuad,
    OutQuad,
    InOutQuad,
    InCubic,
    OutCubic,
    InOutCubic,
    InQuart,
    OutQuart,
    InOutQuart,
    /// Goes back a tenth before it begins.
    InBack,
    /// Overshoots by a tenth, and comes back.
    OutBack,
    InOutBack,
    InBounce,
    /// Bounces three times.
    OutBounce,
    InOutBounce,
}

impl Ease {
    /// The value at `t`, a share of the time. Below 0 it is 0, above 1 it is 1. That of NaN is NaN.
    #[must_use]
    pub fn at(self, t: f32) -> f32 {
        if t <= 0.0 {
            return 0.0;
        }
        if t >= 1.0 {
            return 1.0;
        }
        match self {
            Ease::Linear => t,
            Ease::Smooth => t * t * (3.0 - 2.0 * t),
            Ease::InQuad => quad(t),
            Ease::OutQuad => out(quad, t),
            Ease::InOutQuad => in_out(quad, t),
            Ease::InCubic => cubic(t),
            Ease::OutCubic => out(cubic, t),
            Ease::InOutCubic => in_out(cubic, t),
            Ease::InQuart => quart(t),
            Ease::OutQuart => out(quart, t),
            Ease::InOutQuart => in_out(quart, t),
            Ease::InBack => back(t),
            Ease::OutBack => out(back, t),
            Ease::InOutBack => in_out(back, t),
            Ease::InBounce => out(bounce, t),
            Ease::OutBounce => bounce(t),
            Ease::InOutBounce => in_out(|t| out(bounce, t), t),
        }
    }
}

/// The reverse of a curve.
fn out(curve: fn(f32) -> f32, t: f32) -> f32 {
    1.0 - curve(1.0 - t)
}

/// A curve, and then its reverse.
fn in_out(curve: fn(f32) -> f32, t: f32) -> f32 {
    if t < 0.5 {
        curve(2.0 * t) / 2.0
    } else {
        1.0 - curve(2.0 - 2.0 * t) / 2.0
    }
}

fn quad(t: f32) -> f32 {
    t * t
}

fn cubic(t: f32) -> f32 {
    t * t * t
}

fn quart(t: f32) -> f32 {
    quad(t) * quad(t)
}

fn back(t: f32) -> f32 {
    /// With it, the curve goes back by a tenth.
    const BACK: f32 = 1.70158;
    t * t * ((BACK + 1.0) * t - BACK)
}

/// Four parabolas: the fall, and three bounces.
fn bounce(t: f32) -> f32 {
    const STEEP: f32 = 7.5625;
    let (middle, height) = match t * 2.75 {
        x if x < 1.0 => (0.0, 0.0),
        x if x < 2.0 => (1.5, 0.75),
        x if x < 2.5 => (2.25, 0.9375),
        _ => (2.625, 0.984_375),
    };
    let t = t - middle / 2.75;
    STEEP * t * t + height
}
