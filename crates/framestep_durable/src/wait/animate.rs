//! Animations: a change of the world in every frame, for a length of time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::{DurableWait, length_ns};
use framestep::time::Seconds;

use crate::bytes::Bytes;
use crate::script::{Animation, Numbered, ScriptCell, Slot, home_of, in_closure};

/// Calls `apply` with a progress from 0 to 1 in every frame, for `seconds`: with 0 at once, with 1
/// at the end. See [`framestep::wait::animate`]. Only the end is recorded.
///
/// After a restore, `apply` is a new closure, so it must not keep anything from one call to the
/// next: what it needs is in the world, or was read before the animation began.
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct Door { angle: f32 }
/// # async fn script() {
/// let from = with(|door: &mut Door| door.angle);
/// animate(0.5, move |part| with(|door: &mut Door| door.angle = from + 90.0 * part)).await;
/// # }
/// ```
///
/// This would turn the door too far after a restore, and does not compile:
///
/// ```compile_fail,E0594
/// # use framestep_durable::prelude::*;
/// # struct Door { angle: f32 }
/// # async fn script() {
/// let mut last = 0.0;
/// let turn = move |part| {
///     with(|door: &mut Door| door.angle += 90.0 * (part - last));
///     last = part;
/// };
/// animate(0.5, turn).await;
/// # }
/// ```
///
/// # Panics
///
/// If `seconds` is NaN. When polled outside of an executor.
#[track_caller]
pub fn animate<F: Fn(f32)>(seconds: impl Seconds, apply: F) -> Animate<F> {
    Animate {
        numbered: Numbered::default(),
        apply,
        length_ns: length_ns(seconds),
        phase: None,
    }
}

/// The future of [`animate`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Animate<F> {
    numbered: Numbered,
    apply: F,
    length_ns: Option<u64>,
    phase: Option<Phase>,
}

impl<F> Animate<F> {
    /// Animates in `phase`; in the fixed phase, in every step.
    ///
    /// # Panics
    ///
    /// If the animation has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            !self.numbered.has_begun(),
            "`in_phase` was called on an animation that has begun"
        );
        self.phase = Some(phase);
        self
    }
}

/// The largest progress below one.
const ALMOST_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a progress is as precise as an `f32`"
)]
fn share_of(elapsed_ns: u64, length_ns: u64) -> f32 {
    ((elapsed_ns as f64 / length_ns as f64) as f32).min(ALMOST_ONE)
}

impl<F: Fn(f32)> Future for Animate<F> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (length, phase) = (this.length_ns, this.phase);
        poll_animate(&mut this.numbered, cx, length, phase, &this.apply)
    }
}

#[track_caller]
fn poll_animate(
    numbered: &mut Numbered,
    cx: &mut Context<'_>,
    length: Option<u64>,
    phase: Option<Phase>,
    apply: &dyn Fn(f32),
) -> Poll<()> {
    let call = |cell: Option<&ScriptCell>, share: f32| in_closure(cell, || apply(share));
    let begin = |cell: Option<&ScriptCell>| {
        let phase = phase.unwrap_or_else(|| home_of(cell));
        let end = length.map(|ns| DurableWait::seconds(Some(ns), None, Some(phase)));
        Slot::Animate(Box::new(Animation {
            next: DurableWait::next_step_or_frame(phase),
            end,
            length_ns: length.unwrap_or(0),
            share: -1.0,
        }))
    };
    let polled = numbered.poll_anywhere("animate()", begin, |cell, slot| {
        let Slot::Animate(animation) = slot else {
            return Poll::Pending;
        };
        if animation.share < 0.0 {
            animation.share = 0.0;
            call(cell, 0.0);
        }
        poll_animation(animation, cx, |share| call(cell, share))
    });
    polled.map(drop)
}

#[track_caller]
pub(crate) fn poll_animation(
    animation: &mut Animation,
    cx: &mut Context<'_>,
    mut call: impl FnMut(f32),
) -> Poll<Bytes> {
    loop {
        let is_next = animation.next.poll(cx, "animate()").is_ready();
        if let Some(end) = &mut animation.end {
            if end.poll(cx, "animate()").is_ready() {
                call(1.0);
                return Poll::Ready(Bytes::EMPTY);
            }
        }
        if !is_next {
            return Poll::Pending;
        }
        if let Some(end) = &animation.end {
            let elapsed_ns = animation.length_ns.saturating_sub(end.left_ns());
            let share = share_of(elapsed_ns, animation.length_ns);
            animation.share = animation.share.max(share);
        }
        call(animation.share);
        animation.next = DurableWait::next_step_or_frame(animation.next.phase());
    }
}

impl<F> Unpin for Animate<F> {}

impl<F> fmt::Debug for Animate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Animate").finish_non_exhaustive()
    }
}
