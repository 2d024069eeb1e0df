//! More executors on one thread than any small number can tell apart: a wait, a
//! waker and a handle each know their own.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::prelude::*;

use crate::support::{forever, stopping};
use crate::timeline::unclamped;
use crate::watched::{check_all_dropped, watched};

/// A wait for a year is dropped in every frame.
async fn begins_and_drops(frames: Rc<Cell<u32>>) {
    loop {
        let year = wait_seconds(31_536_000);
        futures::pin_mut!(year);
        futures::future::select(next_frame(), year).await;
        frames.set(frames.get() + 1);
    }
}

fn waits(executor: &Executor) -> usize {
    let snapshot = executor.snapshot();
    snapshot
        .iter()
        .map(|coroutine| coroutine.waits().count())
        .sum()
}

#[test]
fn a_wait_that_is_dropped_is_cancelled_in_its_own_executor() {
    let mut first = unclamped();
    // Executors whose numbers agree with that of the first one in 12 bits, and
    // in 16.
    let mut twins = Vec::new();
    for count in 1..=65_537_u32 {
        let executor = Executor::new();
        if [4_095, 4_096, 4_097, 65_535, 65_536, 65_537].contains(&count) {
            twins.push(executor);
        }
    }
    let frames = Rc::new(Cell::new(0));
    first.start(watched(begins_and_drops(frames.clone())));
    for twin in &twins {
        twin.start(watched(begins_and_drops(Rc::default())));
    }
    for frame in 1..=200 {
        first.run_frame(0.25);
        assert_eq!(frames.get(), frame);
        assert_eq!(waits(&first), 2, "waits that are no longer awaited");
        for twin in &twins {
            assert_eq!(waits(twin), 2);
        }
    }
    drop((first, twins));
    check_all_dropped();
}

#[test]
fn five_thousand_executors_that_live_at_once_keep_their_waits_apart() {
    const EXECUTORS: u32 = 5_000;
    let mut executors = Vec::new();
    for at in 0..EXECUTORS {
        let executor = unclamped();
        let frames = Rc::new(Cell::new(0));
        executor.start(watched(begins_and_drops(frames.clone())));
        let seconds = f64::from(at) + 1.0;
        let timer = executor.start(watched(async move {
            wait_seconds(seconds).await;
        }));
        executors.push((executor, frames, timer));
    }
    for frame in 1..=3 {
        for (at, (executor, frames, timer)) in (0_u32..).zip(&mut executors) {
            executor.run_frame(0.25);
            assert_eq!(frames.get(), frame);
            assert_eq!(waits(executor), 3);
            let deadline = Duration::from_secs(u64::from(at) + 1);
            let left = deadline.checked_sub(Duration::from_millis(250 * u64::from(frame))).unwrap();
            assert_eq!(executor.next_deadline(), Some(left));
            assert!(!timer.is_finished());
        }
    }
    // Each ends its own timer, and nobody else's.
    for (executor, _, timer) in executors.iter().step_by(2) {
        assert!(timer.stop());
        assert_eq!((executor.len(), waits(executor)), (1, 2));
    }
    for (executor, _, timer) in executors.iter().skip(1).step_by(2) {
        assert!(!timer.is_finished());
        assert_eq!((executor.len(), waits(executor)), (2, 3));
    }
    drop(executors);
    check_all_dropped();
}

#[test]
fn handles_of_executors_that_are_gone_do_nothing_to_those_made_since() {
    let mut left = Vec::new();
    for _ in 0..5_000 {
        let executor = unclamped();
        let coroutine = executor.start(watched(forever()));
        left.push((
            executor.handle(),
            executor.remote(),
            executor.owner(),
            coroutine,
        ));
    }
    let mut executor = unclamped();
    let frames = Rc::new(Cell::new(0));
    executor.start(watched(begins_and_drops(frames.clone())));
    for (handle, remote, owner, coroutine) in left {
        assert!(handle.spawn(watched(forever())).is_finished());
        assert!(owner.start(watched(forever())).is_finished());
        assert!(!remote.spawn(|| async {}));
        assert!(!coroutine.stop() && !handle.stop(coroutine.id()));
        drop(stopping(coroutine));
        assert!(handle.time().is_none());
    }
    executor.run_frame(0.25);
    assert_eq!((executor.len(), frames.get()), (1, 1));
    drop(executor);
    check_all_dropped();
}
