//! Guards: the requests of several scripts to the same clock add up, and each guard
//! undoes its part. docs/contract.md#decided-guards

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// How far the clock moves in a frame of a second.
fn speed(executor: &mut Executor, clock: &Clock) -> f64 {
    executor.run_frame(1);
    clock.delta().as_secs_f64()
}

#[test]
fn a_clock_stands_still_while_any_guard_holds_it_or_it_is_paused() {
    let mut timeline = Timeline::with_dt(0.25);
    let clock = timeline.executor().clock();
    timeline.row("wait", |mark| async move {
        loop {
            wait_seconds(0.25).await;
            mark.hit();
        }
    });
    timeline.run_to(1);
    let menu = clock.pause_guard();
    assert!(clock.is_paused());
    timeline.run_to(2);
    let dialogue = clock.pause_guard();
    assert!(clock.pause(), "a hold is no pause");
    drop(menu);
    timeline.run_to(4);
    drop(dialogue);
    assert!(clock.is_paused());
    timeline.run_to(5);
    assert!(clock.resume());
    assert!(!clock.is_paused());
    timeline.check(
        "
        frame 0 1 2 3 4 5 6 7
        wait  - * - - - - * *
        ",
    );
}

#[test]
fn resume_does_not_end_a_pause_guard() {
    let mut executor = unclamped();
    let clock = executor.clock();
    let _menu = clock.pause_guard();
    assert!(!clock.resume());
    assert!(is(speed(&mut executor, &clock), 0.0));
}

#[test]
fn scales_multiply_with_each_other_and_with_the_scale_that_is_set() {
    let (mut executor, clock) = with_child();
    clock.set_scale(2);
    let half = clock.scaled(0.5);
    assert!(is(speed(&mut executor, &clock), 1.0));
    let eighth = clock.scaled(0.125);
    assert!(is(speed(&mut executor, &clock), 0.125));
    clock.set_scale(4);
    drop(half);
    assert!(is(speed(&mut executor, &clock), 0.5));
    assert!(is(clock.scale(), 4.0) && is(clock.effective_scale(), 0.5));
    let stopped = clock.scaled(0);
    assert!(is(speed(&mut executor, &clock), 0.0));
    assert!(!clock.is_paused());
    drop((stopped, eighth));
    assert!(is(speed(&mut executor, &clock), 4.0));
}

#[test]
fn a_guard_shows_from_the_next_frame_on() {
    let (mut executor, clock) = with_child();
    executor.run_frame(1);
    let guards = (clock.pause_guard(), clock.scaled(0.5));
    assert_eq!((clock.now(), clock.delta()), (millis(1000), millis(1000)));
    assert!(is(clock.effective_scale(), 1.0));
    executor.run_frame(1);
    drop(guards);
    assert!(is(clock.effective_scale(), 0.0));
    assert!(is(speed(&mut executor, &clock), 1.0));
}

#[test]
fn a_guard_of_a_script_ends_with_the_script_however_that_ends() {
    let mut executor = unclamped();
    executor.on_report(|_| {});
    let clock = executor.clock();
    let slow = |clock: &Clock| {
        let clock = clock.clone();
        async move {
            let _slow = clock.scaled(0.5);
            next_frame().await;
            panic!("on purpose");
        }
    };
    executor.start(slow(&clock));
    let stopped = executor.start(slow(&clock));
    executor.begin_frame(1);
    assert!(is(clock.effective_scale(), 0.25));
    stopped.stop();
    executor.begin_frame(1);
    assert!(is(clock.effective_scale(), 0.5));
    executor.run_phase(Phase::Update);
    executor.begin_frame(1);
    assert!(is(clock.effective_scale(), 1.0));
}

// A guard changes the scale. So it may bring a deadline nearer, and must wake a
// sleeping host.
#[test]
fn a_host_that_sleeps_is_told_when_a_guard_makes_a_clock_quicker() {
    let told = Arc::new(AtomicU32::new(0));
    let (mut executor, clock) = with_child();
    let tell = told.clone();
    executor.on_wake(move || {
        tell.fetch_add(1, Ordering::Relaxed);
    });
    executor.start(clock.wait_seconds(4));
    executor.run_frame(0.25);
    let is_told = |executor: &Executor, act: &mut dyn FnMut()| {
        executor.next_deadline(); // the host looks, and sleeps
        let before = told.load(Ordering::Relaxed);
        act();
        told.load(Ordering::Relaxed) > before
    };
    let mut guards = Vec::new();
    assert!(!is_told(&executor, &mut || guards.push(clock.pause_guard())));
    assert!(is_told(&executor, &mut || guards.clear()));
    assert!(!is_told(&executor, &mut || guards.push(clock.scaled(0.5))));
    assert!(is_told(&executor, &mut || guards.push(clock.scaled(3))));
    assert!(is_told(&executor, &mut || drop(guards.remove(0))));
    assert!(!is_told(&executor, &mut || guards.clear()));
}

#[test]
fn realtime_refuses_guards_at_the_callers_line_but_its_children_do_not() {
    let mut executor = unclamped();
    let realtime = executor.realtime();
    let line = line!() + 2;
    let places = [
        place_of_panic(|| realtime.pause_guard()),
        place_of_panic(|| realtime.scaled(0.5)),
        place_of_panic(|| realtime.scaled(f64::NAN)),
    ];
    for (place, line) in places.into_iter().zip(line..) {
        assert_eq!(place, format!("{}:{line}", file!()));
    }
    let text = panic_of(|| realtime.pause_guard());
    assert!(
        text.contains("`pause_guard`") && text.contains("realtime"),
        "{text}"
    );
    let child = realtime.child();
    let _half = child.scaled(0.5);
    assert!(is(speed(&mut executor, &child), 0.5));
}

#[test]
fn no_factor_that_is_no_scale_is_taken() {
    let (mut executor, clock) = with_child();
    for bad in [-0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let text = panic_of(|| clock.scaled(bad));
        assert!(text.contains("is no scale of a clock"), "{text}");
    }
    let huge = [clock.scaled(f64::MAX), clock.scaled(f64::MAX)];
    let none = clock.scaled(-0.0);
    assert!(is(speed(&mut executor, &clock), 0.0));
    drop((huge, none));
    assert!(is(speed(&mut executor, &clock), 1.0));
}

#[test]
fn a_guard_that_outlives_its_executor_does_nothing() {
    let (mut executor, clock) = with_child();
    let game = executor.clock();
    executor.run_frame(1);
    let guards = [clock.pause_guard(), clock.scaled(0.5), game.pause_guard()];
    drop(executor);
    drop(guards);
    assert_eq!((clock.now(), game.now()), (millis(1000), millis(1000)));
    // Also a coroutine that is made afterwards.
    drop(clock.pause_guard());
    assert!(!clock.is_paused());
}

#[test]
fn a_forgotten_guard_leaves_its_part() {
    let (mut executor, clock) = with_child();
    std::mem::forget(clock.scaled(0.5));
    drop(clock.scaled(0.5));
    assert!(is(speed(&mut executor, &clock), 0.5));
    std::mem::forget(clock.pause_guard());
    drop(clock.pause_guard());
    assert!(is(speed(&mut executor, &clock), 0.0));
}

#[test]
fn a_guard_says_what_it_does() {
    let (_executor, clock) = with_child();
    let guards = [clock.pause_guard(), clock.scaled(0.25)];
    let text = format!("{guards:?}");
    assert_eq!(text, "[ClockGuard(held), ClockGuard(scaled by 0.25)]");
}
