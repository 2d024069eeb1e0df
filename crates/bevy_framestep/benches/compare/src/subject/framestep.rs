//! Scripts on framestep.

use std::time::Duration;

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::workload::{
    ENDED, FRAME, FRAMES_PER_SECOND, LONG, Level, News, Open, Poked, Position, RESUMED, Workload,
    despawn_all,
};

pub(super) fn add(app: &mut App, workload: Workload, scripts: u64) {
    app.add_plugins(FramestepPlugin::default());
    if workload == Workload::Live {
        app.add_systems(PreUpdate, move |world: &mut World| {
            despawn_all(world);
            for _ in 0..scripts {
                world.spawn(Position::default()).start_script(idle);
            }
        });
        return;
    }
    let world = app.world_mut();
    for number in 0..scripts {
        match workload {
            Workload::Move => {
                world.spawn(Position::default()).start_script(step);
            }
            Workload::Frame => {
                world.start_script(count_frames);
            }
            Workload::Sleep => {
                world.start_script(sleep);
            }
            Workload::Fire => {
                let first = FRAME * (number % FRAMES_PER_SECOND) as u32;
                world.start_script(move || count_seconds(first));
            }
            Workload::Ask => {
                world.start_script(ask);
            }
            Workload::Watch => {
                world.start_script(watch);
            }
            Workload::Change => {
                world.spawn(Level::default()).start_script(await_change);
            }
            Workload::Await => {
                world.start_script(await_news);
            }
            Workload::Hear => {
                world.start_script(hear);
            }
            Workload::Poke => {
                world.spawn(Position::default()).start_script(feel);
            }
            Workload::Live | Workload::Empty => unreachable!("it has no scripts yet"),
        }
    }
}

async fn step(entity: Entity) -> Result<(), Missing> {
    loop {
        next_frame().await;
        entity.get_mut(|position: &mut Position| position.0 += 1)?;
    }
}

async fn idle(_: Entity) {
    loop {
        next_frame().await;
    }
}

async fn count_frames() {
    loop {
        next_frame().await;
        RESUMED.bump();
    }
}

async fn sleep() {
    wait_seconds(LONG).await;
    ENDED.bump();
}

async fn count_seconds(first: Duration) {
    wait_seconds(first).await;
    loop {
        wait_seconds(1).await;
        RESUMED.bump();
    }
}

async fn ask() {
    wait_until_world(|world| {
        RESUMED.bump();
        world.resource::<Open>().0
    })
    .await;
    ENDED.bump();
}

async fn watch() {
    wait_until_resource(|open: &Open| {
        RESUMED.bump();
        open.0
    })
    .await;
    ENDED.bump();
}

async fn await_change(entity: Entity) -> Result<(), Missing> {
    entity.changed::<Level>().await?;
    ENDED.bump();
    Ok(())
}

async fn await_news() {
    next_message::<News>().await;
    ENDED.bump();
}

async fn hear() {
    messages().for_each(|_: News| RESUMED.bump()).await;
}

async fn feel(entity: Entity) {
    entity.events().for_each(|_: Poked| RESUMED.bump()).await;
}
