//! Input 20: foreign wakers with functions that panic. The matrix of `reentry`
//! covers everything else that they may do.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;

use crate::support::timeline::unclamped;
use crate::support::{WakerCall as Act, count_frames, forever, waker_that_tells};

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

type Make = fn() -> LocalBoxFuture<'static, ()>;

/// Everything that takes a waker.
fn waits() -> Vec<(&'static str, Make)> {
    vec![
        ("next_frame", || next_frame().map(drop).boxed_local()),
        ("wait_frames", || wait_frames(2).map(drop).boxed_local()),
        ("wait_seconds", || wait_seconds(0.5).map(drop).boxed_local()),
        ("in_phase", || end_of_frame().map(drop).boxed_local()),
        ("wait_until", || wait_until(|| true).map(drop).boxed_local()),
        ("join", || start(next_frame()).map(drop).boxed_local()),
        ("finished", || {
            start(next_frame()).finished().map(drop).boxed_local()
        }),
        ("join_all", || {
            let children = [start(next_frame()), start(wait_frames(2))];
            join_all(children).map(drop).boxed_local()
        }),
        ("a signal", || {
            let signal = Signal::new();
            let emitter = signal.clone();
            spawn(async move {
                next_frame().await;
                emitter.emit(());
            });
            async move { signal.wait().await }.boxed_local()
        }),
        ("a budget", || {
            let budget = Budget::of_units(0);
            async move {
                budget.checkpoint().await;
                budget.checkpoint().await;
            }
            .boxed_local()
        }),
    ]
}

#[test]
fn a_clone_a_wake_or_a_drop_that_panics_ends_at_most_the_coroutine_that_gave_the_waker() {
    for act in [Act::Clone, Act::Wake, Act::Drop] {
        let mut panics = 0;
        for (name, make) in waits() {
            let mut executor = unclamped();
            let dropped = Rc::new(Cell::new(0));
            let frames = Rc::new(Cell::new(0));
            let (guard, count) = (Guard(dropped.clone()), frames.clone());
            executor.start(async move {
                let _guard = guard;
                count_frames(count).await;
            });
            let guard = Guard(dropped.clone());
            executor.start(async move {
                let _guard = guard;
                let mut wait = make();
                ARMED.set(Some(act));
                let (first, second) = (waker_that_panics(), waker_that_panics());
                let _ = wait.as_mut().poll(&mut Context::from_waker(&first));
                poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(&second))).await;
            });
            for frame in 1..=6 {
                executor.run_frame(0.25);
                assert_eq!(frames.get(), frame, "{act:?} by {name}");
            }
            panics += u32::from(ARMED.take().is_none());
            // The slot may have another occupant.
            let next = executor.start(wait_frames(2));
            executor.run_frame(0.25);
            executor.run_frame(0.25);
            assert!(next.is_finished());
            drop(executor);
            assert_eq!(dropped.get(), 2, "{act:?} by {name}");
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
    executor.on_wake(waker_that_panics());
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
    executor.on_wake(waker_that_panics());
    let remote = executor.remote();
    ARMED.set(Some(Act::Drop));
    drop(executor);
    assert_eq!(ARMED.take(), None);
    assert_eq!(dropped.get(), 1);
    assert!(!remote.spawn(|| async {}));
}

#[test]
fn a_wait_whose_first_poll_ended_in_a_panic_of_the_waker_is_due_when_it_would_have_been() {
    type Made = fn(&Clock) -> LocalBoxFuture<'static, ()>;
    let waits: [(&str, Made); 8] = [
        ("own clock", |_| wait_seconds(1).boxed_local()),
        ("child", |clock| clock.wait_seconds(1).boxed_local()),
        ("point", |clock| clock.wait_until(1.5).boxed_local()),
        ("on steps", |clock| {
            let wait = clock.wait_seconds(1).in_phase(Phase::FixedUpdate);
            wait.boxed_local()
        }),
        ("realtime", |_| wait_seconds_realtime(1).boxed_local()),
        ("frames", |_| wait_frames(3).boxed_local()),
        ("steps", |_| wait_steps(60).boxed_local()),
        ("until", |_| {
            let start = time().frame;
            wait_until(move || time().frame == start + 3).boxed_local()
        }),
    ];
    for (name, make) in waits {
        let over = [false, true].map(|panics| {
            let mut executor = unclamped();
            let clock = executor.clock().child();
            clock.set_scale(0.5);
            let owner = executor.owner_on(&clock);
            executor.run_frame(0.5);
            let over = Rc::new(Cell::new(0));
            let (tell, made) = (over.clone(), clock.clone());
            owner.start(async move {
                let mut wait = make(&made);
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
            for _ in 0..12 {
                executor.run_frame(0.5);
            }
            over.get()
        });
        assert!(over[0] > 2, "{name}: {over:?}");
        assert_eq!(over[0], over[1], "{name}");
    }
}
