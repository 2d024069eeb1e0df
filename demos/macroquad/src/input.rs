//! The keys that the player, or the pilot, holds and presses.

use macroquad::prelude::*;

use crate::world::World;

/// The state of the keys that are held.
#[derive(Clone, Copy, Default)]
pub(crate) struct Input {
    pub(crate) stick: Vec2,
    pub(crate) fires: bool,
    pub(crate) slows: bool,
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    Confirm,
    Menu,
}

impl Key {
    /// Which of the items up to `last` is chosen after this key; wraps around.
    pub(crate) fn choose(self, chosen: usize, last: usize) -> usize {
        match self {
            Key::Up => chosen.checked_sub(1).unwrap_or(last),
            Key::Down if chosen == last => 0,
            Key::Down => chosen + 1,
            Key::Confirm | Key::Menu => chosen,
        }
    }
}

const KEYS: [(KeyCode, Key); 8] = [
    (KeyCode::Up, Key::Up),
    (KeyCode::W, Key::Up),
    (KeyCode::Down, Key::Down),
    (KeyCode::S, Key::Down),
    (KeyCode::Enter, Key::Confirm),
    (KeyCode::Space, Key::Confirm),
    (KeyCode::Escape, Key::Menu),
    (KeyCode::P, Key::Menu),
];

impl Input {
    pub(crate) fn read() -> Self {
        let axis = |less: [KeyCode; 2], more: [KeyCode; 2]| {
            let held = |keys: [KeyCode; 2]| f32::from(u8::from(keys.into_iter().any(is_key_down)));
            held(more) - held(less)
        };
        let stick = vec2(
            axis([KeyCode::Left, KeyCode::A], [KeyCode::Right, KeyCode::D]),
            axis([KeyCode::Up, KeyCode::W], [KeyCode::Down, KeyCode::S]),
        );
        Input {
            stick: stick.normalize_or_zero(),
            fires: is_key_down(KeyCode::Space),
            slows: is_key_down(KeyCode::LeftShift) || is_key_down(KeyCode::RightShift),
        }
    }
}

/// The keys that were pressed in this frame.
pub(crate) fn pressed() -> impl Iterator<Item = Key> {
    let keys = KEYS.into_iter();
    keys.filter(|(code, _)| is_key_pressed(*code))
        .map(|(_, key)| key)
}

impl World {
    /// While the menu is open, only the menu gets keys: the paused scripts of the
    /// game would remember them until they are resumed.
    pub(crate) fn press(&self, key: Key) {
        if self.menu.is_some() || key == Key::Menu {
            self.menu_keys.emit(key);
        } else {
            self.keys.emit(key);
        }
    }
}
