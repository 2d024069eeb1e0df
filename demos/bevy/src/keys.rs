//! The input of the player, or of the demo.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::saves::SaveKey;

/// A key of the game that was pressed.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Strikes, pulls levers, ends lines.
    Act,
    Menu,
}

/// A key of the menu that was pressed.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Up,
    Down,
    This,
    Back,
}

/// The direction in which the player walks while keys are held.
#[derive(Resource, Default)]
pub(crate) struct Stick(pub(crate) Vec2);

const ACT: [KeyCode; 2] = [KeyCode::Space, KeyCode::Enter];
const UP: [KeyCode; 2] = [KeyCode::ArrowUp, KeyCode::KeyW];
const DOWN: [KeyCode; 2] = [KeyCode::ArrowDown, KeyCode::KeyS];
const LEFT: [KeyCode; 2] = [KeyCode::ArrowLeft, KeyCode::KeyA];
const RIGHT: [KeyCode; 2] = [KeyCode::ArrowRight, KeyCode::KeyD];

/// A system, while the game is played.
pub(crate) fn read(
    pressed: Res<ButtonInput<KeyCode>>,
    mut stick: ResMut<Stick>,
    mut keys: MessageWriter<Key>,
    mut saves: MessageWriter<SaveKey>,
) {
    let held = |codes, way| Vec2::from(way) * f32::from(u8::from(pressed.any_pressed(codes)));
    let way = held(UP, [0.0, 1.0]) + held(DOWN, [0.0, -1.0]);
    let way = way + held(LEFT, [-1.0, 0.0]) + held(RIGHT, [1.0, 0.0]);
    stick.0 = way.normalize_or_zero();
    if pressed.any_just_pressed(ACT) {
        keys.write(Key::Act);
    }
    if pressed.just_pressed(KeyCode::Escape) {
        keys.write(Key::Menu);
    }
    if pressed.just_pressed(KeyCode::F5) {
        saves.write(SaveKey::Save);
    }
    if pressed.just_pressed(KeyCode::F9) {
        saves.write(SaveKey::Load);
    }
}

/// A system, while the menu is open.
pub(crate) fn read_for_menu(
    pressed: Res<ButtonInput<KeyCode>>,
    mut choices: MessageWriter<Choice>,
) {
    let back = [KeyCode::Escape; 2];
    for (codes, choice) in [
        (UP, Choice::Up),
        (DOWN, Choice::Down),
        (ACT, Choice::This),
        (back, Choice::Back),
    ] {
        if pressed.any_just_pressed(codes) {
            choices.write(choice);
        }
    }
}

/// Waits until the key is pressed.
pub(crate) async fn pressed(key: Key) {
    while next_message::<Key>().await != key {}
}
