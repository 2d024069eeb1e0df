//! Tasks on `bevy_defer`.

use std::time::Duration;

use bevy::prelude::*;
use bevy_defer::reactors::Change;
use bevy_defer::{AccessResult, AppReactorExtension, AsyncExtension, AsyncPlugin, AsyncWorld};
use bevy_framestep::futures::StreamExt;

use crate::workload::{
    ENDED, FRAME, FRAMES_PER_SECOND, LONG, Level, News, Open, Poked, Position, RESUMED, Workload,
    despawn_all,
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
    match workload {
        Workload::Change => _ = app.react_to_component_change::<Level>(),
        Workload::Await => _ = app.react_to_message::<News>(),
        _ => {}
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
            Workload::Ask | Workload::Watch => {
                app.spawn_task(ask());
            }
            Workload::Change => {
                let entity = app.world_mut().spawn(Level::default()).id();
                app.spawn_task(await_change(entity));
            }
            Workload::Await => {
                app.spawn_task(await_news());
            }
            Workload::Poke => {
                let entity = app.world_mut().spawn(Position::default()).id();
                app.spawn_task(feel(entity));
            }
            Workload::Hear | Workload::Live | Workload::Empty => {
                unreachable!("it has no such tasks, or none yet")
            }
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

/// It ends when it next accesses the entity.
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

async fn await_change(entity: Entity) -> AccessResult {
    let changes = AsyncWorld.entity(entity).signal_sender::<Change<Level>>()?;
    changes.read_async_arc().await;
    ENDED.bump();
    Ok(())
}

async fn await_news() -> AccessResult {
    AsyncWorld.next_event::<News>().await;
    ENDED.bump();
    Ok(())
}

async fn feel(entity: Entity) -> AccessResult {
    let mut pokes = AsyncWorld.entity(entity).on::<Poked>()?;
    while pokes.next().await.is_some() {
        RESUMED.bump();
    }
    Ok(())
}
