//! Animations with a curve, in rounds.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::base::call;
use crate::time::Phase;
use crate::wait::length::Length;

use super::sequence::Plays;
use super::{Animate, Animation, END, Ease, Easing, share_of};

/// The future of [`animate`](super::animate) with a curve or in rounds.
///
/// # Output
///
/// Nothing, once the last round is over. The last call of the closure has the value at the end of the
/// last round, exactly.
///
/// # Resumes
///
/// Like [`animate`](super::animate): all rounds together are one animation.
///
/// # Panics
///
/// When polled, in addition to the panics of `animate`: if the curve returns NaN or an infinite number,
/// naming the location of the call of [`ease`](Animate::ease).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Tween<F, C = Ease> {
    /// Over all rounds.
    animation: Animation,
    curved: Curved<F, C>,
}

struct Curved<F, C> {
    apply: F,
    rounds: Rounds,
    curve: C,
    /// The call that has set the curve.
    place: &'static Location<'static>,
}

#[derive(Clone, Copy, Debug)]
struct Rounds {
    /// The length of a round.
    length: Length,
    /// How many there are. `None` without end.
    count: Option<u32>,
    /// Whether every other round runs backwards.
    yoyo: bool,
}

impl Rounds {
    /// The share of the present round.
    fn share(self, elapsed_ns: u64) -> f32 {
        let Length::Finite(length_ns @ 1..) = self.length else {
            return 0.0;
        };
        let share = share_of(elapsed_ns % length_ns, length_ns);
        self.turned(elapsed_ns / length_ns, share)
    }

    /// The share at the end of the last round.
    fn last_share(self) -> f32 {
        self.turned(self.count.unwrap_or(1).saturating_sub(1).into(), 1.0)
    }

    fn turned(self, round: u64, share: f32) -> f32 {
        if self.yoyo && round % 2 == 1 {
            1.0 - share
        } else {
            share
        }
    }
}

impl<F> Animate<F> {
    /// Sets the curve: `apply` is called with the value of `curve` at the share of the time that has
    /// passed. `curve` is an [`Ease`], or any function of a number from 0 to 1, such as one of
    /// another crate. It may return values below 0 and above 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::wait::Ease;
    ///
    /// let mut executor = Executor::new();
    /// let heights = executor.run_until(
    ///     async {
    ///         let mut heights = Vec::new();
    ///         animate(1, |height| heights.push(height)).ease(Ease::OutQuad).await;
    ///         animate(0.5, |height| heights.push(height)).ease(|t: f32| 1.0 - t).await;
    ///         heights
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(heights, [0.0, 0.4375, 0.75, 0.9375, 1.0, 1.0, 0.5, 0.0]);
    /// ```
    ///
    /// # Source
    ///
    /// `SetEase` of `DOTween`; `Tween.set_ease` of Godot.
    #[doc(alias = "SetEase")]
    #[doc(alias = "easing")]
    #[track_caller]
    pub fn ease<C: Easing>(self, curve: C) -> Tween<F, C> {
        self.into_tween().ease(curve)
    }

    /// Runs the animation `rounds` times, without drift: each round begins exactly a length after the
    /// one before, also between two frames. 0 counts as 1. The closure is called once in each frame,
    /// as with a single round. So it gets the value at the end of a round only if a frame meets it, and that of the last round in
    /// any case.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let angles = executor.run_until(
    ///     async {
    ///         let mut angles = Vec::new();
    ///         animate(0.75, |t| angles.push((t * 300.0).round())).repeat(2).await;
    ///         angles
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(angles, [0.0, 100.0, 200.0, 0.0, 100.0, 200.0, 300.0]);
    /// ```
    ///
    /// # Source
    ///
    /// `SetLoops` of `DOTween`; `Tween.set_loops` of Godot.
    #[doc(alias = "SetLoops")]
    #[doc(alias = "set_loops")]
    #[track_caller]
    pub fn repeat(self, rounds: u32) -> Tween<F> {
        self.into_tween().repeat(rounds)
    }

    /// Runs the animation again and again, like [`repeat`](Animate::repeat), until the future is
    /// dropped or its script is stopped. With a length of zero, the value stays at the beginning.
    ///
    /// # Examples
    ///
    /// A light that pulses until a door is opened:
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::wait::Ease;
    ///
    /// async fn pulse(opened: Signal<()>) -> f32 {
    ///     let mut light = 0.0;
    ///     select! {
    ///         () = animate(1, |t| light = t).ease(Ease::Smooth).repeat_forever().yoyo() => {}
    ///         () = opened.wait() => {}
    ///     }
    ///     light
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let opened = Signal::new();
    /// let light = executor.start(pulse(opened.clone()));
    /// executor.run_frames(301, 0.25);
    /// opened.emit(());
    /// assert_eq!(executor.run_until(light, 0.25).unwrap(), 0.5);
    /// ```
    #[track_caller]
    pub fn repeat_forever(self) -> Tween<F> {
        self.into_tween().repeat_forever()
    }

    /// Lets every other round run backwards. With an even number of rounds, the animation ends where it
    /// began.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let steps = executor.run_until(
    ///     async {
    ///         let mut steps = Vec::new();
    ///         animate(0.5, |t| steps.push(t)).repeat(2).yoyo().await;
    ///         steps
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(steps, [0.0, 0.5, 1.0, 0.5, 0.0]);
    /// ```
    ///
    /// # Source
    ///
    /// `LoopType.Yoyo` of `DOTween`; `yoyo` of GSAP.
    #[doc(alias = "ping-pong")]
    #[doc(alias = "LoopType.Yoyo")]
    #[track_caller]
    pub fn yoyo(self) -> Tween<F> {
        self.into_tween().yoyo()
    }

    #[track_caller]
    fn into_tween(self) -> Tween<F> {
        let Animate { apply, animation } = self;
        animation.expect_new("the curve and the rounds");
        let curved = Curved {
            apply,
            rounds: Rounds {
                length: animation.length,
                count: Some(1),
                yoyo: false,
            },
            curve: Ease::Linear,
            place: Location::caller(),
        };
        Tween { animation, curved }
    }
}

impl<F, C> Tween<F, C> {
    /// Sets the curve, like [`Animate::ease`].
    #[track_caller]
    pub fn ease<D: Easing>(self, curve: D) -> Tween<F, D> {
        self.animation.expect_new("`ease`");
        let Curved { apply, rounds, .. } = self.curved;
        Tween {
            animation: self.animation,
            curved: Curved {
                apply,
                rounds,
                curve,
                place: Location::caller(),
            },
        }
    }

    /// Sets the number of rounds, like [`Animate::repeat`].
    #[track_caller]
    pub fn repeat(self, rounds: u32) -> Self {
        self.set_count(Some(rounds.max(1)))
    }

    /// Lets the rounds have no end, like [`Animate::repeat_forever`].
    #[track_caller]
    pub fn repeat_forever(self) -> Self {
        self.set_count(None)
    }

    /// Lets every other round run backwards, like [`Animate::yoyo`].
    #[track_caller]
    pub fn yoyo(mut self) -> Self {
        self.animation.expect_new("`yoyo`");
        self.curved.rounds.yoyo = true;
        self
    }

    /// Calls the closure in `phase`, like [`Animate::in_phase`].
    ///
    /// # Panics
    ///
    /// If the animation has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.animation.set_phase(phase);
        self
    }

    #[track_caller]
    fn set_count(mut self, count: Option<u32>) -> Self {
        self.animation.expect_new("`repeat`");
        self.curved.rounds.count = count;
        self.animation.length = self.curved.rounds.length.in_rounds(count);
        self
    }
}

impl Animation {
    #[track_caller]
    pub(super) fn expect_new(&self, what: &str) {
        assert!(
            self.is_new(),
            "{what} of an `animate()` must be set before it is awaited: it has begun"
        );
    }
}

impl<F: FnMut(f32), C: Easing> Curved<F, C> {
    fn play(&mut self, elapsed_ns: u64) {
        let Curved {
            apply,
            rounds,
            curve,
            place,
        } = self;
        let share = match elapsed_ns {
            END => rounds.last_share(),
            _ => rounds.share(elapsed_ns),
        };
        let value = call::out(|| curve.at(share));
        assert!(
            value.is_finite(),
            "the curve that `ease` has set at {place} returned {value} for {share}: the value of \
             a curve must be a finite number for each share of the time, from 0 to 1"
        );
        call::out(|| apply(value));
    }
}

impl<F: FnMut(f32), C: Easing> Plays for Tween<F, C> {
    fn animation(&self) -> &Animation {
        &self.animation
    }

    fn play(&mut self, _shown_ns: Option<u64>, elapsed_ns: u64) {
        self.curved.play(elapsed_ns);
    }
}

impl<F: FnMut(f32), C: Easing> Future for Tween<F, C> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Tween { animation, curved } = &mut *self;
        animation.poll(cx, &mut |_, elapsed_ns| curved.play(elapsed_ns))
    }
}

// Neither the closure nor the curve is pinned.
impl<F, C> Unpin for Tween<F, C> {}

impl<F: FnMut(f32), C: Easing> FusedFuture for Tween<F, C> {
    fn is_terminated(&self) -> bool {
        self.animation.is_done()
    }
}

impl<F, C> fmt::Debug for Tween<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tween")
            .field("progress", &self.animation.progress)
            .field("rounds", &self.curved.rounds)
            .finish_non_exhaustive()
    }
}
