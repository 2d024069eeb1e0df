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

// The host.

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::new();
    let game = executor.clock();
    let enemies = game.child();
    executor.spawn(walk("the player", game.clone()));
    executor.spawn(walk("    an enemy", enemies.clone()));
    executor.spawn(level(game, enemies));
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(0.25);
}

pub(crate) use crate::ported::harness::printed as shown;
