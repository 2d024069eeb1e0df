//! Ends: of executors, of owners side by side and nested, of clocks, and stops
//! from destructors.

use std::rc::Rc;

use framestep::prelude::*;
use framestep::{Executor, Handle};

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{OnDrop, forever};

use super::{Subject, run_large, subject};

/// Sleeps until it is stopped; then calls `f`.
async fn sleeps_and_calls(f: impl FnMut() + 'static) {
    let _on_drop = OnDrop(f);
    forever().await;
}

pub(super) const SUBJECTS: &[Subject] = &[
    subject("end of an executor of n that wait", 50_000, |n| {
        let executor = unclamped();
        for at in 0..n {
            match at % 4 {
                0 => drop(executor.start(next_frame())),
                1 => drop(executor.start(wait_seconds(at))),
                2 => drop(executor.spawn(async {})),
                _ => drop(executor.start(forever())),
            }
        }
        drop(executor);
    }),
    subject(
        "end of an executor whose n destructors stop another",
        20_000,
        |n| {
            let executor = unclamped();
            let mut next = executor.start(forever());
            for _ in 0..n {
                let held = next.stop_on_drop();
                next = executor.start(async move {
                    let _held = held;
                    forever().await;
                });
            }
            drop(executor);
        },
    ),
    subject(
        "end of an executor whose n destructors start another",
        20_000,
        |n| {
            let executor = unclamped();
            for _ in 0..n {
                let handle: Handle = executor.handle();
                executor.start(sleeps_and_calls(move || {
                    handle.start(forever());
                    handle.spawn(forever());
                }));
            }
            drop(executor);
        },
    ),
    subject("stop of each of n, first to last", 50_000, |n| {
        let executor = unclamped();
        let all: Vec<_> = (0..n).map(|_| executor.start(next_frame())).collect();
        for coroutine in &all {
            assert!(coroutine.stop());
        }
    }),
    subject("stop of each of n, last to first", 50_000, |n| {
        let executor = unclamped();
        let all: Vec<_> = (0..n).map(|_| executor.start(next_frame())).collect();
        for coroutine in all.iter().rev() {
            assert!(coroutine.stop());
        }
    }),
    subject("stop_all of an owner of n", 50_000, |n| {
        let executor = unclamped();
        let owner = executor.owner();
        for _ in 0..n {
            owner.start(next_frame());
        }
        owner.stop_all();
        executor.assert_empty();
    }),
    subject(
        "stop_all of n whose destructors call stop_all",
        20_000,
        |n| {
            let executor = unclamped();
            let owner = Rc::new(executor.owner());
            for _ in 0..n {
                let own = owner.clone();
                owner.start(sleeps_and_calls(move || own.stop_all()));
            }
            owner.stop_all();
            executor.assert_empty();
        },
    ),
    subject(
        "stop_all of n whose destructors end child owners",
        20_000,
        |n| {
            let executor = unclamped();
            let owner = executor.owner();
            for _ in 0..n {
                let below = owner.child();
                below.start(forever());
                owner.start(async move {
                    let _below = below;
                    forever().await;
                });
            }
            owner.stop_all();
            executor.assert_empty();
        },
    ),
    subject(
        "stop of a line of n, each stopped by the one before",
        20_000,
        |n| {
            let executor = unclamped();
            let mut first = executor.start(forever());
            for _ in 0..n {
                let held = first.stop_on_drop();
                first = executor.start(async move {
                    let _held = held;
                    forever().await;
                });
            }
            assert!(first.stop());
            executor.assert_empty();
        },
    ),
    subject("n whose destructors each stop two others", 20_000, |n| {
        let executor = unclamped();
        let handle = executor.handle();
        let mut ids = Vec::<framestep::task::CoroutineId>::new();
        for at in 0..n {
            let (handle, near) = (
                handle.clone(),
                [ids.get(at / 2).copied(), ids.last().copied()],
            );
            let stops = sleeps_and_calls(move || {
                for id in near.into_iter().flatten() {
                    handle.stop(id);
                }
            });
            ids.push(executor.start(stops).id());
        }
        executor.stop(*ids.last().unwrap());
        executor.assert_empty();
    }),
    subject("n owners below one, ended one by one", 20_000, |n| {
        let executor = unclamped();
        let owner = executor.owner();
        let children: Vec<Owner> = (0..n).map(|_| owner.child()).collect();
        for child in &children {
            child.start(forever());
        }
        drop(children);
        executor.assert_empty();
    }),
    subject("n owners below one, ended with it", 20_000, |n| {
        let executor = unclamped();
        let owner = executor.owner();
        let children: Vec<Owner> = (0..n).map(|_| owner.child()).collect();
        for child in &children {
            child.start(forever());
        }
        owner.stop_all();
        executor.assert_empty();
        drop(owner);
        assert!(children.iter().all(Owner::is_empty));
    }),
    subject("a line of n owners, ended from the top", 20_000, |n| {
        let executor = unclamped();
        let line = line_of_owners(&executor, n);
        line[0].stop_all();
        executor.assert_empty();
    }),
    subject("a line of n owners, dropped from the bottom", 20_000, |n| {
        let executor = unclamped();
        let mut line = line_of_owners(&executor, n);
        while line.pop().is_some() {}
        executor.assert_empty();
    }),
    subject("a line of n owners, dropped from the top", 20_000, |n| {
        let executor = unclamped();
        drop(line_of_owners(&executor, n));
        executor.assert_empty();
    }),
    subject(
        "n clocks, each with a timer, ended one by one",
        5_000,
        |n| {
            let mut executor = unclamped();
            let clocks: Vec<Clock> = (0..n).map(|_| executor.clock().child()).collect();
            let timers: Vec<_> = clocks
                .iter()
                .map(|clock| {
                    let clock = clock.clone();
                    executor.start(async move {
                        clock.wait_seconds(100).await;
                    })
                })
                .collect();
            executor.run_frame(0.25);
            for timer in &timers {
                timer.stop();
            }
            drop(clocks);
            executor.run_frame(0.25);
            executor.run_frame(0.25);
        },
    ),
    subject("n clocks that come and go, one at a time", 20_000, |n| {
        let mut executor = unclamped();
        for _ in 0..n {
            let clock = executor.clock().child();
            let timer = executor.start(async move {
                clock.wait_seconds(100).await;
            });
            timer.stop();
        }
        executor.run_frame(0.25);
    }),
    subject("end of an executor with n clocks in a line", 5_000, |n| {
        let mut executor = unclamped();
        let mut clock = executor.clock();
        for _ in 0..n {
            clock = clock.child();
            let own = clock.clone();
            executor.start(async move {
                own.wait_seconds(100).await;
            });
        }
        executor.run_frame(0.25);
        drop(executor);
    }),
];

/// A chain of owners, each below the one before, with a coroutine each.
fn line_of_owners(executor: &Executor, n: usize) -> Vec<Owner> {
    let mut line = vec![executor.owner()];
    for at in 1..n {
        let child = line[at - 1].child();
        child.start(forever());
        line.push(child);
    }
    line
}

#[test]
fn ends_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
