//! Three ways to run a script within a script: a plain await, `start` and `spawn`.

use framestep::prelude::*;

fn say(text: &str) {
    println!("  frame {}: {text}", time().frame);
}

/// What the scripts below nest.
async fn knock() -> u32 {
    say("knock");
    next_frame().await;
    say("knock again");
    2
}

/// A part of the caller: it runs here, and ends if the caller is stopped.
async fn by_plain_await() {
    let knocks = knock().await;
    say(&format!("knocked {knocks} times"));
}

/// A coroutine of its own, like `StartCoroutine`: it runs at once, up to its
/// first wait, and then side by side with the caller. It can be stopped, joined,
/// or left alone; since it may be stopped or panic, a join gives a `Result`.
async fn by_start() {
    let knocking = start(knock());
    say("after start");
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

/// The same, but it runs when the caller has come to its next wait.
async fn by_spawn() {
    let knocking = spawn(knock());
    say("after spawn");
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

/// Nobody waits for it: dropping the handle lets it go on.
async fn by_start_and_forget() {
    start(knock());
    next_frame().await;
    say("has not waited for it");
}

/// A stopped script ends at its wait, and a script that joins it is told.
async fn by_start_and_stop() {
    let knocking = start(knock());
    knocking.stop();
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

fn main() {
    run("knock().await", by_plain_await());
    run("start(knock()).await", by_start());
    run("spawn(knock()).await", by_spawn());
    run("start(knock());", by_start_and_forget());
    run("start(knock()).stop()", by_start_and_stop());
}

fn run(name: &str, script: impl Future<Output = ()> + 'static) {
    println!("{name}");
    let mut executor = Executor::new();
    executor.spawn(script);
    while !executor.is_empty() {
        executor.run_frame(0.1);
    }
}
