use framestep::prelude::*;

fn say(text: &str) {
    println!("F{}: {text}", time().frame);
}

async fn seconds() {
    say("wait for 1s");
    wait_seconds(1).await;
    say("wait for 2s");
    wait_seconds(2).await;
    say("wait for 3s");
    wait_seconds(3).await;
    say("Final");
}

async fn outer() {
    say("Logic out");
    let _ = start(inner()).await;
    wait_seconds(3).await;
    say("Logic out end");
}

async fn inner() {
    for i in 0..5 {
        wait_seconds(1).await;
        say(&format!("Coroutine inner {i}"));
    }
}

async fn foo() {
    let _ = start(foo2()).await;
    say("Foo Finished!");
}

async fn foo2() {
    for i in 0..5 {
        say(&i.to_string());
        wait_seconds(1).await;
    }
    say("Foo2 Finished!");
}

async fn bar() {
    wait_seconds(2).await;
    say("Bar Finished!");
}

async fn tests() {
    say("Test 1");
    next_frame().await;
    say("Test 2");
    next_frame().await;
    say("Test 3");
    next_frame().await;
    say("Test 4");
}

async fn coroutine1() {
    say("1a");
    next_frame().await;
    say("1b");
    let _ = start(coroutine2()).await;
    say("1c");
}

async fn coroutine2() {
    say("2a");
    next_frame().await;
    say("2b");
    next_frame().await;
    say("2c");
}

// The host.

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::builder().max_delta(f32::INFINITY).build();
    executor.start(seconds());
    executor.start(outer());
    executor.start(foo());
    executor.start(bar());
    executor.start(tests());
    executor.start(coroutine1());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(0.75);
}

pub(crate) use crate::ported::harness::printed as shown;
