//! A snapshot of what each coroutine waits for, and a trace of which coroutines ran.

use std::cell::Cell;
use std::rc::Rc;

use framestep::inspect::{Snapshot, Wait};
use framestep::prelude::*;
use futures::channel::oneshot;

async fn dialogue() {
    for line in 1..=3 {
        let typed = start(wait_seconds(1)).named(format!("line {line}"));
        typed.await.unwrap();
    }
}

async fn intro() {
    let dialogue = start(dialogue()).named("dialogue");
    dialogue.await.unwrap();
}

/// Starts two coroutines that join each other: a bug that a snapshot shows.
fn start_quarrel(executor: &Executor) {
    let give = Rc::new(Cell::new(None::<Coroutine<()>>));
    let take = give.clone();
    let north = executor
        .spawn(async move { drop(take.take().unwrap().await) })
        .named("north");
    let south = executor
        .spawn(async move { drop(north.await) })
        .named("south");
    give.set(Some(south));
}

fn start_enemies(executor: &Executor) -> Owner {
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let enemies = executor.owner_on(&slow).named("enemies");
    enemies.start(wait_seconds(2)).named("goblin");
    enemies.start(wait_seconds(3)).named("archer").pause();
    enemies
}

fn tell_who_waits_for(name: &str, snapshot: &Snapshot) {
    let Some(awaited) = snapshot.iter().find(|c| c.name() == name) else {
        return;
    };
    for hanging in snapshot.waiting_for(awaited.id()) {
        println!("{} hangs on {name}", hanging.name());
    }
    for wait in awaited.waits() {
        if let Wait::Timer { left, .. } = wait {
            println!("{name} has {left:?} to go");
        }
    }
}

fn main() {
    // Without `inspect`, the snapshot lacks its last three columns.
    let mut executor = Executor::builder().inspect(true).build();
    executor.start(intro()).named("intro");
    executor.start(wait_until(|| false)).named("gate");
    executor.start(wait_frames(30)).named("blink");
    executor
        .start(async {
            while time().frame < 100 {
                fixed_update().await;
            }
        })
        .named("jump");
    let (_loader, level) = oneshot::channel::<()>();
    executor.start(timeout(10, level)).named("loading");
    executor.start(std::future::pending::<()>()).named("lost");
    start_quarrel(&executor);
    let _enemies = start_enemies(&executor);
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    executor.spawn(end_of_frame()).named("photo");

    let snapshot = executor.snapshot();
    println!("{snapshot}");
    tell_who_waits_for("dialogue", &snapshot);
    tell_who_waits_for("line 2", &snapshot);

    println!("\nthe next two frames, and the end:");
    executor.on_trace(|event| println!("{event}"));
    executor.run_frame(0.25);
    executor.run_frame(0.25);

    drop(executor);
    println!("\na full trace of one frame:");
    full_trace();
}

/// All events of a frame in which a script rings a bell for another one.
fn full_trace() {
    let mut executor = Executor::new();
    let bell = Signal::new().named("bell");
    let ring = bell.wait();
    executor.start(ring).named("guard");
    let ringer = async move {
        next_frame().await;
        bell.emit(1);
        wait_seconds(1).await;
    };
    executor.start(ringer).named("ringer");
    executor.on_full_trace(|event| println!("{event}"));
    executor.run_frame(0.25);
}
