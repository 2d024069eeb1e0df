use framestep::prelude::*;

fn say(text: &str) {
    println!("  frame {}: {text}", time().frame);
}

/// The script that the scripts below run.
async fn knock() -> u32 {
    say("knock");
    next_frame().await;
    say("knock again");
    2
}

/// A plain await: `knock` is a part of the caller, and ends if the caller is
/// stopped.
async fn by_plain_await() {
    let knocks = knock().await;
    say(&format!("knocked {knocks} times"));
}

/// A separate coroutine, like `StartCoroutine`: it runs at once, up to its first
/// wait, and then side by side with the caller. It can be stopped, joined or
/// detached. A join returns a `Result`, because the coroutine may be stopped or
/// panic.
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
async fn by_spawn() {
    let knocking = spawn(knock());
    say("after spawn");
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

/// A detached coroutine: dropping the handle keeps it running.
async fn by_start_and_detach() {
    start(knock());
    next_frame().await;
    say("has not waited for it");
}

/// A stopped coroutine is dropped at its wait, and a join returns an error.
async fn by_start_and_stop() {
    let knocking = start(knock());
    knocking.stop();
    match knocking.await {
        Ok(knocks) => say(&format!("knocked {knocks} times")),
        Err(error) => say(&format!("{error}")),
    }
}

// The host.

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(by_plain_await());
    executor.spawn(by_start());
    executor.spawn(by_spawn());
    executor.spawn(by_start_and_detach());
    executor.spawn(by_start_and_stop());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(0.1);
}

pub(crate) fn shown((): &World) -> String {
    // The errors name scripts and coroutines differently.
    let line = |line: &str| match line.split_once("coroutine ") {
        Some((before, _)) => format!("{before}STOPPED"),
        None => line.to_owned(),
    };
    let printed = crate::ported::harness::printed(&());
    printed.lines().map(line).collect::<Vec<_>>().join("\n")
}
