//! `Clock::wait_until`: waits for a point in time.

use super::*;

#[test]
fn it_resumes_in_the_first_frame_at_or_past_the_point() {
    let executor = unclamped();
    let clock = executor.clock();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    for (name, point) in [("exact", 0.5), ("late", 0.6), ("then", 1.0)] {
        let clock = clock.clone();
        timeline.row(name, |mark| async move {
            clock.wait_until(point).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        exact -    -    *
        late  -    -    -    *
        then  -    -    -    -    *
        ",
    );
}

#[test]
fn it_does_not_matter_when_it_is_made_or_polled() {
    let executor = unclamped();
    let clock = executor.clock();
    let (point, length) = (clock.wait_until(1), clock.wait_seconds(1));
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row("point", |mark| async move {
        wait_frames(2).await;
        point.await;
        mark.hit();
    });
    timeline.row("length", |mark| async move {
        wait_frames(2).await;
        length.await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3 4 5 6 7
        point  - - - - *
        length - - - - - - *
        ",
    );
}

#[test]
fn scales_and_pauses_of_the_clock_move_the_frame_and_not_the_point() {
    let (executor, child) = with_child();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    for (name, point) in [("first", 0.25), ("second", 0.5)] {
        let child = child.clone();
        timeline.row(name, |mark| async move {
            child.wait_until(point).await;
            assert_eq!(child.now().as_secs_f64().to_bits(), f64::to_bits(point));
            mark.hit();
        });
    }
    timeline.row("speed", |mark| async move {
        child.set_scale(0.5);
        wait_frames(2).await;
        child.pause();
        mark.hit();
        wait_frames(2).await;
        child.resume();
        child.set_scale(1);
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3 4 5 6
        first  - - *
        second - - - - - *
        speed  - - * - *
        ",
    );
}

#[test]
fn a_point_that_is_over_waits_one_frame_and_never_none() {
    let mut executor = unclamped();
    let clock = executor.clock();
    for _ in 0..100 {
        executor.run_frame(0.25);
    }
    for point in [-1.0, 0.0, 3.0, 25.0] {
        let frame = executor.time().frame;
        let wait = executor.start(clock.wait_until(point));
        assert!(!wait.is_finished());
        executor.run_until(wait, 0.25).unwrap();
        assert_eq!(executor.time().frame, frame + 1, "{point}");
    }
    // Even at scale 0, like lengths of zero.
    clock.set_scale(0);
    executor.run_frame(0.25);
    let (past, future) = (
        executor.start(clock.wait_until(1)),
        executor.start(clock.wait_until(1_000)),
    );
    executor.run_frame(0.25);
    assert!(past.is_finished() && !future.is_finished());
}

#[test]
fn points_that_are_over_resume_by_point_then_by_registration() {
    let mut executor = unclamped();
    let (log, clock) = (Log::new(), executor.clock());
    executor.run_frame(100);
    for (name, point) in [("b", 7), ("a", 3), ("c", 7)] {
        let (log, clock) = (log.clone(), clock.clone());
        executor.start(async move {
            clock.wait_until(point).await;
            log.say(name);
        });
    }
    executor.run_frame(0.25);
    log.check(&["F2: a", "F2: b", "F2: c"]);
}

#[test]
fn on_fixed_steps_the_game_clock_compares_fixed_time() {
    let builder = Executor::builder().fixed_delta(0.25);
    let mut executor = builder.max_delta(UNLIMITED).build();
    let (clock, log) = (executor.clock(), Log::new());
    for (name, point) in [("past", 0.0), ("exact", 0.75), ("late", 0.8)] {
        let (log, clock) = (log.clone(), clock.clone());
        executor.start(async move {
            let wait = clock.wait_until(point).in_phase(Phase::FixedUpdate);
            wait.await;
            log.say(format!("{name} {:?}", time().fixed_elapsed));
        });
    }
    executor.run_frame(1);
    let said = log.take().join("; ");
    assert!(
        said.contains("past 250ms") && said.contains("exact 750ms") && said.contains("late 1s"),
        "{said}"
    );
}

#[test]
fn infinity_never_comes_and_nan_panics_at_the_poll_naming_the_call() {
    let mut executor = unclamped();
    let clock = executor.clock();
    let never = executor.start(clock.wait_until(f64::INFINITY));
    let far = executor.start(clock.wait_until(1e300));
    let line = line!() + 1;
    let nan = clock.wait_until(f64::NAN);
    let nan = executor.start(nan);
    executor.run_frame(100);
    assert!(!never.is_finished() && !far.is_finished());
    assert!(never.stop());
    let error = nan.take_output().unwrap().unwrap_err().to_string();
    assert!(error.contains(&format!("points.rs:{line}")), "{error}");
}

#[test]
fn in_another_executor_it_panics() {
    let (mine, mut other) = (unclamped(), unclamped());
    let clock = mine.clock().child();
    let message = panic_of(|| other.run_until(clock.wait_until(1), 0.25));
    assert!(message.contains("another"), "{message}");
}

// docs/contract.md#decided-points-in-time
#[test]
fn a_pause_of_the_coroutine_moves_the_point_like_any_deadline() {
    let mut executor = unclamped();
    let clock = executor.clock();
    let point = executor.start(clock.wait_until(1));
    executor.run_frame(0.25);
    point.pause();
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    point.resume();
    executor.run_until(point, 0.25).unwrap();
    assert_eq!(executor.time().elapsed, millis(3_000));
}

#[test]
fn in_a_combinator_and_dropped_it_is_as_other_timers() {
    let mut executor = unclamped();
    let clock = executor.clock();
    let frames = executor.run_until(
        async move {
            let mut frames = 0;
            let mut point = clock.wait_until(1);
            loop {
                futures::select_biased! {
                    () = point => return frames,
                    () = next_frame() => frames += 1,
                }
                drop(clock.wait_until(2));
            }
        },
        0.25,
    );
    assert_eq!(frames, 3);
    assert!(executor.next_deadline().is_none());
}
