//! The game: the world, the scripts, and a step of both.

use std::time::Duration;

use framestep_durable::prelude::*;
use toy_scripts::HIT;
use toy_world::{Push, World};

/// The length of a frame: 60 in a second, to the nanosecond.
pub(crate) const STEP: Duration = Duration::from_nanos(16_666_667);

#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) runtime: Runtime,
    pub(crate) world: World,
}

impl Game {
    pub(crate) fn new() -> Self {
        let mut runtime = Runtime::new(toy_scripts::registry());
        let mut world = World::default();
        runtime.lend(&mut world, |runtime| toy_scripts::start_all(runtime));
        Game { runtime, world }
    }
}

/// A frame of the game.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as `History` calls it")]
pub(crate) fn step(runtime: &mut Runtime, world: &mut World, push: &Push) {
    if world.advance(*push) {
        runtime.named(&HIT).emit(world.ship[0]);
    }
    runtime.run_frame_with(world, STEP);
}

/// Where a player who has no hands pushes the ship: to and fro, away from the nearest bullet.
#[cfg(feature = "live")]
pub(crate) fn pilot(frame: u64, world: &World) -> Push {
    let to_and_fro = if frame / 90 % 2 == 0 { 0.5 } else { -0.5 };
    let near = |bullet: &&toy_world::Bullet| toy_world::distance(bullet.at, world.ship) < 60.0;
    let away = world.bullets.iter().find(near);
    let away = away.map_or(0.0, |bullet| (world.ship[0] - bullet.at[0]).signum());
    [to_and_fro + 0.5 * away, 0.0]
}
