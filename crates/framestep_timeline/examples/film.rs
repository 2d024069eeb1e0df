//! A scene in a castle, filmed: prints a timing diagram, and writes an SVG and a trace.
//!
//! `cargo run --example film [folder] [light|dark]`

#![expect(clippy::cast_precision_loss, reason = "for people")]

use std::path::PathBuf;

use framestep::prelude::*;
use framestep_timeline::{Recorder, Theme};

/// The events of the scene.
#[derive(Clone)]
struct Castle {
    lever: Signal<()>,
    alarm: Signal<()>,
    keys: Semaphore,
}

async fn line(words: &'static str) {
    wait_seconds(words.len() as f64 * 0.05).await;
}

async fn dialogue() {
    script("line 1")
        .start(line("Who goes there?"))
        .await
        .unwrap();
    script("line 2").start(line("A friend.")).await.unwrap();
}

async fn hero(castle: Castle) {
    script("dialogue").start(dialogue()).await.unwrap();
    wait_frames(2).await;
    castle.lever.emit(());
    let key = castle.keys.acquire().await;
    wait_seconds(1).await;
    drop(key);
    in_phase(Phase::LateUpdate).await;
}

async fn gate(castle: Castle) {
    castle.lever.wait().await;
    animate(1, |_| ()).await;
    castle.alarm.emit(());
}

async fn goblin(castle: Castle, delay: f64) {
    castle.alarm.wait().await;
    wait_seconds(delay).await;
    let _key = castle.keys.acquire().await;
    wait_frames(2).await;
}

async fn archer(castle: Castle) {
    let _ = timeout(6, castle.alarm.wait()).await;
    loop {
        wait_seconds(0.5).await;
    }
}

async fn physics() {
    for _ in 0..6 {
        fixed_update().await;
    }
}

async fn camera() {
    loop {
        in_phase(Phase::LateUpdate).await;
        wait_frames(4).in_phase(Phase::LateUpdate).await;
    }
}

async fn trap(castle: Castle) {
    castle.alarm.wait().await;
    next_frame().await;
    panic!("the trap has no bolt");
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or(".".to_owned()));
    let theme = match arguments.next().as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::Auto,
    };

    let mut executor = Executor::builder().fixed_delta(0.25).inspect(true).build();
    executor.on_report(|_| ()); // the panic is part of the scene
    let recorder = Recorder::new();
    recorder.watch(&executor);

    let castle = Castle {
        lever: Signal::new().named("lever"),
        alarm: Signal::new().named("alarm"),
        keys: Semaphore::new(1).named("keys"),
    };
    let heroes = executor.owner().named("heroes");
    let enemies = executor.owner().named("enemies");
    let level = executor.owner().named("level");
    heroes.script("hero").start(hero(castle.clone()));
    level.script("gate").start(gate(castle.clone()));
    level.script("trap").start(trap(castle.clone()));
    for (name, delay) in [("goblin 1", 0.25), ("goblin 2", 0.75)] {
        enemies.script(name).start(goblin(castle.clone(), delay));
    }
    let archer = enemies.script("archer").start(archer(castle.clone())).id();
    executor
        .script("physics")
        .in_phase(Phase::FixedUpdate)
        .start(physics());
    let camera = executor.script("camera").start(camera());

    for frame in 1..=28 {
        match frame {
            14 => drop(executor.pause(archer)),
            19 => drop(executor.resume(archer)),
            22 => drop(executor.stop(camera.id())),
            _ => {}
        }
        executor.run_frame(0.25);
    }

    let film = recorder.film();
    print!("{}", film.clone().frames(5..=22).diagram().timed());
    for finding in film.findings() {
        println!("{finding}");
    }
    std::fs::create_dir_all(&folder)?;
    let svg = film.svg().title("An evening at the castle").theme(theme);
    std::fs::write(folder.join("film.svg"), svg.to_string())?;
    std::fs::write(folder.join("film.perfetto-trace"), film.perfetto())?;
    println!("film.svg opens in a browser, film.perfetto-trace at ui.perfetto.dev");
    Ok(())
}
