//! Enums written by hand, in a `Vec`: what one would write without `async`,
//! and the physical limit. Sleepers stand in a `BinaryHeap` by deadline.
//!
//! There is no aged order, as nothing is allocated one by one, and no start
//! and join, which would be a plain call.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::actor::{Actor, UNITS_PER_FRAME, Waits};
use crate::scripts::CHURN_ONE_IN;
use crate::systems::{Order, System, World};

/// `loop { next_frame().await; count }`.
struct Awake {
    state: AwakeState,
    actor: Actor,
}

enum AwakeState {
    Begun,
    NextFrame,
}

impl Awake {
    fn new(index: usize) -> Self {
        Self {
            state: AwakeState::Begun,
            actor: Actor::new(index),
        }
    }

    fn step(&mut self) {
        match self.state {
            AwakeState::Begun => self.state = AwakeState::NextFrame,
            AwakeState::NextFrame => self.actor.resumed(),
        }
    }
}

struct AwakeWorld(Vec<Awake>);

impl World for AwakeWorld {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            for machine in &mut self.0 {
                machine.step();
            }
        }
    }
}

/// `loop { wait_seconds(random).await; count }`.
struct AsleepWorld {
    actors: Vec<Actor>,
    deadlines: BinaryHeap<Reverse<(u64, u32)>>,
    waits: Waits,
    now_units: u64,
}

impl AsleepWorld {
    fn run_frame(&mut self) {
        self.now_units += UNITS_PER_FRAME;
        while let Some(mut first) = self.deadlines.peek_mut() {
            let Reverse((deadline, index)) = *first;
            if deadline > self.now_units {
                // Left alone: a change would sift the heap.
                break;
            }
            let actor = &mut self.actors[index as usize];
            actor.resumed();
            *first = Reverse((self.now_units + actor.next_units(self.waits), index));
            drop::<PeekMut<'_, _>>(first);
        }
    }
}

impl World for AsleepWorld {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.run_frame();
        }
    }
}

/// `{ next_frame().await; count }`.
enum ShortLived {
    Spawned(Actor),
    NextFrame(Actor),
    Ended,
}

impl ShortLived {
    /// Whether it has to go on.
    fn step(&mut self) -> bool {
        match std::mem::replace(self, Self::Ended) {
            Self::Spawned(actor) => {
                *self = Self::NextFrame(actor);
                true
            }
            Self::NextFrame(mut actor) => {
                actor.resumed();
                false
            }
            Self::Ended => false,
        }
    }
}

struct SpawningWorld {
    machines: Vec<ShortLived>,
    size: usize,
}

impl World for SpawningWorld {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            for index in 0..self.size {
                self.machines.push(ShortLived::Spawned(Actor::new(index)));
            }
            for _frame in 0..2 {
                self.machines.retain_mut(ShortLived::step);
            }
        }
    }
}

/// `loop { next_frame().await; count; start(child); next_frame().await; count }`.
struct Churning {
    awake: Awake,
    starts: bool,
}

impl Churning {
    fn new(index: usize) -> Self {
        Self {
            awake: Awake::new(index),
            starts: false,
        }
    }

    fn step(&mut self) -> Option<ShortLived> {
        self.awake.step();
        let index = self.awake.actor.index();
        let child = self.starts.then(|| ShortLived::Spawned(Actor::new(index)));
        self.starts = !self.starts;
        child
    }
}

/// A `Vec` for each kind.
struct ChurningWorld {
    machines: Vec<Awake>,
    churning: Vec<Churning>,
    children: Vec<ShortLived>,
}

impl World for ChurningWorld {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            for machine in &mut self.machines {
                machine.step();
            }
            let started = self.churning.iter_mut().filter_map(Churning::step);
            self.children.extend(started);
            self.children.retain_mut(ShortLived::step);
        }
    }
}

pub(crate) struct StateMachines;

impl System for StateMachines {
    fn name(&self) -> &'static str {
        "state-machines"
    }

    fn future_bytes(&self) -> usize {
        size_of::<Awake>()
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if order == Order::Aged {
            return None;
        }
        let mut world = AwakeWorld((0..size).map(Awake::new).collect());
        world.steps(1);
        Some(Box::new(world))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let (churning, machines): (Vec<usize>, _) =
            (0..size).partition(|index| index % CHURN_ONE_IN == 0);
        let mut world = ChurningWorld {
            machines: machines.into_iter().map(Awake::new).collect(),
            churning: churning.into_iter().map(Churning::new).collect(),
            children: Vec::new(),
        };
        world.steps(1);
        Some(Box::new(world))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let mut actors: Vec<Actor> = (0..size).map(Actor::new).collect();
        let deadline = |(index, actor): (usize, &mut Actor)| {
            let index = u32::try_from(index).expect("fewer than 2^32");
            Reverse((actor.next_units(waits), index))
        };
        let deadlines = actors.iter_mut().enumerate().map(deadline).collect();
        Some(Box::new(AsleepWorld {
            actors,
            deadlines,
            waits,
            now_units: 0,
        }))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        Some(Box::new(SpawningWorld {
            machines: Vec::with_capacity(size),
            size,
        }))
    }
}
