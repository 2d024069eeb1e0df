//! A potion of haste: each further one begins the second anew.

use framestep::prelude::*;

use super::Game;

struct World {
    speed: u8,
}

async fn haste(potion: Signal<()>) {
    loop {
        potion.wait().await;
        with(|world: &mut World| world.speed = 2);
        while timeout(1, potion.wait()).await.is_ok() {}
        with(|world: &mut World| world.speed = 1);
    }
}

#[test]
fn a_second_potion_begins_the_second_anew() {
    let potion = Signal::new();
    let mut game = Game::new(World { speed: 1 });
    game.executor.spawn(haste(potion.clone()));
    let speed = game.film(
        ".P..P.......P....",
        |_, key| {
            if key == 'P' {
                potion.emit(());
            }
        },
        |world| char::from(b'0' + world.speed),
    );
    assert_eq!(speed, "12222222111122221");
}
