//! Input 20: foreign wakers with functions that panic. The matrix of `reentry`
//! covers everything else that they may do.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::waits::cases;
use framestep_testkit::{Stage, WakerCall as Act, by, count_frames, forever, waker_that_tells};

thread_local! {
    /// What panics next, once.
    static ARMED: Cell<Option<Act>> = const { Cell::new(None) };
}

fn act(which: Act) {
    if ARMED.get() == Some(which) {
        ARMED.set(None);
        resume_unwind(Box::new("the waker panics"));
    }
}

fn waker_that_panics() -> Waker {
    waker_that_tells(act)
}

#[test]
fn a_clone_a_wake_or_a_drop_that_panics_ends_at_most_the_coroutine_that_gave_the_waker() {
    for act in [Act::Clone, Act::Wake, Act::Drop] {
        let mut panics = 0;
        for case in cases() {
            let (mut executor, stage) = Stage::new();
            executor.on_report(|_| ());
            let dropped = Rc::new(Cell::new(0));
            let frames = Rc::new(Cell::new(0));
            let (guard, count) = (Guard(dropped.clone()), frames.clone());
            executor.start(async move {
                let _guard = guard;
                count_frames(count).await;
            });
            let (guard, given) = (Guard(dropped.clone()), stage.given.clone());
            executor.start(async move {
                let _guard = guard;
                let mut wait = pin!(case.make(&given));
                ARMED.set(Some(act));
                let (first, second) = (waker_that_panics(), waker_that_panics());
                let _ = wait.as_mut().poll(&mut Context::from_waker(&first));
                poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(&second))).await;
            });
            for frame in 1..=6 {
                stage.frame(&mut executor, |_| ());
                assert_eq!(frames.get(), frame, "{act:?} by {case}");
            }
            panics += u32::from(ARMED.take().is_none());
            // The slot may have another occupant.
            let next = executor.start(wait_frames(2));
            executor.run_frame(0.25);
            executor.run_frame(0.25);
            assert!(next.is_finished());
            drop(executor);
            assert_eq!(dropped.get(), 2, "{act:?} by {case}");
        }
        assert!(panics > 0, "{act:?} never happened");
    }
}

struct Guard(Rc<Cell<u32>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_drop_that_panics_when_the_executor_ends_blocks_no_other() {
    let executor = unclamped();
    let dropped = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let guard = Guard(dropped.clone());
        executor.start(async move {
            let _guard = guard;
            let mut wait = wait_seconds(1);
            let waker = waker_that_panics();
            poll_fn(|_| wait.poll_unpin(&mut Context::from_waker(&waker))).await;
        });
        let guard = Guard(dropped.clone());
        executor.start(async move {
            let _guard = guard;
            forever().await;
        });
    }
    ARMED.set(Some(Act::Drop));
    drop(executor);
    assert_eq!(ARMED.take(), None);
    assert_eq!(dropped.get(), 6);
}

#[test]
fn a_panic_of_a_host_waker_reaches_the_caller_of_the_wake_which_is_not_lost() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let waker = super::sleepers::waker_of(&executor, &polls);
    executor.run_frame(0.25);
    executor.on_wake(by(waker_that_panics()));
    polls.set(0);
    ARMED.set(Some(Act::Wake));
    let woken = std::panic::catch_unwind(|| waker.wake_by_ref());
    assert!(woken.is_err());
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
    ARMED.set(Some(Act::Wake));
    let remote = executor.remote();
    let sent = std::panic::catch_unwind(|| remote.spawn(|| async {}));
    assert!(sent.is_err());
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 1);
}

#[test]
fn a_host_waker_whose_drop_panics_does_not_hold_up_the_end_of_the_executor() {
    let executor = unclamped();
    let dropped = Rc::new(Cell::new(0));
    let guard = Guard(dropped.clone());
    executor.start(async move {
        let _guard = guard;
        forever().await;
    });
    executor.on_wake(by(waker_that_panics()));
    let remote = executor.remote();
    ARMED.set(Some(Act::Drop));
    drop(executor);
    assert_eq!(ARMED.take(), None);
    assert_eq!(dropped.get(), 1);
    assert!(!remote.spawn(|| async {}));
}

#[test]
fn a_wait_whose_first_poll_ended_in_a_panic_of_the_waker_is_due_when_it_would_have_been() {
    // In a box, a checkpoint is an `async` block, which ends with a panic.
    for case in cases().iter().filter(|case| case.of != "Checkpoint") {
        let over = [false, true].map(|panics| {
            let (mut executor, stage) = Stage::new();
            let owner = executor.owner_on(&stage.given.clock);
            stage.run_to(1, &mut executor);
            let (over, given) = (Rc::new(Cell::new(0)), stage.given.clone());
            let (tell, case) = (over.clone(), *case);
            owner.start(async move {
                let mut wait = pin!(case.make(&given));
                if panics {
                    ARMED.set(Some(Act::Clone));
                    let waker = waker_that_panics();
                    let poll = || wait.as_mut().poll(&mut Context::from_waker(&waker));
                    let poll = std::panic::AssertUnwindSafe(poll);
                    assert!(std::panic::catch_unwind(poll).is_err());
                }
                wait.await;
                tell.set(time().frame);
            });
            stage.run_to(12, &mut executor);
            over.get()
        });
        assert!(over[0] >= 2, "{case}: {over:?}");
        assert_eq!(over[0], over[1], "{case}");
    }
}
