//! The waits for a number of frames or fixed steps.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::Core;
use crate::core::phase::state::Listed;
use crate::core::registration::{Bound, Registration, WaitList};
use crate::core::scope::recording::{self, BeginsSimply, Recorded};
use crate::core::scope::{self, Scope};
use crate::core::task::Task;
use crate::core::timer::Unit;
use crate::durable::{DurableWait, Given, Gives};
use crate::image::{Damaged, Reader, Writer};
use crate::inspect::{Line, Wait, awaited};
use crate::time::{Phase, PhaseIndex, Time};

use super::Misuse;

/// Waits for `frames` frames; 0 counts as 1.
///
/// **The frames are counted from the first poll**, not from the call.
///
/// # Resumes
///
/// In the first run of the coroutine's home phase at least `frames` frames after the frame
/// of the first poll, or in another phase with [`in_phase`](WaitFrames::in_phase).
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one counts from its own first poll.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::new();
/// executor.run_until(wait_frames(3), 0.1);
/// assert_eq!(executor.time().frame, 3);
/// ```
///
/// # Source
///
/// `UniTask.DelayFrame`.
pub fn wait_frames(frames: u64) -> WaitFrames {
    WaitFrames {
        count: Count::new(Unit::Frames, PhaseIndex::HOME, frames),
    }
}

/// Waits for `steps` fixed steps; 0 counts as 1.
///
/// **The steps are counted from the first poll**, not from the call. A step is one
/// run of [`Phase::FixedUpdate`]. A script that uses only such waits depends on the
/// steps alone, and not on how the steps are distributed over frames.
///
/// # Resumes
///
/// In the `steps`-th run of [`Phase::FixedUpdate`] that begins after the first
/// poll. Waits for two or more steps resume after the coroutines that wait for the
/// next step, ordered by due step.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. A new one counts from its own first poll.
///
/// # Panics
///
/// If polled outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// let mut executor = Executor::builder().fixed_delta(0.25).max_delta(1).build();
/// executor.run_until(wait_steps(3), 0.5);
/// assert_eq!(executor.time().frame, 2); // two steps a frame
/// assert_eq!(executor.time().fixed_elapsed.as_millis(), 1_000);
/// ```
///
/// # Source
///
/// A loop around `WaitForFixedUpdate`, Unity scripting reference.
pub fn wait_steps(steps: u64) -> WaitSteps {
    WaitSteps {
        count: Count::new(Unit::Runs, PhaseIndex::FIXED_UPDATE, steps),
    }
}

/// The future of [`wait_frames`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitFrames {
    count: Count,
}

/// The future of [`wait_steps`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitSteps {
    count: Count,
}

/// Waits for a number of frames or runs.
#[derive(Debug)]
pub(crate) struct Count {
    registration: Registration,
    unit: Unit,
    count: u64,
    /// The number of the frame or run that it is due in, once it has begun.
    due: u64,
}

impl Count {
    pub(crate) fn new(unit: Unit, phase: PhaseIndex, count: u64) -> Self {
        Count {
            registration: match unit {
                Unit::Frames => Registration::new(phase, Bound::Frame),
                Unit::Runs => Registration::new(phase, Bound::Run),
            },
            unit,
            count: count.max(1),
            due: 0,
        }
    }

    /// Whether it may be in this list of its phase.
    pub(crate) fn may_be_in(&self, list: &Listed<'_>) -> bool {
        match (self.place(), list) {
            (WaitList::Queue, Listed::Queue { .. }) => true,
            (WaitList::Counts(unit), Listed::Count(of, due)) => (unit, self.due) == (*of, *due),
            _ => false,
        }
    }

    /// The place where it is registered. A wait for one frame or run counts
    /// nothing, and is in the queue.
    fn place(&self) -> WaitList {
        match self.count {
            1 => WaitList::Queue,
            _ => WaitList::Counts(self.unit),
        }
    }

    #[track_caller]
    pub(crate) fn poll(&mut self, cx: &Context<'_>, name: &'static str) -> Poll<()> {
        match self.poll_in_line(cx, name, Location::caller()) {
            Ok(polled) => polled,
            Err(misuse) => misuse.panic(name),
        }
    }

    #[inline]
    fn begin(&mut self, scope: &Scope<'_>) {
        let state = self.registration.begin(scope);
        let now = match self.unit {
            Unit::Frames => state.frame(),
            Unit::Runs => state.runs.get(),
        };
        self.due = now.saturating_add(self.count);
    }

    #[inline]
    fn register(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        match self.place() {
            WaitList::Counts(unit) => {
                self.registration.wait_for_count(scope, cx, unit, self.due);
            }
            _ => self.registration.wait_on_for_run(scope, cx),
        }
    }

    fn poll_in_line(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        line: Line,
    ) -> Result<Poll<()>, Misuse> {
        scope::with(|scope| {
            let Some(scope) = scope.filter(|scope| !scope.is_recorded()) else {
                let polled = recording::poll(self, scope, cx, name, line);
                return polled.ok_or_else(|| Misuse::outside(&self.registration));
            };
            let core = scope.core();
            if self.registration.is_new() {
                self.begin(scope);
            } else {
                Misuse::of(&self.registration, scope).map_or(Ok(()), Err)?;
                let state = core.phases.get(self.registration.phase());
                let now = match self.unit {
                    Unit::Frames => state.frame_of_run(),
                    Unit::Runs => state.runs.get(),
                };
                if now >= self.due && self.registration.is_due_in(state) {
                    self.registration.finish(core);
                    return Ok(Poll::Ready(()));
                }
            }
            self.register(scope, cx);
            awaited::note(scope, self.registration.key_and_phase(), line, |phase| {
                let state = core.phases.get(self.registration.phase());
                match (self.count, self.unit) {
                    (1, Unit::Frames) => Wait::Frame { phase },
                    (1, Unit::Runs) => Wait::Run { phase },
                    (_, Unit::Frames) => Wait::FrameCount {
                        phase,
                        left: self.due.saturating_sub(state.frame()),
                    },
                    (_, Unit::Runs) => Wait::StepCount {
                        phase,
                        left: self.due.saturating_sub(state.runs.get()),
                    },
                }
            });
            Ok(Poll::Pending)
        })
    }

    /// The part that all waits have in common.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    #[inline]
    pub(crate) fn registration_mut(&mut self) -> &mut Registration {
        &mut self.registration
    }

    /// Writes a wait that has begun to an image.
    pub(crate) fn save(&self, core: &Core, out: &mut Writer) {
        self.registration.save(core, out);
        let is_frames = u64::from(self.unit == Unit::Frames);
        out.put_each([is_frames, self.count, self.due]);
    }

    /// Reads the unit and the end from what [`save`](Self::save) has written behind the
    /// registration.
    pub(crate) fn skip(image: &mut Reader<'_>) -> Result<(&'static str, u64), Damaged> {
        let unit = if image.take_flag()? { "frame" } else { "run" };
        image.take()?;
        Ok((unit, image.take()?))
    }

    /// Makes a wait of a new task from what [`save`](Self::save) has written.
    pub(crate) fn load(
        core: &Core,
        task: Task<'_>,
        image: &mut Reader<'_>,
    ) -> Result<Self, Damaged> {
        Ok(Count {
            registration: Registration::load(core, task, image, false)?,
            unit: if image.take_flag()? {
                Unit::Frames
            } else {
                Unit::Runs
            },
            count: image.take()?,
            due: image.take()?,
        })
    }
}

impl Recorded for Count {
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

impl BeginsSimply for Count {
    fn take_new(&mut self) -> Self {
        Count {
            registration: self.registration.take_new(),
            unit: self.unit,
            count: self.count,
            due: self.due,
        }
    }

    fn begins_simply(&self, _: &Scope<'_>) -> bool {
        true
    }

    fn begin_simply(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        self.begin(scope);
        self.register(scope, cx);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.registration.cancel(self.place());
    }
}

impl WaitFrames {
    /// Resumes in `phase`.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.count.registration.set_phase(PhaseIndex::new(phase));
        self
    }
}

impl WaitFrames {
    /// Polls the wait in a durable script. It gives the time at its end.
    pub(super) fn poll_recorded(
        &mut self,
        cx: &Context<'_>,
        name: &'static str,
        line: Line,
    ) -> Poll<Time> {
        let count = &mut self.count;
        let polled = recording::poll_slowly(count, cx, name, line, Gives::Time, &mut |_| true);
        match polled {
            Some(Poll::Ready(Given::Time(time))) => Poll::Ready(time),
            _ => Poll::Pending,
        }
    }
}

impl Future for WaitFrames {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.count.poll(cx, "wait_frames()")
    }
}

impl FusedFuture for WaitFrames {
    fn is_terminated(&self) -> bool {
        self.count.registration.is_done()
    }
}

impl Future for WaitSteps {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.count.poll(cx, "wait_steps()")
    }
}

impl FusedFuture for WaitSteps {
    fn is_terminated(&self) -> bool {
        self.count.registration.is_done()
    }
}
