//! With `bevy_defer`.

use bevy::prelude::*;
use bevy_defer::{AccessResult, AsyncExtension, AsyncWorld, fetch};

use crate::game::{Door, Hit, Position, Screen, Speed, log};

async fn move_component(entity: Entity) -> AccessResult {
    loop {
        AsyncWorld.yield_now().await;
        fetch!(entity, Position).get_mut(|position| position.0 += 1.0)?;
    }
}

async fn two_components(entity: Entity) -> AccessResult {
    loop {
        AsyncWorld.yield_now().await;
        fetch!(entity, (&mut Position, &Speed))
            .get_mut(|(mut position, speed)| position.0 += speed.0)?;
    }
}

// The app must also call `app.react_to_message::<Hit>()`. One script gets each message.
async fn read_messages() {
    loop {
        log(AsyncWorld.next_event::<Hit>().await);
    }
}

async fn wait_for_condition() {
    AsyncWorld
        .watch(|world: &mut World| world.resource::<Door>().open.then_some(()))
        .await;
}

async fn sleep() {
    AsyncWorld.sleep(2.0).await;
}

fn state_scoped(world: &mut World) -> AccessResult {
    world.spawn_state_scoped(Screen::Game, music())?;
    Ok(())
}

async fn music() -> AccessResult {
    Ok(())
}
