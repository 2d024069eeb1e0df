//! Where each script waits after each frame: the line of its `.await`.

use framestep::prelude::*;

async fn open_door() -> u32 {
    println!("the door creaks");
    wait_seconds(1).await;
    println!("the door is open");
    3 // coins behind it
}

async fn intro() {
    println!("the hero knocks");
    next_frame().await;
    let coins = start(open_door()).await.unwrap();
    println!("the hero takes {coins} coins");
}

fn main() {
    // Without `inspect`, lines are not noted: that costs a part of each resume.
    let mut executor = Executor::builder().inspect(true).build();
    let intro = executor.start(intro());
    print(&executor);
    while !intro.is_finished() {
        executor.run_frame(0.25); // in a game: how long the last frame took
        print(&executor);
    }
}

fn print(executor: &Executor) {
    let snapshot = executor.snapshot();
    println!("after frame {}", snapshot.time().frame);
    for script in &snapshot {
        for (wait, at) in script.waits_at() {
            let line = at.expect("the executor inspects").line();
            println!("   {} waits at line {line} for {wait}", script.name());
        }
    }
}
