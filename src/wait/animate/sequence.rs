//! Animations one after the other, without drift.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::time::{Phase, PhaseIndex};
use crate::wait::length::Length;

use super::tween::Tween;
use super::{Animate, Animation, END, Easing, play};

/// What can be a leg of a [`Sequence`]: an [`Animate`], a [`Tween`], or a sequence.
pub trait Leg: Plays {}

/// How a leg is played. Only this crate implements it.
pub trait Plays {
    /// The animation, with the length of the whole leg.
    #[doc(hidden)]
    fn animation(&self) -> &Animation;

    /// Calls the closure for what has passed of the leg, or for its [`END`]. `shown_ns` is what had passed at
    /// the latest call, if there was one.
    #[doc(hidden)]
    fn play(&mut self, shown_ns: Option<u64>, elapsed_ns: u64);
}

impl<F: FnMut(f32)> Leg for Animate<F> {}

impl<F: FnMut(f32)> Plays for Animate<F> {
    fn animation(&self) -> &Animation {
        &self.animation
    }

    fn play(&mut self, _shown_ns: Option<u64>, elapsed_ns: u64) {
        play(&mut self.apply, self.animation.length, elapsed_ns);
    }
}

impl<F: FnMut(f32), C: Easing> Leg for Tween<F, C> {}

impl<A: Leg, B: Leg> Leg for Sequence<A, B> {}

/// The future of two animations one after the other, without drift: of [`Animate::then`].
///
/// # Output
///
/// Nothing, once the last leg is over.
///
/// # Resumes
///
/// Like [`animate`](super::animate): all legs together are one animation, as long as they are.
///
/// # Panics
///
/// When polled: like its legs.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sequence<A, B> {
    /// Over all rounds of both.
    animation: Animation,
    legs: Legs<A, B>,
}

struct Legs<A, B> {
    first: A,
    second: B,
    /// The length of the first leg.
    first_ns: u64,
    /// That of both.
    length: Length,
    /// How many rounds there are. `None` without end.
    rounds: Option<u32>,
}

impl<F: FnMut(f32)> Animate<F> {
    /// Lets `next` follow, without drift: it begins exactly when this animation is over, also
    /// between two frames. `next` is another `animate(..)`, one with a curve or in rounds, or a
    /// sequence.
    ///
    /// The closure of a leg is called once in each frame of its time. In the frame that meets the end of a
    /// leg, its closure gets the last value, and then that of the next leg is called, with the share
    /// that has passed of it. In a frame that passes whole legs, each closure is called in order, those of
    /// the passed ones with their last values only. A leg without end, such as one of
    /// [`repeat_forever`](Animate::repeat_forever), has nothing after it.
    ///
    /// [`Sequence::repeat`] makes rounds of all legs together.
    ///
    /// # Panics
    ///
    /// If one of both has begun, or if `next` has another phase than this one. Set the phase of the whole
    /// with [`Sequence::in_phase`].
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use std::cell::RefCell;
    ///
    /// let mut executor = Executor::new();
    /// let seen = RefCell::new(Vec::new());
    /// let steps = executor.run_until(
    ///     async move {
    ///         let opens = animate(0.375, |t| seen.borrow_mut().push(("opens", t)));
    ///         let closes = animate(0.25, |t| seen.borrow_mut().push(("closes", t)));
    ///         opens.then(closes).await;
    ///         seen.take()
    ///     },
    ///     0.25,
    /// );
    /// assert_eq!(
    ///     steps,
    ///     [("opens", 0.0), ("opens", 2.0 / 3.0), ("opens", 1.0), ("closes", 0.5), ("closes", 1.0)]
    /// );
    /// ```
    ///
    /// # Source
    ///
    /// `Sequence.Append` of `DOTween`; the steps of Godot's `Tween`.
    #[doc(alias = "Append")]
    #[doc(alias = "sequence")]
    #[doc(alias = "chain")]
    #[track_caller]
    pub fn then<N: Leg>(self, next: N) -> Sequence<Self, N> {
        Sequence::new(self, next)
    }
}

impl<F: FnMut(f32), C: Easing> Tween<F, C> {
    /// Lets `next` follow, without drift, like [`Animate::then`].
    ///
    /// # Panics
    ///
    /// If one of both has begun, or if `next` has another phase than this one.
    #[track_caller]
    pub fn then<N: Leg>(self, next: N) -> Sequence<Self, N> {
        Sequence::new(self, next)
    }
}

impl<A: Leg, B: Leg> Sequence<A, B> {
    #[track_caller]
    fn new(first: A, second: B) -> Self {
        let (one, other) = (first.animation(), second.animation());
        one.expect_new("`then`");
        assert!(
            other.is_new(),
            "`then` was called with an animation that has begun: it cannot follow another one"
        );
        assert!(
            other.phase == PhaseIndex::HOME || other.phase == one.phase,
            "`then` was called with an animation in another phase: all legs of a sequence are called in one phase; \
             set it with `in_phase` behind the last `then`"
        );
        let (first_ns, length) = (one.length.finite_ns(), one.length.then(other.length));
        let mut animation = Animation::new(length);
        if one.phase != PhaseIndex::HOME {
            animation.set_phase(one.phase.phase());
        }
        let legs = Legs {
            first,
            second,
            first_ns,
            length,
            rounds: Some(1),
        };
        Sequence { animation, legs }
    }

    /// Lets `next` follow, without drift, like [`Animate::then`]. Rounds that were set before are those of the
    /// legs until here.
    ///
    /// # Panics
    ///
    /// If one of both has begun, or if `next` has another phase than this one.
    #[track_caller]
    pub fn then<N: Leg>(self, next: N) -> Sequence<Self, N> {
        Sequence::new(self, next)
    }

    /// Plays all legs `rounds` times, without drift. 0 counts as 1. A frame that passes whole rounds gives
    /// the last values of the round that was playing, and goes on in the present one.
    ///
    /// # Panics
    ///
    /// If the sequence has begun.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let lamp = Watch::new(0.0);
    /// let (on, off) = (lamp.clone(), lamp.clone());
    /// let blinks = animate(0.25, move |t| on.set(t)).then(animate(0.75, move |t| off.set(1.0 - t)));
    /// executor.start(blinks.repeat(3));
    /// executor.run_frames(9, 0.25); // the first frame of the third round
    /// assert_eq!(lamp.get(), 1.0);
    /// ```
    #[track_caller]
    pub fn repeat(self, rounds: u32) -> Self {
        self.set_rounds(Some(rounds.max(1)))
    }

    /// Plays all legs again and again, like [`repeat`](Sequence::repeat), until the future is dropped or its
    /// script is stopped. If all legs together have a length of zero, they are played once, and the future does not
    /// end.
    ///
    /// # Panics
    ///
    /// If the sequence has begun.
    #[track_caller]
    pub fn repeat_forever(self) -> Self {
        self.set_rounds(None)
    }

    /// Calls the closures in `phase`, like [`Animate::in_phase`].
    ///
    /// # Panics
    ///
    /// If the sequence has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.animation.set_phase(phase);
        self
    }

    #[track_caller]
    fn set_rounds(mut self, rounds: Option<u32>) -> Self {
        self.animation.expect_new("`repeat`");
        self.legs.rounds = rounds;
        self.animation.length = self.legs.length.in_rounds(rounds);
        self
    }
}

impl<A: Leg, B: Leg> Legs<A, B> {
    fn play(&mut self, shown_ns: Option<u64>, elapsed_ns: u64) {
        let shown = shown_ns.map(|ns| self.in_round(ns));
        let (round, elapsed_ns) = match elapsed_ns {
            END => (u64::from(self.rounds.unwrap_or(1)) - 1, END),
            ns => self.in_round(ns),
        };
        let shown_ns = match shown {
            Some((shown_round, shown_ns)) if shown_round < round => {
                self.play_round(Some(shown_ns), END);
                None
            }
            _ => shown.map(|(_, shown_ns)| shown_ns),
        };
        self.play_round(shown_ns, elapsed_ns);
    }

    /// The round, and what has passed of it.
    fn in_round(&self, ns: u64) -> (u64, u64) {
        match self.length.finite_ns() {
            0 => (0, 0),
            round_ns => (ns / round_ns, ns % round_ns),
        }
    }

    fn play_round(&mut self, shown_ns: Option<u64>, elapsed_ns: u64) {
        if elapsed_ns < self.first_ns {
            return self.first.play(shown_ns, elapsed_ns);
        }
        // Has it been shown that the first leg is over?
        let second_ns = shown_ns.and_then(|ns| ns.checked_sub(self.first_ns));
        if second_ns.is_none() {
            self.first.play(shown_ns, END);
        }
        let elapsed_ns = match elapsed_ns {
            END => END,
            ns => ns - self.first_ns,
        };
        self.second.play(second_ns, elapsed_ns);
    }
}

impl<A: Leg, B: Leg> Plays for Sequence<A, B> {
    fn animation(&self) -> &Animation {
        &self.animation
    }

    fn play(&mut self, shown_ns: Option<u64>, elapsed_ns: u64) {
        self.legs.play(shown_ns, elapsed_ns);
    }
}

impl<A: Leg, B: Leg> Future for Sequence<A, B> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Sequence { animation, legs } = &mut *self;
        animation.poll(cx, &mut |shown_ns, elapsed_ns| {
            legs.play(shown_ns, elapsed_ns);
        })
    }
}

// No closure is pinned.
impl<A, B> Unpin for Sequence<A, B> {}

impl<A: Leg, B: Leg> FusedFuture for Sequence<A, B> {
    fn is_terminated(&self) -> bool {
        self.animation.is_done()
    }
}

impl<A, B> fmt::Debug for Sequence<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence")
            .field("progress", &self.animation.progress)
            .finish_non_exhaustive()
    }
}
