use framestep_durable::prelude::*;

use crate::ported::harness::note;

#[durable]
async fn walk(name: String, clock: ClockId) {
    for step in 1.. {
        clock.clock().wait_seconds(0.5).await;
        let (frame, now) = (time().frame, clock.clock().now().as_secs_f32());
        note!("frame {frame:2}: {name} takes step {step}, {now:.2} s by its clock");
    }
}

/// Slides in while the game is paused: it counts on realtime.
#[durable]
async fn menu(game: ClockId) {
    let _paused = game.clock().pause_guard();
    for slot in ["Resume", "Options", "Quit"] {
        wait_seconds_realtime(0.5).await;
        note!("frame {:2}: the menu shows \"{slot}\"", time().frame);
    }
    wait_seconds_realtime(0.5).await;
}

#[durable]
async fn level(game: ClockId, enemies: ClockId) {
    wait_seconds(1).await;
    note!("frame {:2}: -- bullet time --", time().frame);
    let slow = enemies.clock().scaled(0.25);

    wait_seconds(2).await;
    note!("frame {:2}: -- paused --", time().frame);
    start(menu(game)).await.expect("nobody stops the menu");
    note!("frame {:2}: -- resumed --", time().frame);

    wait_seconds(1).await;
    note!("frame {:2}: -- full speed --", time().frame);
    drop(slow);
    wait_seconds(1).await;
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    let registry = Registry::new()
        .script(walk)
        .script(menu)
        .script(level);
    Runtime::new(registry)
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    let (game, enemies) = (ClockId::GAME, runtime.enter(|| ClockId::GAME.child()));
    runtime.spawn(walk("the player".into(), game)).detach();
    runtime.spawn(walk("    an enemy".into(), enemies)).detach();
    runtime.spawn(level(game, enemies)).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.25);
}

pub(crate) use crate::ported::harness::lines as shown;
