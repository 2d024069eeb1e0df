//! The pause menu. Its scripts count on realtime, so it moves while the game does not.

use bevy::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::{Framestep, Messages, Missing};
use futures::StreamExt;

use crate::scene::{layer, start_over};

/// The events of the menu.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Menu,
    Up,
    Down,
    Choose,
}

/// The rows of the menu, from the top.
const ROWS: [&str; 3] = ["go on", "start over", "quit"];

const CENTRE: f32 = -130.0;
const HIDDEN: f32 = 400.0;
const SHOWN: f32 = 0.0;

pub(crate) fn read_keys(pressed: Res<ButtonInput<KeyCode>>, mut keys: MessageWriter<Key>) {
    let known = [
        (KeyCode::Escape, Key::Menu),
        (KeyCode::ArrowUp, Key::Up),
        (KeyCode::ArrowDown, Key::Down),
        (KeyCode::Enter, Key::Choose),
    ];
    let known = known.into_iter();
    keys.write_batch(known.filter_map(|(code, key)| pressed.just_pressed(code).then_some(key)));
}

pub(crate) fn set_up(scripts: NonSend<Framestep>, mut commands: Commands) {
    let realtime = scripts.handle().realtime();
    let realtime = realtime.and_then(|clock| Scripts::on_clock(scripts.handle(), &clock));
    let mark = Sprite::from_color(Color::srgb(0.45, 0.95, 0.6), Vec2::splat(12.0));
    let place = Transform::from_xyz(-110.0, height_of(0), 1.0);
    let mark = commands.spawn((mark, place)).id();
    commands
        .spawn((
            realtime.expect("the app is there"),
            Sprite::from_color(
                Color::srgba(0.02, 0.02, 0.05, 0.92),
                Vec2::new(300.0, 220.0),
            ),
            Transform::from_xyz(CENTRE, HIDDEN, layer::MENU),
        ))
        .with_children(|menu| {
            menu.spawn(line("paused", 32.0, 62.0));
            for (row, name) in ROWS.into_iter().enumerate() {
                menu.spawn(line(name, 22.0, height_of(row)));
            }
        })
        .add_child(mark)
        .start_script(move |menu| run(menu, mark));
}

fn line(text: &str, size: f32, y: f32) -> impl Bundle {
    let font = TextFont {
        font_size: FontSize::Px(size),
        ..default()
    };
    (Text2d::new(text), font, Transform::from_xyz(0.0, y, 1.0))
}

fn height_of(row: usize) -> f32 {
    const HEIGHTS: [f32; ROWS.len()] = [8.0, -30.0, -68.0];
    HEIGHTS[row]
}

/// The script of the menu.
async fn run(menu: Entity, mark: Entity) -> Result<(), Missing> {
    let mut keys = messages::<Key>();
    loop {
        while keys.next().await != Some(Key::Menu) {}
        resource_mut(Time::<Virtual>::pause);
        slide(menu, HIDDEN, SHOWN).await;
        let pulse = start(pulse(mark)).stop_on_drop();
        let row = choose(&mut keys, mark).await?;
        drop(pulse);
        match ROWS[row] {
            "start over" => start_over(),
            "quit" => write_message(AppExit::Success),
            _ => {}
        }
        slide(menu, SHOWN, HIDDEN).await;
        resource_mut(Time::<Virtual>::unpause);
    }
}

/// Moves the mark with the keys, until a row is chosen. Escape chooses the first.
async fn choose(keys: &mut Messages<Key>, mark: Entity) -> Result<usize, Missing> {
    let mut row = 0;
    loop {
        mark.get_mut(|place: &mut Transform| place.translation.y = height_of(row))?;
        match keys.next().await {
            Some(Key::Up) => row = row.saturating_sub(1),
            Some(Key::Down) => row = (row + 1).min(ROWS.len() - 1),
            Some(Key::Choose) => return Ok(row),
            Some(Key::Menu) | None => return Ok(0),
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
        let turn = time().unscaled_delta.as_secs_f32() * 4.0;
        mark.get_mut(|place: &mut Transform| place.rotate_z(turn))?;
    }
}
