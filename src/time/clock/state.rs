//! The state that all handles of a clock share, and how clocks follow others.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::rc::Rc;

use crate::time::{ClockIndex, ClockRef};

use super::frame::{FrameClock, View};
use super::gear::Gear;
use super::rate::Rate;

/// The game clock, realtime, or a clock that follows one of them.
///
/// Nothing is computed when a frame begins. The first reading in a frame
/// computes it. So a clock that is not read costs nothing.
pub(crate) struct ClockState {
    index: ClockIndex,
    frames: Rc<FrameClock>,
    role: Role,
    /// How many waits count on the clock.
    waits: Cell<usize>,
}

enum Role {
    Game,
    Realtime,
    Child(Child),
}

struct Child {
    parent: Rc<ClockState>,
    gear: Gear,
    /// The frame of `reading`.
    read_in: Cell<u64>,
    reading: Cell<Reading>,
    /// The next clock to read, while a chain of clocks is read from the top.
    below: Cell<Option<Rc<ClockState>>>,
}

/// The reading of a clock in a frame, outside of fixed steps.
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
        let source = parent.reading();
        let child = Child {
            parent: parent.clone(),
            gear: Gear::new(source.now_ns),
            read_in: Cell::new(frames.frame()),
            reading: Cell::new(Reading {
                now_ns: 0,
                delta_ns: 0,
                scale: source.scale,
            }),
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

    /// The reading of the clock in this frame.
    #[inline]
    pub(crate) fn reading(self: &Rc<Self>) -> Reading {
        match &self.role {
            Role::Game => self.frames.game_reading(),
            Role::Realtime => self.frames.real_reading(),
            Role::Child(child) => {
                if child.read_in.get() != self.frames.frame() {
                    self.read();
                }
                child.reading.get()
            }
        }
    }

    /// Reads the clock, and those above it that have not been read in this frame.
    /// Without recursion, since a chain may be of any length.
    #[cold]
    fn read(self: &Rc<Self>) {
        let frame = self.frames.frame();
        let mut clock = self.clone();
        while let Some(parent) = clock.parent_before(frame).cloned() {
            if let Role::Child(child) = &parent.role {
                child.below.set(Some(clock));
            }
            clock = parent;
        }
        while let Role::Child(child) = &clock.role {
            child.follow(frame);
            match child.below.take() {
                Some(below) => clock = below,
                None => return,
            }
        }
    }

    /// The parent, if it has to be read in `frame` first.
    fn parent_before(&self, frame: u64) -> Option<&Rc<ClockState>> {
        let Role::Child(Child { parent, .. }) = &self.role else {
            return None;
        };
        let Role::Child(child) = &parent.role else {
            return None;
        };
        (child.read_in.get() != frame).then_some(parent)
    }

    /// The present reading. Inside a fixed step, the game clock reads the time of
    /// the step.
    pub(super) fn now_ns(self: &Rc<Self>) -> u64 {
        match self.role {
            Role::Game => self.frames.game_ns(),
            Role::Realtime | Role::Child(_) => self.reading().now_ns,
        }
    }

    /// How far the clock advanced in this frame. Inside a fixed step, its share of
    /// the step.
    pub(super) fn delta_ns(self: &Rc<Self>) -> u64 {
        let reading = self.reading();
        let Some(step_ns) = self.frames.fixed_step_ns() else {
            return reading.delta_ns;
        };
        let top_ns = if self.is_below_realtime() {
            // How long the step lasts in realtime. If the game clock stands still,
            // the host may begin a step even so: it then lasts its own length.
            let scale = self.frames.scale();
            let rate = if scale > 0.0 { 1.0 / scale } else { 1.0 };
            Rate::new(rate.min(f64::MAX)).apply(step_ns)
        } else {
            step_ns
        };
        Rate::new(reading.scale).apply(top_ns)
    }

    /// How fast the clock runs in this frame, relative to the dt that its top clock
    /// counts.
    pub(super) fn effective_scale(self: &Rc<Self>) -> f64 {
        let scale = self.reading().scale;
        if self.is_below_realtime() {
            scale
        } else {
            multiply(self.frames.scale(), scale)
        }
    }

    /// Whether the clock is realtime or follows realtime, and not the game clock.
    fn is_below_realtime(&self) -> bool {
        let mut clock = self;
        while let Role::Child(child) = &clock.role {
            clock = &child.parent;
        }
        matches!(clock.role, Role::Realtime)
    }

    /// The view of the time on this clock.
    pub(crate) fn view(self: &Rc<Self>) -> View {
        View {
            delta_ns: self.delta_ns(),
            elapsed_ns: self.now_ns(),
            scale: self.effective_scale(),
        }
    }

    /// The dt after which the clock reads `deadline_ns`. `None` if it stands still.
    pub(crate) fn dt_until(&self, deadline_ns: u64) -> Option<u64> {
        let mut clock = self;
        let mut due_ns = deadline_ns;
        while let Role::Child(child) = &clock.role {
            due_ns = child.gear.source_at(due_ns)?;
            clock = &child.parent;
        }
        match clock.role {
            Role::Realtime => Some(self.frames.dt_until_real_at(due_ns)),
            _ => self.frames.dt_until_game_at(due_ns),
        }
    }

    /// The gear from the clock's parent. `None` for realtime, which cannot be
    /// changed.
    pub(super) fn gear(&self) -> Option<&Gear> {
        match &self.role {
            Role::Game => Some(self.frames.gear()),
            Role::Realtime => None,
            Role::Child(child) => Some(&child.gear),
        }
    }

    /// Changes the clock's gear, which must be `gear`. If the clock then runs
    /// faster, notes that.
    pub(super) fn shift(self: &Rc<Self>, gear: &Gear, change: impl FnOnce(&Gear, u64)) {
        let before = gear.factor();
        change(gear, self.settle());
        if gear.factor() > before {
            self.frames.tell_quicker();
        }
    }

    /// Computes the reading of this frame while the gear is unchanged. Returns the
    /// reading of the gear's source.
    fn settle(self: &Rc<Self>) -> u64 {
        self.reading();
        match &self.role {
            Role::Game => self.frames.source_ns(),
            Role::Realtime => self.frames.real_ns(),
            Role::Child(child) => child.parent.reading().now_ns,
        }
    }
}

impl Child {
    /// Computes the reading from that of the parent, which has been read.
    fn follow(&self, frame: u64) {
        let source = self.parent.reading();
        let now_ns = self.gear.reading_at(source.now_ns);
        // The rate last changed in an earlier frame, so it holds for all of this
        // frame.
        let before_ns = self.gear.reading_at(source.now_ns - source.delta_ns);
        self.read_in.set(frame);
        self.reading.set(Reading {
            now_ns,
            delta_ns: now_ns - before_ns,
            scale: multiply(source.scale, self.gear.factor()),
        });
    }
}

/// The product of two scales, which stays finite.
fn multiply(a: f64, b: f64) -> f64 {
    (a * b).min(f64::MAX)
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
}

impl Drop for AwaitedClock {
    fn drop(&mut self) {
        self.0.waits.set(self.0.waits.get() - 1);
    }
}
