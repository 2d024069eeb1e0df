//! Scripts that catch panics: what their destructors do meanwhile is recorded and replayed.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::Command;
use std::task::{Context, Poll};

use framestep_durable::prelude::*;

use crate::sleeps::reread;

const GONE: Signal<u32> = signal("gone");

/// Has effects when it is dropped.
struct Leaves;

impl Drop for Leaves {
    fn drop(&mut self) {
        GONE.emit(1);
        let count = with(|count: &mut u32| {
            *count += 1;
            *count
        });
        GONE.emit(count);
    }
}

/// Catches the panic of a future.
struct Catch<F>(Pin<Box<F>>);

impl<F: Future> Future for Catch<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }
}

/// What closures have that are called and panic.
#[derive(Clone)]
struct Token;

impl Drop for Token {
    fn drop(&mut self) {
        GONE.emit(1);
    }
}

#[durable]
async fn gives_tokens() {
    let uses = |_: &Token| assert!(effect(|| false), "a closure panics");
    let calls: [&dyn Fn(Token); 5] = [
        &|token| with(move |_: &mut u32| uses(&token)),
        &|token| with_ref(move |_: &u32| uses(&token)),
        &|token| with_once("gives", move |_: &mut u32| uses(&token)),
        &|token| effect(move || uses(&token)),
        // It is not lent, so the closure is not called.
        &|token| with(move |_: &mut String| uses(&token)),
    ];
    for call in calls {
        assert!(catch_unwind(AssertUnwindSafe(|| call(Token))).is_err());
    }
    wait_seconds(1000).await;
}

#[test]
fn what_a_closure_drops_as_it_panics_is_a_part_of_its_effect() {
    let (mut runtime, mut count) = (Runtime::new(Registry::new().script(gives_tokens)), 0_u32);
    let id = runtime.spawn(gives_tokens()).id();
    runtime.run_frame_with(&mut count, 0.1);
    assert_eq!(runtime.entries(id), Some(5));
    runtime.verify().unwrap();
    let save = runtime.save_state().unwrap();
    runtime.rollback(&save).unwrap();
    let restored = runtime.restore(&save, Policy::Fail).unwrap();
    assert_eq!(restored.passed, []);
}

/// Starts a script of framestep, which is refused.
struct StartsPlain;

impl Drop for StartsPlain {
    fn drop(&mut self) {
        drop(framestep::start(async {}));
    }
}

#[durable]
async fn starts_as_it_unwinds() {
    let caught = catch_unwind(|| {
        let _starts = StartsPlain;
        panic!("a script fails, and catches it");
    });
    assert!(caught.is_err());
    wait_seconds(1000).await;
}

#[test]
fn a_start_that_is_refused_as_a_replay_unwinds_is_no_second_panic() {
    let this = std::env::current_exe().unwrap();
    let mut test = Command::new(this);
    test.args(["--exact", "--ignored", "caught::aborts_in_a_load"]);
    assert!(test.output().unwrap().status.success());
}

#[test]
#[ignore = "it may abort: another test runs it in a separate process"]
fn aborts_in_a_load() {
    let mut runtime = Runtime::new(Registry::new().script(starts_as_it_unwinds));
    runtime.start(starts_as_it_unwinds()).detach();
    runtime.run_frame(0.1);
    let save = reread(&runtime);
    runtime.restore(&save, Policy::Fail).unwrap();
}

#[derive(Serialize, Deserialize)]
struct Catches;

impl DurableScript for Catches {
    const NAME: &'static str = "catches";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let fails = async {
            let _leaves = Leaves;
            next_frame().await;
            panic!("a script fails, and catches it");
        };
        let caught: Option<()> = Catch(Box::pin(fails)).await;
        assert!(caught.is_none());
        wait_seconds(0.25).await;
        Chapter::Done(with(|count: &mut u32| *count))
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Catches>())
}

#[test]
fn effects_of_destructors_in_a_caught_panic_are_replayed() {
    let (mut runtime, mut count) = (blank(), 0_u32);
    let id = runtime.start(Catches).id();
    for _ in 0..2 {
        runtime.run_frame_with(&mut count, 0.1);
    }
    assert_eq!((count, runtime.entries(id)), (1, Some(4)));
    runtime.verify().unwrap();
    let mut loaded = blank();
    loaded.restore(&reread(&runtime), Policy::Fail).unwrap();
    let handle = loaded.enter(|| id.handle::<u32>()).unwrap();
    for _ in 0..5 {
        loaded.run_frame_with(&mut count, 0.1);
    }
    assert_eq!(loaded.result(&handle), Some(Ok(1)));
}

#[test]
fn panics_of_replays_are_not_printed() {
    let this = std::env::current_exe().unwrap();
    let mut test = Command::new(this);
    test.args([
        "--exact",
        "--ignored",
        "--nocapture",
        "caught::replays_panics",
    ]);
    let output = test.output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(printed.matches("a script fails").count(), 1, "{printed}");
    assert_eq!(printed.matches("the host fails").count(), 1, "{printed}");
}

#[test]
#[ignore = "another test reads what it prints"]
fn replays_panics() {
    let (mut runtime, mut count) = (blank(), 0_u32);
    runtime.start(Catches).detach();
    for _ in 0..2 {
        runtime.run_frame_with(&mut count, 0.1);
    }
    for _ in 0..3 {
        runtime.verify().unwrap();
    }
    // Other panics are printed as before.
    catch_unwind(|| panic!("the host fails")).unwrap_err();
}
