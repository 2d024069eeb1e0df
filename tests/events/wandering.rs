//! Wakers that are sent from thread to thread and back.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::counted;
use framestep_testkit::timeline::{Log, unclamped};

/// Starts a coroutine that says `name` whenever it is polled again; returns its
/// waker.
fn sleeper(executor: &Executor, log: &Log, name: &'static str) -> (Coroutine<()>, Waker) {
    let waker = Rc::new(RefCell::new(None));
    let (log, keep) = (log.clone(), waker.clone());
    let coroutine = executor.start(poll_fn(move |cx| {
        if keep.borrow().is_some() {
            log.say(name);
        }
        keep.replace(Some(cx.waker().clone()));
        Poll::<()>::Pending
    }));
    let waker: Waker = waker.borrow().clone().unwrap();
    (coroutine, waker)
}

/// Runs `f` on another thread.
fn elsewhere<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(f).join().unwrap()
}

#[test]
fn a_coroutine_is_polled_with_the_waker_that_it_gave_away() {
    let mut executor = unclamped();
    let (kept, polls) = (Rc::new(RefCell::new(None::<Waker>)), Rc::default());
    let keep = kept.clone();
    executor.start(counted(
        Rc::clone(&polls),
        poll_fn(move |cx| {
            let kept = keep.replace(Some(cx.waker().clone()));
            assert!(kept.is_none_or(|kept| kept.will_wake(cx.waker())));
            Poll::<()>::Pending
        }),
    ));
    for _ in 0..3 {
        let waker = kept.borrow().clone().unwrap();
        waker.wake();
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 4);
}

#[test]
fn wakes_between_runs_count_in_order_whichever_threads_they_come_from() {
    let mut executor = unclamped();
    let log = Log::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| sleeper(&executor, &log, name).1);
    elsewhere(move || d.wake());
    b.wake();
    elsewhere(move || c.wake());
    a.wake();
    executor.run_frame(0.25);
    log.check(&["F1: d", "F1: b", "F1: c", "F1: a"]);
}

#[test]
fn wakers_that_were_made_here_may_end_elsewhere_and_the_other_way_round() {
    let mut executor = unclamped();
    let log = Log::new();
    let (_coroutine, waker) = sleeper(&executor, &log, "awake");
    let taken = waker.clone();
    let brought = elsewhere(move || {
        let more: Vec<Waker> = (0..8).map(|_| taken.clone()).collect();
        drop(taken);
        more
    });
    for more in brought {
        elsewhere({
            let waker = waker.clone();
            move || drop(waker)
        });
        more.clone().wake_by_ref();
        more.wake();
    }
    executor.run_frame(0.25);
    log.check(&["F1: awake"]);
    elsewhere(move || waker.wake());
    executor.run_frame(0.25);
    log.check(&["F2: awake"]);
}

#[test]
fn of_a_coroutine_that_has_ended_wakers_do_nothing_wherever_they_are() {
    let mut executor = unclamped();
    let log = Log::new();
    let (coroutine, waker) = sleeper(&executor, &log, "never");
    let elder = elsewhere({
        let waker = waker.clone();
        move || (waker.clone(), waker)
    });
    coroutine.stop();
    // The next coroutine in the same slot.
    let (_next, _) = sleeper(&executor, &log, "never");
    for waker in [waker.clone(), elder.0.clone(), elder.1.clone()] {
        waker.wake_by_ref();
        elsewhere(move || waker.wake_by_ref());
    }
    executor.run_frame(0.25);
    drop(executor);
    let last = elsewhere(move || {
        waker.wake_by_ref();
        (waker, elder)
    });
    last.0.wake();
    elsewhere(move || drop(last.1));
    log.check(&[]);
}

#[test]
fn a_waker_of_one_executor_wakes_from_within_another() {
    let mut inner = unclamped();
    let log = Log::new();
    let (_coroutine, waker) = sleeper(&inner, &log, "inner");
    let mut outer = unclamped();
    let woken = Rc::new(Cell::new(false));
    let tell = woken.clone();
    outer.start(async move {
        next_frame().await;
        waker.wake();
        tell.set(true);
    });
    outer.run_frame(0.25);
    assert!(woken.get());
    log.check(&[]);
    inner.run_frame(0.25);
    log.check(&["F1: inner"]);
}
