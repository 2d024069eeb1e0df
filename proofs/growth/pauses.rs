//! Pauses and resumes: of many coroutines, of a chain of owners, with many
//! clocks.

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{forever, poll_once};

use super::{Subject, run_large, subject};

async fn ticks() {
    loop {
        wait_seconds(0.25).await;
    }
}

pub(super) const SUBJECTS: &[Subject] = &[
    subject("n paused and resumed one by one", 10_000, |n| {
        let mut executor = unclamped();
        let all: Vec<_> = (0..n).map(|_| executor.start(ticks())).collect();
        for coroutine in &all {
            assert!(coroutine.pause());
        }
        executor.run_frame(1);
        for coroutine in &all {
            assert!(coroutine.resume());
        }
        executor.run_frame(1);
    }),
    subject("n paused and resumed by their owner", 10_000, |n| {
        let mut executor = unclamped();
        let owner = executor.owner();
        for _ in 0..n {
            owner.start(ticks());
        }
        for _ in 0..3 {
            owner.pause();
            executor.run_frame(1);
            owner.resume();
            executor.run_frame(1);
        }
    }),
    subject("an owner that is paused and resumed n times", 20_000, |n| {
        let mut executor = unclamped();
        let owner = executor.owner();
        owner.start(ticks());
        for _ in 0..n {
            owner.pause();
            owner.resume();
        }
        executor.run_frame(1);
    }),
    subject(
        "one of n sleepers paused and resumed n times",
        20_000,
        |n| {
            let mut executor = unclamped();
            for _ in 0..n {
                executor.start(wait_seconds(1_000));
            }
            let one = executor.start(ticks());
            for _ in 0..n {
                one.pause();
                one.resume();
            }
            executor.run_frame(1);
        },
    ),
    subject(
        "a line of n owners, paused and resumed at the top",
        20_000,
        |n| {
            let mut executor = unclamped();
            let mut line = vec![executor.owner()];
            for at in 1..n {
                let child = line[at - 1].child();
                child.start(next_frame());
                line.push(child);
            }
            line[0].pause();
            executor.run_frame(1);
            line[0].resume();
            executor.run_frame(1);
            executor.assert_empty();
            while line.pop().is_some() {}
        },
    ),
    subject("n clocks; 100 coroutines paused and resumed", 5_000, |n| {
        let mut executor = unclamped();
        for _ in 0..n {
            let clock = executor.clock().child();
            executor.start(async move {
                clock.wait_seconds(100).await;
            });
        }
        let all: Vec<_> = (0..100).map(|_| executor.start(ticks())).collect();
        executor.run_frame(0.25);
        for coroutine in &all {
            coroutine.pause();
        }
        for coroutine in &all {
            coroutine.resume();
        }
        executor.run_frame(0.25);
    }),
    subject(
        "n owners on clocks of their own, paused and resumed 20 times",
        5_000,
        |n| {
            let mut executor = unclamped();
            let owners: Vec<_> = (0..n)
                .map(|_| executor.owner_on(&executor.clock().child()))
                .collect();
            for owner in &owners {
                owner.start(ticks());
            }
            for _ in 0..20 {
                for owner in &owners {
                    owner.pause();
                }
                for owner in &owners {
                    owner.resume();
                }
            }
            executor.run_frame(0.25);
        },
    ),
    subject(
        "n that name clocks of their own, paused and resumed 20 times",
        5_000,
        |n| {
            let mut executor = unclamped();
            let all: Vec<_> = (0..n)
                .map(|_| {
                    let clock = executor.clock().child();
                    executor.start(async move {
                        clock.wait_seconds(100).await;
                    })
                })
                .collect();
            for _ in 0..20 {
                for coroutine in &all {
                    coroutine.pause();
                }
                for coroutine in &all {
                    coroutine.resume();
                }
            }
            executor.run_frame(0.25);
        },
    ),
    subject(
        "one that waits on n clocks, one after the other, and is paused in each wait",
        20_000,
        |n| {
            let mut executor = unclamped();
            let game = executor.clock();
            let one = executor.start(async move {
                for _ in 0..n {
                    game.child().wait_seconds(0).await;
                }
            });
            for _ in 0..n {
                one.pause();
                framestep_testkit::update(&mut executor, 0.25);
                one.resume();
                framestep_testkit::update(&mut executor, 0.25);
            }
            assert!(one.is_finished());
        },
    ),
    subject(
        "n timers of one script, paused and resumed 20 times",
        5_000,
        |n| {
            let mut executor = unclamped();
            let script = executor.start(async move {
                join_all((0..n).map(|_| wait_seconds(1_000))).await;
            });
            for _ in 0..20 {
                assert!(script.pause());
                executor.run_frame(0.25);
                assert!(script.resume());
            }
        },
    ),
    subject("snapshots of a paused script with n timers", 20_000, |n| {
        let executor = unclamped();
        let script = executor.start(async move {
            join_all((0..n).map(|_| wait_seconds(1_000))).await;
        });
        assert!(script.pause());
        for _ in 0..2 {
            assert_eq!(executor.snapshot().iter().count(), 1);
        }
    }),
    subject(
        "n timers that a script begins and drops beside n that it keeps",
        5_000,
        |n| {
            let executor = unclamped();
            executor.start(async move {
                let kept = join_all((0..n).map(|_| wait_seconds(1_000)));
                let begins = async {
                    for _ in 0..n {
                        let mut wait = wait_seconds(1_000);
                        assert!(poll_once(&mut wait).await.is_pending());
                    }
                };
                join!(kept, begins);
            });
        },
    ),
    subject(
        "the next deadline of n sleepers, asked 1,000 times, once one was paused",
        20_000,
        |n| {
            let mut executor = unclamped();
            for at in 0..n {
                executor.start(async move { wait_seconds(10 + at % 50).await });
            }
            executor.run_frame(0.25);
            let one = executor.start(forever());
            one.pause();
            one.resume();
            for _ in 0..1_000 {
                assert!(executor.next_deadline().is_some());
            }
        },
    ),
    subject(
        "the next deadline of n that are paused, asked 1,000 times",
        20_000,
        |n| {
            let mut executor = unclamped();
            let owner = executor.owner();
            for at in 0..n {
                owner.start(async move { wait_seconds(10 + at % 50).await });
            }
            owner.pause();
            for _ in 0..1_000 {
                assert_eq!(executor.next_deadline(), None);
                executor.start(wait_seconds(0)).stop();
                executor.run_frame(0.25);
            }
            executor.start(wait_seconds(100));
            for _ in 0..1_000 {
                assert!(executor.next_deadline().is_some());
            }
        },
    ),
    subject(
        "n of a paused owner, woken n times and stopped",
        20_000,
        |n| {
            let mut executor = unclamped();
            let owner = executor.owner();
            owner.pause();
            let all: Vec<_> = (0..n).map(|_| owner.start(next_frame())).collect();
            executor.run_frame(1);
            for coroutine in &all {
                assert!(coroutine.stop());
            }
            owner.resume();
            executor.assert_empty();
        },
    ),
    subject(
        "n on owners of their own, paused in 200 frames",
        5_000,
        |n| {
            let mut executor = unclamped();
            let owners: Vec<_> = (0..n).map(|_| executor.owner()).collect();
            for owner in &owners {
                owner.start(ticks());
                owner.start(forever());
            }
            for owner in &owners {
                owner.pause();
            }
            for _ in 0..200 {
                // All are paused.
                executor.run_frame(0.25);
            }
            for owner in &owners {
                owner.resume();
            }
            executor.run_frame(0.25);
        },
    ),
];

#[test]
fn pauses_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
