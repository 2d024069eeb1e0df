//! Tasks on `bevy_defer`.

use std::time::Duration;

use bevy::prelude::*;
use bevy_defer::{AccessResult, AsyncExtension, AsyncPlugin, AsyncWorld};

use crate::workload::{
    ENDED, FRAME, FRAMES_PER_SECOND, LONG, Open, Position, RESUMED, Workload, despawn_all,
};

pub(super) fn add(app: &mut App, workload: Workload, scripts: u64) {
    app.add_plugins(AsyncPlugin::default_settings());
    if workload == Workload::Live {
        app.add_systems(PreUpdate, move |world: &mut World| {
            despawn_all(world);
            for _ in 0..scripts {
                let entity = world.spawn(Position::default()).id();
                world.spawn_task(idle(entity));
            }
        });
        return;
    }
    for number in 0..scripts {
        match workload {
            Workload::Move => {
                let entity = app.world_mut().spawn(Position::default()).id();
                app.spawn_task(step(entity));
            }
            Workload::Frame => {
                app.spawn_task(count_frames());
            }
            Workload::Sleep => {
                app.spawn_task(sleep());
            }
            Workload::Fire => {
                let first = FRAME * (number % FRAMES_PER_SECOND) as u32;
                app.spawn_task(count_seconds(first));
            }
            Workload::Ask => {
                app.spawn_task(ask());
            }
            Workload::Live | Workload::Empty => unreachable!("it has no scripts yet"),
        }
    }
}

async fn step(entity: Entity) -> AccessResult {
    loop {
        AsyncWorld.yield_now().await;
        let position = AsyncWorld.entity(entity).component::<Position>();
        position.get_mut(|position| position.0 += 1)?;
    }
}

/// It ends when it next asks for the entity.
async fn idle(entity: Entity) -> AccessResult {
    loop {
        AsyncWorld.yield_now().await;
        AsyncWorld
            .entity(entity)
            .component::<Position>()
            .get(|_| ())?;
    }
}

async fn count_frames() -> AccessResult {
    loop {
        AsyncWorld.yield_now().await;
        RESUMED.bump();
    }
}

async fn sleep() -> AccessResult {
    AsyncWorld.sleep(LONG).await;
    ENDED.bump();
    Ok(())
}

async fn count_seconds(first: Duration) -> AccessResult {
    AsyncWorld.sleep(first).await;
    loop {
        AsyncWorld.sleep(Duration::from_secs(1)).await;
        RESUMED.bump();
    }
}

async fn ask() -> AccessResult {
    AsyncWorld
        .watch(|world: &mut World| {
            RESUMED.bump();
            world.resource::<Open>().0.then_some(())
        })
        .await;
    ENDED.bump();
    Ok(())
}
