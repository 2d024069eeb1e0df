//! What the scripts of a row do, and how it is checked that they did it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

/// How long an update is. A fixed step of Bevy is as long, so there is one in each.
pub(crate) const FRAME: Duration = Duration::from_micros(15_625);

/// How many updates a second has.
pub(crate) const FRAMES_PER_SECOND: u64 = 64;

/// Longer than any measurement.
pub(crate) const LONG: Duration = Duration::from_secs(100_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Each script adds one to a component of its entity in every frame.
    Move,
    /// Each script waits for the next frame, and again.
    Frame,
    /// Each script sleeps, and none is due.
    Sleep,
    /// Each script sleeps a second, and again: one in 64 is due in a frame.
    Fire,
    /// Each script waits for a condition that a resource does not meet yet.
    Ask,
    /// In each frame, all entities are despawned, and as many spawned, each with a script that
    /// waits for the next frame.
    Live,
    /// No script.
    Empty,
}

#[derive(Component, Default)]
pub(crate) struct Position(pub(crate) u64);

/// What [`Workload::Ask`] asks for.
#[derive(Resource, Default)]
pub(crate) struct Open(pub(crate) bool);

/// Counted in the same way by all, at the price of an addition.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

/// How often a script went on, or a condition was asked.
pub(crate) static RESUMED: Counter = Counter(AtomicU64::new(0));

/// How many scripts have ended.
pub(crate) static ENDED: Counter = Counter(AtomicU64::new(0));

impl Counter {
    pub(crate) fn bump(&self) {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count + 1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far the scripts of an app have got.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    resumed: u64,
    positions: Vec<u64>,
}

impl Progress {
    pub(crate) fn of(app: &mut App) -> Self {
        let world = app.world_mut();
        let mut positions = world.query::<&Position>();
        Progress {
            resumed: RESUMED.read(),
            positions: positions.iter(world).map(|at| at.0).collect(),
        }
    }
}

impl Workload {
    /// Panics unless `updates` made exactly the progress that they should.
    pub(crate) fn check(self, scripts: u64, updates: u64, before: &Progress, after: &Progress) {
        let resumed = match self {
            Workload::Frame | Workload::Ask => scripts * updates,
            Workload::Fire => scripts * updates / FRAMES_PER_SECOND,
            Workload::Move | Workload::Sleep | Workload::Live | Workload::Empty => 0,
        };
        assert_eq!(after.resumed - before.resumed, resumed, "{self:?}");
        if self == Workload::Live && scripts > 0 {
            assert_eq!(after.positions.len() as u64, scripts);
        }
        if self == Workload::Move {
            let moved = before.positions.iter().map(|at| at + updates);
            assert_eq!(after.positions.len() as u64, scripts);
            assert!(after.positions.iter().copied().eq(moved));
        }
    }

    /// Panics unless scripts that wait end their wait when they should.
    pub(crate) fn check_end(self, scripts: u64, app: &mut App) {
        if !matches!(self, Workload::Sleep | Workload::Ask) {
            return;
        }
        let mut open = app.world_mut().resource_mut::<Open>();
        open.0 = true;
        if self == Workload::Sleep {
            let world = app.world_mut();
            world
                .resource_mut::<Time<Virtual>>()
                .set_max_delta(LONG * 4);
            world.resource_mut::<Time<Fixed>>().set_timestep(LONG * 8);
            world.insert_resource(TimeUpdateStrategy::ManualDuration(LONG * 2));
        }
        let before = ENDED.read();
        app.update();
        app.update();
        assert_eq!(ENDED.read() - before, scripts, "{self:?}");
    }
}

/// Despawns all entities.
pub(crate) fn despawn_all(world: &mut World) {
    let mut all = world.query_filtered::<Entity, With<Position>>();
    let all: Vec<Entity> = all.iter(world).collect();
    for entity in all {
        world.despawn(entity);
    }
}
