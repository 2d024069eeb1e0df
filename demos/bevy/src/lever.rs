//! A lever, which opens the portcullis.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::hint::until_used;
use crate::layer::standing;
use crate::level::Prop;
use crate::light::Lamp;
use crate::stage::Quake;

const TILT: f32 = 0.7;

/// The lever was pulled.
#[derive(EntityEvent, Clone)]
pub(crate) struct Pulled(Entity);

pub(crate) fn spawn(world: &mut World, at: Vec2) -> Entity {
    let turn = Quat::from_rotation_z(TILT);
    let place = Transform::from_xyz(0.0, 0.0, -0.001).with_rotation(turn);
    let handle = world.spawn((Picture::Handle.drawn(), place)).id();
    let mut lever = world.spawn((
        Prop,
        Picture::Socket.drawn(),
        Transform::from_translation(standing(at)),
        Lamp {
            reach: 110.0,
            colour: Vec3::new(0.7, 0.25, 0.25),
        },
    ));
    lever.add_child(handle);
    lever.start_script(move |lever| wait_for_pull(lever, handle));
    lever.id()
}

/// The script of a lever: it works once.
async fn wait_for_pull(lever: Entity, handle: Entity) -> Result<(), Missing> {
    until_used(lever).await?;
    animate(0.35, |t| {
        let turn = Quat::from_rotation_z(TILT * (1.0 - 2.0 * t * t));
        let moved = handle.get_mut(|place: &mut Transform| place.rotation = turn);
        moved.expect("it is a part of the lever");
    })
    .await;
    lever.get_mut(|lamp: &mut Lamp| lamp.colour = Vec3::new(0.25, 0.8, 0.35))?;
    write_message(Quake(3.0));
    trigger(Pulled(lever));
    Ok(())
}
