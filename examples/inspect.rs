//! Who waits for what, and since when; who ran in which phase.

use std::cell::Cell;
use std::rc::Rc;

use framestep::prelude::*;
use futures::channel::oneshot;

async fn dialogue(lines: u32) {
    for line in 0..lines {
        let typed = start(wait_seconds(1));
        typed.named(format!("line {line}"));
        typed.await.unwrap();
    }
}

async fn intro() {
    let dialogue = start(dialogue(3));
    dialogue.named("dialogue");
    dialogue.await.unwrap();
}

/// Two who wait for each other's end.
fn quarrel(executor: &Executor) {
    let give = Rc::new(Cell::new(None::<Coroutine<()>>));
    let take = give.clone();
    let north = executor.spawn(async move { drop(take.take().unwrap().await) });
    north.named("north");
    let south = executor.spawn(async move { drop(north.await) });
    south.named("south");
    give.set(Some(south));
}

fn main() {
    let mut executor = Executor::builder().inspect(true).build();

    executor.start(intro()).named("intro");
    executor
        .start(async {
            loop {
                next_frame().in_phase(Phase::LateUpdate).await;
            }
        })
        .named("camera");
    executor
        .start(async {
            loop {
                fixed_update().await;
            }
        })
        .named("jump");
    executor
        .start(async {
            loop {
                end_of_frame().await;
            }
        })
        .named("screenshot");
    let ready = Rc::new(Cell::new(false));
    executor
        .start(wait_until(move || ready.get()))
        .named("doors");
    executor.start(wait_frames(30)).named("blink");
    quarrel(&executor);

    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let enemies = executor.owner_on(&slow);
    enemies.named("enemies");
    enemies.start(wait_seconds(2)).named("goblin");
    let archer = enemies.start(wait_seconds(2));
    archer.named("archer").pause();

    let (loaded, level) = oneshot::channel::<()>();
    executor
        .start(async { timeout(10, level).await })
        .named("loading");
    executor
        .start(std::future::pending::<()>())
        .named("forgotten");

    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    println!("{}", executor.snapshot());
}
