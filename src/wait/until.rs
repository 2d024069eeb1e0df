//! The waits for a condition.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::base::call;
use crate::core::registration::{Bound, Registration, WaitList};
use crate::core::scope;
use crate::core::scope::recording::{self, Recorded};
use crate::durable::{Asks, DurableWait, Gives};
use crate::inspect::{Wait, awaited};
use crate::time::{Phase, PhaseIndex};

use super::{Misuse, polled, polled_again, polled_outside};

/// Waits until `condition` holds.
///
/// # Resumes
///
/// In the home phase of the coroutine, or in another phase with
/// [`in_phase`](WaitUntil::in_phase). From the frame after the first poll on, the
/// condition is checked once in each run of that phase, until it holds. So the wait
/// costs a poll in each of these runs.
///
/// To check the condition in the current frame as well, write a loop: `while
/// !condition() { next_frame().await; }`.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. Nothing is lost.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor). A panic of the condition is
/// a panic of the coroutine.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// struct World {
///     gold: u32,
/// }
///
/// async fn miner() {
///     for _ in 0..3 {
///         wait_seconds(0.25).await;
///         with(|world: &mut World| world.gold += 10);
///     }
/// }
///
/// async fn merchant() {
///     wait_until(|| with_ref(|world: &World| world.gold >= 30)).await;
///     with(|world: &mut World| world.gold -= 25);
/// }
///
/// let mut world = World { gold: 0 };
/// let mut executor = Executor::new();
/// executor.spawn(miner());
/// let merchant = executor.spawn(merchant());
/// executor.lend(&mut world, |executor| executor.run_until(merchant, 0.25)).unwrap();
/// assert_eq!(world.gold, 5);
/// ```
///
/// # Source
///
/// `WaitUntil`, Unity scripting reference.
pub fn wait_until<P: Fn() -> bool>(condition: P) -> WaitUntil<P> {
    WaitUntil {
        condition: Condition {
            ask: condition,
            name: "wait_until()",
            asked: Asked::new(PhaseIndex::HOME),
        },
    }
}

/// Waits while `condition` holds.
///
/// It is [`wait_until`] with the negated condition.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// let left = std::cell::Cell::new(3);
/// let all_gone = wait_while(move || {
///     left.set(left.get() - 1);
///     left.get() > 0
/// });
/// executor.run_until(all_gone, 0.1);
/// assert_eq!(executor.time().frame, 3);
/// ```
///
/// # Source
///
/// `WaitWhile`, Unity scripting reference.
pub fn wait_while<P: Fn() -> bool>(condition: P) -> WaitWhile<P> {
    WaitWhile {
        condition: Condition {
            ask: condition,
            name: "wait_while()",
            asked: Asked::new(PhaseIndex::HOME),
        },
    }
}

/// The future of [`wait_until`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitUntil<P> {
    condition: Condition<P>,
}

/// The future of [`wait_while`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitWhile<P> {
    condition: Condition<P>,
}

/// The condition of both waits.
struct Condition<P> {
    ask: P,
    name: &'static str,
    asked: Asked,
}

/// A wait for a condition that the caller checks.
#[derive(Debug)]
pub(crate) struct Asked {
    registration: Registration,
}

impl Asked {
    /// Makes a wait that resumes in `phase`.
    pub(crate) fn new(phase: PhaseIndex) -> Self {
        Asked::of(Registration::new(phase, Bound::FrameOrStep))
    }

    /// The wait with this registration.
    pub(crate) fn of(registration: Registration) -> Self {
        Asked { registration }
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Polls the wait. Calls `holds` if the condition is to be checked now. Messages call
    /// the wait `name`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn poll(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        mut holds: impl FnMut() -> bool,
    ) -> Poll<()> {
        let held = match self.is_asking(name) {
            Asking::Now => Some(holds()),
            Asking::NotYet => None,
            Asking::Recorder => return self.poll_recorded(cx, name, &mut |_| holds()),
        };
        self.go_on(cx, name, held)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn poll_recorded(&mut self, cx: &Context<'_>, name: &'static str, asks: Asks<'_>) -> Poll<()> {
        let line = Location::caller();
        match recording::poll_slowly(self, cx, name, line, Gives::Nothing, asks) {
            Some(polled) => polled.map(drop),
            None if self.registration.is_done() => polled_again(name),
            None => polled_outside(name),
        }
    }

    /// Whether the condition is to be checked now. It is first checked when the wait is
    /// due.
    #[inline(never)]
    #[track_caller]
    fn is_asking(&self, name: &'static str) -> Asking {
        let registration = &self.registration;
        let asking = scope::with(|scope| {
            let Some(scope) = scope.filter(|scope| !scope.is_recorded()) else {
                return Ok(Asking::Recorder);
            };
            match Misuse::of(registration, scope) {
                Some(misuse) => Err(misuse),
                None if registration.is_new() => Ok(Asking::NotYet),
                None if registration.is_due_in(scope.phase_of(registration.phase())) => {
                    Ok(Asking::Now)
                }
                None => Ok(Asking::NotYet),
            }
        });
        match asking {
            Ok(asking) => asking,
            Err(misuse) => misuse.panic(name),
        }
    }

    /// Goes on waiting, unless the condition held. `None` if it was not checked.
    #[inline(never)]
    #[track_caller]
    fn go_on(&mut self, cx: &Context<'_>, name: &'static str, held: Option<bool>) -> Poll<()> {
        let line = Location::caller();
        polled(name, |scope| {
            let core = scope.core();
            match held {
                Some(true) => {
                    self.registration.finish(core);
                    return Poll::Ready(());
                }
                Some(false) => self.registration.wait_again_for_run(scope, cx),
                None if self.registration.is_new() => self.registration.begin_for_run(scope, cx),
                None => self.registration.wait_on_for_run(scope, cx),
            }
            self.registration.note_condition(core);
            let wait = |phase| Wait::Condition { phase };
            awaited::note(scope, self.registration.key_and_phase(), line, wait);
            Poll::Pending
        })
    }
}

/// Who checks a condition, and when.
enum Asking {
    Now,
    NotYet,
    /// A recorder, or nobody outside of an executor.
    Recorder,
}

impl Recorded for Asked {
    fn registration_mut(&mut self) -> &mut Registration {
        &mut self.registration
    }

    fn take(&mut self) -> DurableWait {
        Asked::of(self.registration.take_new()).into()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Queue);
    }
}

macro_rules! condition_future {
    ($name:ident, $awaited:literal) => {
        impl<P> $name<P> {
            /// Checks the condition in the runs of `phase`. In
            /// [`Phase::FixedUpdate`], it is checked in each fixed step that begins
            /// after the first poll.
            ///
            /// # Panics
            ///
            /// If the wait has begun.
            #[track_caller]
            pub fn in_phase(mut self, phase: Phase) -> Self {
                let phase = PhaseIndex::new(phase);
                self.condition.asked.registration.set_phase(phase);
                self
            }
        }

        impl<P: Fn() -> bool> Future for $name<P> {
            type Output = ();

            #[track_caller]
            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let Condition { ask, name, asked } = &mut self.condition;
                asked.poll(cx, *name, || call::out(&mut *ask) == $awaited)
            }
        }

        // The closure is never pinned.
        impl<P> Unpin for $name<P> {}

        impl<P: Fn() -> bool> FusedFuture for $name<P> {
            fn is_terminated(&self) -> bool {
                self.condition.asked.registration.is_done()
            }
        }

        impl<P> fmt::Debug for $name<P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("done", &self.condition.asked.registration.is_done())
                    .finish_non_exhaustive()
            }
        }
    };
}

condition_future!(WaitUntil, true);
condition_future!(WaitWhile, false);
