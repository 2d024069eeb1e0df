//! Clocks: enemies in slow motion, and a menu that moves while the game is paused.

use framestep::prelude::*;

async fn walk(name: &'static str, clock: Clock) {
    for step in 1.. {
        clock.wait_seconds(0.5).await;
        let (frame, now) = (time().frame, clock.now().as_secs_f32());
        println!("frame {frame:2}: {name} takes step {step}, {now:.2} s by its clock");
    }
}

/// Slides in while the game is paused: it counts on realtime.
async fn menu(game: Clock) {
    let _paused = game.pause_guard();
    for slot in ["Resume", "Options", "Quit"] {
        wait_seconds_realtime(0.5).await;
        println!("frame {:2}: the menu shows \"{slot}\"", time().frame);
    }
    wait_seconds_realtime(0.5).await;
}

async fn level(game: Clock, enemies: Clock) {
    wait_seconds(1).await;
    println!("frame {:2}: -- bullet time --", time().frame);
    let slow = enemies.scaled(0.25);

    wait_seconds(2).await;
    println!("frame {:2}: -- paused --", time().frame);
    start(menu(game)).await.expect("nobody stops the menu");
    println!("frame {:2}: -- resumed --", time().frame);

    wait_seconds(1).await;
    println!("frame {:2}: -- full speed --", time().frame);
    drop(slow);
    wait_seconds(1).await;
}

fn main() {
    let mut executor = Executor::new();
    let game = executor.clock();
    let enemies = game.child();

    executor.start(walk("the player", game.clone()));
    executor.start(walk("    an enemy", enemies.clone()));
    executor.run_until(level(game, enemies), 0.25);
}
