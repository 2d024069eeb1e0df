//! A room: an executor, the scripts of a thousand units, and their lent state.

use std::ops::AddAssign;
use std::time::Duration;

use framestep::prelude::*;
use framestep::task::RemoteHandle;

pub(crate) const TICKS_PER_SECOND: u32 = 30;
pub(crate) const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND as u64);
pub(crate) const UNITS: usize = 1_000;

/// Marsaglia's xorshift, so that a room does the same on every machine.
struct Random(u64);

impl Random {
    /// Never from 0, which it would not leave.
    fn new(seed: u64) -> Self {
        Random(seed | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn seconds(&mut self, shortest: f64, longest: f64) -> f64 {
        let part = f64::from(u32::try_from(self.below(1_000)).unwrap_or(0)) / 1_000.0;
        shortest + (longest - shortest) * part
    }

    fn unit(&mut self) -> usize {
        usize::try_from(self.below(UNITS as u64)).unwrap_or(0)
    }
}

/// The state that the scripts of a room borrow.
struct World {
    units: Vec<Unit>,
    counts: Counts,
}

#[derive(Clone)]
struct Unit {
    x: i64,
    health: u64,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) scripts: usize,
    pub(crate) steps: u64,
    pub(crate) hits: u64,
    pub(crate) alarms: u64,
    pub(crate) messages: u64,
    pub(crate) health: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.scripts += other.scripts;
        self.steps += other.steps;
        self.hits += other.hits;
        self.alarms += other.alarms;
        self.messages += other.messages;
        self.health += other.health;
    }
}

impl World {
    fn new() -> Self {
        World {
            units: vec![Unit { x: 0, health: 100 }; UNITS],
            counts: Counts::default(),
        }
    }

    fn step(&mut self, unit: usize, by: i64) {
        self.units[unit].x += by;
        self.counts.steps += 1;
    }

    fn hit(&mut self, unit: usize) {
        self.units[unit].health = self.units[unit].health.saturating_sub(1);
        self.counts.hits += 1;
    }
}

/// Walks to and fro, and stops now and then to look around.
async fn patrol(unit: usize, mut random: Random) {
    let mut by = 1;
    loop {
        wait_seconds(random.seconds(0.1, 2.0)).await;
        with(|world: &mut World| world.step(unit, by));
        if random.below(4) == 0 {
            by = -by;
            // It fails only if the child is stopped alone.
            let _ = start(look_around(unit)).await;
        }
    }
}

async fn look_around(unit: usize) {
    for turn in [1, -2, 1] {
        wait_seconds(0.1).await;
        with(|world: &mut World| world.step(unit, turn));
    }
}

/// Sleeps until the alarm, or checks by itself after a while.
async fn guard(unit: usize, alarm: Signal<()>, mut random: Random) {
    loop {
        if timeout(random.seconds(1.0, 2.0), alarm.wait())
            .await
            .is_err()
        {
            continue;
        }
        with(|world: &mut World| world.counts.alarms += 1);
        for _ in 0..5 {
            next_frame().await;
            with(|world: &mut World| world.step(unit, 1));
        }
    }
}

/// Shoots twice at a time, and waits for both arrows.
async fn tower(mut random: Random) {
    loop {
        wait_seconds(random.seconds(0.5, 2.0)).await;
        let arrows = [random.unit(), random.unit()].map(|target| start(arrow(target)));
        join_all(arrows).await;
    }
}

async fn arrow(target: usize) {
    wait_frames(3).await;
    for _ in 0..5 {
        next_frame().await;
    }
    with(|world: &mut World| world.hit(target));
}

async fn heal(mut random: Random) {
    wait_seconds(random.seconds(0.0, 0.5)).await;
    let mut rounds = interval(0.5);
    loop {
        rounds.tick().await;
        let unit = random.unit();
        with(|world: &mut World| world.units[unit].health += 1);
    }
}

async fn ring(alarm: Signal<()>, mut random: Random) {
    loop {
        wait_seconds(random.seconds(2.0, 4.0)).await;
        alarm.emit(());
    }
}

/// An executor and the state that it lends to its scripts.
pub(crate) struct Room {
    pub(crate) executor: Executor,
    world: World,
}

impl Room {
    pub(crate) fn new(number: u64) -> Self {
        let executor = Executor::new();
        let alarm = Signal::new();
        for unit in 0..UNITS {
            let seed = (number * UNITS as u64 + unit as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let random = Random::new(seed);
            match unit {
                0 => drop(executor.spawn(ring(alarm.clone(), random))),
                1..50 => drop(executor.spawn(heal(random))),
                50..150 => drop(executor.spawn(tower(random))),
                150..400 => drop(executor.spawn(guard(unit, alarm.clone(), random))),
                _ => drop(executor.spawn(patrol(unit, random))),
            }
        }
        let world = World::new();
        Room { executor, world }
    }

    pub(crate) fn tick(&mut self) {
        let world = &mut self.world;
        self.executor
            .lend(world, |executor| executor.run_frame(TICK));
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            scripts: self.executor.len(),
            health: self.world.units.iter().map(|unit| unit.health).sum(),
            ..self.world.counts
        }
    }
}

/// An act of a player, sent from another thread: it takes effect when the next tick of the
/// room begins. Returns `false` if the room is closed.
pub(crate) fn message(room: &RemoteHandle, number: u64) -> bool {
    let unit = Random::new(number).unit();
    room.call(move || {
        with(|world: &mut World| {
            world.counts.messages += 1;
            world.hit(unit);
        });
        // Sometimes the player starts a script.
        if number % 5 == 0 {
            spawn(arrow(unit));
        }
    })
}
