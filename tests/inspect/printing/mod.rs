//! The printed text of handles, waits, reports and errors.

mod to_stderr;

use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::JoinError;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::{WakerCall, panic_of, result_of, waker_that_tells};

/// The `Debug` text, which begins with the name of the type.
#[track_caller]
fn shows(value: &impl Debug, name: &str) {
    let text = format!("{value:?}");
    assert!(text.starts_with(name), "{text}");
}

#[test]
fn every_public_type_that_is_no_wait_says_what_it_is() {
    let executor = Executor::new();
    shows(&executor, "Executor");
    shows(&Executor::builder(), "Builder");
    shows(&executor.handle(), "Handle");
    shows(&executor.remote(), "RemoteHandle");
    shows(&executor.clock(), "Clock");
    shows(&executor.owner(), "Owner");
    shows(&executor.snapshot(), "Snapshot");
    let coroutine = executor.start(async { 1 });
    shows(&coroutine.id(), "CoroutineId(0v1)");
    shows(&Signal::<u32>::new(), "Signal");
    shows(&Semaphore::new(1), "Semaphore");
    shows(&Semaphore::new(1).try_acquire().unwrap(), "Permit");
    shows(&executor.clock().pause_guard(), "ClockGuard");
    shows(&executor.owner().pause_guard(), "PauseGuard");
    shows(&defer_call(|| ()), "DeferCall");
}

#[test]
fn reports_say_when_what_and_what_comes_of_it() {
    let id = Executor::new().start(async {}).id();
    let (frame, phase) = (7, Phase::Update);
    let dropped = Duration::from_millis(500);
    let name = || "door".into();
    let cases = [
        (
            Report::InvalidDelta {
                frame,
                counted_as: Duration::ZERO,
            },
            ["frame 7", "not a length of time", "0ns"],
        ),
        (
            Report::TimeDropped { frame, dropped },
            ["frame 7", "500ms", "max_delta"],
        ),
        (
            Report::StepsDropped { frame, dropped },
            ["frame 7", "500ms", "fixed steps"],
        ),
        (
            Report::PollLimitReached {
                id,
                name: name(),
                frame,
                phase,
                polls: 1000,
            },
            [
                "frame 7, Update",
                "0v1 (door)",
                "1000 times in one run (the limit that `Builder::max_polls_per_run` sets)",
            ],
        ),
        (
            Report::Runaway {
                id: None,
                name: None,
                frame,
                phase: None,
                polls: Some(100_000),
            },
            [
                "frame 7: coroutines",
                "stopping or joining one another; after 100000 beyond those alive",
                "(100 times `Builder::max_polls_per_run`), the rest continue later",
            ],
        ),
        (
            Report::Runaway {
                id: Some(id),
                name: Some(name()),
                frame,
                phase: Some(phase),
                polls: None,
            },
            ["frame 7, Update", "0v1 (door)", "at most 100 deep"],
        ),
        (
            Report::HookPanicked {
                hook: "on_trace",
                frame,
                phase: Some(phase),
                message: Some("on purpose".to_owned()),
            },
            ["frame 7, Update", "`on_trace` panicked", "on purpose"],
        ),
    ];
    for (report, parts) in cases {
        let text = report.to_string();
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    }
}

/// A payload that is not text.
struct Mute;

#[test]
fn a_join_error_names_the_coroutine_and_how_it_ended() {
    let executor = Executor::new();
    let sleeper = executor.start(wait_seconds(9)).named("sleeper");
    let id = sleeper.id();
    let line = line!() + 1;
    sleeper.stop();
    let error: JoinError = result_of(&executor, sleeper).unwrap_err();
    assert!(error.is_stopped() && !error.is_panic());
    assert_eq!((error.id(), error.name()), (id, "sleeper"));
    assert_eq!(
        error.to_string(),
        format!(
            "coroutine 0v1 (sleeper) was stopped before it finished, at {}:{line}:13",
            file!()
        )
    );
    let told = panic_of(AssertUnwindSafe(|| error.into_panic()));
    assert!(told.contains("check `is_panic()` first"), "{told}");

    let mute = executor
        .start(async { std::panic::panic_any(Mute) })
        .named("mute");
    let error = result_of(&executor, mute).map(|(): ()| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("coroutine {} (mute) panicked", error.id())
    );
    assert!(error.into_panic().is::<Mute>());
}

#[test]
fn a_host_may_poll_a_handle_itself_and_is_woken_at_the_end() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    let waker = waker_that_tells(|call| {
        if matches!(call, WakerCall::Wake) {
            TOLD.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut executor = Executor::new();
    let mut coroutine = pin!(executor.start(async {
        next_frame().await;
        time().frame
    }));
    let mut cx = Context::from_waker(&waker);
    let mut poll = || coroutine.as_mut().poll(&mut cx);
    assert!(poll().is_pending() && poll().is_pending());
    assert_eq!(TOLD.load(Ordering::Relaxed), 0);
    executor.run_frame(0.1);
    assert_eq!(TOLD.load(Ordering::Relaxed), 1);
    let Poll::Ready(Ok(frame)) = poll() else {
        panic!("it has ended");
    };
    assert_eq!(frame, 1);
}
