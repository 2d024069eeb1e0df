//! What cannot be durable is an error or a panic that names the script and says what to use
//! instead.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use framestep_durable::prelude::*;

/// A script that does one thing that is not allowed, or nearly not.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Case {
    PlainWait,
    PlainTime,
    PlainStart,
    PlainJob,
    PlainBudget,
    PlainHandle,
    PlainClock,
    WaitInWith,
    WithInWith,
    GuardInWith,
    GuardInCondition,
    OtherWorld,
    OtherWorldAnimated,
    OtherWorldAsked,
    Foreign,
    OutsideState,
    NoChapterEnds,
    ScaleOfRealtime,
    Itself,
}

thread_local! {
    static OUTSIDE: Cell<u32> = const { Cell::new(0) };
}

#[derive(Serialize, Deserialize)]
struct Bad(Case);

impl DurableScript for Bad {
    const NAME: &'static str = "bad";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match self.0 {
            Case::PlainWait => framestep::wait_seconds(1).await,
            Case::PlainTime => {
                next_frame().await;
                let _now = framestep::time();
                wait_seconds(1).await;
            }
            Case::PlainStart => {
                framestep::start(std::future::pending::<()>());
                wait_seconds(1).await;
            }
            Case::PlainJob => drop(framestep::task::offload(|| 1).await),
            Case::PlainBudget => framestep::task::Budget::of_units(3).checkpoint().await,
            Case::PlainHandle => drop(framestep::task::handle()),
            Case::PlainClock => drop(clock().child()),
            Case::WaitInWith => with(|_: &mut u32| {
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                let _ = pin!(next_frame()).poll(&mut cx);
            }),
            Case::WithInWith => with(|_: &mut u32| with(|_: &mut u32| ())),
            Case::GuardInWith => with(|_: &mut u32| drop(ClockId::GAME.clock().pause_guard())),
            Case::GuardInCondition => {
                wait_until(|| {
                    drop(ClockId::GAME.clock().pause_guard());
                    true
                })
                .await;
            }
            Case::OtherWorld => with(|_: &mut String| ()),
            Case::OtherWorldAnimated => animate(1, |_| with(|_: &mut String| ())).await,
            Case::OtherWorldAsked => wait_until(|| with_ref(|_: &String| true)).await,
            Case::Foreign => {
                let waits: futures::stream::FuturesUnordered<_> = (1..3).map(wait_frames).collect();
                futures::StreamExt::collect::<Vec<()>>(waits).await;
                wait_seconds(1).await;
            }
            Case::OutsideState => {
                next_frame().await;
                if OUTSIDE.get() == 0 {
                    wait_seconds(1).await;
                } else {
                    with(|_: &mut u32| ());
                    wait_seconds(1).await;
                }
            }
            Case::NoChapterEnds => return Chapter::Next(self),
            Case::ScaleOfRealtime => ClockId::REALTIME.clock().set_scale(2.0),
            Case::Itself => {
                let me: ScriptHandle<()> = start(Bad(Case::OutsideState));
                me.detach();
                next_frame().await;
            }
        }
        Chapter::Done(())
    }
}

fn runtime() -> Runtime {
    let builder = framestep::Executor::builder().propagate_panics(false);
    let runtime = Runtime::with(builder, Registry::new().with::<Bad>());
    runtime.executor().on_report(|_| ());
    runtime
}

/// Runs the case for two frames. Returns the text of its panic.
fn panic_of(case: Case) -> Option<String> {
    let mut runtime = runtime();
    let mut world = 0_u32;
    let bad = runtime.spawn(Bad(case));
    for _ in 0..2 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    match runtime.result(&bad) {
        Some(Err(JoinError::Panicked(text))) => Some(text),
        _ => None,
    }
}

#[track_caller]
fn assert_says(text: Option<String>, parts: &[&str]) {
    let text = text.expect("it panicked");
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}

/// Runs the case for two frames, and saves it, which verifies it.
fn save_error_of(case: Case) -> String {
    let mut runtime = runtime();
    let mut world = 0_u32;
    runtime.spawn(Bad(case)).detach();
    for _ in 0..2 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    OUTSIDE.set(1);
    let error = runtime.verify().expect_err("it cannot be restored");
    let error = error.to_string();
    OUTSIDE.set(0);
    // The script itself continues.
    runtime.run_frame_with(&mut world, 0.1);
    error
}

#[test]
fn waits_and_guards_inside_of_a_with_panic_and_name_the_script() {
    let parts = ["inside of a closure", "`bad`", "before or after"];
    assert_says(panic_of(Case::WaitInWith), &parts);
    assert_says(panic_of(Case::GuardInWith), &parts);
    assert_says(panic_of(Case::GuardInCondition), &parts);
}

#[test]
fn a_with_inside_of_a_with_on_the_same_world_panics() {
    let parts = ["`with` at", "is borrowed by", "misuse.rs"];
    assert_says(panic_of(Case::WithInWith), &parts);
}

#[test]
fn a_world_that_was_not_lent_is_named_with_the_line_of_the_script() {
    for (case, call) in [
        (Case::OtherWorld, "`with` at"),
        (Case::OtherWorldAnimated, "`with` at"),
        (Case::OtherWorldAsked, "`with_ref` at"),
    ] {
        let parts = [call, concat!(file!(), ":"), "String"];
        assert_says(panic_of(case), &parts);
    }
}

#[test]
fn a_script_whose_chapters_never_wait_panics_and_does_not_hang() {
    let parts = ["`bad`", "without waiting"];
    assert_says(panic_of(Case::NoChapterEnds), &parts);
}

#[test]
fn a_clock_that_cannot_be_scaled_says_so() {
    assert_says(panic_of(Case::ScaleOfRealtime), &["realtime"]);
}

#[test]
fn waits_and_readings_of_framestep_are_recorded() {
    for case in [Case::PlainWait, Case::PlainTime] {
        let mut runtime = runtime();
        runtime.spawn(Bad(case)).detach();
        for _ in 0..2 {
            runtime.run_frame(0.1);
        }
        runtime.verify().unwrap();
        assert_eq!(runtime.scripts().len(), 1);
    }
}

#[test]
fn a_plain_coroutine_in_a_durable_script_is_refused() {
    assert_says(
        panic_of(Case::PlainStart),
        &["`start` at", "`bad`", "framestep's own"],
    );
}

#[test]
fn what_only_plain_scripts_have_is_refused_at_its_line_with_what_to_do_instead() {
    for (case, call, instead) in [
        (Case::PlainJob, "`offload` at", "await `ask(|| request)`"),
        (
            Case::PlainBudget,
            "`Budget::checkpoint` at",
            "a fixed number of items in each frame",
        ),
        (Case::PlainHandle, "`handle` at", "`runtime.host()`"),
        (Case::PlainClock, "`Clock::child` at", "`ClockId::child`"),
    ] {
        assert_says(panic_of(case), &[call, "misuse.rs:", "`bad`", instead]);
    }
}

#[test]
fn a_wait_behind_a_foreign_waker_is_refused() {
    let error = save_error_of(Case::Foreign);
    assert!(
        error.contains("`bad`") && error.contains("another waker"),
        "{error}"
    );
    let line = "`wait_frames()` at ";
    assert!(error.contains(line), "{error}");
}

#[test]
fn a_script_that_depends_on_what_is_not_recorded_is_found_with_both_lines() {
    let error = save_error_of(Case::OutsideState);
    for part in ["`bad`", "entry 2", "misuse.rs", "a `with`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn effects_outside_of_an_executor_say_so() {
    let message = |f: fn()| {
        let payload = catch_unwind(f).expect_err("it panics");
        *payload.downcast::<String>().expect("a text")
    };
    let calls: [(fn(), &str); 3] = [
        (|| with(|_: &mut u32| ()), "no `u32` is lent"),
        (|| assert!(time().frame > 0), "outside of an executor"),
        (
            || drop(start(Bad(Case::PlainWait))),
            "outside of an executor",
        ),
    ];
    for (call, says) in calls {
        let text = message(call);
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn a_script_that_is_not_in_the_registry_is_refused_where_it_is_started() {
    let runtime = Runtime::new(Registry::new());
    let start = || drop(runtime.start(Bad(Case::PlainWait)));
    let payload = catch_unwind(AssertUnwindSafe(start)).expect_err("it panics");
    let text = payload.downcast::<String>().expect("a text");
    assert!(
        text.contains("`bad`") && text.contains("Registry::script"),
        "{text}"
    );
    assert!(runtime.scripts().is_empty());
}

#[test]
#[should_panic(expected = "have the same name in files, `bad`")]
fn two_scripts_of_one_name_are_refused() {
    #[derive(Serialize, Deserialize)]
    struct Other;

    impl DurableScript for Other {
        const NAME: &'static str = "bad";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            Chapter::Done(())
        }
    }
    let _ = Registry::new().with::<Bad>().with::<Other>();
}

#[test]
#[should_panic(expected = "owner #1 has been dropped, or is of another runtime: take")]
fn an_owner_below_a_dropped_one_is_refused() {
    let runtime = runtime();
    let owner = runtime.owner();
    assert!(runtime.enter(|| owner.remove()));
    let _ = runtime.enter(|| owner.child());
}
