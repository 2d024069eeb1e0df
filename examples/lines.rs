//! Where each script waits after each frame: the line of its `.await`.

use framestep::prelude::*;

async fn open_door() -> u32 {
    println!("frame {}: the door creaks", time().frame);
    wait_seconds(1).await;
    println!("frame {}: the door is open", time().frame);
    3 // coins behind it
}

async fn intro() {
    println!("frame {}: the hero knocks", time().frame);
    next_frame().await;
    let coins = start(open_door()).await.unwrap();
    println!("frame {}: the hero takes {coins} coins", time().frame);
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
            let line = at.map_or(0, |at| at.line());
            println!("   {} waits at line {line} for {wait}", script.name());
        }
    }
}
