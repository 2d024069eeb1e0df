//! State that many scripts share: a budget, and lends while closures wait for
//! another state.

use framestep::lend::with_deferred;
use framestep::prelude::*;

use framestep_testkit::poll_once;
use framestep_testkit::timeline::unclamped;

use super::{Subject, run_large, subject};

/// Runs 10 frames of `n` jobs that share `units`.
fn jobs_of(units: usize, n: usize) {
    let mut executor = unclamped();
    let budget = Budget::of_units(units as u64);
    for _ in 0..n {
        let budget = budget.clone();
        executor.start(async move {
            loop {
                budget.checkpoint().await;
            }
        });
    }
    for _ in 0..10 {
        executor.run_frame(0.25);
    }
}

pub(super) const SUBJECTS: &[Subject] = &[
    subject("10 frames of n jobs with nothing to spend", 20_000, |n| {
        jobs_of(0, n);
    }),
    subject("10 frames of n jobs with half a unit each", 20_000, |n| {
        jobs_of(n / 2, n);
    }),
    subject("10 frames of n jobs with 3 units each", 20_000, |n| {
        jobs_of(3 * n, n);
    }),
    subject(
        "10 frames of n jobs, half of which leave their shares",
        20_000,
        |n| {
            let mut executor = unclamped();
            let budget = Budget::of_units(4 * n as u64);
            for at in 0..n {
                let budget = budget.clone();
                executor.start(async move {
                    loop {
                        budget.checkpoint().await;
                        if at % 2 == 0 {
                            next_frame().await;
                        }
                    }
                });
            }
            for _ in 0..10 {
                executor.run_frame(0.25);
            }
        },
    ),
    subject(
        "a job that begins and drops n waits, beside another",
        50_000,
        |n| {
            let mut executor = unclamped();
            let budget = Budget::of_units(0);
            let beside = budget.clone();
            executor.start(async move { beside.checkpoint().await });
            executor.start(async move {
                for _ in 0..n {
                    let mut wait = budget.checkpoint();
                    assert!(poll_once(&mut wait).await.is_pending());
                }
            });
            executor.run_frame(0.25);
            executor.assert_empty();
        },
    ),
    subject(
        "1,000 lends beside n closures for another state",
        100_000,
        |n| {
            let mut executor = unclamped();
            executor.enter(|| {
                for _ in 0..n {
                    with_deferred(|_: &mut u8| ());
                }
            });
            for _ in 0..1_000 {
                executor.lend(&mut 1_u32, |executor| {
                    executor.enter(|| with_deferred(|_: &mut u16| ()));
                    executor.lend(&mut 1_u16, |_| ());
                });
            }
            executor.lend(&mut 1_u8, |_| ());
        },
    ),
];

#[test]
fn what_very_many_share_takes_no_time() {
    run_large(SUBJECTS);
}
