//! The stage: what the camera looks at, and what is fixed in front of it.

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy::window::WindowResolution;
use bevy_framestep::prelude::*;

use crate::body::place;
use crate::level::HEIGHT;
use crate::{hearts, hero, panel, purse};

/// The window, and how much of it the panel takes, on the right.
const WINDOW: [u32; 2] = [1_088, 576];
pub(crate) const HALF: Vec2 = Vec2::new(544.0, 288.0);
pub(crate) const PANEL: f32 = 352.0;

/// The middle of the dungeon's part of the window, from the middle of the window.
pub(crate) const MIDDLE: Vec2 = Vec2::new(-PANEL / 2.0, 0.0);

/// The camera: the parent of everything that does not move in the window.
#[derive(Resource, Clone, Copy)]
pub(crate) struct Stage(pub(crate) Entity);

/// What the camera looks at: the hero, unless a story changes that.
#[derive(Resource, Default)]
pub(crate) struct Focus(pub(crate) Option<Entity>);

/// The ground shakes by this many pixels.
#[derive(Message, Clone, Copy)]
pub(crate) struct Quake(pub(crate) f32);

pub(crate) fn window() -> Window {
    let [width, height] = WINDOW;
    Window {
        title: "framestep".to_string(),
        resolution: WindowResolution::new(width, height),
        resizable: false,
        ..default()
    }
}

/// A system.
pub(crate) fn set_up(world: &mut World) {
    let at = vec3(PANEL / 2.0, HALF.y, 0.0);
    let rail = world.spawn((Transform::from_translation(at), Visibility::default()));
    let rail = rail.id();
    // Colours are used unchanged: the shaders do no tone mapping.
    let plain = (Msaa::Off, Tonemapping::None);
    let camera = world.spawn((Camera2d, plain, Scripts::of(shake), ChildOf(rail)));
    let camera = camera.id();
    world.insert_resource(Stage(camera));
    panel::spawn(world, camera);
    hearts::spawn(world, camera);
    purse::spawn(world, camera);
    world.entity_mut(rail).start_script(follow);
}

/// The script of the rail that carries the camera: it follows the hero smoothly, and never
/// leaves the dungeon.
async fn follow(rail: Entity) -> Result<(), Missing> {
    const LAZINESS: f32 = 0.35;
    loop {
        next_frame().await;
        let focus = resource(|focus: &Focus| focus.0);
        let goal = place(focus.unwrap_or_else(hero::hero))?.y;
        let goal = goal.clamp(HALF.y, HEIGHT - HALF.y);
        let share = 1.0 - (-delta_seconds() / LAZINESS).exp();
        rail.get_mut(|place: &mut Transform| {
            place.translation.y = place.translation.y.lerp(goal, share);
        })?;
    }
}

/// A script of the camera.
async fn shake(camera: Entity) {
    loop {
        let Quake(strength) = next_message().await;
        animate(0.4, |t| {
            let way = vec2((t * 50.0).sin(), (t * 63.0).cos());
            let shaken = way * strength * (1.0 - t) * (1.0 - t);
            let moved = camera.get_mut(|place: &mut Transform| {
                place.translation = shaken.extend(0.0);
            });
            moved.expect("its scripts end with the camera");
        })
        .await;
    }
}
