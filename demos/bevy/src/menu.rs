//! The pause menu. Its entity lives as long as the state does, and its scripts with it. They
//! count on realtime, so the menu moves while the game is paused.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::keys::{Choice, Key, pressed};
use crate::layer;
use crate::level::start_over;
use crate::stage::{HALF, MIDDLE, Stage};
use crate::text::line;

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Screen {
    #[default]
    Playing,
    Paused,
}

/// A page cannot close itself.
const ROWS: &[&str] = if cfg!(target_arch = "wasm32") {
    &["go on", "start over"]
} else {
    &["go on", "start over", "quit"]
};
const SIZE: Vec2 = Vec2::new(300.0, 230.0);
const GOLD: Color = Color::srgb(1.0, 0.82, 0.45);

pub(crate) fn plugin(app: &mut App) {
    app.init_state::<Screen>()
        .add_systems(OnEnter(Screen::Playing), listen_for_pause)
        .add_systems(OnEnter(Screen::Paused), (pause, open).chain())
        .add_systems(OnExit(Screen::Paused), go_on);
}

fn listen_for_pause(mut commands: Commands) {
    commands.spawn((DespawnOnExit(Screen::Playing), Scripts::of(|_| listen())));
}

/// A script of the state in which the game is played.
async fn listen() {
    pressed(Key::Menu).await;
    resource_mut(|next: &mut NextState<Screen>| next.set(Screen::Paused));
}

fn pause(mut time: ResMut<Time<Virtual>>) {
    time.pause();
}

fn go_on(mut time: ResMut<Time<Virtual>>) {
    time.unpause();
}

fn open(stage: Res<Stage>, mut commands: Commands) {
    let mark = Drawn::plain(GOLD, Vec2::splat(11.0));
    let mark = commands.spawn((mark, Transform::from_xyz(-100.0, height_of(0), 0.2)));
    let mark = mark.id();
    let frame = Drawn::plain(GOLD, SIZE + 4.0);
    let paper = Drawn::plain(Color::srgb(0.06, 0.05, 0.11), SIZE);
    let menu = commands.spawn((
        DespawnOnExit(Screen::Paused),
        Scripts::on_realtime().and(move |menu| run(menu, mark)),
        frame,
        Transform::from_translation((MIDDLE + Vec2::Y * 2.0 * HALF.y).extend(layer::MENU)),
        ChildOf(stage.0),
        children![
            (paper, Transform::from_xyz(0.0, 0.0, 0.1)),
            (
                line("paused", 34.0, GOLD),
                Transform::from_xyz(0.0, 66.0, 0.2)
            ),
        ],
    ));
    let menu = menu.id();
    commands.entity(menu).add_child(mark);
    for (row, words) in ROWS.iter().enumerate() {
        let place = Transform::from_xyz(0.0, height_of(row), 0.2);
        commands.spawn((line(words, 24.0, Color::WHITE), place, ChildOf(menu)));
    }
}

fn height_of(row: usize) -> f32 {
    const HEIGHTS: [f32; 3] = [10.0, -30.0, -70.0];
    HEIGHTS[row]
}

/// The script of the menu.
async fn run(menu: Entity, mark: Entity) -> Result<(), Missing> {
    let high = menu.get(|place: &Transform| place.translation.y)?;
    slide(menu, high, MIDDLE.y).await;
    let pulse = menu.start(pulse(mark));
    let row = choose(mark).await?;
    pulse.stop();
    slide(menu, MIDDLE.y, high).await;
    match ROWS[row] {
        "start over" => with(start_over),
        "quit" => write_message(AppExit::Success),
        _ => {}
    }
    // This ends the menu, and thus this script.
    resource_mut(|next: &mut NextState<Screen>| next.set(Screen::Playing));
    Ok(())
}

/// Moves the mark with the keys, until a row is chosen.
async fn choose(mark: Entity) -> Result<usize, Missing> {
    let mut row = 0;
    loop {
        mark.get_mut(|place: &mut Transform| place.translation.y = height_of(row))?;
        match next_message::<Choice>().await {
            Choice::Up => row = row.saturating_sub(1),
            Choice::Down => row = (row + 1).min(ROWS.len() - 1),
            Choice::This => return Ok(row),
            Choice::Back => return Ok(0),
        }
    }
}

async fn slide(menu: Entity, from: f32, to: f32) {
    animate(0.3, |t| {
        let y = from.lerp(to, t * t * (3.0 - 2.0 * t));
        let moved = menu.get_mut(|place: &mut Transform| place.translation.y = y);
        moved.expect("its scripts end with the menu");
    })
    .await;
}

/// Turns the mark as long as the menu is open.
async fn pulse(mark: Entity) -> Result<(), Missing> {
    loop {
        next_frame().await;
        let turn = delta_seconds() * 4.0;
        mark.get_mut(|place: &mut Transform| place.rotate_z(turn))?;
    }
}
