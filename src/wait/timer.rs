//! A deadline on a clock, as the waits for seconds have it.

use std::panic::Location;
use std::task::{Context, Poll};

use crate::core::Core;
use crate::core::pause::own::OwnTime;
use crate::core::registration::{
    Bound, Call, Registration, WaitList, another_executor, another_script,
};
use crate::core::report;
use crate::core::scope::recording::{self, BeginsSimply, Recorded};
use crate::core::scope::{self, Inside, Scope};
use crate::core::task::Task;
use crate::core::view::View;
use crate::durable::{DurableWait, Unsavable};
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::inspect::{Wait, WaitId, awaited};
use crate::time::{AwaitedClock, ClockIndex, ClockRef, Nanos, PhaseIndex, Seconds};

use super::{polled, polled_again, polled_outside};

/// A deadline on a clock.
#[derive(Debug)]
pub(crate) struct Timer {
    wait: DeadlineWait,
    /// The clock, unless it is one of the executor's.
    clock: Option<AwaitedClock>,
}

/// A timer without its clock.
#[derive(Debug)]
struct DeadlineWait {
    registration: Registration,
    deadline: Deadline,
}

// Timers are stored in the futures of scripts, so their size matters.
const _: () = assert!(size_of::<Timer>() <= 48);

/// A length until the first poll, a point in time from then on.
#[derive(Clone, Copy, Debug)]
enum Deadline {
    /// A length of a wait that has not begun.
    In(ClockIndex, u64),
    /// A point in time of a wait that has not begun.
    Until(ClockIndex, u64),
    /// The deadline at the latest poll. Pauses may have moved it since.
    At(ClockIndex, u64),
    /// Infinitely far away, or further than the clock can count.
    Never(ClockIndex),
    /// A recorder has the wait.
    Recorded(ClockIndex),
    /// The length was NaN.
    Invalid(&'static Location<'static>),
}

/// When a timer that begins is due.
#[derive(Clone, Copy, Debug)]
enum Due {
    After(u64),
    At(u64),
}

/// A poll of a timer.
struct PollOf<'a, 'c> {
    timer: &'a mut Timer,
    cx: &'a Context<'c>,
}

impl Inside for PollOf<'_, '_> {
    type Output = Poll<()>;

    #[inline(always)]
    #[track_caller]
    fn call(self, scope: Option<&Scope<'_>>) -> Poll<()> {
        let PollOf { timer, cx } = self;
        let Some(scope) = scope else {
            return timer.poll_outside(cx);
        };
        // For a timer that has just been made, the compiler knows that it has not
        // begun.
        if timer.wait.registration.has_begun() && timer.wait.registration.take_resumed(scope) {
            return Poll::Ready(());
        }
        timer.begin_or_go_on(scope, cx)
    }
}

impl Timer {
    #[track_caller]
    #[inline]
    pub(crate) fn new(
        seconds: impl Seconds,
        index: ClockIndex,
        clock: Option<AwaitedClock>,
    ) -> Self {
        let deadline = match seconds.length_ns() {
            Nanos::Finite(ns) => Deadline::In(index, ns),
            Nanos::Negative => Deadline::In(index, 0),
            Nanos::Overflow | Nanos::Infinite => Deadline::Never(index),
            Nanos::NotANumber => Deadline::Invalid(Location::caller()),
        };
        let registration = Registration::new(PhaseIndex::HOME, Bound::FrameOrStep);
        Timer {
            wait: DeadlineWait {
                registration,
                deadline,
            },
            clock,
        }
    }

    /// Says which function has made the wait.
    #[inline]
    pub(super) fn made_by(mut self, call: Call) -> Self {
        self.wait.registration.set_call(call);
        self
    }

    /// Makes a timer whose deadline does not depend on when it begins.
    #[track_caller]
    pub(crate) fn until(
        point: impl Seconds,
        index: ClockIndex,
        clock: Option<AwaitedClock>,
    ) -> Self {
        let mut timer = Timer::new(point, index, clock);
        if let Deadline::In(index, point_ns) = timer.wait.deadline {
            timer.wait.deadline = Deadline::Until(index, point_ns);
        }
        timer
    }

    /// Makes the timer as new, with another length, which counts from the next poll. It keeps
    /// its clock and its phase. `of` is the wait, for messages.
    #[cold]
    #[track_caller]
    pub(super) fn reset(&mut self, seconds: impl Seconds, of: &'static str) {
        self.reset_to(seconds.length_ns(), of);
    }

    #[cold]
    #[track_caller]
    fn reset_to(&mut self, length: Nanos, of: &'static str) {
        assert!(
            !self.wait.registration.is_done(),
            "`reset` was called on a `{of}` that is over: make a new one"
        );
        let index = match self.wait.deadline {
            Deadline::In(index, _)
            | Deadline::Until(index, _)
            | Deadline::At(index, _)
            | Deadline::Never(index)
            | Deadline::Recorded(index) => index,
            Deadline::Invalid(location) => not_a_number(location),
        };
        if length == Nanos::Negative {
            report::suspicious(
                Location::caller(),
                format!(
                    "`reset` moved a `{of}` into the past, so it ends in the next frame: give it a \
                     length of 0 or more"
                ),
            );
        }
        let deadline = match length {
            Nanos::Finite(ns) => Deadline::In(index, ns),
            Nanos::Negative => Deadline::In(index, 0),
            Nanos::Overflow | Nanos::Infinite => Deadline::Never(index),
            Nanos::NotANumber => panic!(
                "`reset` at {} got a length of NaN: give it a number of seconds (0 waits one frame, \
                 infinity never ends)",
                Location::caller()
            ),
        };
        self.renew();
        self.wait.deadline = deadline;
    }

    /// Makes the wait as new, and wakes the coroutine that waits. Calls user code: its waker.
    #[track_caller]
    pub(super) fn renew(&mut self) {
        let list = self.wait.list();
        self.wait.registration.renew_as_new(list);
    }

    #[inline(always)]
    #[track_caller]
    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        scope::with_inlined(PollOf { timer: self, cx })
    }

    #[inline(never)]
    #[track_caller]
    fn begin_or_go_on(&mut self, scope: &Scope<'_>, cx: &Context<'_>) -> Poll<()> {
        match self.wait.deadline {
            Deadline::In(ClockIndex::OWN, length_ns) if scope.is_plain() => {
                let due = Due::After(length_ns);
                self.wait.begin(scope, cx, ClockRef::Game, due);
                Poll::Pending
            }
            Deadline::At(index, due_ns) => {
                let clock = clock_ref(self.clock.as_ref(), index);
                self.wait.poll_again(scope, cx, clock, due_ns)
            }
            _ => self.begin_in_other_case(scope, cx),
        }
    }

    /// Begins in a recorder, or on another clock than the game clock, in an observed coroutine, or not at all.
    #[inline(never)]
    #[track_caller]
    fn begin_in_other_case(&mut self, scope: &Scope<'_>, cx: &Context<'_>) -> Poll<()> {
        if scope.is_recorded() {
            if scope.takes_recorded(&mut self.wait.registration) {
                return Poll::Ready(());
            }
            if let Some(polled) = self.poll_recorded(Some(scope), cx) {
                return polled;
            }
        }
        self.begin_elsewhere(scope, cx)
    }

    /// Polls the timer where no executor does: in a replay.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn poll_outside(&mut self, cx: &Context<'_>) -> Poll<()> {
        match self.poll_recorded(None, cx) {
            Some(polled) => polled,
            None => polled_outside("wait_seconds()"),
        }
    }

    #[inline(never)]
    #[track_caller]
    fn poll_recorded(&mut self, scope: Option<&Scope<'_>>, cx: &Context<'_>) -> Option<Poll<()>> {
        if let Deadline::Invalid(location) = self.wait.deadline {
            not_a_number(location);
        }
        recording::poll(self, scope, cx, "wait_seconds()", Location::caller())
    }

    /// Begins on another clock than the game clock, in an observed coroutine, or not at
    /// all.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn begin_elsewhere(&mut self, scope: &Scope<'_>, cx: &Context<'_>) -> Poll<()> {
        let core = scope.core();
        let wait = &mut self.wait;
        if wait.registration.is_renewed_elsewhere(core) {
            another_executor();
        }
        match wait.deadline {
            Deadline::In(ClockIndex::OWN, ns) | Deadline::Until(ClockIndex::OWN, ns) => {
                self.clock = scope.clock().as_ref().map(AwaitedClock::new);
                let clock = self.clock.as_ref();
                let clock = clock.map_or(ClockRef::Game, |clock| clock.state().as_ref());
                let due = match wait.deadline {
                    Deadline::Until(..) => Due::At(ns),
                    _ => Due::After(ns),
                };
                wait.begin(scope, cx, clock, due);
                wait.note(scope, clock);
            }
            Deadline::In(index, ns) | Deadline::Until(index, ns) => {
                let is_of_another = |clock: &AwaitedClock| !clock.state().is_of(&core.clock);
                if self.clock.as_ref().is_some_and(is_of_another) {
                    clock_of_another_executor();
                }
                let clock = clock_ref(self.clock.as_ref(), index);
                let due = match wait.deadline {
                    Deadline::Until(..) => Due::At(ns),
                    _ => Due::After(ns),
                };
                wait.begin(scope, cx, clock, due);
                wait.note(scope, clock);
            }
            Deadline::Never(index) => {
                wait.registration.expect_of(core);
                if wait.registration.is_new() {
                    wait.registration.begin(scope);
                    if index == ClockIndex::OWN {
                        self.clock = scope.clock().as_ref().map(AwaitedClock::new);
                        let clock = self.clock.as_ref();
                        let clock = clock.map_or(ClockRef::Game, |clock| clock.state().as_ref());
                        wait.deadline = Deadline::Never(clock.index());
                    }
                }
                wait.registration.wait_for_renewal(scope, cx);
                awaited::note_wait(scope, WaitId::Unknown, Location::caller(), || Wait::Never);
            }
            Deadline::Recorded(_) => wait.registration.elsewhere(),
            Deadline::At(..) => {}
            Deadline::Invalid(location) => not_a_number(location),
        }
        Poll::Pending
    }

    /// Writes a timer that has begun to an image.
    pub(crate) fn save(
        &self,
        core: &Core,
        clocks: &ClockNames,
        out: &mut Writer,
    ) -> Result<(), Unsavable> {
        match self.wait.deadline {
            Deadline::At(..) => self.wait.registration.save(core, out),
            _ => self.wait.registration.save_endless(out),
        }
        match self.wait.deadline {
            Deadline::At(clock, due_ns) => {
                out.put_flag(true);
                out.put(clocks.number(clock).ok_or(Unsavable::UnknownClock)?);
                // The clock may have no timers any more when a run has reached the deadline.
                out.put(if self.is_reached(core, due_ns) {
                    0
                } else {
                    due_ns
                });
            }
            _ => out.put_flag(false),
        }
        Ok(())
    }

    /// Reads the clock and the deadline from what [`save`](Self::save) has written behind the
    /// registration.
    pub(crate) fn skip(image: &mut Reader<'_>) -> Result<Option<(u64, u64)>, Damaged> {
        Ok(if image.take_flag()? {
            Some((image.take()?, image.take()?))
        } else {
            None
        })
    }

    /// The clock of the deadline, if it has one.
    pub(crate) fn clock_of_deadline(&self) -> Option<ClockIndex> {
        match self.wait.deadline {
            Deadline::At(index, _) => Some(index),
            _ => None,
        }
    }

    /// Whether a run has reached the deadline: the timer is ready, but has not been polled.
    fn is_reached(&self, core: &Core, due_ns: u64) -> bool {
        let registration = &self.wait.registration;
        let Deadline::At(index, _) = self.wait.deadline else {
            return false;
        };
        let clock = clock_ref(self.clock.as_ref(), index);
        let state = core.phases.get(registration.phase());
        !core.waits().is_live(registration.key()) && state.reading(clock) >= due_ns
    }

    /// Makes a timer of a new task from what [`save`](Self::save) has written.
    pub(crate) fn load(
        core: &Core,
        task: Task<'_>,
        clocks: &ClockNames,
        image: &mut Reader<'_>,
    ) -> Result<Self, Damaged> {
        let registration = Registration::load(core, task, image, false)?;
        let mut timer = Timer {
            wait: DeadlineWait {
                registration,
                deadline: Deadline::Never(ClockIndex::OWN),
            },
            clock: None,
        };
        if image.take_flag()? {
            let clock = clocks.clock(image.take()?)?;
            timer.wait.deadline = Deadline::At(clock.index(), image.take()?);
            if let ClockRef::Child(clock) = clock {
                timer.clock = Some(AwaitedClock::new(clock));
            }
        }
        Ok(timer)
    }

    /// How far its clock is before the deadline. The wait has been polled by this
    /// coroutine before, and is not ready.
    pub(crate) fn left_ns(&self) -> u64 {
        let wait = &self.wait;
        let Deadline::At(index, due_ns) = wait.deadline else {
            return u64::MAX;
        };
        let clock = clock_ref(self.clock.as_ref(), index);
        polled("wait_seconds()", |scope| {
            let (core, phase) = (scope.core(), wait.registration.phase());
            wait.registration.expect_of(core);
            wait.moved(core, due_ns)
                .saturating_sub(core.phases.get(phase).reached_ns(&core.clock, clock))
        })
    }

    /// How far its clock is past the deadline, for a poll that has yet to come.
    /// `None` if the wait is not registered: it has resumed a coroutine, or the
    /// coroutine has ended.
    pub(super) fn late_ns(&self) -> Option<u64> {
        let wait = &self.wait;
        let Deadline::At(index, due_ns) = wait.deadline else {
            return None;
        };
        let clock = clock_ref(self.clock.as_ref(), index);
        polled("wait_seconds()", |scope| {
            let (core, phase) = (scope.core(), wait.registration.phase());
            wait.registration.expect_of(core);
            core.waits().task(wait.registration.key())?;
            let due_ns = wait.moved(core, due_ns);
            Some(
                core.phases
                    .get(phase)
                    .reached_ns(&core.clock, clock)
                    .saturating_sub(due_ns),
            )
        })
    }

    /// The own time on its clock of the coroutine that `scope` polls. The timer has begun.
    pub(crate) fn own_time(&self, scope: &Scope<'_>) -> OwnTime {
        let index = match self.wait.deadline {
            Deadline::At(index, _) => index,
            _ => ClockIndex::GAME,
        };
        let clock = clock_ref(self.clock.as_ref(), index);
        OwnTime::now(scope, self.wait.registration.phase(), clock)
    }

    /// Resumes in `phase`, if the timer has not begun.
    #[inline]
    #[track_caller]
    pub(super) fn set_phase(&mut self, phase: PhaseIndex) {
        self.wait.registration.set_phase(phase);
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.wait.registration
    }

    #[inline]
    pub(crate) fn registration_mut(&mut self) -> &mut Registration {
        &mut self.wait.registration
    }
}

impl Recorded for Timer {
    fn registration_mut(&mut self) -> &mut Registration {
        &mut self.wait.registration
    }

    fn take(&mut self) -> DurableWait {
        self.take_new().into()
    }

    #[inline]
    fn drop_new(&mut self) {
        drop(self.take_new());
    }
}

impl BeginsSimply for Timer {
    fn take_new(&mut self) -> Self {
        let deadline = self.wait.deadline;
        // For a reset.
        self.wait.deadline = Deadline::Recorded(match deadline {
            Deadline::In(index, _) | Deadline::Until(index, _) | Deadline::Never(index) => index,
            Deadline::At(..) | Deadline::Recorded(_) | Deadline::Invalid(_) => ClockIndex::OWN,
        });
        let clock = self.clock.as_ref();
        Timer {
            wait: DeadlineWait {
                registration: self.wait.registration.take_new(),
                deadline,
            },
            clock: clock.map(|clock| AwaitedClock::new(clock.state())),
        }
    }

    fn begins_simply(&self, scope: &Scope<'_>) -> bool {
        matches!(self.wait.deadline, Deadline::In(ClockIndex::OWN, _))
            && scope.is_plain_but_recorded()
    }

    fn begin_simply(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        if let Deadline::In(_, length_ns) = self.wait.deadline {
            let due = Due::After(length_ns);
            self.wait.begin(scope, cx, ClockRef::Game, due);
        }
    }
}

impl DeadlineWait {
    /// Begins on `clock`.
    #[inline(always)]
    fn begin(&mut self, scope: &Scope<'_>, cx: &Context<'_>, clock: ClockRef<'_>, due: Due) {
        let state = self.registration.begin(scope);
        let deadline_ns = match due {
            Due::After(length_ns) => {
                let begin_ns = state.begin_ns(&scope.core().clock, clock, length_ns);
                begin_ns.checked_add(length_ns)
            }
            Due::At(point_ns) => Some(point_ns),
        };
        let Some(deadline_ns) = deadline_ns else {
            self.deadline = Deadline::Never(clock.index());
            self.registration.wait_for_renewal(scope, cx);
            return;
        };
        self.deadline = Deadline::At(clock.index(), deadline_ns);
        self.registration
            .wait_for_time(scope, cx, state, clock, deadline_ns);
    }

    /// Handles a poll that this wait has not caused.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn poll_again(
        &mut self,
        scope: &Scope<'_>,
        cx: &Context<'_>,
        clock: ClockRef<'_>,
        due_ns: u64,
    ) -> Poll<()> {
        if self.registration.is_done() {
            polled_again("wait_seconds()");
        }
        if scope.is_recorded() {
            another_script("wait_seconds()", Location::caller());
        }
        let (core, key) = (scope.core(), self.registration.key());
        let (index, waits) = (clock.index(), core.waits());
        self.registration.expect_of(core);
        let is_shared = self.registration.is_shared_by(scope, cx);
        let due_ns = self.moved(core, due_ns);
        self.deadline = Deadline::At(index, due_ns);
        let state = core.phases.get(self.registration.phase());
        if self.registration.is_due(core) && state.reading(clock) >= due_ns {
            self.registration.finish(core);
            return Poll::Ready(());
        }
        let moves = !waits.is_shared(key) && !waits.is_of(key, scope.current());
        if moves && (!is_shared || core.timers.is_held(key)) {
            // The pauses of the coroutine that has waited concern it no longer.
            self.cancel();
        }
        if !self.registration.renew(scope, cx, WaitList::Timer(index)) {
            self.registration
                .wait_for_time_slowly(scope, cx, state, clock, due_ns, is_shared);
        } else if is_shared {
            waits.set_shared(key);
        }
        self.note(scope, clock);
        Poll::Pending
    }

    /// Notes what an observed coroutine waits for. The caller is the `.await`.
    #[cold]
    #[track_caller]
    fn note(&self, scope: &Scope<'_>, clock: ClockRef<'_>) {
        let line = Location::caller();
        if let Deadline::At(_, due_ns) = self.deadline {
            let (view, phase) = (View::new(scope.core()), self.registration.phase());
            awaited::note(scope, self.registration.key_and_phase(), line, |_| {
                awaited::timer(view, phase, clock, due_ns)
            });
        } else {
            awaited::note_wait(scope, WaitId::Unknown, line, || Wait::Never);
        }
    }

    /// The deadline, moved by the pauses of the coroutine that waits for it.
    fn moved(&self, core: &Core, due_ns: u64) -> u64 {
        let key = self.registration.key();
        core.timers().deadline_ns(key).unwrap_or(due_ns)
    }

    #[cold]
    fn cancel(&mut self) {
        let list = self.list();
        self.registration.cancel(list);
    }

    /// The list that has its key.
    fn list(&self) -> WaitList {
        match self.deadline {
            Deadline::At(index, _) => WaitList::Timer(index),
            _ => WaitList::Joins,
        }
    }
}

/// The clock of an index that has been resolved: the executor's own game clock or
/// realtime, or else `clock`.
#[inline]
pub(super) fn clock_ref(clock: Option<&AwaitedClock>, index: ClockIndex) -> ClockRef<'_> {
    match clock {
        _ if index == ClockIndex::GAME => ClockRef::Game,
        Some(clock) => clock.state().as_ref(),
        None => ClockRef::Realtime,
    }
}

#[cold]
#[track_caller]
fn not_a_number(location: &Location<'_>) -> ! {
    panic!(
        "the wait made at {location} has a length of NaN: give it a number of seconds \
         (0 waits one frame, infinity never ends)"
    )
}

#[cold]
#[track_caller]
fn clock_of_another_executor() -> ! {
    panic!(
        "a wait on a clock of one executor was polled in another: make a clock with \
         `Executor::clock` of the executor that runs the coroutine"
    )
}

impl Drop for DeadlineWait {
    #[inline]
    fn drop(&mut self) {
        if !self.registration.is_done() {
            self.cancel();
        }
    }
}
