use framestep_durable::prelude::*;

use crate::ported::harness::note;

fn say(text: &str) {
    note!("F{}: {text}", time().frame);
}

#[durable]
async fn seconds() {
    say("wait for 1s");
    wait_seconds(1).await;
    say("wait for 2s");
    wait_seconds(2).await;
    say("wait for 3s");
    wait_seconds(3).await;
    say("Final");
}

#[durable]
async fn outer() {
    say("Logic out");
    let _ = start(inner()).await;
    wait_seconds(3).await;
    say("Logic out end");
}

#[durable]
async fn inner() {
    for i in 0..5 {
        wait_seconds(1).await;
        say(&format!("Coroutine inner {i}"));
    }
}

#[durable]
async fn foo() {
    let _ = start(foo2()).await;
    say("Foo Finished!");
}

#[durable]
async fn foo2() {
    for i in 0..5 {
        say(&i.to_string());
        wait_seconds(1).await;
    }
    say("Foo2 Finished!");
}

#[durable]
async fn bar() {
    wait_seconds(2).await;
    say("Bar Finished!");
}

#[durable]
async fn tests() {
    say("Test 1");
    next_frame().await;
    say("Test 2");
    next_frame().await;
    say("Test 3");
    next_frame().await;
    say("Test 4");
}

#[durable]
async fn coroutine1() {
    say("1a");
    next_frame().await;
    say("1b");
    let _ = start(coroutine2()).await;
    say("1c");
}

#[durable]
async fn coroutine2() {
    say("2a");
    next_frame().await;
    say("2b");
    next_frame().await;
    say("2c");
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    let registry = Registry::new()
        .with::<Seconds>()
        .with::<Outer>()
        .with::<Inner>()
        .with::<Foo>()
        .with::<Foo2>()
        .with::<Bar>()
        .with::<Tests>()
        .with::<Coroutine1>()
        .with::<Coroutine2>();
    Runtime::with(
        framestep::Executor::builder().max_delta(f32::INFINITY),
        registry,
    )
}

pub(crate) fn begin(runtime: &mut Runtime, world: &mut World) {
    runtime.lend(world, |runtime| {
        runtime.start(seconds()).detach();
        runtime.start(outer()).detach();
        runtime.start(foo()).detach();
        runtime.start(bar()).detach();
        runtime.start(tests()).detach();
        runtime.start(coroutine1()).detach();
    });
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.75);
}

pub(crate) use crate::ported::harness::lines as shown;
