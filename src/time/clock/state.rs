//! The state that all handles of a clock share, and how clocks follow others.

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use crate::image::{Damaged, Reader, Writer};
use crate::time::{ClockIndex, ClockRef, Phase, Time};

use super::factors::multiply;
use super::frame::FrameClock;
use super::rate::Rate;
use super::scaling::Scaling;
use super::speed::Speed;
use super::{Asks, Clock};

/// The game clock, realtime, or a clock that follows one of them.
///
/// Nothing is computed when a frame or a step begins: the first reading computes
/// the time. So a clock that is not read costs nothing.
///
/// A clock below the game clock has two times. *Frame time* moves when a frame
/// begins, *stepped time* when a fixed step begins, by the length of the step times
/// the scale. Each has its own scaling. A change of scale moves the anchors of both to
/// their current readings, so it takes effect in frame time in the next frame, and
/// in stepped time in the next step. A clock below realtime has frame time only.
pub(crate) struct ClockState {
    index: ClockIndex,
    frames: Rc<FrameClock>,
    role: Role,
    /// How many waits count on the clock.
    waits: Cell<usize>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "an executor has one clock of each of the small ones"
)]
enum Role {
    Game,
    Realtime,
    Child(Child),
}

struct Child {
    parent: Rc<ClockState>,
    is_below_realtime: bool,
    speed: Speed,
    in_frames: Course,
    /// Not used below realtime.
    in_steps: Course,
    /// The next clock to read, while a chain of clocks is read from the top.
    below: Cell<Option<Rc<ClockState>>>,
}

/// One of the two times of a clock.
struct Course {
    scaling: Scaling,
    /// The frame or step of `reading`.
    read_in: Cell<u64>,
    reading: Cell<Reading>,
}

/// Which of its two times a clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// Frame time.
    Frames,
    /// Stepped time. The game clock's is fixed time.
    Steps,
}

/// The reading of a clock in a frame or in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) now_ns: u64,
    pub(super) delta_ns: u64,
    /// How fast the clock runs relative to the clock at the top.
    pub(super) scale: f64,
}

impl ClockState {
    pub(super) fn game(frames: Rc<FrameClock>) -> Self {
        ClockState {
            index: ClockIndex::GAME,
            frames,
            role: Role::Game,
            waits: Cell::new(0),
        }
    }

    pub(super) fn realtime(frames: Rc<FrameClock>) -> Self {
        ClockState {
            index: ClockIndex::REALTIME,
            frames,
            role: Role::Realtime,
            waits: Cell::new(0),
        }
    }

    pub(super) fn child(parent: &Rc<ClockState>) -> Self {
        let frames = parent.frames.clone();
        let child = Child {
            parent: parent.clone(),
            is_below_realtime: parent.is_below_realtime(),
            speed: Speed::new(),
            in_frames: Course::new(parent, Pace::Frames),
            in_steps: Course::new(parent, Pace::Steps),
            below: Cell::new(None),
        };
        ClockState {
            index: frames.take_index(),
            frames,
            role: Role::Child(child),
            waits: Cell::new(0),
        }
    }

    pub(crate) fn index(&self) -> ClockIndex {
        self.index
    }

    /// The clock as timers refer to it: the executor's own clocks by their role
    /// alone.
    #[inline]
    pub(crate) fn as_ref(self: &Rc<Self>) -> ClockRef<'_> {
        match self.role {
            Role::Game => ClockRef::Game,
            Role::Realtime => ClockRef::Realtime,
            Role::Child(_) => ClockRef::Child(self),
        }
    }

    /// Whether the clock follows the dt of `frames`.
    pub(crate) fn is_of(&self, frames: &Rc<FrameClock>) -> bool {
        Rc::ptr_eq(&self.frames, frames)
    }

    /// Whether a wait counts on the clock.
    pub(crate) fn has_waits(&self) -> bool {
        self.waits.get() > 0
    }

    /// What the clock reads in frame time.
    #[inline]
    pub(crate) fn frame_ns(self: &Rc<Self>) -> u64 {
        self.reading(Pace::Frames).now_ns
    }

    /// What the clock reads in stepped time: as of the end of the latest fixed
    /// step. Below realtime, the time of the frame.
    #[inline]
    pub(crate) fn stepped_ns(self: &Rc<Self>) -> u64 {
        self.reading(Pace::Steps).now_ns
    }

    /// The stepped time of something that begins now. Between two steps, that is
    /// the reading of the latest step plus the rest of the frame, at the current
    /// scale.
    pub(crate) fn stepped_begin_ns(self: &Rc<Self>) -> u64 {
        if self.frames.pace() == Pace::Steps || self.is_below_realtime() {
            return self.stepped_ns();
        }
        // Up and down again, as in `read`: it takes no memory.
        let mut clock = self.clone();
        while let Role::Child(child) = &clock.role {
            let parent = child.parent.clone();
            let Role::Child(above) = &parent.role else {
                break;
            };
            above.below.set(Some(clock));
            clock = parent;
        }
        // Steps that the host begins itself may be ahead of the frame.
        let mut now_ns = self.frames.frame_game_ns();
        while let Role::Child(child) = &clock.role {
            now_ns = child.in_steps.scaling.reading_near(now_ns);
            match child.below.take() {
                Some(below) => clock = below,
                None => break,
            }
        }
        now_ns
    }

    #[inline]
    fn reading(self: &Rc<Self>, pace: Pace) -> Reading {
        match &self.role {
            Role::Game => self.frames.game_reading(pace),
            Role::Realtime => self.frames.real_reading(),
            Role::Child(child) => {
                let pace = child.pace(pace);
                let course = child.course(pace);
                if course.read_in.get() != self.frames.turn(pace) {
                    self.read(pace);
                }
                course.reading.get()
            }
        }
    }

    /// Reads the clock, and those above it that have not been read in this frame or
    /// step. It does not recurse, because a chain may have any length.
    #[cold]
    fn read(self: &Rc<Self>, pace: Pace) {
        let turn = self.frames.turn(pace);
        let mut clock = self.clone();
        while let Some(parent) = clock.parent_before(turn, pace).cloned() {
            if let Role::Child(child) = &parent.role {
                child.below.set(Some(clock));
            }
            clock = parent;
        }
        while let Role::Child(child) = &clock.role {
            child.follow(turn, pace);
            match child.below.take() {
                Some(below) => clock = below,
                None => return,
            }
        }
    }

    /// The parent, if it must be read first.
    fn parent_before(&self, turn: u64, pace: Pace) -> Option<&Rc<ClockState>> {
        let Role::Child(Child { parent, .. }) = &self.role else {
            return None;
        };
        let Role::Child(child) = &parent.role else {
            return None;
        };
        (child.course(pace).read_in.get() != turn).then_some(parent)
    }

    /// The current reading: in stepped time inside a fixed step.
    pub(super) fn now_ns(self: &Rc<Self>) -> u64 {
        self.reading(self.frames.pace()).now_ns
    }

    /// How far the clock advanced in this frame. Inside a fixed step, in the step.
    pub(super) fn delta_ns(self: &Rc<Self>) -> u64 {
        match (&self.role, self.frames.fixed_step_ns()) {
            (Role::Game, Some(step_ns)) => step_ns,
            (_, Some(step_ns)) if self.is_below_realtime() => {
                // How long the step lasts in realtime. The host may begin a step
                // even while the game clock stands still: it then lasts its own
                // length.
                let scale = self.frames.frame_scale();
                let rate = if scale > 0.0 { 1.0 / scale } else { 1.0 };
                let top_ns = Rate::new(rate.min(f64::MAX)).apply(step_ns);
                Rate::new(self.reading(Pace::Frames).scale).apply(top_ns)
            }
            _ => self.reading(self.frames.pace()).delta_ns,
        }
    }

    /// How fast the clock runs in this frame or step, relative to the dt that its
    /// top clock counts.
    pub(super) fn effective_scale(self: &Rc<Self>) -> f64 {
        let scale = self.reading(self.frames.pace()).scale;
        if self.is_below_realtime() {
            scale
        } else {
            multiply(self.frames.scale(), scale)
        }
    }

    /// Whether the clock is realtime or follows realtime, and not the game clock.
    fn is_below_realtime(&self) -> bool {
        match &self.role {
            Role::Game => false,
            Role::Realtime => true,
            Role::Child(child) => child.is_below_realtime,
        }
    }

    /// The time on this clock.
    pub(crate) fn time(self: &Rc<Self>, phase: Option<Phase>) -> Time {
        Time {
            delta: Duration::from_nanos(self.delta_ns()),
            elapsed: Duration::from_nanos(self.now_ns()),
            scale: self.effective_scale(),
            ..self.frames.time(phase)
        }
    }

    /// The dt until the clock reads `deadline_ns` in frame time. `None` if it
    /// stands still.
    pub(crate) fn dt_until(&self, deadline_ns: u64) -> Option<u64> {
        let due_ns = self.top_at(deadline_ns, Pace::Frames)?;
        if self.is_below_realtime() {
            Some(self.frames.dt_until_real_at(due_ns))
        } else {
            self.frames.dt_until_game_at(due_ns)
        }
    }

    /// The dt until a fixed step finds the clock at or past `deadline_ns`. `None`
    /// if it stands still.
    pub(crate) fn dt_until_step_at(&self, deadline_ns: u64) -> Option<u64> {
        if self.is_below_realtime() {
            let dt = self.dt_until(deadline_ns)?;
            Some(dt.max(self.frames.dt_until_step_at(0)?))
        } else {
            let due_ns = self.top_at(deadline_ns, Pace::Steps)?;
            self.frames.dt_until_step_at(due_ns)
        }
    }

    /// What the clock at the top reads when this one reads `ns`. `None` if a clock
    /// between them stands still.
    fn top_at(&self, ns: u64, pace: Pace) -> Option<u64> {
        let (mut clock, mut ns) = (self, ns);
        while let Role::Child(child) = &clock.role {
            ns = child.course(pace).scaling.source_when(ns)?;
            clock = &child.parent;
        }
        Some(ns)
    }

    /// The clock that this one follows, as timers refer to it.
    pub(crate) fn parent(&self) -> Option<ClockRef<'_>> {
        match &self.role {
            Role::Game | Role::Realtime => None,
            Role::Child(child) => Some(child.parent.as_ref()),
        }
    }

    /// What the parent reads, in stepped time if `in_steps`, when this clock reads `ns` or
    /// more for the first time. `None` if that never happens at the present scale.
    pub(crate) fn parent_at(&self, ns: u64, in_steps: bool) -> Option<u64> {
        let Role::Child(child) = &self.role else {
            return None;
        };
        let pace = child.pace(if in_steps { Pace::Steps } else { Pace::Frames });
        child.course(pace).scaling.source_at(ns)
    }

    /// The requested speed of the clock relative to its parent. `None` for
    /// realtime, which has no such requests.
    pub(super) fn speed(&self) -> Option<&Speed> {
        match &self.role {
            Role::Game => Some(self.frames.speed()),
            Role::Realtime => None,
            Role::Child(child) => Some(&child.speed),
        }
    }

    /// Changes the clock's speed, which must be `speed`, and its scalings. A change is
    /// noted.
    pub(super) fn shift<R>(self: &Rc<Self>, speed: &Speed, change: impl FnOnce(&Speed) -> R) -> R {
        // Computes the current readings while the speed is unchanged.
        self.reading(Pace::Frames);
        self.reading(Pace::Steps);
        let before = speed.factor();
        let changed = change(speed);
        let factor = speed.factor();
        match &self.role {
            Role::Game => self.frames.scaling().shift(factor, self.frames.source_ns()),
            Role::Realtime => {}
            Role::Child(child) => {
                for pace in [Pace::Frames, Pace::Steps] {
                    let source_ns = child.parent.reading(pace).now_ns;
                    child.course(pace).scaling.shift(factor, source_ns);
                }
            }
        }
        if Rate::new(factor) != Rate::new(before) {
            self.frames.notify_changed(self, factor > before);
        }
        changed
    }

    /// Writes the clock to an image, if it was made by `child`. Returns how many guards change
    /// its speed.
    pub(crate) fn save(self: &Rc<Self>, out: &mut Writer) -> usize {
        // An image does not depend on who has read the clock.
        self.reading(Pace::Frames);
        self.reading(Pace::Steps);
        let Role::Child(child) = &self.role else {
            return 0;
        };
        let guards = child.speed.save(out);
        for course in [&child.in_frames, &child.in_steps] {
            course.scaling.save(out);
            out.put(course.read_in.get());
            let reading = course.reading.get();
            out.put(reading.now_ns);
            out.put(reading.delta_ns);
            out.put(reading.scale.to_bits());
        }
        guards
    }

    /// Reads what [`save`](Self::save) has written. The clocks above must have been read
    /// before.
    pub(crate) fn load(
        &self,
        guards: impl Iterator<Item = Asks>,
        image: &mut Reader<'_>,
    ) -> Result<(), Damaged> {
        let Role::Child(child) = &self.role else {
            return Ok(());
        };
        child.speed.load(guards, image)?;
        for pace in [Pace::Frames, Pace::Steps] {
            let course = child.course(pace);
            let source_ns = child.parent.reading(pace).now_ns;
            course
                .scaling
                .load(image, child.speed.factor(), source_ns)?;
            let read_in = image.take()?;
            course.read_in.set(read_in);
            let reading = Reading {
                now_ns: image.take()?,
                delta_ns: image.take()?,
                scale: f64::from_bits(image.take()?),
            };
            // Below realtime there is no stepped time.
            let is_read = child.pace(pace) == pace;
            let is_of_now = || read_in == self.frames.turn(pace);
            let is_true =
                !is_read || is_of_now() && course.scaling.reading_at(source_ns) == reading.now_ns;
            let is_scale = reading.scale.is_finite() && reading.scale >= 0.0;
            if !is_true || !is_scale || reading.delta_ns > reading.now_ns {
                return Err(Damaged);
            }
            course.reading.set(reading);
        }
        Ok(())
    }
}

impl Child {
    fn course(&self, pace: Pace) -> &Course {
        match pace {
            Pace::Frames => &self.in_frames,
            Pace::Steps => &self.in_steps,
        }
    }

    /// The pace that the clock is read at if `pace` is requested.
    #[inline]
    fn pace(&self, pace: Pace) -> Pace {
        if self.is_below_realtime {
            Pace::Frames
        } else {
            pace
        }
    }

    /// Computes the reading from that of the parent, which has been read.
    fn follow(&self, turn: u64, pace: Pace) {
        let source = self.parent.reading(pace);
        let Course {
            scaling,
            read_in,
            reading,
        } = self.course(pace);
        let now_ns = scaling.reading_at(source.now_ns);
        // The rate last changed in an earlier frame or step, so it holds for the
        // whole of this one.
        let before_ns = scaling.reading_at(source.now_ns - source.delta_ns);
        read_in.set(turn);
        reading.set(Reading {
            now_ns,
            delta_ns: now_ns - before_ns,
            scale: multiply(source.scale, self.speed.factor()),
        });
    }
}

impl Course {
    /// A time that begins at zero at the parent's current reading.
    fn new(parent: &Rc<ClockState>, pace: Pace) -> Self {
        let source = parent.reading(pace);
        Course {
            scaling: Scaling::new(source.now_ns),
            read_in: Cell::new(parent.frames.turn(pace)),
            reading: Cell::new(Reading {
                now_ns: 0,
                delta_ns: 0,
                scale: source.scale,
            }),
        }
    }
}

impl Drop for ClockState {
    /// Drops a long chain of parents without recursion.
    fn drop(&mut self) {
        let mut role = mem::replace(&mut self.role, Role::Game);
        while let Role::Child(child) = role {
            let Some(mut parent) = Rc::into_inner(child.parent) else {
                return;
            };
            role = mem::replace(&mut parent.role, Role::Game);
        }
    }
}

impl fmt::Debug for ClockState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockState").field(&self.index).finish()
    }
}

/// The clock of a wait. Keeps the clock alive, and counts as a wait on it.
#[derive(Debug)]
pub(crate) struct AwaitedClock(Rc<ClockState>);

impl AwaitedClock {
    pub(crate) fn new(clock: &Rc<ClockState>) -> Self {
        clock.waits.set(clock.waits.get() + 1);
        AwaitedClock(clock.clone())
    }

    pub(crate) fn state(&self) -> &Rc<ClockState> {
        &self.0
    }

    pub(crate) fn handle(&self) -> Clock {
        Clock(self.0.clone())
    }
}

impl Drop for AwaitedClock {
    fn drop(&mut self) {
        self.0.waits.set(self.0.waits.get() - 1);
    }
}
