//! The waits of durable scripts: those of the crate, with their numbers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::combine::{WhenEach, when_each};
use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::owners::OwnerKey;
use crate::core::pause::own::OwnTime;
use crate::core::phase::state::Listed;
use crate::core::registration::Registration;
use crate::core::scope::recording;
use crate::core::task::Task;
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::task::coroutine::{Coroutine, Finished};
use crate::task::owner::{Owner, OwnerEnd};
use crate::time::{Phase, PhaseIndex};
use crate::wait::{
    Asked, Count, KeptAnimation, KeptTick, PhaseWait, Timer, WaitSeconds, YieldNow, polled,
    take_resumed,
};

use super::image::Unsavable;
use super::recorder::{Asks, Progress, Ticked};

/// A wait of the crate that can be saved.
#[derive(Debug)]
pub struct DurableWait {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Run(PhaseWait),
    Count(Count),
    Time(WaitSeconds),
    Condition(Asked),
    End(Finished),
    OwnerEnd(OwnerEnd),
    Yield(YieldNow),
    /// It consists of other waits.
    Tick(Box<KeptTick>),
    Animation(Box<KeptAnimation>),
}

/// What an image has of a wait beside those of its [parts](DurableWait::each_part).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Single,
    /// When a tick is due. `None` if never.
    Tick(Option<i128>),
    /// How far an animation is, and whether it has an end.
    Animation(Progress, bool),
}

/// Of what a wait that is read from an image awaits the end.
#[derive(Clone, Copy, Debug)]
pub enum EndOf<'a> {
    /// Of nothing: it is another wait.
    Nothing,
    /// Of a coroutine.
    Coroutine(&'a Coroutine<()>),
    /// Of all coroutines of an owner. `None` if there is no such owner any more: then the wait
    /// is over.
    Owner(Option<&'a Owner>),
}

/// A wait for the next frame at home, in the usual case: a [`DurableWait`] without its kind.
#[derive(Debug)]
pub struct FrameWait {
    wait: PhaseWait,
}

impl FrameWait {
    /// Whether the wait resumes the coroutine being polled. Then it is over. Calls no user code.
    #[inline(always)]
    #[must_use]
    pub fn take_resumed(&mut self) -> bool {
        take_resumed(self.wait.registration_mut())
    }
}

impl From<PhaseWait> for FrameWait {
    fn from(wait: PhaseWait) -> Self {
        FrameWait { wait }
    }
}

impl From<PhaseWait> for DurableWait {
    fn from(wait: PhaseWait) -> Self {
        DurableWait::of(Kind::Run(wait))
    }
}

impl From<Count> for DurableWait {
    fn from(wait: Count) -> Self {
        DurableWait::of(Kind::Count(wait))
    }
}

impl From<Timer> for DurableWait {
    fn from(timer: Timer) -> Self {
        DurableWait::of(Kind::Time(WaitSeconds { timer }))
    }
}

impl From<Asked> for DurableWait {
    fn from(wait: Asked) -> Self {
        DurableWait::of(Kind::Condition(wait))
    }
}

impl From<KeptTick> for DurableWait {
    fn from(tick: KeptTick) -> Self {
        DurableWait::of(Kind::Tick(Box::new(tick)))
    }
}

impl From<KeptAnimation> for DurableWait {
    fn from(animation: KeptAnimation) -> Self {
        DurableWait::of(Kind::Animation(Box::new(animation)))
    }
}

impl From<FrameWait> for DurableWait {
    fn from(of: FrameWait) -> Self {
        DurableWait::of(Kind::Run(of.wait))
    }
}

/// [`when_each`] of futures of a runtime. In a durable script, those come first that `ready_at` has the least number of.
pub fn when_each_by<F: Future>(
    futures: impl IntoIterator<Item = F>,
    ready_at: fn(&F) -> Option<u64>,
) -> WhenEach<F> {
    when_each(futures).in_order_of(ready_at)
}

fn index_of(phase: Option<Phase>) -> PhaseIndex {
    phase.map_or(PhaseIndex::HOME, PhaseIndex::new)
}

impl DurableWait {
    fn of(kind: Kind) -> Self {
        DurableWait { kind }
    }

    /// A condition, which [`poll_asking`](Self::poll_asking) checks.
    #[must_use]
    pub fn condition(phase: Option<Phase>) -> Self {
        Self::of(Kind::Condition(Asked::new(index_of(phase))))
    }

    /// The turns of the other coroutines in the run under way.
    #[must_use]
    pub fn yield_now() -> Self {
        Self::of(Kind::Yield(crate::wait::yield_now()))
    }

    /// The end of a coroutine.
    pub(super) fn end(end: Finished) -> Self {
        Self::of(Kind::End(end))
    }

    /// The end of all coroutines of an owner.
    #[must_use]
    pub fn owner_end(owner: &Owner) -> Self {
        Self::of(Kind::OwnerEnd(owner.end()))
    }

    /// Whether the wait resumes the coroutine being polled. Then it is over. `false` for a
    /// condition, which is to be checked, and for the end of a coroutine or of an owner. Calls no
    /// user code.
    #[inline]
    #[must_use]
    pub fn take_resumed(&mut self) -> bool {
        let registration = match &mut self.kind {
            Kind::Run(wait) => wait.registration_mut(),
            Kind::Count(wait) => wait.registration_mut(),
            Kind::Time(wait) => wait.timer.registration_mut(),
            Kind::Condition(_)
            | Kind::End(_)
            | Kind::OwnerEnd(_)
            | Kind::Yield(_)
            | Kind::Tick(_)
            | Kind::Animation(_) => return false,
        };
        registration.has_begun() && take_resumed(registration)
    }

    /// Polls the wait. A condition holds.
    #[track_caller]
    pub fn poll(&mut self, cx: &mut Context<'_>, name: &'static str) -> Poll<()> {
        self.poll_asking(cx, name, &mut |_| true)
    }

    /// Polls the wait. A condition holds if `asks` says so, and an animation tells it how far it is.
    #[track_caller]
    pub fn poll_asking(
        &mut self,
        cx: &mut Context<'_>,
        name: &'static str,
        asks: Asks<'_>,
    ) -> Poll<()> {
        recording::poll_unrecorded(asks, |asks| self.poll_kind(cx, name, asks))
    }

    #[track_caller]
    fn poll_kind(&mut self, cx: &mut Context<'_>, name: &'static str, asks: Asks<'_>) -> Poll<()> {
        match &mut self.kind {
            Kind::Run(wait) => wait.poll(cx, name),
            Kind::Count(wait) => wait.poll(cx, name),
            Kind::Time(wait) => Pin::new(wait).poll(cx),
            Kind::Condition(wait) => wait.poll(cx, name, || asks(Progress::default())),
            Kind::End(wait) => match Pin::new(wait).poll(cx) {
                Poll::Ready(_) => Poll::Ready(()),
                Poll::Pending => Poll::Pending,
            },
            Kind::OwnerEnd(wait) => wait.poll(cx, name),
            Kind::Yield(wait) => Pin::new(wait).poll(cx),
            Kind::Tick(tick) => tick.poll(cx, name),
            Kind::Animation(animation) => animation.poll(cx, name, asks),
        }
    }

    /// Calls `f` with each wait of which it consists, or with itself.
    pub fn each_part<'a>(&'a self, mut f: impl FnMut(&'a DurableWait)) {
        match &self.kind {
            Kind::Tick(tick) => tick.timer().into_iter().for_each(f),
            Kind::Animation(animation) => {
                if let Some((next, end)) = animation.waits() {
                    f(next);
                    end.into_iter().for_each(f);
                }
            }
            _ => f(self),
        }
    }

    /// What an image has of it beside its parts.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match &self.kind {
            Kind::Tick(tick) => Shape::Tick(tick.due_ns()),
            Kind::Animation(animation) => {
                let has_end = animation.waits().is_some_and(|(_, end)| end.is_some());
                Shape::Animation(animation.progress(), has_end)
            }
            _ => Shape::Single,
        }
    }

    /// Makes a wait of this shape from its parts.
    ///
    /// # Errors
    ///
    /// If `part` returns one.
    pub fn of_shape<E>(
        shape: Shape,
        mut part: impl FnMut() -> Result<DurableWait, E>,
    ) -> Result<Self, E> {
        Ok(match shape {
            Shape::Single => part()?,
            Shape::Tick(due_ns) => KeptTick::loaded(part()?, due_ns).into(),
            Shape::Animation(progress, has_end) => {
                let next = part()?;
                let end = if has_end { Some(part()?) } else { None };
                KeptAnimation::loaded(next, end, progress).into()
            }
        })
    }

    /// When it is due in the own time of the coroutine, if it is the wait for a tick that comes.
    #[must_use]
    pub fn tick_due(&self) -> Option<i128> {
        match self.shape() {
            Shape::Tick(due_ns) => due_ns,
            Shape::Single | Shape::Animation(..) => None,
        }
    }

    /// The tick that has come, in the poll in which the wait for it is over. `None` of another wait.
    #[must_use]
    #[track_caller]
    pub fn ticked(&self) -> Option<Ticked> {
        match &self.kind {
            Kind::Tick(tick) => tick.ticked(),
            _ => None,
        }
    }

    /// The own time of the coroutine on the clock of a timer.
    #[track_caller]
    pub(crate) fn own_time(&self) -> Option<OwnTime> {
        match &self.kind {
            Kind::Time(wait) => Some(polled("own_time()", |scope| wait.timer.own_time(scope))),
            _ => None,
        }
    }

    /// The time left on the clock of a timer that this coroutine has polled, and that is not
    /// ready.
    #[must_use]
    pub fn left_ns(&self) -> u64 {
        match &self.kind {
            Kind::Time(wait) => wait.timer.left_ns(),
            _ => 0,
        }
    }

    /// How the wait is registered. `None` for a yield in a run: its coroutine is ready.
    fn registration(&self) -> Option<&Registration> {
        Some(match &self.kind {
            Kind::Run(wait) => wait.registration(),
            Kind::Count(wait) => wait.registration(),
            Kind::Time(wait) => wait.timer.registration(),
            Kind::Condition(wait) => wait.registration(),
            Kind::End(wait) => wait.registration(),
            Kind::OwnerEnd(wait) => wait.registration(),
            Kind::Yield(wait) => wait.outside()?.registration(),
            Kind::Tick(_) | Kind::Animation(_) => return None,
        })
    }

    /// The phase in which the wait resumes its coroutine, once it has begun. For a yield in a
    /// run, it is not known.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let registration = self.registration();
        registration.map_or(Phase::Update, |wait| wait.phase().phase())
    }

    /// Whether the wait may be in this list of a phase: a file may say anything.
    pub(super) fn may_be_in(&self, phase: PhaseIndex, list: &Listed<'_>) -> bool {
        let is_of_phase = self.registration().is_some_and(|it| it.phase() == phase);
        is_of_phase
            && match (&self.kind, list) {
                (Kind::Run(_) | Kind::Condition(_) | Kind::Yield(_), Listed::Queue { .. }) => true,
                (Kind::Count(wait), list) => wait.may_be_in(list),
                (Kind::Time(wait), Listed::Timer(clock, ..)) => {
                    wait.timer.clock_of_deadline() == Some(clock.index())
                }
                _ => false,
            }
    }

    /// Whether the wait is for the end of a coroutine.
    pub(super) fn is_join(&self) -> bool {
        matches!(self.kind, Kind::End(_))
    }

    /// Whether the wait is for the end of an owner.
    pub(super) fn is_owner_end(&self) -> bool {
        matches!(self.kind, Kind::OwnerEnd(_))
    }

    pub(super) fn key(&self) -> WaitKey {
        self.registration().map_or(WaitKey::NONE, Registration::key)
    }

    pub(super) fn save(
        &self,
        core: &Core,
        clocks: &ClockNames,
        out: &mut Writer,
    ) -> Result<(), Unsavable> {
        match &self.kind {
            Kind::Run(wait) => {
                out.put(0);
                wait.registration().save(core, out);
            }
            Kind::Count(wait) => {
                out.put(1);
                wait.save(core, out);
            }
            Kind::Time(wait) => {
                out.put(2);
                wait.timer.save(core, clocks, out)?;
            }
            Kind::Condition(wait) => {
                out.put(3);
                wait.registration().save(core, out);
            }
            Kind::End(wait) => {
                out.put(4);
                wait.registration().save(core, out);
            }
            Kind::Yield(wait) => match wait.outside() {
                // It waits for the next run of home like any other wait.
                Some(wait) => {
                    out.put(0);
                    wait.registration().save(core, out);
                }
                None => out.put(5),
            },
            Kind::OwnerEnd(wait) => {
                out.put(6);
                wait.save(core, out);
            }
            // Its parts are saved.
            Kind::Tick(_) | Kind::Animation(_) => {}
        }
        Ok(())
    }

    pub(super) fn load(
        core: &Core,
        task: Task<'_>,
        end_of: EndOf<'_>,
        clocks: &ClockNames,
        image: &mut Reader<'_>,
    ) -> Result<Self, Damaged> {
        let number = image.take()?;
        // What a save state says of the wait beside its image.
        let is_end = !matches!(end_of, EndOf::Nothing);
        if is_end != matches!(number, 4 | 6) {
            return Err(Damaged);
        }
        let kind = match number {
            0 => Kind::Run(PhaseWait::of(Registration::load(core, task, image, false)?)),
            1 => Kind::Count(Count::load(core, task, image)?),
            2 => {
                let timer = Timer::load(core, task, clocks, image)?;
                Kind::Time(WaitSeconds { timer })
            }
            3 => Kind::Condition(Asked::of(Registration::load(core, task, image, false)?)),
            4 => {
                let EndOf::Coroutine(joined) = end_of else {
                    return Err(Damaged);
                };
                let mut end = joined.finished();
                end.load(core, task, image)?;
                Kind::End(end)
            }
            5 => Kind::Yield(YieldNow::restored(core)),
            6 => {
                let EndOf::Owner(owner) = end_of else {
                    return Err(Damaged);
                };
                let owner = owner.map_or(OwnerKey::NONE, Owner::key);
                Kind::OwnerEnd(OwnerEnd::load(core, owner, task, image)?)
            }
            _ => return Err(Damaged),
        };
        Ok(DurableWait { kind })
    }
}

/// What an image says of a wait, read without an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedWait {
    /// The phase in which it resumes its coroutine. A wait for an end and a yield have none.
    pub phase: Option<Phase>,
    /// For a timer: the number of its clock, and the reading at which it is due, in
    /// nanoseconds; 0 if that is reached. Of a timer that a pause holds or has moved: the reading as it
    /// was at its latest poll, without the pause.
    pub deadline: Option<(u64, u64)>,
    /// For a count: of what, and the number for which it waits.
    pub count: Option<(&'static str, u64)>,
}

impl SavedWait {
    /// Reads what [`Door::save_wait`](super::Door::save_wait) has written.
    ///
    /// # Errors
    ///
    /// If the image is damaged.
    pub fn read(image: &mut Reader<'_>) -> Result<Self, Damaged> {
        let kind = image.take()?;
        let mut saved = SavedWait {
            phase: None,
            deadline: None,
            count: None,
        };
        if kind == 5 {
            return Ok(saved);
        }
        saved.phase = Registration::skip(image)?.map(PhaseIndex::phase);
        match kind {
            1 => saved.count = Some(Count::skip(image)?),
            2 => saved.deadline = Timer::skip(image)?,
            0 | 3 | 4 | 6 => {}
            _ => return Err(Damaged),
        }
        Ok(saved)
    }
}
