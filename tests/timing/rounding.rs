//! Rounding: a dt is rounded up, a length to the nearest, and an `f32` stands
//! for the decimal that it was written as. docs/contract.md#time-rounding

use std::time::Duration;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::update;

/// The frame in which `wait_seconds(length)` ends, with frames of `dt`.
fn frames_of<L: Seconds + 'static>(length: L, dt: impl Seconds) -> u64 {
    let mut executor = unclamped();
    let wait = executor.start(wait_seconds(length).map(drop));
    while !wait.is_finished() {
        update(&mut executor, dt);
        assert!(executor.time().frame < 1_000, "the wait does not end");
    }
    executor.time().frame
}

/// The whole nanoseconds that `length` waits.
fn nanos_of<L: Seconds + 'static>(length: L) -> u128 {
    let executor = unclamped();
    let _wait = executor.start(wait_seconds(length));
    let left = executor.next_deadline();
    left.expect("a wait of a finite length").as_nanos()
}

/// The whole nanoseconds by which a frame of `dt` moves the game clock.
fn step_of(dt: impl Seconds) -> u128 {
    let mut executor = unclamped();
    update(&mut executor, dt);
    executor.time().elapsed.as_nanos()
}

#[test]
fn frames_at_144_hertz_reach_a_second_in_144_frames() {
    assert_eq!(frames_of(1, 1.0_f32 / 144.0), 144);
    assert_eq!(frames_of(1, 1.0_f64 / 144.0), 144);
    assert_eq!(frames_of(1.0_f32, 1.0_f32 / 144.0), 144);
}

#[test]
fn frames_of_any_common_rate_reach_a_second_in_as_many_frames() {
    for hertz in [
        24_u32, 25, 30, 48, 50, 60, 72, 75, 90, 100, 120, 144, 165, 240,
    ] {
        let dt = 1.0 / f64::from(hertz);
        assert_eq!(frames_of(1, dt), u64::from(hertz), "{hertz} Hz");
    }
}

#[test]
fn an_f32_stands_for_the_shortest_decimal_that_reads_back_as_it() {
    // As the nearest binary fraction it would be 100_000_001.49 ns.
    assert_eq!(step_of(0.1_f32), 100_000_000);
    assert_eq!(nanos_of(0.1_f32), 100_000_000);
    // 300_000_011.9 ns
    assert_eq!(step_of(0.3_f32), 300_000_000);
    assert_eq!(nanos_of(0.3_f32), 300_000_000);
    // 16_777_215 is the last whole number before f32 skips some.
    assert_eq!(step_of(16_777_215.0_f32), 16_777_215_000_000_000);
    assert_eq!(nanos_of(1e-9_f32), 1);
    assert_eq!(nanos_of(1e-6_f32), 1_000);
    assert_eq!(nanos_of(1e4_f32), 10_000_000_000_000);
}

#[test]
fn ten_frames_of_a_tenth_are_a_second() {
    let mut executor = unclamped();
    for _ in 0..10 {
        update(&mut executor, 0.1_f32);
    }
    assert_eq!(executor.time().elapsed, Duration::from_secs(1));
    assert_eq!(frames_of(1, 0.1_f32), 10);
    assert_eq!(frames_of(0.3_f32, 0.1_f32), 3);
}

#[test]
fn a_dt_is_rounded_up_to_a_whole_nanosecond() {
    assert_eq!(step_of(1.0_f64 / 3.0), 333_333_334);
    assert_eq!(step_of(2.0_f64 / 3.0), 666_666_667);
    assert_eq!(step_of(1.0_f64 / 144.0), 6_944_445);
    assert_eq!(step_of(1.0_f64 / 512.0), 1_953_125); // exact
    assert_eq!(step_of(1.0_f32 / 144.0), 6_944_445); // 0.0069444445
    assert_eq!(step_of(1e-10_f64), 1);
    assert_eq!(step_of(f64::MIN_POSITIVE), 1);
    assert_eq!(step_of(f32::MIN_POSITIVE), 1);
    assert_eq!(step_of(f64::from_bits(1)), 1); // subnormal
    assert_eq!(step_of(f32::from_bits(1)), 1);
    assert_eq!(step_of(0.0_f64), 0);
    assert_eq!(step_of(-0.0_f32), 0);
}

#[test]
fn a_length_is_rounded_to_the_nearest_nanosecond() {
    assert_eq!(nanos_of(1.0_f64 / 3.0), 333_333_333);
    assert_eq!(nanos_of(2.0_f64 / 3.0), 666_666_667);
    assert_eq!(nanos_of(1.0_f64 / 144.0), 6_944_444);
    assert_eq!(nanos_of(1.0_f64 / 512.0), 1_953_125);
    assert_eq!(nanos_of(0.4e-9_f64), 0);
    assert_eq!(nanos_of(0.6e-9_f64), 1);
    assert_eq!(nanos_of(0.4e-9_f32), 0);
    assert_eq!(nanos_of(0.6e-9_f32), 1);
}

#[test]
fn whole_numbers_and_durations_are_exact() {
    assert_eq!(nanos_of(1_i32), 1_000_000_000);
    assert_eq!(nanos_of(2_i64), 2_000_000_000);
    assert_eq!(nanos_of(3_u32), 3_000_000_000);
    assert_eq!(nanos_of(4_u64), 4_000_000_000);
    assert_eq!(nanos_of(5_usize), 5_000_000_000);
    assert_eq!(
        nanos_of(Duration::from_nanos(123_456_789_123)),
        123_456_789_123
    );
    assert_eq!(step_of(1_i32), 1_000_000_000);
    assert_eq!(step_of(2_i64), 2_000_000_000);
    assert_eq!(step_of(3_u32), 3_000_000_000);
    assert_eq!(step_of(4_u64), 4_000_000_000);
    assert_eq!(step_of(5_usize), 5_000_000_000);
    assert_eq!(
        step_of(Duration::from_nanos(123_456_789_123)),
        123_456_789_123
    );
}

#[test]
fn deadlines_are_exact_to_the_nanosecond_and_inclusive() {
    let nanos = Duration::from_nanos;
    let mut executor = unclamped();
    let wait = executor.start(async move { wait_seconds(nanos(1_000_000_001)).await });
    update(&mut executor, nanos(1_000_000_000));
    assert!(!wait.is_finished(), "a nanosecond early");
    update(&mut executor, nanos(1));
    assert!(wait.is_finished());
}

#[test]
fn deadlines_are_exact_far_from_the_start() {
    let nanos = Duration::from_nanos;
    // Powers of two and their neighbours, where a wheel changes levels.
    for power in [6, 12, 20, 26, 32, 38, 44, 50, 56] {
        for start in [(1 << power) - 1, 1 << power, (1 << power) + 1] {
            for length in [1, 63, 64, 65, (1 << 20) - 1, 1 << 20, 1 << 32] {
                let mut executor = unclamped();
                update(&mut executor, nanos(start));
                let wait = executor.start(async move { wait_seconds(nanos(length)).await });
                update(&mut executor, nanos(length - 1));
                assert!(!wait.is_finished(), "{length} ns from {start}: early");
                update(&mut executor, nanos(1));
                assert!(wait.is_finished(), "{length} ns from {start}: late");
            }
        }
    }
}

#[test]
fn next_deadline_is_how_much_dt_is_missing() {
    let mut executor = unclamped();
    assert_eq!(executor.next_deadline(), None);
    executor.start(wait_seconds(2).map(drop));
    let sooner = executor.start(wait_seconds(0.5).map(drop));
    assert_eq!(executor.next_deadline(), Some(Duration::from_millis(500)));
    update(&mut executor, 0.25);
    assert_eq!(executor.next_deadline(), Some(Duration::from_millis(250)));
    let missing = executor.next_deadline().unwrap();
    update(&mut executor, missing);
    assert!(sooner.is_finished(), "exactly as much as was said");
    assert_eq!(executor.next_deadline(), Some(Duration::from_millis(1_500)));
}

#[test]
fn next_deadline_is_the_earliest_of_all_clocks_and_phases() {
    let executor = unclamped();
    executor.start(wait_seconds(2));
    executor.start(wait_seconds_realtime(1));
    assert_eq!(executor.next_deadline(), Some(Duration::from_secs(1)));
    executor.start(wait_seconds(0.5).in_phase(Phase::LateUpdate));
    assert_eq!(executor.next_deadline(), Some(Duration::from_millis(500)));
}

#[test]
fn realtime_is_the_sum_of_what_was_passed_in() {
    let mut executor = Executor::builder().max_delta(0.25).build();
    let real = executor.start(wait_seconds_realtime(1).map(drop));
    let game = executor.start(wait_seconds(1).map(drop));
    for _ in 0..2 {
        executor.run_frame(0.5);
    }
    assert!(real.is_finished());
    assert!(!game.is_finished());
    for _ in 0..2 {
        executor.run_frame(0.5);
    }
    assert!(game.is_finished(), "four frames, clamped to a quarter");
}
