//! Torches flicker.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::dice::roll;
use crate::layer;
use crate::level::Prop;
use crate::light::Lamp;
use crate::spark;

const COLOUR: Vec3 = Vec3::new(1.5, 0.8, 0.34);

pub(crate) fn spawn(world: &mut World, at: Vec2) {
    let flame = world.spawn((Picture::Flame.drawn(), Transform::from_xyz(0.0, 8.0, 0.1)));
    let flame = flame.id();
    let glow = Picture::Glow.tinted(190.0, Color::srgba(1.0, 0.55, 0.2, 0.33));
    let glow = (
        glow,
        Transform::from_xyz(0.0, 6.0, layer::GLOW - layer::FLAT),
    );
    let lamp = Lamp {
        reach: 230.0,
        colour: COLOUR,
    };
    let mut torch = world.spawn((
        Prop,
        Picture::Torch.drawn(),
        Transform::from_translation(at.extend(layer::FLAT)),
        lamp,
        children![glow],
    ));
    torch.add_child(flame);
    torch.start_script(move |torch| flicker(torch, flame));
    torch.start_script(move |_| throw_embers(at));
}

/// A script of a torch: another light and another flame every few frames.
async fn flicker(torch: Entity, flame: Entity) -> Result<(), Missing> {
    loop {
        let light = roll(0.85..1.1);
        torch.get_mut(|lamp: &mut Lamp| lamp.colour = COLOUR * light)?;
        let size = vec3(roll(0.85..1.05), roll(0.8..1.2), 1.0);
        let tilt = roll(-0.12..0.12);
        flame.get_mut(|place: &mut Transform| {
            place.scale = size;
            place.rotation = Quat::from_rotation_z(tilt);
        })?;
        wait_seconds(roll(0.05..0.12)).await;
    }
}

/// Another script of a torch.
async fn throw_embers(at: Vec2) {
    loop {
        wait_seconds(roll(0.3..1.1)).await;
        spark::ember(at + Vec2::Y * 14.0);
    }
}
