//! A run polls only the coroutines that are due in it:
//! docs/contract.md#rule-1-ready-only

use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{counted, forever};

/// How often a coroutine that awaits `wait` is polled in five frames.
fn polls_of(wait: impl Future + 'static) -> u32 {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), wait));
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    polls.get()
}

#[test]
fn a_wait_is_polled_when_it_begins_and_when_it_is_over() {
    let waits: [(&str, LocalBoxFuture<'static, ()>); 8] = [
        ("next_frame", next_frame().map(drop).boxed_local()),
        ("wait_frames", wait_frames(4).map(drop).boxed_local()),
        ("wait_seconds", wait_seconds(1).map(drop).boxed_local()),
        ("realtime", wait_seconds_realtime(1).map(drop).boxed_local()),
        ("fixed_update", fixed_update().map(drop).boxed_local()),
        ("end_of_frame", end_of_frame().map(drop).boxed_local()),
        (
            "late",
            wait_seconds(1)
                .in_phase(Phase::LateUpdate)
                .map(drop)
                .boxed_local(),
        ),
        (
            "join",
            async { start(wait_frames(4)).await.map(drop).unwrap() }.boxed_local(),
        ),
    ];
    for (name, wait) in waits {
        assert_eq!(polls_of(wait), 2, "{name}");
    }
}

#[test]
fn a_wait_that_is_not_over_is_polled_when_it_begins_only() {
    assert_eq!(polls_of(wait_frames(6)), 1);
    assert_eq!(polls_of(wait_seconds(1.5)), 1);
    assert_eq!(polls_of(wait_seconds(f64::INFINITY)), 1);
    assert_eq!(polls_of(in_phase(Phase::Custom(1))), 1);
    assert_eq!(polls_of(forever()), 1);
    assert_eq!(polls_of(async { start(forever()).await }), 1);
}

#[test]
fn a_condition_is_polled_once_in_each_frame() {
    assert_eq!(polls_of(wait_until(|| false)), 6);
    assert_eq!(polls_of(wait_until(|| time().frame == 3)), 4);
}

#[test]
fn a_loop_is_polled_once_in_each_run_of_its_phase() {
    assert_eq!(
        polls_of(async {
            loop {
                next_frame().await;
            }
        }),
        6
    );
    assert_eq!(
        polls_of(async {
            loop {
                next_frame().in_phase(Phase::EndOfFrame).await;
            }
        }),
        6
    );
}

#[test]
fn a_foreign_future_is_polled_when_it_has_been_woken() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let (sender, receiver) = oneshot::channel();
    executor.start(counted(polls.clone(), receiver));
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
    sender.send(()).unwrap();
    assert_eq!(polls.get(), 1, "in the run, not in the waker");
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 2);
}

#[test]
fn sleepers_are_not_polled_for_the_sake_of_others() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    for i in 0..1_000_u32 {
        let length = 100.0 + f64::from(i);
        executor.start(counted(polls.clone(), wait_seconds(length)));
    }
    executor.start(async {
        loop {
            start(async {}).await.unwrap();
            next_frame().await;
        }
    });
    polls.take();
    for _ in 0..100 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 0);
}
