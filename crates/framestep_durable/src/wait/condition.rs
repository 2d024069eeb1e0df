//! The waits for a condition of the world.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::durable::DurableWait;

use crate::bytes::Bytes;
use crate::script::{Numbered, Slot, in_closure};

/// The future of [`wait_until`] and [`wait_while`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitUntil<P> {
    numbered: Numbered,
    name: &'static str,
    holds: P,
    awaited: bool,
    phase: Option<Phase>,
}

/// Waits until `condition` returns `true`. It is called once in each run of the home phase,
/// from the next frame on. See [`framestep::wait_until`].
///
/// Only the end of the wait is recorded, and after a restore, `condition` is a new closure. So it is an
/// `Fn`, which keeps nothing from one call to the next. This does not compile:
///
/// ```compile_fail,E0594
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// let mut calls = 0;
/// wait_until(move || {
///     calls += 1;
///     calls > 3
/// })
/// .await;
/// # }
/// ```
///
/// # Panics
///
/// When polled outside of an executor.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct World { gold: u32 }
/// # async fn script() {
/// wait_until(|| with_ref(|world: &World| world.gold > 30)).await;
/// # }
/// ```
pub fn wait_until<P: Fn() -> bool>(condition: P) -> WaitUntil<P> {
    WaitUntil::new("wait_until()", condition, true)
}

/// Waits until `condition` returns `false`. Otherwise it is like [`wait_until`].
///
/// # Panics
///
/// As [`wait_until`].
pub fn wait_while<P: Fn() -> bool>(condition: P) -> WaitUntil<P> {
    WaitUntil::new("wait_while()", condition, false)
}

impl<P: Fn() -> bool> WaitUntil<P> {
    fn new(name: &'static str, holds: P, awaited: bool) -> Self {
        WaitUntil {
            numbered: Numbered::default(),
            name,
            holds,
            awaited,
            phase: None,
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

impl<P: Fn() -> bool> Future for WaitUntil<P> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (name, awaited, phase) = (this.name, this.awaited, this.phase);
        let mut holds = || (this.holds)() == awaited;
        poll_condition(&mut this.numbered, cx, name, phase, &mut holds)
    }
}

#[track_caller]
fn poll_condition(
    numbered: &mut Numbered,
    cx: &mut Context<'_>,
    name: &'static str,
    phase: Option<Phase>,
    holds: &mut dyn FnMut() -> bool,
) -> Poll<()> {
    let begin = |_: Option<&_>| Slot::Plain(DurableWait::condition(phase));
    let polled = numbered.poll_anywhere(name, begin, |cell, slot| match slot {
        Slot::Plain(wait) => {
            let mut asked = || in_closure(cell, &mut *holds);
            let polled = wait.poll_asking(cx, name, &mut asked);
            polled.map(|()| Bytes::EMPTY)
        }
        _ => Poll::Pending,
    });
    polled.map(drop)
}

impl<P> Unpin for WaitUntil<P> {}

impl<P> fmt::Debug for WaitUntil<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntil").finish_non_exhaustive()
    }
}
