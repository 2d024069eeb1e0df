//! Well-known samples of coroutine libraries for games, frame by frame.

use framestep::prelude::*;

fn main() {
    section("WaitForSeconds, 12 frames of 0.5 s", 12, 0.5, || {
        start(seconds());
    });
    section("WaitForSeconds, 3 frames of 10 s", 3, 10.0, || {
        start(seconds());
    });
    section("Logic out, 8 frames of 1 s", 8, 1.0, || {
        start(outer());
    });
    section("Foo, Foo2 and Bar, 10 frames of 0.75 s", 10, 0.75, || {
        start(foo());
        start(bar());
    });
    section("Test 1 to Test 4, 3 frames", 3, 1.0, || {
        start(tests());
    });
    section("Coroutine1 and Coroutine2, 3 frames", 3, 1.0, || {
        start(coroutine1());
    });
}

/// Calls `begin` in frame 0, then runs `frames` frames of `dt` seconds.
fn section(name: &str, frames: u32, dt: f64, begin: impl FnOnce()) {
    println!("{name}");
    // The frames are long: do not shorten them.
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    executor.enter(begin);
    for _ in 0..frames {
        executor.run_frame(dt);
    }
    println!();
}

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
