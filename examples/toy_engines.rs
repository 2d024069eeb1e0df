//! The coroutine samples of toy engines, as behaviours in a scene.
//!
//! In each section the objects are added before the first frame, and `start`
//! is called in frame 1.

use framestep::prelude::*;
use framestep::scene::{Behaviour, BehaviourHandle, Scene, SceneContext};

fn say(text: &str) {
    println!("F{}: {text}", time().frame);
}

/// Runs `frames` frames of `dt` seconds.
fn section(name: &str, frames: u32, dt: f64, fill: impl FnOnce(&Scene)) {
    println!("{name}, {frames} frames of {dt} s");
    // The frames are long: do not shorten them.
    let executor = Executor::builder().max_delta(f32::INFINITY).build();
    let mut scene = Scene::with_executor(executor);
    fill(&scene);
    for _ in 0..frames {
        scene.run_frame(dt);
    }
    println!();
}

/// `yield return StartCoroutine(..)`: an outer coroutine waits for an inner one.
struct GameObject;

impl Behaviour for GameObject {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(outer());
    }
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

/// `yield return Foo2()`: a nested script, and another coroutine beside it.
struct FooAndBar;

impl Behaviour for FooAndBar {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(foo());
        context.start(bar());
    }
}

async fn foo() {
    foo2().await;
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

/// `yield return null`, and `yield break` at the end.
struct Test;

impl Behaviour for Test {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(async {
            say("Test 1");
            next_frame().await;
            say("Test 2");
            next_frame().await;
            say("Test 3");
            next_frame().await;
            say("Test 4");
        });
    }
}

/// Work that is split over frames by hand: the inner coroutine ends before the
/// outer one.
struct Sliced;

impl Behaviour for Sliced {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(async {
            say("1a");
            next_frame().await;
            say("1b");
            let _ = start(coroutine2()).await;
            say("1c");
        });
    }

    fn late_update(&mut self, _: &SceneContext<'_, Self>) {
        say("LateUpdate");
    }
}

async fn coroutine2() {
    say("2a");
    next_frame().await;
    say("2b");
    next_frame().await;
    say("2c");
}

/// Starts and stops coroutines while others run, and destroys itself.
struct Juggler {
    in_the_air: Vec<Coroutine<()>>,
}

async fn ball(number: u64) {
    loop {
        say(&format!("  ball {number} turns"));
        next_frame().await;
    }
}

async fn juggle(this: BehaviourHandle<Juggler>) {
    loop {
        next_frame().await;
        let number = time().frame;
        this.with(|juggler| {
            if juggler.in_the_air.len() == 2 {
                juggler.in_the_air.remove(0).stop();
                say("the oldest ball is caught");
            }
            say(&format!("ball {number} is thrown"));
            juggler.in_the_air.push(start(ball(number)));
        });
    }
}

impl Behaviour for Juggler {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.start(juggle(context.this()));
    }

    fn update(&mut self, context: &SceneContext<'_, Self>) {
        say("Update");
        if context.time().frame == 5 {
            say("DestroySelf");
            context.destroy_self();
        }
    }

    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        say("OnDestroy");
    }
}

fn main() {
    section("Logic out", 9, 1.0, |scene| {
        scene.add(GameObject);
    });
    section("Foo, Foo2 and Bar", 11, 0.75, |scene| {
        scene.add(FooAndBar);
    });
    section("Test 1 to Test 4", 4, 1.0, |scene| {
        scene.add(Test);
    });
    section("Coroutine1 and Coroutine2", 4, 1.0, |scene| {
        scene.add(Sliced);
    });
    section("Starting, stopping, DestroySelf", 6, 1.0, |scene| {
        let in_the_air = Vec::new();
        scene.add(Juggler { in_the_air });
    });
}
