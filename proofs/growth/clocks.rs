//! Thousands of clocks, each with a sleeper, and thousands of guards of one clock.

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;

use super::{Subject, run_large, subject};

pub(super) const SUBJECTS: &[Subject] = &[
    subject(
        "n frames of n sleepers on clocks of their own",
        20_000,
        |n| {
            let mut executor = unclamped();
            for _ in 0..n {
                let clock = executor.clock().child();
                executor.start(clock.wait_seconds(1_000_000));
            }
            for _ in 0..n {
                executor.run_frame(0.01);
            }
            assert_eq!(executor.len(), n);
        },
    ),
    subject(
        "one of n clocks with sleepers is paused and resumed n times",
        20_000,
        |n| {
            let mut executor = unclamped();
            let clocks: Vec<Clock> = (0..n).map(|_| executor.clock().child()).collect();
            for clock in &clocks {
                executor.start(clock.wait_seconds(1_000_000));
            }
            for clock in &clocks {
                clock.pause();
                executor.run_frame(0.01);
                clock.resume();
            }
        },
    ),
    subject(
        "the clock above n clocks with sleepers changes its scale n times",
        20_000,
        |n| {
            let mut executor = unclamped();
            let above = executor.clock().child();
            for _ in 0..n {
                executor.start(above.child().wait_seconds(1_000_000));
            }
            for at in 0..n {
                above.set_scale(if at % 2 == 0 { 0.5 } else { 1.5 });
                executor.run_frame(0.01);
            }
        },
    ),
    subject("n clocks in a line, each with a sleeper", 10_000, |n| {
        let mut executor = unclamped();
        let mut clock = executor.clock();
        for _ in 0..n {
            clock = clock.child();
            executor.start(clock.wait_seconds(1_000_000));
        }
        for _ in 0..100 {
            executor.run_frame(0.01);
        }
    }),
    subject("n guards of one clock, dropped one by one", 30_000, |n| {
        let executor = unclamped();
        let clock = executor.clock();
        let mut guards: Vec<_> = (0..n).map(|_| clock.scaled(1.000_1)).collect();
        while guards.pop().is_some() {}
        assert!(clock.effective_scale() <= 1.0);
    }),
    subject(
        "n futures of one coroutine on clocks of their own",
        20_000,
        |n| {
            let mut executor = unclamped();
            let clocks: Vec<Clock> = (0..n).map(|_| executor.clock().child()).collect();
            let all = executor.start(async move {
                join_all(clocks.iter().map(|clock| on_clock(clock, next_frame()))).await;
            });
            all.pause();
            all.resume();
            executor.run_frame(0.25);
            assert!(all.is_finished());
        },
    ),
];

#[test]
fn clocks_and_guards_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
