//! The rows that `instructions.sh` counts under valgrind: what a script costs in a frame of a Bevy
//! app. Without arguments, it prints their names and does each of them once, uncounted.
//!
//! `instructions ROW` prints how many items it did, and for what unit a figure is. Only what happens
//! inside of `counted` counts.

use std::hint::black_box;
use std::time::Duration;

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};

const SCRIPTS: u32 = 1_000;
const FRAMES: u32 = 100;

#[derive(Component, Default)]
struct Position(u64);

#[derive(Resource)]
struct Open(bool);

#[derive(Message, Clone)]
struct News;

#[derive(EntityEvent, Clone)]
struct Poked(Entity);

/// Valgrind counts while this runs.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

fn app_without_scripts() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    let frame = Duration::from_millis(16);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.insert_resource(Open(false));
    app.add_message::<News>();
    app
}

fn app() -> App {
    let mut app = app_without_scripts();
    app.add_plugins(FramestepPlugin::default());
    app
}

fn updates(app: &mut App) -> u32 {
    // On one thread, so that each count is the same.
    let mut schedules = app.world_mut().resource_mut::<Schedules>();
    for (_, schedule) in schedules.iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    for _ in 0..20 {
        app.update();
    }
    counted(&mut || (0..FRAMES).for_each(|_| app.update()));
    FRAMES
}

/// Updates of an app with 1,000 scripts.
fn with_scripts(app: &mut App, start: impl Fn(&mut World)) -> u32 {
    for _ in 0..SCRIPTS {
        start(app.world_mut());
    }
    updates(app) * SCRIPTS
}

fn moves() -> u32 {
    async fn step(entity: Entity) -> Result<(), Missing> {
        loop {
            next_frame().await;
            entity.get_mut(|position: &mut Position| position.0 += 1)?;
        }
    }
    with_scripts(&mut app(), |world| {
        world.spawn(Position::default()).start_script(step);
    })
}

fn frames() -> u32 {
    with_scripts(&mut app(), |world| {
        world.start_script(|| async {
            loop {
                next_frame().await;
            }
        });
    })
}

fn sleeps() -> u32 {
    with_scripts(&mut app(), |world| {
        world.start_script(|| wait_seconds(100_000));
    })
}

fn conditions() -> u32 {
    with_scripts(&mut app(), |world| {
        world.start_script(|| wait_until_world(|world| world.resource::<Open>().0));
    })
}

fn resources() -> u32 {
    with_scripts(&mut app(), |world| {
        world.start_script(|| wait_until_resource(|open: &Open| open.0));
    })
}

/// The resource changes in each frame, and does not meet the condition.
fn changing_resources() -> u32 {
    let mut app = app();
    app.add_systems(PreUpdate, |mut open: ResMut<Open>| open.set_changed());
    with_scripts(&mut app, |world| {
        world.start_script(|| wait_until_resource(|open: &Open| open.0));
    })
}

fn changes() -> u32 {
    with_scripts(&mut app(), |world| {
        let mut entity = world.spawn(Position::default());
        entity.start_script(|entity| async move { entity.changed::<Position>().await });
    })
}

fn components() -> u32 {
    with_scripts(&mut app(), |world| {
        let mut entity = world.spawn(Position::default());
        entity.start_script(|entity| async move {
            entity
                .wait_until(|position: &Position| position.0 > 0)
                .await
        });
    })
}

fn silence() -> u32 {
    with_scripts(&mut app(), |world| {
        world.start_script(|| async {
            _ = next_message::<News>().await;
        });
    })
}

fn messages_heard() -> u32 {
    let mut app = app();
    app.add_systems(PreUpdate, |mut news: MessageWriter<News>| {
        news.write(News);
    });
    with_scripts(&mut app, |world| {
        world.start_script(|| messages().for_each(|_: News| {}));
    })
}

fn events() -> u32 {
    let mut app = app();
    app.add_systems(
        PreUpdate,
        |entities: Query<Entity, With<Position>>, mut commands: Commands| {
            for entity in &entities {
                commands.trigger(Poked(entity));
            }
        },
    );
    with_scripts(&mut app, |world| {
        let mut entity = world.spawn(Position::default());
        entity.start_script(|entity| entity.events().for_each(|_: Poked| {}));
    })
}

/// Entities with a script, spawned and despawned in each frame.
fn lives() -> u32 {
    async fn idle(_: Entity) {
        loop {
            next_frame().await;
        }
    }
    let mut app = app();
    app.add_systems(PreUpdate, |world: &mut World| {
        let mut all = world.query_filtered::<Entity, With<Position>>();
        let all: Vec<Entity> = all.iter(world).collect();
        for entity in all {
            world.despawn(entity);
        }
        for _ in 0..SCRIPTS {
            world.spawn(Position::default()).start_script(idle);
        }
    });
    updates(&mut app) * SCRIPTS
}

type Row = (&'static str, &'static str, fn() -> u32);

const ROWS: [Row; 14] = [
    ("bevy-alone", "update", || {
        updates(&mut app_without_scripts())
    }),
    ("empty", "update", || updates(&mut app())),
    ("sleep", "script", sleeps),
    ("next_frame", "script", frames),
    ("move", "script", moves),
    ("condition", "script", conditions),
    ("resource", "script", resources),
    ("changing", "script", changing_resources),
    ("component", "script", components),
    ("change", "script", changes),
    ("no-message", "script", silence),
    ("message", "script", messages_heard),
    ("event", "script", events),
    ("spawn", "script", lives),
];

fn main() {
    // cargo adds `--bench`.
    let name = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    for (row, unit, work) in ROWS {
        match &name {
            Some(name) if name == row => println!("{} {unit}", work()),
            Some(_) => {}
            None => {
                println!("{row}");
                work();
            }
        }
    }
}
