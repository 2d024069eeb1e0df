//! `animate`: 0 now, 1 at the end, and the values in between.

use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, UNLIMITED, unclamped};
use framestep_testkit::{panic_text, result_of, swallow, update};

type Values = Rc<RefCell<Vec<f32>>>;

/// Animates on `executor` and returns the values in order.
fn values(executor: &Executor, seconds: impl Seconds + 'static) -> (Coroutine<()>, Values) {
    let values = Values::default();
    let push = values.clone();
    let animation = animate(seconds, move |t| push.borrow_mut().push(t));
    (executor.start(animation), values)
}

#[test]
fn it_calls_with_0_at_once_and_with_1_last() {
    let mut executor = unclamped();
    let (animation, values) = values(&executor, 1);
    assert_eq!(values.take(), [0.0]);
    for share in [0.25, 0.5, 0.75] {
        executor.run_frame(0.25);
        assert_eq!(values.take(), [share]);
    }
    executor.run_frame(0.5);
    assert_eq!(values.take(), [1.0]);
    assert!(animation.is_finished());
    executor.run_frame(0.25);
    assert!(values.take().is_empty());
}

#[test]
fn it_is_over_when_a_wait_of_the_same_length_is() {
    let mut executor = Executor::new();
    for ns in [1, 999, 16_666_667, 33_333_334, 100_000_000, 123_456_789] {
        let length = Duration::from_nanos(ns);
        let animation = executor.start(animate(length, |_| ()));
        let wait = executor.start(wait_seconds(length));
        while !wait.is_finished() {
            assert!(!animation.is_finished());
            executor.run_frame(Duration::from_nanos(16_666_667));
        }
        assert!(animation.is_finished());
    }
}

#[test]
fn zero_and_negative_lengths_give_0_now_and_1_in_the_next_frame() {
    fn check(seconds: impl Seconds + 'static) {
        let mut executor = unclamped();
        let (animation, values) = values(&executor, seconds);
        assert_eq!(values.take(), [0.0]);
        executor.run_frame(0);
        assert_eq!(values.take(), [1.0]);
        assert!(animation.is_finished());
    }
    check(0);
    check(-0.0);
    check(-1);
    check(f64::NEG_INFINITY);
}

#[test]
fn with_infinity_it_stays_at_0() {
    let mut executor = unclamped();
    let (animation, values) = values(&executor, f64::INFINITY);
    for _ in 0..3 {
        update(&mut executor, UNLIMITED);
    }
    assert_eq!(values.take(), [0.0; 4]);
    assert!(animation.stop());
}

#[test]
fn it_never_goes_back_and_is_1_only_once() {
    let mut executor = Executor::builder().max_delta(UNLIMITED).build();
    let length = Duration::from_secs(100_000_000);
    let (_animation, values) = values(&executor, length);
    // Shares that an `f32` rounds to 1 are not 1 yet.
    for dt in [
        Duration::from_secs(50_000_000),
        Duration::from_nanos(49_999_999_999_999_997),
        Duration::from_nanos(1),
        Duration::from_nanos(1),
        Duration::from_nanos(1),
    ] {
        update(&mut executor, dt);
    }
    let values = values.take();
    assert!(values.is_sorted(), "{values:?}");
    assert_eq!(values.iter().filter(|&&t| t >= 1.0).count(), 1);
    assert_eq!(values.len(), 6);
    assert_eq!(values.last(), Some(&1.0));
}

#[test]
fn while_the_clock_stands_still_so_does_the_value() {
    let mut executor = unclamped();
    let (_animation, values) = values(&executor, 1);
    executor.run_frame(0.5);
    for _ in 0..3 {
        executor.run_frame(0);
    }
    executor.run_frame(0.25);
    assert_eq!(values.take(), [0.0, 0.5, 0.5, 0.5, 0.5, 0.75]);
}

#[test]
fn a_huge_frame_ends_it() {
    let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
    let (animation, values) = values(&executor, 1);
    update(&mut executor, f64::MAX);
    assert_eq!(values.take(), [0.0, 1.0]);
    assert!(animation.is_finished());
}

#[test]
fn in_phase_calls_there_once_a_run() {
    let mut executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    let log = Log::new();
    for phase in [Phase::EarlyUpdate, Phase::FixedUpdate, Phase::LateUpdate] {
        let say = log.clone();
        executor.start(animate(1, move |t| say.say(t)).in_phase(phase));
    }
    log.check(&["F0: 0", "F0: 0", "F0: 0"]);
    executor.run_frame(0.5);
    log.check(&[
        "F1.EarlyUpdate: 0.5",
        "F1.FixedUpdate: 0.25",
        "F1.FixedUpdate: 0.5",
        "F1.LateUpdate: 0.5",
    ]);
    executor.run_frame(0.5);
    log.check(&[
        "F2.EarlyUpdate: 1",
        "F2.FixedUpdate: 0.75",
        "F2.FixedUpdate: 1",
        "F2.LateUpdate: 1",
    ]);
    executor.assert_empty();
}

#[test]
fn it_may_borrow_what_it_moves() {
    let mut executor = unclamped();
    let door = executor.run_until(
        async {
            let mut door = 5.0;
            animate(1, |t| door = 5.0 - 5.0 * t).await;
            door
        },
        0.25,
    );
    assert!(door.abs() < f32::EPSILON);
}

#[test]
fn dropping_it_leaves_the_value_where_it_is() {
    let mut executor = unclamped();
    let (animation, values) = values(&executor, 1);
    executor.run_frame(0.25);
    animation.stop();
    executor.run_frame(0.25);
    assert_eq!(values.take(), [0.0, 0.25]);
    assert!(!executor.has_ready());
}

#[test]
fn it_works_inside_combinators() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut fade = animate(1, |t| say.say(t));
        select_biased! {
            () = fade => unreachable!(),
            () = wait_seconds(0.5) => {}
        }
        say.say("cut");
        futures::join!(
            swallow(animate(0.25, |t| say.say(format!("a {t}")))),
            animate(0.5, |t| {
                say.say(format!("b {t}"));
            })
        );
        say.say("both");
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F0: 0",
        "F1: 0.25",
        "F2: 0.5",
        "F2: cut",
        "F2: a 0",
        "F2: b 0",
        "F3: a 1",
        "F3: b 0.5",
        "F4: b 1",
        "F4: both",
    ]);
}

#[test]
fn polled_for_other_reasons_it_does_not_call() {
    let mut executor = unclamped();
    let (sender, mut receiver) = futures::channel::mpsc::unbounded::<()>();
    let values = Values::default();
    let push = values.clone();
    executor.start(async move {
        let mut fade = animate(1, |t| push.borrow_mut().push(t));
        loop {
            use futures::StreamExt;
            select_biased! {
                () = fade => break,
                () = receiver.select_next_some() => {}
            }
        }
    });
    executor.start(async move {
        loop {
            let _ = sender.unbounded_send(());
            next_frame().in_phase(Phase::LateUpdate).await;
        }
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    assert_eq!(values.take(), [0.0, 0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn a_length_of_nan_panics_and_names_the_call_site() {
    let executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let animation = executor.start(animate(f32::NAN, move |_| say.note("called")));
    let error = result_of(&executor, animation).unwrap_err();
    let text = panic_text(&*error.into_panic());
    assert!(text.contains("animate.rs"), "names no call site: {text}");
    assert!(text.contains("NaN"), "names no reason: {text}");
    log.check(&[]);
}

#[test]
fn a_panic_of_the_closure_is_one_of_the_coroutine() {
    for bad in [0.0, 0.5, 1.0] {
        let mut executor = unclamped();
        let animation = executor.start(animate(1, move |t| {
            assert!((t - bad).abs() > 0.01, "on purpose");
        }));
        for _ in 0..4 {
            executor.run_frame(0.25);
        }
        let error = result_of(&executor, animation).unwrap_err();
        assert_eq!(panic_text(&*error.into_panic()), "on purpose");
        assert!(executor.is_empty() && !executor.has_ready());
    }
}

#[test]
fn outside_of_an_executor_it_says_so() {
    let poll = || animate(1, |_| ()).now_or_never();
    let payload = std::panic::catch_unwind(AssertUnwindSafe(poll)).unwrap_err();
    assert!(panic_text(&*payload).contains("`animate()` was polled outside"));
}

#[test]
fn a_second_run_of_the_phase_in_a_frame_applies_nothing() {
    let mut executor = unclamped();
    // Due in the second run.
    executor.spawn(in_phase(Phase::Update));
    let applied = Rc::new(Cell::new(0));
    let count = applied.clone();
    executor.spawn(animate(1, move |_| count.set(count.get() + 1)));
    executor.run_phase(Phase::Update);
    executor.run_phase(Phase::Update);
    assert_eq!(applied.get(), 1);
}

// Moved, and shared

/// How many frames after its beginning a wait of 5 seconds ends. It begins in one
/// coroutine, and moves to another in the next frame. `paused` was paused for three
/// seconds before.
fn frames_if_moved(wait: fn() -> LocalBoxFuture<'static, ()>, paused: Option<usize>) -> u64 {
    let mut executor = unclamped();
    let slot = Rc::new(RefCell::new(None));
    let (put, taken) = (slot.clone(), slot);
    let one = executor.start(async move {
        wait_until(|| time().frame >= 20).await;
        let mut wait = wait();
        assert!(futures::poll!(&mut wait).is_pending());
        *put.borrow_mut() = Some(wait);
        wait_frames(4).await;
    });
    let two = executor.start(async move {
        wait_until(|| time().frame >= 21).await;
        let wait: LocalBoxFuture<'static, ()> = taken.take().expect("it is there");
        wait.await;
        time().frame
    });
    match paused {
        Some(1) => assert!(one.pause()),
        Some(2) => assert!(two.pause()),
        _ => {}
    }
    executor.run_frames(12, 0.25);
    let _ = (one.resume(), two.resume());
    executor.run_frames(60, 0.25);
    two.take_output().unwrap().unwrap() - 20
}

// docs/contract.md#rule-8-moved-waits
#[test]
fn an_animation_that_moves_is_on_time_whichever_coroutine_was_paused_before() {
    for paused in [None, Some(1), Some(2)] {
        assert_eq!(
            frames_if_moved(|| wait_seconds(5).boxed_local(), paused),
            20
        );
        assert_eq!(
            frames_if_moved(|| animate(5, |_| ()).boxed_local(), paused),
            20,
            "{paused:?}"
        );
    }
}

// docs/contract.md#decided-on-a-clock
#[test]
fn an_animation_that_moves_keeps_its_clock() {
    let mut executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    let (values, slot) = (Values::default(), Rc::new(RefCell::new(None)));
    let (push, put) = (values.clone(), slot.clone());
    let begins = owner.start(async move {
        let mut wait = animate(1, move |t| push.borrow_mut().push(t));
        assert!(futures::poll!(&mut wait).is_pending());
        *put.borrow_mut() = Some(wait);
    });
    assert!(begins.is_finished());
    executor.start(async move { slot.take().expect("it is there").await });
    executor.run_frames(9, 0.25);
    assert_eq!(
        values.take(),
        [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]
    );
}

// docs/contract.md#decided-shared-waits
#[test]
fn a_shared_animation_runs_on_while_one_of_its_scripts_does() {
    for first_runs in [true, false] {
        for (from, to) in [(2, 3), (3, 4), (2, 4), (2, 8), (5, 6)] {
            let mut executor = unclamped();
            let shared = animate(5, |_| ()).boxed_local().shared();
            let script = |wait: futures::future::Shared<_>| async move {
                wait.await;
                time().frame
            };
            let first = executor.start(script(shared.clone()));
            let second = executor.start(script(shared));
            let (runs, other) = if first_runs {
                (first, second)
            } else {
                (second, first)
            };
            for frame in 0..30 {
                if frame == from {
                    other.pause();
                }
                if frame == to {
                    other.resume();
                }
                executor.run_frame(0.25);
            }
            let case = format!("{first_runs}, paused from {from} to {to}");
            assert_eq!(runs.take_output().unwrap().unwrap(), 20, "{case}");
        }
    }
}

// docs/contract.md#decided-shared-waits
#[test]
fn a_shared_animation_runs_on_when_its_scripts_take_turns_to_be_paused() {
    let mut executor = unclamped();
    let shared = animate(5, |_| ()).boxed_local().shared();
    let scripts = [(); 2].map(|()| {
        let shared = shared.clone();
        executor.start(async move {
            shared.await;
            time().frame
        })
    });
    scripts[1].pause();
    for frame in 0..30 {
        let [one, two] = &scripts;
        let (runs, other) = if frame % 2 == 0 {
            (one, two)
        } else {
            (two, one)
        };
        runs.resume();
        other.pause();
        executor.run_frame(0.25);
    }
    let ends = scripts.map(|script| script.take_output());
    assert!(matches!(ends[0], Some(Ok(20 | 21))), "{ends:?}");
}
