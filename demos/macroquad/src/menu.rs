//! The pause menu: its scripts count on realtime, so it moves while the game stands still.

use framestep::prelude::*;
use macroquad::prelude::*;

use crate::input::Key;
use crate::world::World;

pub(crate) const ITEMS: [&str; 4] = ["Resume", "Restart", "Overlay", "Quit"];

/// The content of the menu.
#[derive(Default)]
pub(crate) struct Menu {
    /// How far it has slid in, from 0 to 1.
    pub(crate) slid: f32,
    pub(crate) chosen: usize,
    /// Where the bar behind the items is: at `chosen`, or on the way there.
    pub(crate) bar: f32,
    /// The position in a repeating movement, from 0 to 1.
    pub(crate) bob: f32,
}

/// Opens the menu whenever its key is pressed.
pub(crate) async fn run() {
    loop {
        key().await;
        open().await;
    }
}

async fn key() -> Key {
    with_ref(|world: &World| world.menu_keys.wait()).await
}

fn with_menu(f: impl FnOnce(&mut Menu)) {
    with(|world: &mut World| world.menu.as_mut().map(f));
}

async fn open() {
    with(|world: &mut World| {
        // The owner, so that no script of the game is polled; the clock, for drawing.
        world.owners.game.pause();
        world.clocks.game.pause();
        world.menu = Some(Menu::default());
    });
    // Ends with this script's local variable.
    let effects = owner();
    effects.start(bob());
    effects.start(slide_bar());
    animate(0.25, |t| {
        with_menu(|menu| menu.slid = 1.0 - (1.0 - t) * (1.0 - t));
    })
    .await;
    let item = choose().await;
    animate(0.15, |t| with_menu(|menu| menu.slid = 1.0 - t)).await;
    with(|world: &mut World| {
        world.menu = None;
        world.owners.game.resume();
        world.clocks.game.resume();
        match item {
            1 => world.restart.emit(()),
            2 => world.shows_overlay = !world.shows_overlay,
            3 => world.leave(),
            _ => {}
        }
    });
}

async fn choose() -> usize {
    let last = ITEMS.len() - 1;
    let mut chosen = 0;
    loop {
        match key().await {
            Key::Confirm => return chosen,
            Key::Menu => return 0,
            key => chosen = key.choose(chosen, last),
        }
        with_menu(|menu| menu.chosen = chosen);
    }
}

async fn bob() {
    loop {
        animate(1.2, |t| with_menu(|menu| menu.bob = t)).await;
    }
}

/// Follows the choice.
async fn slide_bar() {
    loop {
        framestep::next_frame().await;
        let share = (14.0 * delta_seconds()).min(1.0);
        with_menu(|menu| {
            let aim = crate::numbers::real(menu.chosen);
            menu.bar += (aim - menu.bar) * share;
        });
    }
}
