//! More executors on one thread than a small number can distinguish: each wait,
//! waker and handle finds its own.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::watched::{check_all_dropped, watched};
use framestep_testkit::{forever, panic_of};

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
    // Executors with numbers that equal that of the first one in 12 bits, and
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
            let left = 1_000 * (u64::from(at) + 1) - 250 * u64::from(frame);
            let left = Duration::from_millis(left);
            assert_eq!(executor.next_deadline(), Some(left));
            assert!(!timer.is_finished());
        }
    }
    // Each ends its own timer, and no other.
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
        drop(coroutine.stop_on_drop());
        assert!(handle.time().is_none());
    }
    executor.run_frame(0.25);
    assert_eq!((executor.len(), frames.get()), (1, 1));
    drop(executor);
    check_all_dropped();
}

#[test]
fn a_wait_that_began_in_one_executor_is_an_error_in_another() {
    type Make = fn() -> LocalBoxFuture<'static, ()>;
    let waits: [Make; 9] = [
        || next_frame().map(drop).boxed_local(),
        || wait_frames(2).map(drop).boxed_local(),
        || wait_seconds(1).map(drop).boxed_local(),
        || wait_seconds_realtime(1).map(drop).boxed_local(),
        || in_phase(Phase::LateUpdate).map(drop).boxed_local(),
        || wait_until(|| false).map(drop).boxed_local(),
        || timeout(1, forever()).map(drop).boxed_local(),
        || async { interval(1).tick().map(drop).await }.boxed_local(),
        || animate(1, |_| ()).map(drop).boxed_local(),
    ];
    for wait in waits {
        for fate in [Fate::Waits, Fate::IsStopped, Fate::EndsWithItsExecutor] {
            check_in_another(wait(), fate);
        }
    }
}

/// What happens to the coroutine that began the wait.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Waits,
    IsStopped,
    EndsWithItsExecutor,
}

fn check_in_another(wait: LocalBoxFuture<'static, ()>, fate: Fate) {
    let (mut first, mut second) = (unclamped(), unclamped());
    // In the first executor it belongs to a coroutine with a number that the
    // second one does not have.
    for _ in 0..200 {
        first.start(forever());
    }
    let wait = Rc::new(RefCell::new(wait));
    let shared = wait.clone();
    let began = first.start(watched(poll_fn(move |cx| {
        shared.borrow_mut().poll_unpin(cx)
    })));
    match fate {
        Fate::Waits => {}
        Fate::IsStopped => assert!(began.stop()),
        Fate::EndsWithItsExecutor => drop(std::mem::take(&mut first)),
    }
    let frames = Rc::new(Cell::new(0));
    second.start(watched(begins_and_drops(frames.clone())));
    let shared = wait.clone();
    let text = Rc::new(RefCell::new(String::new()));
    let tell = text.clone();
    second.start(watched(poll_fn(move |cx| {
        *tell.borrow_mut() = panic_of(|| shared.borrow_mut().poll_unpin(cx));
        Poll::Ready(())
    })));
    let text = text.take();
    assert!(text.contains("was polled in another"), "{text}");
    drop(wait);
    second.run_frame(0.25);
    assert_eq!(frames.get(), 1);
    drop((first, second));
    check_all_dropped();
}
