//! With `bevy_flurx`.

use bevy::prelude::*;
use bevy_flurx::prelude::*;

use crate::game::{Door, Hit, Position, Screen, Speed, log};

async fn move_component(task: ReactorTask, entity: Entity) {
    task.will(
        Update,
        wait::until(move |mut positions: Query<&mut Position>| {
            if let Ok(mut position) = positions.get_mut(entity) {
                position.0 += 1.0;
            }
            false
        }),
    )
    .await;
}

async fn two_components(task: ReactorTask, entity: Entity) {
    task.will(
        Update,
        wait::until(move |mut moving: Query<(&mut Position, &Speed)>| {
            if let Ok((mut position, speed)) = moving.get_mut(entity) {
                position.0 += speed.0;
            }
            false
        }),
    )
    .await;
}

// If several scripts read, one gets each message.
async fn read_messages(task: ReactorTask) {
    loop {
        log(task.will(Update, wait::message::read::<Hit>()).await);
    }
}

async fn wait_for_condition(task: ReactorTask) {
    task.will(Update, wait::until(|door: Res<Door>| door.open))
        .await;
}

async fn sleep(task: ReactorTask) {
    task.will(
        Update,
        delay::time().with(std::time::Duration::from_secs(2)),
    )
    .await;
}

fn state_scoped(mut commands: Commands) {
    commands.spawn((DespawnOnExit(Screen::Game), Reactor::schedule(music)));
}

async fn music(_: ReactorTask) {}
