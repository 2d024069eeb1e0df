//! The layout of the scene.

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::{bolt, door, guard, turret, walker};

/// Despawned when the scene restarts.
#[derive(Component)]
pub(crate) struct Prop;

/// Doors open for it, and turrets shoot at it.
#[derive(Resource)]
pub(crate) struct Walker(pub(crate) Entity);

/// The distances from the camera.
pub(crate) mod layer {
    pub(crate) const FLOOR: f32 = 0.0;
    pub(crate) const DOOR: f32 = 1.0;
    pub(crate) const WALL: f32 = 2.0;
    pub(crate) const PEOPLE: f32 = 3.0;
    pub(crate) const BOLT: f32 = 4.0;
    pub(crate) const MENU: f32 = 10.0;
}

const WALL: Color = Color::srgb(0.24, 0.27, 0.38);
const FLOOR: Color = Color::srgb(0.11, 0.13, 0.2);

/// The walls that have a door, by their x.
const INNER_WALLS: [f32; 2] = [-260.0, -20.0];

pub(crate) fn set_up(mut commands: Commands) {
    commands.spawn(Camera2d);
    furnish(&mut commands);
}

/// Despawns everything, which ends the scripts, and spawns it again.
pub(crate) fn start_over() {
    with(|world: &mut World| {
        let mut props = world.query_filtered::<Entity, With<Prop>>();
        let props: Vec<Entity> = props.iter(world).collect();
        for prop in props {
            world.despawn(prop);
        }
    });
    commands(furnish);
}

fn furnish(commands: &mut Commands) {
    block(commands, FLOOR, layer::FLOOR, [-130.0, 0.0], [660.0, 500.0]);
    for y in [-256.0, 256.0] {
        block(commands, WALL, layer::WALL, [-130.0, y], [684.0, 12.0]);
    }
    for x in [-466.0, 206.0] {
        block(commands, WALL, layer::WALL, [x, 0.0], [12.0, 524.0]);
    }
    for x in INNER_WALLS {
        for y in [-145.0, 145.0] {
            block(commands, WALL, layer::WALL, [x, y], [16.0, 210.0]);
        }
        let door = block(commands, door::COLOUR, layer::DOOR, [x, 0.0], door::SIZE);
        commands.entity(door).start_script(door::open_and_shut);
    }

    let size = [22.0, 22.0];
    let walker = block(commands, walker::COLOUR, layer::PEOPLE, walker::HOME, size);
    let mut scripts = commands.entity(walker);
    scripts
        .start_script(walker::walk)
        .start_script(walker::flinch);
    commands.insert_resource(Walker(walker));

    for (x, top) in [(-200.0, 200.0), (-80.0, 150.0), (30.0, 210.0)] {
        let guard = block(commands, guard::COLOUR, layer::PEOPLE, [x, -top], size);
        commands.entity(guard).start_script(guard::patrol);
    }

    let shots = [
        ([-140.0, 238.0], Vec2::NEG_Y, 0.0),
        ([-360.0, -238.0], Vec2::Y, 0.2),
        ([188.0, 120.0], Vec2::NEG_X, 0.4),
        ([188.0, -90.0], Vec2::NEG_X, 0.6),
    ];
    for (at, towards, after) in shots {
        let turret = block(commands, turret::COLOUR, layer::PEOPLE, at, [26.0, 26.0]);
        commands
            .entity(turret)
            .start_script(move |turret| turret::shoot(turret, towards, after));
    }
}

/// A rectangle that is despawned when the scene restarts.
pub(crate) fn block(
    commands: &mut Commands,
    colour: Color,
    layer: f32,
    [x, y]: [f32; 2],
    size: [f32; 2],
) -> Entity {
    let sprite = Sprite::from_color(colour, Vec2::from(size));
    let place = Transform::from_xyz(x, y, layer);
    commands.spawn((Prop, sprite, place)).id()
}

/// Where an entity is.
pub(crate) fn place(entity: Entity) -> Result<Vec2, Missing> {
    entity.get(|place: &Transform| place.translation.truncate())
}

/// Whether a point is in a wall or a shut door.
pub(crate) fn is_solid(at: Vec2) -> bool {
    let outside = at.x < -460.0 || at.x > 200.0 || at.y.abs() > 250.0;
    let walls = INNER_WALLS.iter();
    let inside = |x: &f32| (at.x - x).abs() < 8.0 + bolt::LENGTH / 2.0;
    outside || walls.clone().any(inside)
}
