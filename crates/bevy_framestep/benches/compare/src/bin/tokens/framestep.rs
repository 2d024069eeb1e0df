//! With `bevy_framestep`.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::game::{Door, Position, Screen, Speed, log};

async fn move_component(entity: Entity) -> Result<(), Missing> {
    loop {
        next_frame().await;
        entity.get_mut(|position: &mut Position| position.0 += 1.0)?;
    }
}

async fn two_components(entity: Entity) -> Result<(), Missing> {
    loop {
        next_frame().await;
        entity.with(|position: &mut Position, speed: &Speed| position.0 += speed.0)?;
    }
}

async fn read_messages() {
    messages().for_each(log).await;
}

async fn wait_for_condition() {
    wait_until_world(|world| world.resource::<Door>().open).await;
}

async fn sleep() {
    wait_seconds(2).await;
}

fn state_scoped(mut commands: Commands) {
    commands.start_script_in(Screen::Game, music);
}

async fn music() {}
