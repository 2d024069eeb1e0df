use framestep_durable::prelude::*;

use crate::ported::harness::note;

fn say(text: &str) {
    note!("  frame {}: {text}", time().frame);
}

/// The script that the scripts below run.
#[durable]
async fn knock() -> u32 {
    say("knock");
    next_frame().await;
    say("knock again");
    2
}

/// A plain await: `knock` is a part of the caller, and ends if the caller is
/// stopped.
#[durable]
async fn by_plain_await() {
    let knocks = knock().await.unwrap();
    say(&format!("knocked {knocks} times"));
}

/// A separate coroutine, like `StartCoroutine`: it runs at once, up to its first
/// wait, and then side by side with the caller. It can be stopped, joined or
/// detached. A join returns a `Result`, because the coroutine may be stopped or
/// panic.
#[durable]
async fn by_start() {
    let knocking = start(knock());
    say("after start");
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

/// Like `by_start`, but `knock` first runs when the caller has reached its next
/// wait.
#[durable]
async fn by_spawn() {
    let knocking = spawn(knock());
    say("after spawn");
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

/// A detached coroutine: dropping the handle keeps it running.
#[durable]
async fn by_start_and_detach() {
    start(knock());
    next_frame().await;
    say("has not waited for it");
}

/// A stopped coroutine is dropped at its wait, and a join returns an error.
#[durable]
async fn by_start_and_stop() {
    let knocking = start(knock());
    knocking.stop();
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    let registry = Registry::new()
        .with::<Knock>()
        .with::<ByPlainAwait>()
        .with::<ByStart>()
        .with::<BySpawn>()
        .with::<ByStartAndDetach>()
        .with::<ByStartAndStop>();
    Runtime::new(registry)
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(by_plain_await()).detach();
    runtime.spawn(by_start()).detach();
    runtime.spawn(by_spawn()).detach();
    runtime.spawn(by_start_and_detach()).detach();
    runtime.spawn(by_start_and_stop()).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.1);
}

pub(crate) fn shown(log: &World) -> String {
    // The errors name scripts and coroutines differently.
    let line = |line: &String| match line.split_once("the script was stopped") {
        Some((before, _)) => format!("{before}STOPPED"),
        None => line.clone(),
    };
    log.iter().map(line).collect::<Vec<_>>().join("\n")
}
