//! Stale entries: waits dropped in phases that are never run, cancelled timers,
//! wakes of ended coroutines.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

use super::{Subject, run_large, subject};

fn begin(wait: &mut (impl Future + Unpin), cx: &mut Context<'_>) {
    assert!(Pin::new(wait).poll(cx).is_pending());
}

pub(super) const SUBJECTS: &[Subject] = &[
    subject(
        "n waits for a phase that is never run, begun and dropped",
        50_000,
        |n| {
            let mut executor = unclamped();
            let coroutine = executor.start(poll_fn(move |cx| {
                for _ in 0..n {
                    begin(&mut in_phase(Phase::Custom(9)), cx);
                }
                Poll::<()>::Pending
            }));
            let snapshot = executor.snapshot();
            let waits = snapshot.get(coroutine.id()).unwrap().waits();
            assert!(waits.count() <= 1);
            executor.run_phase(Phase::Custom(9));
        },
    ),
    subject(
        "n waits of one coroutine, dropped first to last",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.start(poll_fn(move |cx| {
                let mut waits: Vec<_> = (0..n).map(|_| next_frame()).collect();
                for wait in &mut waits {
                    begin(wait, cx);
                }
                drop(waits);
                Poll::<()>::Pending
            }));
            executor.run_frame(0.25);
        },
    ),
    subject(
        "n waits of one coroutine in 200 phases, one by one",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.start(poll_fn(move |cx| {
                for phase in (0..200).cycle().take(n) {
                    begin(&mut in_phase(Phase::Custom(phase)), cx);
                }
                Poll::<()>::Pending
            }));
            for phase in 0..200 {
                executor.run_phase(Phase::Custom(phase));
            }
        },
    ),
    subject(
        "n that are spawned for a phase never run, and stopped",
        20_000,
        |n| {
            let mut executor = unclamped();
            for _ in 0..n {
                executor
                    .script("")
                    .in_phase(Phase::Custom(9))
                    .spawn(async {})
                    .stop();
            }
            executor.run_frame(0.25);
            executor.run_phase(Phase::Custom(9));
        },
    ),
    subject(
        "n that wait for a phase never run, stopped last to first",
        20_000,
        |n| {
            let mut executor = unclamped();
            let all: Vec<_> = (0..n)
                .map(|_| executor.start(in_phase(Phase::Custom(9))))
                .collect();
            for coroutine in all.iter().rev() {
                assert!(coroutine.stop());
            }
            executor.run_phase(Phase::Custom(9));
        },
    ),
    subject("n conditions in a phase never run, dropped", 20_000, |n| {
        let mut executor = unclamped();
        executor.start(poll_fn(move |cx| {
            for _ in 0..n {
                begin(&mut wait_until(|| true).in_phase(Phase::Custom(9)), cx);
            }
            Poll::<()>::Pending
        }));
        executor.run_frame(0.25);
    }),
    subject(
        "n timers that are cancelled, of one deadline",
        20_000,
        |n| {
            let mut executor = unclamped();
            executor.start(poll_fn(move |cx| {
                let mut timers: Vec<_> = (0..n).map(|_| wait_seconds(100)).collect();
                for timer in &mut timers {
                    begin(timer, cx);
                }
                Poll::<()>::Pending
            }));
            executor.run_frame(0.25);
            assert_eq!(executor.next_deadline(), None);
        },
    ),
    subject("n timers that are cancelled, one at a time", 20_000, |n| {
        let mut executor = unclamped();
        executor.start(async move {
            for at in 0..n {
                let mut timer = wait_seconds(1 + at);
                poll_fn(|cx| {
                    begin(&mut timer, cx);
                    Poll::Ready(())
                })
                .await;
            }
            next_frame().await;
        });
        executor.run_frame(0.25);
        assert_eq!(executor.next_deadline(), None);
    }),
    subject("n frame counts that are cancelled", 20_000, |n| {
        let mut executor = unclamped();
        executor.start(poll_fn(move |cx| {
            for at in 0..n {
                begin(&mut wait_frames(2 + at as u64), cx);
            }
            Poll::<()>::Pending
        }));
        executor.run_frame(0.25);
    }),
    subject("n that are woken and stopped", 20_000, |n| {
        let mut executor = unclamped();
        let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
        let all: Vec<_> = (0..n)
            .map(|_| {
                let wakers = wakers.clone();
                executor.start(poll_fn(move |cx| {
                    wakers.borrow_mut().push(cx.waker().clone());
                    Poll::<()>::Pending
                }))
            })
            .collect();
        for (waker, coroutine) in wakers.take().iter().zip(&all) {
            waker.wake_by_ref();
            assert!(coroutine.stop());
            waker.wake_by_ref();
        }
        executor.run_frame(0.25);
        executor.assert_empty();
    }),
    subject(
        "n in a queue, each stopped by the one before its place",
        20_000,
        |n| {
            let mut executor = unclamped();
            let last = executor.start(next_frame());
            let mut id = last.id();
            let all: Vec<_> = (0..n)
                .map(|at| {
                    let next = id;
                    let coroutine = executor.start(async move {
                        next_frame().await;
                        if at % 2 == 0 {
                            stop(next);
                        }
                        forever().await;
                    });
                    id = coroutine.id();
                    coroutine
                })
                .collect();
            executor.run_frame(0.25);
            executor.run_frame(0.25);
            drop(all);
        },
    ),
    subject(
        "n frames, a start in each, among 100 that wait",
        5_000,
        |n| {
            let mut executor = unclamped();
            for _ in 0..100 {
                executor.start(async {
                    loop {
                        in_phase(Phase::Custom(1)).await;
                    }
                });
            }
            for _ in 0..n {
                drop(executor.start(next_frame()));
                executor.run_frame(0.25);
            }
        },
    ),
];

#[test]
fn what_very_many_leave_behind_takes_no_time() {
    run_large(SUBJECTS);
}
