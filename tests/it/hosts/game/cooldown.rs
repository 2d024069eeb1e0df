//! A dash that has to cool down.

use framestep::prelude::*;

use super::{Game, show};

#[derive(Default)]
struct World {
    dash_pressed: bool,
}

fn dash_pressed() -> bool {
    with_ref(|world: &World| world.dash_pressed)
}

/// Dashes when the button is down, at most once a second.
async fn dash() {
    loop {
        // `wait_until` asks from the next frame on, this loop in the present one too.
        while !dash_pressed() {
            next_frame().await;
        }
        show("dash");
        wait_seconds(1).await;
    }
}

#[test]
fn a_button_that_is_held_dashes_once_a_second() {
    let mut game = Game::new(World::default());
    game.executor.spawn(dash());
    game.play(".JJJJJJJJ...JJ", |world, key| {
        world.dash_pressed = key == 'J';
    });
    game.check(&["F2: dash", "F6: dash", "F13: dash"]);
}
