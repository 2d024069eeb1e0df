//! Headless: frames of equal length until a future ends.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{count_frames, panic_of};

#[test]
fn run_until_returns_the_output_of_the_future() {
    let mut executor = unclamped();
    let text = executor.run_until(
        async {
            wait_frames(3).await;
            String::from("result")
        },
        0.25,
    );
    assert_eq!(text, "result");
}

#[test]
fn run_until_runs_frames_of_the_given_length() {
    let mut executor = unclamped();
    let (from, to) = executor.run_until(
        async {
            let from = time();
            wait_seconds(10).await;
            (from, time())
        },
        0.5,
    );
    assert_eq!(
        to.elapsed.checked_sub(from.elapsed),
        Some(Duration::from_secs(10))
    );
    assert_eq!(to.frame - from.frame, 20);
    assert_eq!(to.delta, Duration::from_millis(500));
    assert_eq!(executor.time().frame, to.frame, "not a frame more");
}

#[test]
fn run_until_runs_every_phase_of_a_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.run_until(
        async move {
            next_frame().await;
            let frame = time().frame;
            in_phase(Phase::LateUpdate).await;
            say.note(time().frame - frame);
            end_of_frame().await;
            say.note(time().frame - frame);
            in_phase(Phase::EarlyUpdate).await;
            say.note(time().frame - frame);
            fixed_update().await;
            say.note(time().frame - frame);
        },
        0.25,
    );
    log.check(&["0", "0", "1", "1"]);
}

#[test]
fn run_until_steps_the_other_coroutines_as_well() {
    let mut executor = unclamped();
    let ticks = Rc::new(Cell::new(0));
    let ticker = executor.start(count_frames(ticks.clone()));
    executor.run_until(wait_frames(5).map(drop), 0.25);
    assert_eq!(ticks.get(), executor.time().frame);
    assert!(!ticker.is_finished());
    let before = ticks.get();
    executor.run_frame(0.25);
    assert_eq!(ticks.get(), before + 1);
}

#[test]
fn run_until_may_be_called_again() {
    let mut executor = unclamped();
    for i in 0..5 {
        let result = executor.run_until(
            async move {
                next_frame().await;
                i
            },
            Duration::from_millis(16),
        );
        assert_eq!(result, i);
    }
    executor.assert_empty();
}

#[test]
fn run_until_may_wait_for_a_handle() {
    let mut executor = unclamped();
    let child = executor.start(async {
        wait_seconds(1).await;
        5
    });
    let result = executor.run_until(child, 0.25);
    assert_eq!(result.unwrap(), 5);
    assert_eq!(executor.time().elapsed, Duration::from_secs(1));
}

#[test]
fn run_until_lets_the_panic_of_its_future_through() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            say.note("sibling");
        }
    });
    let text = panic_of(|| {
        executor.run_until(
            async {
                wait_frames(2).await;
                panic!("on purpose");
            },
            0.25,
        )
    });
    assert_eq!(text, "on purpose");
    log.take();
    executor.run_frame(0.25);
    log.check(&["sibling"]);
}

#[test]
fn run_until_does_not_mind_the_panics_of_others() {
    let mut executor = unclamped();
    executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    let result = executor.run_until(
        async {
            wait_frames(2).await;
            5
        },
        0.25,
    );
    assert_eq!(result, 5);
}

// Frames without an end: docs/contract.md#decided-run-until

/// Waits for a bell that nobody rings.
async fn waits_for_ever(bell: Signal<()>) {
    bell.wait().await;
}

#[test]
fn run_until_of_what_nothing_can_end_panics_with_the_coroutine_its_wait_and_the_snapshot() {
    let mut executor = Executor::builder().inspect(true).build();
    let bell = Signal::new().named("bell");
    let line = line!() - 7;
    let text = panic_of(|| executor.run_until(waits_for_ever(bell.clone()), 0.25));
    for part in [
        "`run_until` would never return: after 64 frames nothing is due, and nothing can wake a coroutine. It awaits 0v1 ",
        "waits_for_ever: signal bell, at ",
        &format!("run_until.rs:{line}:"),
        "\nframe 64, 16s: 1 coroutine\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn run_until_knows_each_wait_that_nothing_ends() {
    type Start = fn(&mut Executor) -> Coroutine<()>;
    let never: [(&str, Start); 8] = [
        ("pending", |ex| ex.start(std::future::pending())),
        ("infinity", |ex| {
            ex.start(wait_seconds(f32::INFINITY).map(drop))
        }),
        ("paused", |ex| {
            let script = ex.start(next_frame());
            script.pause();
            script
        }),
        ("clock", |ex| {
            ex.clock().pause();
            ex.start(wait_seconds(1).map(drop))
        }),
        ("permits", |ex| {
            ex.start(Semaphore::new(0).acquire().map(drop))
        }),
        ("watch", |ex| {
            let watch = Watch::new(1);
            ex.start(watch.wait_for(|n| *n == 2).map(drop))
        }),
        ("join", |ex| {
            let other = ex.start(std::future::pending::<()>());
            ex.start(other.map(drop))
        }),
        ("select", |ex| {
            let (a, b) = (Signal::<()>::new(), Semaphore::new(0));
            ex.start(async move {
                select! {
                    () = a.wait() => {}
                    _ = b.acquire() => {}
                }
            })
        }),
    ];
    for (kind, start) in never {
        let mut executor = unclamped();
        let script = start(&mut executor);
        let text = panic_of(|| executor.run_until(script, 0.25));
        assert!(
            text.starts_with("`run_until` would never return"),
            "{kind}: {text}"
        );
    }
}

#[test]
fn run_until_goes_on_while_another_thread_may_wake_a_coroutine() {
    let mut executor = unclamped();
    let (sender, receiver) = futures::channel::oneshot::channel();
    let (begun, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        told.recv().unwrap();
        sender.send(5).unwrap();
    });
    let mut frames = 0;
    executor.on_report(|report| panic!("{report}"));
    let answer = executor.run_until(
        async move {
            // Many looks, before and after the wait for the thread.
            wait_frames(200).await;
            begun.send(()).unwrap();
            frames += 1;
            receiver.await.unwrap() + frames
        },
        0.25,
    );
    assert_eq!(answer, 6);
    thread.join().unwrap();
}

#[test]
fn run_until_gives_up_after_max_frames() {
    type Waits = fn() -> std::pin::Pin<Box<dyn Future<Output = ()>>>;
    let endless: [(&str, Waits); 3] = [
        ("condition", || Box::pin(wait_until(|| false))),
        ("loop", || {
            Box::pin(async {
                loop {
                    next_frame().await;
                }
            })
        }),
        // Something else has its waker, so another thread might wake it.
        ("channel", || {
            let (sender, receiver) = futures::channel::oneshot::channel::<()>();
            Box::pin(async move {
                let _kept = sender;
                receiver.await.unwrap();
            })
        }),
    ];
    for (kind, wait) in endless {
        let mut executor = Executor::builder().max_frames(500).build();
        let text = panic_of(|| executor.run_until(wait(), 0.25));
        let limit = "frames, the limit that `Builder::max_frames` sets. It awaits 0v1 ";
        assert!(text.contains(limit), "{kind}: {text}");
        assert!(executor.time().frame <= 500, "{kind}");
    }
}

#[test]
fn a_future_that_returns_in_the_last_frame_of_the_limit_has_returned() {
    for frames in [9, 10, 11] {
        let mut executor = Executor::builder().max_frames(10).build();
        let returned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            executor.run_until(wait_frames(frames), 0.25);
        }));
        assert_eq!(returned.is_ok(), frames <= 10, "{frames}");
    }
}

#[test]
fn the_frames_of_a_scene_may_wake_a_script_late_and_have_the_same_limit() {
    struct Rings(Signal<()>);
    impl framestep::scene::Behaviour for Rings {
        fn update(&mut self, context: &framestep::scene::SceneContext<'_, Self>) {
            if context.time().frame == 300 {
                self.0.emit(());
            }
        }
    }
    let executor = Executor::builder().max_frames(1_000).build();
    let mut scene = framestep::scene::Scene::with_executor(executor);
    let bell = Signal::new();
    scene.add(Rings(bell.clone()));
    scene.run_until(bell.wait(), 0.25);
    let text = panic_of(|| scene.run_until(bell.wait(), 0.25));
    assert!(text.contains("after 1000 frames"), "{text}");
}

#[test]
fn a_trace_hook_may_wake_a_script_late() {
    let mut executor = unclamped();
    let bell = Signal::new();
    let ring = bell.clone();
    executor.on_full_trace(move |event| {
        if event.frame == 300 {
            ring.emit(());
        }
    });
    executor.start(async { wait_frames(300).await });
    executor.run_until(bell.wait(), 0.25);
    assert_eq!(executor.time().frame, 300);
}
