//! Plays by itself, and prints the state of the game.

use crate::platform::tell;
use crate::session::Session;
use crate::world::{Coin, MIDDLE, PLATE, Push, RIGHT, WALLS, World};

/// Where the pilot pushes the ball: to coins, through the next door when it is open, and
/// against the guardian of the last room.
pub(crate) fn push(world: &World) -> Push {
    let [x, y] = world.ball;
    let room = WALLS.iter().filter(|wall| **wall < x).count();
    let is_in_room = |at: f32| WALLS.iter().filter(|wall| **wall < at).count() == room;
    let wanted = |coin: &&Coin| world.score < PURSE && is_in_room(coin.at[0]);
    let mut coins = world.coins.iter().filter(wanted);
    let target = match (WALLS.get(room), coins.next()) {
        (Some(wall), _) if world.doors[room] > 0.6 => [wall + 60.0, MIDDLE],
        (None, _) if world.guardian.lives > 0 => world.guardian.at,
        (_, Some(coin)) => coin.at,
        (Some(wall), None) => [wall - PLATE.0, MIDDLE],
        (None, None) => [RIGHT, MIDDLE],
    };
    let [push_x, push_y] = [target[0] - x, target[1] - y].map(|way| way / 40.0);
    let [speed_x, speed_y] = world.speed.map(|speed| speed / 240.0);
    [push_x - speed_x, push_y - speed_y].map(|push| push.clamp(-1.0, 1.0))
}

/// How many coins are enough.
const PURSE: u32 = 2;

/// Runs a step, and prints a line about every 60th. However often a game passes that step, the
/// line must be the same.
pub(crate) fn step(session: &mut Session) {
    session.step(push(&session.game.world));
    let steps = session.game.steps();
    if steps % 60 == 0 {
        tell(&format!(
            "step {steps}: state {:016x}",
            session.game.checksum()
        ));
    }
}
