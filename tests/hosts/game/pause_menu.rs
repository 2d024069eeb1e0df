//! A menu that slides in and out while the game stands still.

use framestep::prelude::*;

use super::{Game, digit};

#[derive(Default)]
struct World {
    menu_pressed: bool,
    /// How far the menu has slid in.
    menu: f32,
    hero: f32,
}

fn menu_pressed() -> bool {
    with_ref(|world: &World| world.menu_pressed)
}

/// Pauses a clock for as long as this lives.
struct Pause(Clock);

impl Pause {
    fn of(clock: &Clock) -> Self {
        clock.pause();
        Pause(clock.clone())
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.resume();
    }
}

/// Belongs to an owner on realtime, so its waits continue in the pause.
async fn pause_menu(game: Clock) {
    loop {
        wait_until(menu_pressed).await;
        let _pause = Pause::of(&game);
        animate(0.5, |t| with(|world: &mut World| world.menu = t)).await;
        wait_until(menu_pressed).await;
        animate(0.5, |t| with(|world: &mut World| world.menu = 1.0 - t)).await;
    }
}

async fn hero() {
    loop {
        next_frame().await;
        with(|world: &mut World| world.hero += delta_seconds());
    }
}

#[test]
fn the_menu_moves_while_the_hero_stands_still() {
    let mut game = Game::new(World::default());
    let menu = game.executor.owner_on(&game.executor.realtime());
    menu.spawn(pause_menu(game.executor.clock()));
    game.executor.spawn(hero());
    let press = |world: &mut World, key| world.menu_pressed = key == 'M';
    let keys = "..M...M....";
    let film = game.film(keys, press, |world| digit(world.menu, 2.0));
    assert_eq!(film, "00012221000");
    // The clock stands still from the frame after the key on, and continues in the
    // frame after the next key.
    assert_eq!(digit(game.world.hero, 4.0), '4');
}
