//! A boss that changes the way it fights as its health falls.

use framestep::prelude::*;

use super::{Game, show};

async fn boss(health: Watch<u32>) {
    select! {
        _ = health.wait_for(|&left| left == 0) => show("falls"),
        () = fight(&health) => {}
    }
}

async fn fight(health: &Watch<u32>) {
    select! {
        _ = health.wait_for(|&left| left <= 6) => {}
        () = stomp() => {}
    }
    show("roars");
    wait_seconds(0.5).await;
    select! {
        _ = health.wait_for(|&left| left <= 3) => {}
        () = charge() => {}
    }
    show("begs");
    wait_seconds(1).await;
    show("explodes");
}

async fn stomp() {
    loop {
        wait_seconds(1).await;
        show("stomps");
    }
}

async fn charge() {
    loop {
        show("charges");
        wait_seconds(0.5).await;
    }
}

/// Plays the boss; a digit is a hit before the frame.
fn play(hits: &str) -> Game<()> {
    let mut game = Game::new(());
    let health = Watch::new(10);
    game.executor.spawn(boss(health.clone()));
    game.play(hits, |(), key| {
        if let Some(hit) = key.to_digit(10) {
            health.update(|health| *health = health.saturating_sub(hit));
        }
    });
    game
}

#[test]
fn health_interrupts_what_the_boss_does() {
    play("......4....4.....").check(&[
        "F5: stomps",
        "F7: roars",
        "F9: charges",
        "F11: charges",
        "F12: begs",
        "F16: explodes",
    ]);
}

#[test]
fn a_phase_that_was_passed_over_does_not_begin() {
    // The hits of frame 3 and of the roar pass two limits.
    play("..4.3...").check(&["F3: roars", "F5: begs"]);
}

#[test]
fn death_interrupts_everything() {
    play("..4.9...").check(&["F3: roars", "F5: falls"]);
}
