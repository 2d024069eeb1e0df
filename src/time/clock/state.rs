//! What the handles of a clock share, and how clocks follow one another.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::rc::Rc;

use crate::time::ClockIndex;

use super::frame::{FrameClock, View};
use super::gear::Gear;
use super::rate::Rate;

/// The game clock, or one that follows it.
///
/// Nothing happens to it when a frame begins: whoever asks first in a frame has
/// it computed. So a clock costs nothing while nobody looks.
pub(crate) struct ClockState {
    index: ClockIndex,
    frames: Rc<FrameClock>,
    role: Role,
    /// How many waits there are that count on it.
    waits: Cell<usize>,
}

enum Role {
    Game,
    Child(Child),
}

struct Child {
    parent: Rc<ClockState>,
    gear: Gear,
    /// The frame of the reading.
    read_in: Cell<u64>,
    reading: Cell<Reading>,
    /// The next one to read, while a line of clocks is read from the top.
    below: Cell<Option<Rc<ClockState>>>,
}

/// What a clock reads in a frame, fixed steps aside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) now_ns: u64,
    pub(super) delta_ns: u64,
    /// How fast it goes for each second of the game clock.
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

    /// Whether it follows the dt that `frames` gets.
    pub(crate) fn is_of(&self, frames: &Rc<FrameClock>) -> bool {
        Rc::ptr_eq(&self.frames, frames)
    }

    /// Whether some wait counts on it.
    pub(crate) fn has_waits(&self) -> bool {
        self.waits.get() > 0
    }

    /// What it reads in this frame.
    #[inline]
    pub(crate) fn reading(self: &Rc<Self>) -> Reading {
        match &self.role {
            Role::Game => self.frames.game_reading(),
            Role::Child(child) => {
                if child.read_in.get() != self.frames.frame() {
                    self.read();
                }
                child.reading.get()
            }
        }
    }

    /// Reads it, and those above that nobody has read in this frame. Without
    /// recursion: there is no limit on how many.
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

    /// What it reads now: the game clock reads the time of a fixed step in one.
    pub(super) fn now_ns(self: &Rc<Self>) -> u64 {
        match self.role {
            Role::Game => self.frames.game_ns(),
            Role::Child(_) => self.reading().now_ns,
        }
    }

    /// How far it went in this frame; in a fixed step, its share of the step.
    pub(super) fn delta_ns(self: &Rc<Self>) -> u64 {
        let reading = self.reading();
        match self.frames.fixed_step_ns() {
            Some(step_ns) => Rate::new(reading.scale).apply(step_ns),
            None => reading.delta_ns,
        }
    }

    /// How fast it goes in this frame for each second of counted dt.
    pub(super) fn effective_scale(self: &Rc<Self>) -> f64 {
        multiply(self.frames.scale(), self.reading().scale)
    }

    /// How the time reads on it.
    pub(crate) fn view(self: &Rc<Self>) -> View {
        View {
            delta_ns: self.delta_ns(),
            elapsed_ns: self.now_ns(),
            scale: self.effective_scale(),
        }
    }

    /// How much dt is missing until it reads `deadline_ns`. `None`: it stands
    /// still.
    pub(crate) fn dt_until(&self, deadline_ns: u64) -> Option<u64> {
        let mut clock = self;
        let mut due_ns = deadline_ns;
        while let Role::Child(child) = &clock.role {
            due_ns = child.gear.source_at(due_ns)?;
            clock = &child.parent;
        }
        self.frames.dt_until_game_at(due_ns)
    }

    pub(super) fn gear(&self) -> &Gear {
        match &self.role {
            Role::Game => self.frames.gear(),
            Role::Child(child) => &child.gear,
        }
    }

    pub(super) fn set_scale(self: &Rc<Self>, scale: f64) {
        self.gear().set_scale(scale, self.settle());
    }

    pub(super) fn set_paused(self: &Rc<Self>, paused: bool) {
        self.gear().set_paused(paused, self.settle());
    }

    /// Has this frame read at the rate it began with, and gives where the
    /// source stands.
    fn settle(self: &Rc<Self>) -> u64 {
        self.reading();
        match &self.role {
            Role::Game => self.frames.source_ns(),
            Role::Child(child) => child.parent.reading().now_ns,
        }
    }
}

impl Child {
    /// Reads what the parent, which has been read, makes of this clock.
    fn follow(&self, frame: u64) {
        let source = self.parent.reading();
        let now_ns = self.gear.reading_at(source.now_ns);
        // The rate has changed in earlier frames only, so it held in all of this.
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
    /// Drops a long line of parents without recursion.
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

/// The clock of a wait: kept alive by it, and knowing that it is waited for.
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
