//! A village: a bell, a gate that it opens, guards, and a patrol.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::input::egui_wants_any_pointer_input;
use bevy_framestep::Missing;
use bevy_framestep::framestep::inspect::describe;
use bevy_framestep::prelude::*;
use framestep_panel::Panel;

const SIZE: f32 = 44.0;

/// The bell rings.
#[derive(Message, Clone)]
struct Rung;

pub(crate) fn plugin(app: &mut App) {
    app.add_message::<Rung>()
        .insert_resource(ClearColor(Color::srgb(0.13, 0.16, 0.14)))
        .add_systems(Startup, build)
        .add_systems(Update, select.run_if(not(egui_wants_any_pointer_input)));
}

fn build(mut commands: Commands) {
    commands.spawn(Camera2d);
    let figure = |x, y, colour| {
        let place = Transform::from_xyz(x, y, 0.0);
        (Sprite::from_color(colour, Vec2::splat(SIZE)), place)
    };
    let gold = Color::srgb(0.9, 0.75, 0.3);
    commands.spawn((
        Name::new("bell"),
        figure(220.0, 300.0, gold),
        Scripts::of(ring),
    ));
    commands.spawn((
        Name::new("gate"),
        figure(220.0, 0.0, Color::srgb(0.55, 0.4, 0.25)),
        Scripts::of(open),
    ));
    for number in 1..=4_u8 {
        let y = 300.0 - 130.0 * f32::from(number);
        commands.spawn((
            Name::new(format!("guard {number}")),
            figure(330.0, y, Color::srgb(0.35, 0.5, 0.85)),
            Scripts::of(move |guard| patrol(guard, f32::from(number))).and(blink),
        ));
    }
}

async fn ring(bell: Entity) -> Result<(), Missing> {
    loop {
        wait_seconds(2.5).await;
        write_message(Rung);
        bell.get_mut(|place: &mut Transform| place.scale = Vec3::splat(1.3))?;
        wait_seconds(0.2).await;
        bell.get_mut(|place: &mut Transform| place.scale = Vec3::ONE)?;
    }
}

async fn open(gate: Entity) -> Result<(), Missing> {
    loop {
        describe("closed");
        next_message::<Rung>().await;
        describe("open");
        gate.get_mut(|place: &mut Transform| place.scale.y = 0.3)?;
        wait_seconds(1).await;
        gate.get_mut(|place: &mut Transform| place.scale.y = 1.0)?;
    }
}

async fn patrol(guard: Entity, pace: f32) -> Result<(), Missing> {
    loop {
        walk(guard, 60.0 * pace).await?;
        wait_seconds(0.5 * pace).await;
        walk(guard, -60.0 * pace).await?;
        wait_frames(40).await;
    }
}

async fn walk(guard: Entity, speed: f32) -> Result<(), Missing> {
    for _ in 0..60 {
        fixed_update().await;
        guard.get_mut(|place: &mut Transform| place.translation.x += speed / 60.0)?;
    }
    Ok(())
}

async fn blink(guard: Entity) -> Result<(), Missing> {
    loop {
        wait_seconds(1.5).await;
        guard.get_mut(|sprite: &mut Sprite| sprite.color.set_alpha(0.4))?;
        wait_seconds(0.1).await;
        guard.get_mut(|sprite: &mut Sprite| sprite.color.set_alpha(1.0))?;
    }
}

/// A click selects a figure. The scripts of an entity belong to an owner that is named
/// after it.
fn select(
    buttons: Res<ButtonInput<MouseButton>>,
    window: Single<&Window, With<PrimaryWindow>>,
    camera: Single<(&Camera, &GlobalTransform)>,
    figures: Query<(Entity, &Name, &Transform)>,
    mut panel: NonSendMut<Panel>,
) {
    let (camera, eye) = *camera;
    let pointed = window
        .cursor_position()
        .filter(|_| buttons.just_pressed(MouseButton::Left));
    let Some(at) = pointed.and_then(|at| camera.viewport_to_world_2d(eye, at).ok()) else {
        return;
    };
    let is_hit = |place: &Transform| (place.translation.truncate() - at).abs().max_element() < SIZE;
    if let Some((entity, name, _)) = figures.iter().find(|(_, _, place)| is_hit(place)) {
        panel.select_entity(Some(&format!("{name} {entity}")));
    }
}
