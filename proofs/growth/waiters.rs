//! Thousands of joiners, wakes, spawns and starts.

use std::pin::Pin;

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;

use super::{Subject, quadratic, run_large, subject};

pub(super) const SUBJECTS: &[Subject] = &[
    subject("n joiners of one", 20_000, |n| {
        let mut executor = unclamped();
        let gate = executor.start(next_frame());
        for _ in 0..n {
            executor.start(gate.finished());
        }
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject(
        "n joiners of one, all stopped before it ends",
        20_000,
        |n| {
            let mut executor = unclamped();
            let gate = executor.start(next_frame());
            let joiners: Vec<_> = (0..n).map(|_| executor.start(gate.finished())).collect();
            for joiner in &joiners {
                assert!(joiner.stop());
            }
            executor.run_frame(0.25);
            executor.assert_empty();
        },
    ),
    subject("n joiners of one, stopped last to first", 20_000, |n| {
        let executor = unclamped();
        let gate = executor.start(next_frame());
        let joiners: Vec<_> = (0..n).map(|_| executor.start(gate.finished())).collect();
        for joiner in joiners.iter().rev() {
            assert!(joiner.stop());
        }
        assert!(gate.stop());
    }),
    subject("n that share a wait", 20_000, |n| {
        let mut executor = unclamped();
        let shared = wait_seconds(0.5).shared();
        for _ in 0..n {
            executor.start(shared.clone());
        }
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        executor.assert_empty();
    }),
    subject("n that share a wait, paused and stopped", 4_000, |n| {
        let mut executor = unclamped();
        let shared = wait_seconds(0.5).shared();
        let sharing: Vec<_> = (0..n).map(|_| executor.start(shared.clone())).collect();
        for script in &sharing {
            script.pause();
        }
        executor.run_frame(0.25);
        for script in sharing.iter().rev() {
            script.resume();
            script.stop();
        }
        executor.assert_empty();
    }),
    subject("one that begins and drops n joins of one", 20_000, |n| {
        let mut executor = unclamped();
        let gate = executor.start(wait_frames(2));
        executor.start(async move {
            let mut joins: Vec<_> = (0..n).map(|_| gate.finished()).collect();
            std::future::poll_fn(|cx| {
                for join in &mut joins {
                    assert!(Pin::new(join).poll(cx).is_pending());
                }
                std::task::Poll::Ready(())
            })
            .await;
            next_frame().await;
        });
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject("a line of n joins", 20_000, |n| {
        let mut executor = unclamped();
        let mut last = executor.start(async {
            next_frame().await;
        });
        for _ in 0..n {
            let previous = last;
            last = executor.start(async move { drop(previous.await) });
        }
        executor.run_frame(0.25);
        assert!(last.is_finished());
    }),
    quadratic("join_all of n that end in one run", 2_000, |n| {
        let mut executor = unclamped();
        executor.start(async move {
            let children: Vec<_> = (0..n).map(|_| start(next_frame())).collect();
            join_all(children).await;
        });
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject("a race of n, polled 20 times in vain", 2_000, |n| {
        let mut executor = unclamped();
        executor.start(async move {
            let children: Vec<_> = (0..n).map(|_| start(wait_frames(1_000_000))).collect();
            let mut first = race(children);
            for _ in 0..20 {
                futures::future::select(next_frame(), &mut first).await;
            }
        });
        for _ in 0..21 {
            executor.run_frame(0.25);
        }
    }),
    subject("n starts inside one another", 10_000, |n| {
        fn chain(left: usize) -> Pin<Box<dyn Future<Output = ()>>> {
            Box::pin(async move {
                if left > 0 {
                    start(chain(left - 1));
                }
                next_frame().await;
            })
        }
        let mut executor = unclamped();
        executor.on_report(|_| ());
        executor.start(chain(n));
        while !executor.is_empty() {
            executor.run_frame(0.25);
        }
    }),
    subject("n spawns from afar in one frame", 20_000, |n| {
        let mut executor = unclamped();
        let remote = executor.remote();
        for _ in 0..n {
            assert!(remote.spawn(next_frame));
        }
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject("a snapshot of n in a paused owner", 10_000, |n| {
        let mut executor = unclamped();
        let owner = executor.owner();
        for _ in 0..n {
            owner.start(wait_seconds(1));
        }
        owner.pause();
        executor.run_frame(2);
        assert_eq!(executor.snapshot().iter().count(), n);
    }),
    subject("a signal with n that wait", 10_000, |n| {
        let mut executor = unclamped();
        let signal: Signal<()> = Signal::new();
        for _ in 0..n {
            let signal = signal.clone();
            executor.start(async move { signal.wait().await });
        }
        for _ in 0..3 {
            signal.emit(());
            executor.run_frame(0.25);
        }
        executor.assert_empty();
    }),
    subject("a watch with n that wait", 10_000, |n| {
        let mut executor = unclamped();
        let watch = Watch::new(0);
        for _ in 0..n {
            executor.start(watch.wait_for(|&value| value == 3));
            executor.start(watch.changed());
        }
        for value in 1..=3 {
            watch.set(value);
            executor.run_frame(0.25);
        }
        executor.assert_empty();
    }),
    subject(
        "a signal with n events and n subscriptions, dropped",
        100_000,
        |n| {
            let signal: Signal<usize> = Signal::with_limit(1 << 20);
            let subscriptions: Vec<_> = (0..n).map(|_| signal.subscribe()).collect();
            for event in 0..n {
                signal.emit(event);
            }
            drop(subscriptions);
        },
    ),
];

#[test]
fn joins_and_starts_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
