//! The level: ten scripts that do different things.

use std::cell::Cell;
use std::rc::Rc;

use framestep::inspect::describe;
use framestep::prelude::*;

use super::Scene;

pub(super) fn begin(scene: &mut Scene) {
    let lever = Signal::<()>::new().named("lever pulled");
    let health = Watch::new(100_u32).named("boss health");
    let clock = scene.executor.realtime();

    let level = scene.owner("level 1".into());
    level.script("door").start(door(lever.clone()));
    level.script("lever").start(pull(lever));
    level.script("quest").start(quest());
    level
        .script("tide")
        .in_phase(Phase::FixedUpdate)
        .start(tide());

    let enemies = scene.owner("enemies".into());
    enemies.script("boss").start(boss(health.clone()));
    enemies.script("patrol").start(patrol());

    scene.executor.script("camera").start(camera());
    let ui = scene.executor.owner_on(&clock).named("ui");
    ui.script("health bar").start(health_bar(health));
    ui.script("hint").start(hint());
    scene.owners.push(ui);
}

async fn door(lever: Signal<()>) {
    loop {
        describe("closed");
        lever.wait().await;
        describe("open");
        wait_seconds(1.5).await;
    }
}

async fn pull(lever: Signal<()>) {
    loop {
        wait_seconds(4).await;
        lever.emit(());
    }
}

async fn boss(health: Watch<u32>) {
    for phase in 1_u32.. {
        let left = 100 - (phase * 7) % 100;
        health.set(left);
        describe(format_args!("phase {phase}, {left} % health"));
        select! {
            () = wait_seconds(2.5) => {}
            () = wait_frames(400) => {}
        }
        script("fireball").start(fireball());
    }
}

async fn fireball() {
    animate(0.8, |_| {}).await;
}

async fn patrol() {
    loop {
        describe("walks north");
        wait_frames(90).await;
        describe("looks around");
        wait_seconds(0.75).await;
        describe("walks south");
        wait_frames(90).await;
    }
}

async fn camera() {
    loop {
        next_frame().await;
    }
}

async fn tide() {
    loop {
        wait_steps(100).await;
    }
}

async fn health_bar(health: Watch<u32>) {
    loop {
        health.changed().await;
        wait_seconds(0.3).await;
    }
}

async fn hint() {
    let shown = Rc::new(Cell::new(0_u32));
    loop {
        let count = Rc::clone(&shown);
        wait_until(move || {
            count.set(count.get() + 1);
            count.get() % 240 == 0
        })
        .await;
        wait_seconds(3).await;
    }
}

async fn quest() {
    loop {
        describe("talks to the smith");
        drop(script("dialogue").start(dialogue()).await);
        describe("looks for iron");
        wait_seconds(5).await;
    }
}

async fn dialogue() {
    for line in 1..=4 {
        describe(format_args!("line {line} of 4"));
        wait_seconds(1.2).await;
    }
}
