//! A level that begins anew at the push of a button.

use framestep::prelude::*;

use super::{Game, show};

#[derive(Default)]
struct World {
    restart_pressed: bool,
    score: u32,
}

async fn play_level() {
    loop {
        with(|world: &mut World| world.score = 0);
        let level = owner();
        level.start(clock_tower());
        level.start(coins());
        wait_until(|| with_ref(|world: &World| world.restart_pressed)).await;
        // Here `level` is dropped, and all that was started on it ends.
    }
}

async fn clock_tower() {
    for hour in 1.. {
        wait_seconds(0.5).await;
        show(format_args!("it strikes {hour}"));
    }
}

/// Each coin is a script of its own, and ends with the level all the same.
async fn coins() {
    let mut drops = interval(0.5);
    loop {
        drops.tick().await;
        start(coin());
    }
}

async fn coin() {
    wait_seconds(0.5).await;
    with(|world: &mut World| world.score += 10);
}

#[test]
fn a_restart_ends_everything_and_begins_anew() {
    let mut game = Game::new(World::default());
    game.executor.spawn(play_level());
    let press = |world: &mut World, key| world.restart_pressed = key == 'R';
    game.play("......", press);
    assert_eq!(game.world.score, 10);
    game.check(&["F3: it strikes 1", "F5: it strikes 2"]);
    game.play("R...", press);
    assert_eq!(game.world.score, 0);
    game.check(&["F9: it strikes 1"]);
    game.play("..", press);
    assert_eq!(game.world.score, 10);
    assert_eq!(game.executor.len(), 4); // the level, the tower, the coins, one coin
}
