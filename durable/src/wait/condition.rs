//! The waits for a condition of the world.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::DurableWait;

use crate::cell::in_closure;
use crate::effect::lent;
use crate::slot::Slot;

use crate::bytes::Bytes;

use super::Numbered;

/// The future of [`wait_until`] and [`wait_while`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitUntil<W, P> {
    numbered: Numbered,
    name: &'static str,
    holds: P,
    awaited: bool,
    phase: Option<Phase>,
    world: PhantomData<fn(&W)>,
}

/// Waits until `condition` returns `true`. It is called once in each run of the home phase,
/// from the next frame on, with the state that the host has lent. A result of `false` is not
/// recorded, so `condition` must not keep anything from one call to the next, such as a count of
/// its calls: after a restore, it is a new closure.
///
/// # Panics
///
/// When polled: outside of an executor; or if the host has lent no `W`.
pub fn wait_until<W: 'static, P: FnMut(&W) -> bool>(condition: P) -> WaitUntil<W, P> {
    WaitUntil::new("wait_until()", condition, true)
}

/// Waits until `condition` returns `false`. Otherwise it is like [`wait_until`].
///
/// # Panics
///
/// As [`wait_until`].
pub fn wait_while<W: 'static, P: FnMut(&W) -> bool>(condition: P) -> WaitUntil<W, P> {
    WaitUntil::new("wait_while()", condition, false)
}

impl<W: 'static, P: FnMut(&W) -> bool> WaitUntil<W, P> {
    fn new(name: &'static str, holds: P, awaited: bool) -> Self {
        WaitUntil {
            numbered: Numbered::default(),
            name,
            holds,
            awaited,
            phase: None,
            world: PhantomData,
        }
    }

    /// Checks the condition, and resumes, in `phase`.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            !self.numbered.has_begun(),
            "`in_phase` was called on a wait that has begun"
        );
        self.phase = Some(phase);
        self
    }
}

impl<W: 'static, P: FnMut(&W) -> bool> Future for WaitUntil<W, P> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (name, awaited, phase) = (this.name, this.awaited, this.phase);
        let holds = &mut this.holds;
        let at = Location::caller();
        let begin = |_: Option<&_>| Slot::Plain(DurableWait::condition(phase));
        let polled = this
            .numbered
            .poll_anywhere(name, begin, |cell, slot| match slot {
                Slot::Plain(wait) => {
                    let ask = || framestep::try_with_ref(|world: &W| holds(world));
                    let asked = || lent(name, at, in_closure(cell, ask)) == awaited;
                    wait.poll_asking(cx, name, asked).map(|()| Bytes::EMPTY)
                }
                _ => Poll::Pending,
            });
        polled.map(drop)
    }
}

impl<W, P> Unpin for WaitUntil<W, P> {}

impl<W, P> fmt::Debug for WaitUntil<W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntil").finish_non_exhaustive()
    }
}
