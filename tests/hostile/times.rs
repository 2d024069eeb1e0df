//! Inputs 24 to 27: invalid times, and clocks at their limits. `bad_time` tests how
//! each is counted and reported.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::Outcome;
use framestep::wait::MissedTicks;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{count_frames, forever, result_of, update};

#[test]
fn a_dt_of_nan_infinity_minus_zero_subnormal_or_f32_max_is_a_frame() {
    fn check(dt: impl Seconds, advances: Duration, reported: bool) {
        let mut executor = Executor::builder().max_delta(1).build();
        let reports = Rc::new(Cell::new(0));
        let count = reports.clone();
        executor.on_report(move |_| count.set(count.get() + 1));
        let frames = Rc::new(Cell::new(0));
        executor.start(count_frames(frames.clone()));
        for _ in 0..3 {
            executor.run_frame(dt);
        }
        assert_eq!(frames.get(), 3);
        assert_eq!(executor.time().elapsed, advances * 3);
        assert_eq!(reports.get() > 0, reported);
        executor.run_frame(0.25);
        let quarter = Duration::from_millis(250);
        assert_eq!(executor.time().elapsed, advances * 3 + quarter);
        assert_eq!(frames.get(), 4);
    }
    let (second, nanosecond) = (Duration::from_secs(1), Duration::from_nanos(1));
    check(f32::NAN, Duration::ZERO, true);
    check(f64::NAN, Duration::ZERO, true);
    check(f32::INFINITY, second, true);
    check(f64::INFINITY, second, true);
    check(f32::NEG_INFINITY, Duration::ZERO, true);
    check(f64::NEG_INFINITY, Duration::ZERO, true);
    check(-0.0_f32, Duration::ZERO, false);
    check(-0.0_f64, Duration::ZERO, false);
    // A dt is rounded up to whole nanoseconds.
    check(f32::from_bits(1), nanosecond, false);
    check(f64::from_bits(1), nanosecond, false);
    check(f32::MAX, second, true);
    check(f64::MAX, second, true);
    check(Duration::MAX, second, true);
    check(3_600, second, true);
}

type Wait = LocalBoxFuture<'static, ()>;

/// Every kind of wait for a length of time.
fn waits(length: impl Seconds + 'static, clock: &Clock) -> [Wait; 5] {
    let clock = clock.clone();
    [
        async move { wait_seconds(length).await }
            .map(drop)
            .boxed_local(),
        async move { wait_seconds_realtime(length).await }
            .map(drop)
            .boxed_local(),
        async move { clock.wait_seconds(length).await }
            .map(drop)
            .boxed_local(),
        async move { wait_seconds(length).in_phase(Phase::EndOfFrame).await }
            .map(drop)
            .boxed_local(),
        async move { timeout(length, forever()).await }
            .map(drop)
            .boxed_local(),
    ]
}

// docs/contract.md#decided-too-long
#[test]
fn a_wait_of_zero_nan_minus_something_infinity_or_duration_max_has_its_row() {
    #[derive(Debug, PartialEq)]
    enum Ends {
        NextFrame,
        Panics,
        Never,
    }
    fn check(length: impl Seconds + 'static, expected: &Ends) {
        for at in 0..5 {
            let mut executor = unclamped();
            let clock = executor.clock().child();
            let wait = waits(length, &clock).into_iter().nth(at).unwrap();
            let coroutine = executor.start(wait);
            let outcome = executor.start(coroutine.finished());
            let at_once = coroutine.is_finished();
            update(&mut executor, 0.25);
            executor.run_phase(Phase::EndOfFrame);
            let ends = match (at_once, coroutine.is_finished()) {
                (true, _) => Ends::Panics,
                (false, true) => Ends::NextFrame,
                (false, false) => Ends::Never,
            };
            assert_eq!(ends, *expected, "way {at}");
            // Such a wait does not even end at the clock's limit.
            update(&mut executor, u64::MAX);
            executor.run_phase(Phase::EndOfFrame);
            assert_eq!(coroutine.is_finished(), *expected != Ends::Never);
            coroutine.stop();
            update(&mut executor, 0);
            let outcome = result_of(&executor, outcome).unwrap();
            assert_eq!(
                outcome,
                match expected {
                    Ends::NextFrame => Outcome::Finished,
                    Ends::Panics => Outcome::Panicked,
                    Ends::Never => Outcome::Stopped,
                }
            );
            executor.assert_empty();
        }
    }
    check(0, &Ends::NextFrame);
    check(0.0, &Ends::NextFrame);
    check(-0.0, &Ends::NextFrame);
    check(Duration::ZERO, &Ends::NextFrame);
    check(-1, &Ends::NextFrame);
    check(-1.5_f32, &Ends::NextFrame);
    check(f64::MIN, &Ends::NextFrame);
    check(f64::NEG_INFINITY, &Ends::NextFrame);
    check(f64::from_bits(1), &Ends::NextFrame);
    check(f64::NAN, &Ends::Panics);
    check(f32::NAN, &Ends::Panics);
    check(f64::INFINITY, &Ends::Never);
    check(f32::INFINITY, &Ends::Never);
    check(f64::MAX, &Ends::Never);
    check(Duration::MAX, &Ends::Never);
}

#[test]
fn a_dt_of_an_hour_with_intervals_of_a_tenth_and_a_hundred_thousand_timers_due_at_once() {
    const TIMERS: u32 = 100_000;
    let mut executor = unclamped();
    let (ticks, resumed) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for policy in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
        let ticks = ticks.clone();
        executor.start(async move {
            let mut interval = interval(0.1).missed_ticks(policy);
            loop {
                interval.next().await;
                ticks.set(ticks.get() + 1);
            }
        });
    }
    for i in 0..TIMERS {
        let resumed = resumed.clone();
        executor.start(async move {
            wait_seconds(f64::from(i) * 0.03).await;
            resumed.set(resumed.get() + 1);
            wait_seconds(1.0).await;
            resumed.set(resumed.get() + 1);
        });
    }
    update(&mut executor, 3_600);
    assert_eq!((ticks.get(), resumed.get()), (3, TIMERS));
    update(&mut executor, 3_600);
    assert_eq!((ticks.get(), resumed.get()), (6, 2 * TIMERS));
    assert_eq!(executor.len(), 3);
}

/// Around every power of two, and at the end.
fn edges() -> Vec<u64> {
    let around = |exponent: u32| {
        let power = 1_u64 << exponent;
        [power - 1, power, power + 1]
    };
    let mut edges: Vec<u64> = (16..64).flat_map(around).collect();
    edges.extend([u64::MAX - 3_000_000_000, u64::MAX - 5, u64::MAX - 1]);
    edges
}

#[test]
fn timers_are_exact_where_clocks_are_near_the_edges_of_the_wheel_and_of_u64() {
    let lengths = [
        1,
        2,
        1_000,
        1 << 20,
        (1 << 21) - 1,
        1 << 21,
        1 << 27,
        1 << 33,
    ];
    for edge in edges() {
        let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
        update(&mut executor, Duration::from_nanos(edge));
        let child = executor.clock().child();
        let mut waits = Vec::new();
        let mut moments = vec![edge];
        for length in lengths {
            let deadline = edge.checked_add(length);
            let length = Duration::from_nanos(length);
            waits.push((deadline, executor.start(wait_seconds(length))));
            waits.push((deadline, executor.start(wait_seconds_realtime(length))));
            waits.push((deadline, executor.start(child.wait_seconds(length))));
            if let Some(deadline) = deadline {
                moments.extend([deadline - 1, deadline]);
            }
        }
        moments.sort_unstable();
        moments.push(u64::MAX);
        let mut now = edge;
        for moment in moments {
            let due = |deadline: Option<u64>| deadline.is_some_and(|deadline| deadline <= moment);
            update(&mut executor, Duration::from_nanos(moment - now));
            now = moment;
            for (deadline, wait) in &waits {
                assert_eq!(
                    wait.is_finished(),
                    due(*deadline),
                    "from {edge} until {deadline:?}, at {moment}"
                );
            }
        }
    }
}

#[test]
fn a_clock_that_a_scale_has_left_behind_ends_with_the_time_that_it_is_given() {
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let clock = executor.clock();
    clock.set_scale(0.5);
    executor.begin_frame(Duration::from_nanos(u64::MAX - 10));
    clock.set_scale(1.0);
    let half = Duration::from_nanos((u64::MAX - 10).div_ceil(2));
    assert_eq!(executor.time().elapsed, half);
    for left in [10, 0, 0] {
        executor.begin_frame(Duration::from_nanos(100));
        assert_eq!(executor.time().delta, Duration::from_nanos(left));
    }
    assert_eq!(executor.time().elapsed, half + Duration::from_nanos(10));
}

/// Runs a clock to the end of its range, in two frames: `between` is called in the
/// first second and at the end.
fn to_the_end(executor: &mut Executor, mut between: impl FnMut()) {
    executor.on_report(|_| ());
    update(executor, 0.5);
    between();
    update(executor, f64::INFINITY);
    between();
    update(executor, 0);
}

#[test]
fn a_tick_at_the_end_of_a_clock_is_late_by_all_that_has_passed() {
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let ticks = Rc::new(Cell::new(None));
    let late = ticks.clone();
    executor.start(async move {
        let mut ticks = interval(1).missed_ticks(MissedTicks::Skip);
        late.set(Some(ticks.tick().await));
        late.set(Some(ticks.tick().await));
    });
    to_the_end(&mut executor, || ());
    let tick = ticks.take().unwrap();
    assert_eq!(
        tick.late,
        Duration::from_nanos(u64::MAX) - Duration::from_secs(1)
    );
    assert_eq!(tick.skipped, u64::MAX / 1_000_000_000 - 1);
    // No second tick: the clock stands still.
    assert_eq!(executor.len(), 1);
}

// docs/contract.md#decided-end-of-a-clock
#[test]
fn what_a_pause_has_moved_past_the_end_of_a_clock_is_due_there() {
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let owner = executor.owner();
    let waits: [Wait; 4] = [
        wait_seconds(1).boxed_local(),
        timeout(1, forever()).map(drop).boxed_local(),
        animate(1, |_| ()).boxed_local(),
        async { _ = interval(1).tick().await }.boxed_local(),
    ];
    let waits = waits.map(|wait| owner.start(wait));
    to_the_end(&mut executor, || {
        if !owner.pause() {
            owner.resume();
        }
    });
    for (number, wait) in waits.iter().enumerate() {
        assert!(wait.is_finished(), "{number}");
    }
}

// docs/contract.md#decided-end-of-a-clock
#[test]
fn at_the_end_of_a_clock_only_waits_of_no_length_end() {
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let child = executor.clock().child();
    to_the_end(&mut executor, || ());
    let ends = Duration::from_nanos(u64::MAX);
    assert_eq!((executor.clock().now(), child.now()), (ends, ends));
    let clocks = [executor.clock(), child];
    for clock in clocks {
        let owner = executor.owner_on(&clock);
        let over = [
            owner.start(wait_seconds(0)),
            owner.start(clock.wait_until(1)),
            owner.start(animate(0, |_| ())),
        ];
        let never = [
            owner.start(wait_seconds(Duration::from_nanos(1))),
            owner.start(animate(1, |_| ())),
            owner.start(async { _ = interval(1).tick().await }),
        ];
        for _ in 0..3 {
            update(&mut executor, 1);
        }
        assert!(over.iter().all(Coroutine::is_finished));
        assert!(!never.iter().any(Coroutine::is_finished));
        assert!(never.iter().all(Coroutine::stop));
    }
}
