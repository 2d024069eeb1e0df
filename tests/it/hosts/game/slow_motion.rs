//! A bubble of slow time: the enemies are slow in it, the hero is not.

use framestep::prelude::*;

use super::{Game, digit};

#[derive(Default)]
struct World {
    hero: f32,
    enemy: f32,
}

/// Slows a clock down for as long as this lives.
struct SlowMotion(Clock);

impl SlowMotion {
    fn of(clock: &Clock) -> Self {
        clock.set_scale(0.5);
        SlowMotion(clock.clone())
    }
}

impl Drop for SlowMotion {
    fn drop(&mut self) {
        self.0.set_scale(1);
    }
}

/// Lasts for a second of the caster's clock.
async fn time_bubble(enemy_time: Clock) {
    let _slow = SlowMotion::of(&enemy_time);
    wait_seconds(1).await;
}

async fn walk(step: fn(&mut World, f32)) {
    loop {
        next_frame().await;
        with(|world: &mut World| step(world, delta_seconds()));
    }
}

#[test]
fn enemies_walk_at_half_speed_while_the_bubble_lasts() {
    let mut game = Game::new(World::default());
    let enemy_time = game.executor.clock().child();
    let enemies = game.executor.owner_on(&enemy_time);
    enemies.spawn(walk(|world, step| world.enemy += step));
    game.executor.spawn(walk(|world, step| world.hero += step));
    let film =
        |game: &mut Game<World>| game.film("....", |_, _| (), |world| digit(world.enemy, 4.0));
    assert_eq!(film(&mut game), "0123");
    game.executor.spawn(time_bubble(enemy_time));
    // The clock goes slower from the frame after the spell on: frames 6 to 9.
    assert_eq!(film(&mut game), "4455");
    assert_eq!(film(&mut game), "6789");
    assert_eq!(digit(game.world.hero, 2.0), '5');
}
