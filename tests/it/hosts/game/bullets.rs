//! Bullets from a pool: each goes back, however its flight ends.

use framestep::prelude::*;

use super::{Game, show};

struct World {
    /// Numbers of the sprites that are free.
    pool: Vec<u32>,
}

/// A sprite that is in use.
struct Bullet(u32);

impl Bullet {
    fn take() -> Option<Bullet> {
        with(|world: &mut World| world.pool.pop()).map(Bullet)
    }
}

impl Drop for Bullet {
    fn drop(&mut self) {
        let sprite = self.0;
        // Flights also end while nothing is lent, or while a script has the world.
        with_soon(move |world: &mut World| world.pool.push(sprite));
    }
}

async fn gun() {
    let mut trigger = interval(0.25);
    loop {
        trigger.tick().await;
        if let Some(bullet) = Bullet::take() {
            show(format_args!("fires {}", bullet.0));
            start(fly(bullet));
        } else {
            show("click");
        }
    }
}

async fn fly(bullet: Bullet) {
    wait_seconds(0.75).await;
    drop(bullet);
}

#[test]
fn bullets_come_back_when_they_land_and_when_the_level_ends() {
    let mut game = Game::new(World { pool: vec![2, 1] });
    let level = game.executor.owner();
    level.spawn(gun());
    game.run(6);
    game.check(&[
        "F2: fires 1",
        "F3: fires 2",
        "F4: click",
        "F5: fires 1",
        "F6: fires 2",
    ]);
    drop(level);
    assert!(game.world.pool.is_empty()); // the world is not lent
    game.run(1);
    assert_eq!(game.world.pool, [1, 2]);
}
