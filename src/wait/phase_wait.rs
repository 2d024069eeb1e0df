//! The common part of the waits for a run of a phase.

use std::panic::Location;
use std::task::{Context, Poll};

use crate::core::registration::{Bound, Call, Registration, WaitList};
use crate::core::scope::recording::{self, BeginsSimply, Recorded};
use crate::core::scope::{self, Inside, Scope};
use crate::durable::DurableWait;
use crate::inspect::{Line, Wait, awaited};
use crate::time::PhaseIndex;

use super::Misuse;

/// Waits for the next run of a phase, or for the next run in a later frame.
#[derive(Debug)]
pub(crate) struct PhaseWait {
    registration: Registration,
}

impl PhaseWait {
    /// Waits for the next run of `phase` in a later frame.
    #[inline]
    pub(crate) const fn later_frame(phase: PhaseIndex) -> Self {
        PhaseWait {
            registration: Registration::new(phase, Bound::Frame),
        }
    }

    /// Waits for the next run of `phase`.
    #[inline]
    pub(crate) const fn next_run(phase: PhaseIndex) -> Self {
        PhaseWait {
            registration: Registration::new(phase, Bound::Run),
        }
    }

    /// The same for a function that is not [`in_phase`](super::in_phase).
    #[inline]
    pub(super) const fn next_run_by(phase: PhaseIndex, call: Call) -> Self {
        PhaseWait {
            registration: Registration::new(phase, Bound::Run).made_by(call),
        }
    }

    /// Waits for the next step in the fixed phase, and for the next frame in other
    /// phases.
    pub(crate) fn later(phase: PhaseIndex) -> Self {
        match phase {
            PhaseIndex::FIXED_UPDATE => Self::next_run(phase),
            _ => Self::later_frame(phase),
        }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn set_phase(&mut self, phase: PhaseIndex) {
        self.registration.set_phase(phase);
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.registration.is_done()
    }

    /// Polls the wait. Messages call it `name`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn poll(&mut self, cx: &Context<'_>, name: &'static str) -> Poll<()> {
        self.poll_bound(cx, name, self.registration.bound())
    }

    /// The same for a caller that knows whether the wait is bound to frames or to runs.
    #[inline(always)]
    #[track_caller]
    pub(super) fn poll_bound(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        bound: Bound,
    ) -> Poll<()> {
        let wait = &mut self.registration;
        // For a wait that has just been made, the compiler knows the state, and makes a
        // loop of such waits jump to the right branch.
        let polled = if wait.has_begun() {
            if take_resumed(wait) {
                return Poll::Ready(());
            }
            scope::with_inlined(Slowly::<true>(self, cx, name))
        } else {
            let begins = if wait.names_no_phase() {
                scope::with_inlined(BeginsInItsRun::<true>(wait, cx, bound))
            } else {
                begins_in_named_phase(wait, cx, bound)
            };
            if begins {
                return Poll::Pending;
            }
            scope::with_inlined(Slowly::<false>(self, cx, name))
        };
        match polled {
            Ok(poll) => poll,
            Err(misuse) => misuse.panic(name),
        }
    }

    /// Handles a first poll that is not the plain one.
    #[inline(never)]
    #[track_caller]
    fn begin_slowly(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        scope: Option<&Scope<'_>>,
    ) -> Result<Poll<()>, Misuse> {
        let line = Location::caller();
        match scope {
            Some(scope) if !scope.is_recorded() => self.begin_unrecorded(cx, name, scope, line),
            _ => self.begin_recorded(cx, name, scope, line),
        }
    }

    // Neither is inlined, and both have the same arguments: then the choice moves nothing.
    #[inline(never)]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "as `begin_recorded`, whose call is the other end of a jump"
    )]
    fn begin_unrecorded(
        &mut self,
        cx: &Context<'_>,
        _: &'static str,
        scope: &Scope<'_>,
        line: Line,
    ) -> Result<Poll<()>, Misuse> {
        self.registration.begin_for_run(scope, cx);
        self.note(scope, line);
        Ok(Poll::Pending)
    }

    #[inline(never)]
    fn begin_recorded(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        scope: Option<&Scope<'_>>,
        line: Line,
    ) -> Result<Poll<()>, Misuse> {
        match scope {
            Some(scope) if scope.begins_frame(&mut self.registration, cx, name, line) => {
                Ok(Poll::Pending)
            }
            _ => recording::poll_run(self, scope, cx, name, line),
        }
    }

    /// Handles a later poll that is not a resume by this wait.
    #[inline(never)]
    #[track_caller]
    fn poll_begun(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        scope: Option<&Scope<'_>>,
    ) -> Result<Poll<()>, Misuse> {
        let line = Location::caller();
        match scope {
            Some(scope) if !scope.is_recorded() => self.poll_unrecorded(cx, name, scope, line),
            _ => self.poll_recorded(cx, name, scope, line),
        }
    }

    #[inline(never)]
    fn poll_recorded(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        scope: Option<&Scope<'_>>,
        line: Line,
    ) -> Result<Poll<()>, Misuse> {
        match scope {
            Some(scope) if scope.takes_recorded(&mut self.registration) => Ok(Poll::Ready(())),
            _ => recording::poll_run(self, scope, cx, name, line),
        }
    }

    #[inline(never)]
    fn poll_unrecorded(
        &mut self,
        cx: &Context<'_>,
        _: &'static str,
        scope: &Scope<'_>,
        line: Line,
    ) -> Result<Poll<()>, Misuse> {
        let registration = &mut self.registration;
        Misuse::of(registration, scope).map_or(Ok(()), Err)?;
        if registration.is_due_in(scope.phase_of(registration.phase())) {
            registration.finish(scope.core());
            return Ok(Poll::Ready(()));
        }
        registration.wait_on_for_run(scope, cx);
        self.note(scope, line);
        Ok(Poll::Pending)
    }

    /// Notes that the wait is pending, if the executor observes its coroutines.
    #[inline(always)]
    fn note(&self, scope: &Scope<'_>, line: Line) {
        let registration = &self.registration;
        awaited::note(
            scope,
            registration.key_and_phase(),
            line,
            |phase| match registration.bound() {
                Bound::Run => Wait::Run { phase },
                Bound::Frame | Bound::FrameOrStep => Wait::Frame { phase },
            },
        );
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    #[inline]
    pub(crate) fn registration_mut(&mut self) -> &mut Registration {
        &mut self.registration
    }

    /// The wait with this registration.
    pub(crate) fn of(registration: Registration) -> Self {
        PhaseWait { registration }
    }
}

/// A poll that is not the usual one, of a wait that has begun or not. It gets the scope: to look it up in this crate
/// takes a call, around which it would keep all else.
struct Slowly<'a, 'c, const BEGUN: bool>(&'a mut PhaseWait, &'a Context<'c>, &'static str);

impl<const BEGUN: bool> Inside for Slowly<'_, '_, BEGUN> {
    type Output = Result<Poll<()>, Misuse>;

    #[inline(always)]
    #[track_caller]
    fn call(self, scope: Option<&Scope<'_>>) -> Self::Output {
        let Slowly(wait, cx, name) = self;
        if BEGUN {
            wait.poll_begun(cx, name, scope)
        } else {
            wait.begin_slowly(cx, name, scope)
        }
    }
}

/// Begins a wait in a run of the phase that it waits for, if this is the simple case.
/// Returns whether it has begun.
struct BeginsInItsRun<'a, 'c, const HOME: bool>(&'a mut Registration, &'a Context<'c>, Bound);

impl<const HOME: bool> Inside for BeginsInItsRun<'_, '_, HOME> {
    type Output = bool;

    #[inline(always)]
    fn call(self, scope: Option<&Scope<'_>>) -> bool {
        scope.is_some_and(|scope| self.0.begin_in_its_run::<HOME>(scope, self.1, self.2))
    }
}

/// The same for a wait that names its phase. Not inlined: it would take registers from
/// the usual way.
#[inline(never)]
fn begins_in_named_phase(wait: &mut Registration, cx: &Context<'_>, bound: Bound) -> bool {
    scope::with_inlined(BeginsInItsRun::<false>(wait, cx, bound))
}

/// Whether the wait resumes the coroutine being polled. Then the wait is over. `false` outside
/// of an executor.
#[inline(always)]
pub(crate) fn take_resumed(wait: &mut Registration) -> bool {
    scope::with_inlined(IsResumed(wait))
}

struct IsResumed<'a>(&'a mut Registration);

impl Inside for IsResumed<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self, scope: Option<&Scope<'_>>) -> bool {
        scope.is_some_and(|scope| self.0.take_resumed(scope))
    }
}

impl Recorded for PhaseWait {
    fn registration_mut(&mut self) -> &mut Registration {
        &mut self.registration
    }

    fn take(&mut self) -> DurableWait {
        self.take_new().into()
    }

    #[inline]
    fn drop_new(&mut self) {
        drop(self.take_new());
    }
}

impl BeginsSimply for PhaseWait {
    fn take_new(&mut self) -> Self {
        PhaseWait::of(self.registration.take_new())
    }

    fn begins_simply(&self, _: &Scope<'_>) -> bool {
        true
    }

    fn begin_simply(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        self.registration.begin_for_run(scope, cx);
    }
}

impl Drop for PhaseWait {
    #[inline]
    fn drop(&mut self) {
        self.registration.cancel(WaitList::Queue);
    }
}
