//! Many executors on one thread: a dropped wait finds its own in constant time.

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::forever;

use super::{Subject, run_large, subject};

pub(super) const SUBJECTS: &[Subject] = &[
    subject(
        "n executors, each drops a wait in each of 5 frames",
        5_000,
        |n| {
            let mut executors: Vec<_> = (0..n)
                .map(|_| {
                    let executor = Executor::new();
                    executor.start(async {
                        loop {
                            let year = wait_seconds(31_536_000);
                            futures::pin_mut!(year);
                            futures::future::select(next_frame(), year).await;
                        }
                    });
                    executor
                })
                .collect();
            for _ in 0..5 {
                for executor in &mut executors {
                    executor.run_frame(0.25);
                }
            }
        },
    ),
    subject("one of n executors drops n waits", 10_000, |n| {
        let executors: Vec<_> = (0..n).map(|_| Executor::new()).collect();
        for executor in [&executors[0], &executors[n / 2], &executors[n - 1]] {
            executor.start(async move {
                for _ in 0..n {
                    let mut year = wait_seconds(31_536_000);
                    let _ = framestep_testkit::poll_once(&mut year).await;
                }
            });
        }
    }),
    subject("n executors, ended in order of their making", 10_000, |n| {
        let executors: Vec<_> = (0..n).map(|_| Executor::new()).collect();
        drop(executors);
    }),
    subject("n executors, ended last to first", 10_000, |n| {
        let mut executors: Vec<_> = (0..n).map(|_| Executor::new()).collect();
        while let Some(executor) = executors.pop() {
            executor.start(forever());
        }
    }),
    subject("n executors that come and go, one at a time", 10_000, |n| {
        for _ in 0..n {
            let mut executor = Executor::new();
            executor.start(next_frame());
            executor.run_frame(0.25);
        }
    }),
];

#[test]
fn very_many_executors_on_a_thread_take_no_time() {
    run_large(SUBJECTS);
}
