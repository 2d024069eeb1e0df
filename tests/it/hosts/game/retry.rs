//! A connection that is tried again, after pauses that double.

use framestep::prelude::*;

use super::{Game, show};

struct World {
    server_up: bool,
}

async fn connect() -> Result<(), &'static str> {
    show("knocks");
    wait_seconds(0.25).await;
    if with_ref(|world: &World| world.server_up) {
        Ok(())
    } else {
        Err("no answer")
    }
}

/// Returns the error of the last attempt.
async fn retry<T, E>(
    attempts: u32,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = 0.25;
    for _ in 1..attempts {
        if let Ok(value) = attempt().await {
            return Ok(value);
        }
        wait_seconds(pause).await;
        pause *= 2.0;
    }
    attempt().await
}

async fn join_lobby() -> Result<(), &'static str> {
    retry(4, connect).await?;
    show("welcome");
    Ok(())
}

#[test]
fn the_pauses_double_until_somebody_answers() {
    let mut game = Game::new(World { server_up: false });
    game.executor
        .spawn(join_lobby())
        .on_error(|error| show(error));
    // The server comes up before frame 7.
    game.play("......U........", |world, key| {
        world.server_up |= key == 'U';
    });
    game.check(&["F1: knocks", "F3: knocks", "F6: knocks", "F7: welcome"]);
}

#[test]
fn after_the_last_attempt_the_player_reads_the_error() {
    let mut game = Game::new(World { server_up: false });
    game.executor
        .spawn(join_lobby())
        .on_error(|error| show(error));
    game.run(20);
    game.check(&[
        "F1: knocks",
        "F3: knocks",
        "F6: knocks",
        "F11: knocks",
        "F12: no answer",
    ]);
}
