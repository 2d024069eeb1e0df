//! What the scripts of a row do, and how it is checked that they did it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

/// The length of an update. A fixed step of Bevy has the same length, so there is one in each
/// update.
pub(crate) const FRAME: Duration = Duration::from_micros(15_625);

/// The number of updates in a second.
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
    /// Each script waits for a condition on the world, which a resource does not meet yet.
    Ask,
    /// Each script waits for a condition on a resource that changes in each frame, and does not
    /// meet it yet.
    Watch,
    /// Each script waits for a change of a component of its entity, and none comes.
    Change,
    /// Each script waits for a message, and none comes.
    Await,
    /// A message is written in each frame, and each script receives it.
    Hear,
    /// In each frame, an event is triggered on each entity, and its script receives it.
    Poke,
    /// In each frame, all entities are despawned, and the same number is spawned, each with a
    /// script that waits for the next frame.
    Live,
    /// No script.
    Empty,
}

#[derive(Component, Default)]
pub(crate) struct Position(pub(crate) u64);

/// The component that [`Workload::Change`] watches.
#[derive(Component, Clone, Default, PartialEq, Eq)]
pub(crate) struct Level(u32);

#[derive(Message, Clone)]
pub(crate) struct News;

#[derive(EntityEvent, Clone)]
pub(crate) struct Poked(pub(crate) Entity);

/// The resource that [`Workload::Ask`] and [`Workload::Watch`] check.
#[derive(Resource, Default)]
pub(crate) struct Open(pub(crate) bool);

/// Counted in the same way by all, at the price of an addition.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

/// How often a script resumed, or a condition was checked.
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

/// The progress of the scripts of an app.
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
    /// Panics unless the progress is exactly that of `updates`.
    pub(crate) fn check(self, scripts: u64, updates: u64, before: &Progress, after: &Progress) {
        let resumed = match self {
            Workload::Frame | Workload::Ask | Workload::Watch | Workload::Hear | Workload::Poke => {
                scripts * updates
            }
            Workload::Fire => scripts * updates / FRAMES_PER_SECOND,
            Workload::Move
            | Workload::Sleep
            | Workload::Change
            | Workload::Await
            | Workload::Live
            | Workload::Empty => 0,
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

    /// How many waiting scripts end their wait when they should. `None` if the waits have no
    /// end.
    pub(crate) fn ended(self, scripts: u64, app: &mut App) -> Option<u64> {
        let world = app.world_mut();
        match self {
            Workload::Ask | Workload::Watch => world.resource_mut::<Open>().0 = true,
            Workload::Sleep => {
                world
                    .resource_mut::<Time<Virtual>>()
                    .set_max_delta(LONG * 4);
                world.resource_mut::<Time<Fixed>>().set_timestep(LONG * 8);
                world.insert_resource(TimeUpdateStrategy::ManualDuration(LONG * 2));
            }
            Workload::Change => {
                let mut levels = world.query::<&mut Level>();
                levels.iter_mut(world).for_each(|mut level| level.0 += 1);
            }
            // One for each subject that shares them.
            Workload::Await => _ = world.write_message_batch((0..scripts).map(|_| News)),
            _ => return None,
        }
        let before = ENDED.read();
        app.update();
        app.update();
        Some(ENDED.read() - before)
    }
}

/// What Bevy alone does in a row, too.
pub(crate) fn add_to_all(app: &mut App, workload: Workload) {
    match workload {
        Workload::Await => _ = app.add_message::<News>(),
        Workload::Watch => {
            _ = app.add_systems(PreUpdate, |mut open: ResMut<Open>| open.set_changed())
        }
        Workload::Hear => {
            app.add_message::<News>();
            app.add_systems(PreUpdate, |mut news: MessageWriter<News>| {
                news.write(News);
            });
        }
        Workload::Poke => {
            let poke = |entities: Query<Entity, With<Position>>, mut commands: Commands| {
                for entity in &entities {
                    commands.trigger(Poked(entity));
                }
            };
            app.add_systems(PreUpdate, poke);
        }
        _ => {}
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
