//! Wakers on other threads, executors that go, things that are forgotten:
//! never more than a no-op.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Poll, Waker};
use std::thread::ThreadId;

use framestep::Executor;
use framestep::prelude::*;

use crate::support::{counted, forever, result_of};
use crate::timeline::{Log, unclamped};

/// Starts a coroutine that sleeps for ever, and gives its waker.
fn waker_of(executor: &Executor, polls: &Rc<Cell<u32>>) -> Waker {
    let kept = Rc::new(Cell::new(None));
    let keep = kept.clone();
    executor.start(counted(
        polls.clone(),
        poll_fn(move |cx| {
            keep.set(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }),
    ));
    kept.take().expect("polled")
}

/// Panics, on another thread than its own, when it is dropped.
struct Bound(ThreadId, Arc<AtomicUsize>);

impl Bound {
    fn here(drops: &Arc<AtomicUsize>) -> Self {
        Bound(std::thread::current().id(), drops.clone())
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        assert_eq!(self.0, std::thread::current().id());
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn wakes_from_eight_threads_after_the_executor_are_no_ops() {
    let executor = unclamped();
    let polls = Rc::default();
    let waker = waker_of(&executor, &polls);
    drop(executor);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let waker = waker.clone();
            std::thread::spawn(move || {
                for _ in 0..1_000 {
                    let clone = waker.clone();
                    clone.wake();
                    waker.wake_by_ref();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(polls.get(), 1);
}

#[test]
fn wakes_may_race_with_the_end_of_the_executor() {
    for _ in 0..50 {
        let executor = unclamped();
        let drops = Arc::new(AtomicUsize::new(0));
        let bound = Bound::here(&drops);
        executor.start(async move {
            let _bound = bound;
            forever().await;
        });
        let waker = waker_of(&executor, &Rc::default());
        let remote = executor.remote();
        let barrier = Arc::new(Barrier::new(3));
        let threads = [0, 1].map(|_| {
            let (waker, barrier, remote) = (waker.clone(), barrier.clone(), remote.clone());
            std::thread::spawn(move || {
                barrier.wait();
                for _ in 0..100 {
                    waker.wake_by_ref();
                    drop(waker.clone());
                    remote.spawn(|| async {});
                }
            })
        });
        barrier.wait();
        drop(executor);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[test]
fn every_wake_from_a_thread_is_followed_by_a_poll() {
    let mut executor = unclamped();
    let seen = Arc::new(AtomicUsize::new(0));
    let sent = Arc::new(AtomicUsize::new(0));
    let waker = Rc::new(RefCell::new(None));
    let (see, watch, keep) = (seen.clone(), sent.clone(), waker.clone());
    executor.start(poll_fn(move |cx| {
        keep.replace(Some(cx.waker().clone()));
        see.store(watch.load(Ordering::Acquire), Ordering::Release);
        Poll::<()>::Pending
    }));
    let wake: Waker = waker.take().unwrap();
    let count = sent.clone();
    let thread = std::thread::spawn(move || {
        for _ in 0..10_000 {
            count.fetch_add(1, Ordering::Release);
            wake.wake_by_ref();
        }
    });
    while !thread.is_finished() {
        executor.run_frame(0.25);
    }
    thread.join().unwrap();
    executor.run_frame(0.25);
    assert_eq!(seen.load(Ordering::Acquire), 10_000);
}

#[test]
fn a_future_is_dropped_on_the_thread_of_its_executor_only() {
    let mut executor = unclamped();
    let drops = Arc::new(AtomicUsize::new(0));
    let mut wakers = Vec::new();
    for _ in 0..3 {
        let bound = Bound::here(&drops);
        let kept = Rc::new(Cell::new(None));
        let keep = kept.clone();
        executor.start(poll_fn(move |cx| {
            let _ = &bound;
            keep.set(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }));
        wakers.push(kept.take().unwrap());
    }
    executor.run_frame(0.25);
    drop(executor);
    assert_eq!(drops.load(Ordering::Relaxed), 3);
    // The last wakers go on another thread, and find nothing to drop.
    let thread = std::thread::spawn(move || drop::<Vec<Waker>>(wakers));
    thread.join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

#[test]
fn a_waker_that_outlives_its_coroutine_keeps_none_of_it() {
    let mut executor = unclamped();
    let drops = Arc::new(AtomicUsize::new(0));
    let bound = Bound::here(&drops);
    let kept = Rc::new(Cell::new(None));
    let keep = kept.clone();
    executor.start(poll_fn(move |cx| {
        let _ = &bound;
        keep.set(Some(cx.waker().clone()));
        if time().frame == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }));
    executor.run_frame(0.25);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    assert!(executor.is_empty());
    let waker: Waker = kept.take().unwrap();
    std::thread::spawn(move || waker.wake()).join().unwrap();
    executor.run_frame(0.25);
}

#[test]
fn a_million_clones_of_a_waker_are_one_waker() {
    let mut executor = unclamped();
    let polls = Rc::default();
    let waker = waker_of(&executor, &polls);
    let clones: Vec<Waker> = (0..1_000_000).map(|_| waker.clone()).collect();
    assert!(clones.iter().all(|clone| clone.will_wake(&waker)));
    for clone in clones {
        clone.wake();
    }
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_slot_that_is_used_again_does_not_hear_the_wakers_of_before() {
    let mut executor = unclamped();
    let mut stale = Vec::new();
    for _ in 0..1_000 {
        let kept = Rc::new(Cell::new(None));
        let keep = kept.clone();
        let coroutine = executor.start(poll_fn(move |cx| {
            keep.set(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }));
        stale.push(kept.take().unwrap());
        assert!(coroutine.stop());
    }
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), forever()));
    for waker in &stale {
        Waker::wake_by_ref(waker);
    }
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1);
}

#[test]
fn forgetting_things_leaks_at_worst() {
    let mut executor = unclamped();
    let log = Log::new();
    std::mem::forget(next_frame());
    std::mem::forget(executor.start(next_frame()));
    std::mem::forget(executor.spawn(forever()).finished());
    std::mem::forget(executor.handle());
    std::mem::forget(executor.remote());
    let say = log.clone();
    executor.start(async move {
        // A registered wait that is never dropped.
        let mut wait = Box::new(wait_seconds(0.25));
        assert!(crate::support::poll_once(&mut wait).await.is_pending());
        std::mem::forget(wait);
        let mut wait = Box::new(next_frame());
        assert!(crate::support::poll_once(&mut wait).await.is_pending());
        std::mem::forget(wait);
        wait_frames(3).await;
        say.say("goes on");
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F3: goes on"]);
    std::mem::forget(executor);
}

#[test]
fn an_executor_may_live_in_a_thread_local() {
    thread_local! {
        static EXECUTOR: RefCell<Executor> = RefCell::new(unclamped());
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let count = drops.clone();
    let thread = std::thread::spawn(move || {
        let bound = Bound::here(&count);
        EXECUTOR.with_borrow_mut(|executor| {
            executor.start(async move {
                let _bound = bound;
                loop {
                    next_frame().await;
                }
            });
            executor.run_frame(0.25);
        });
    });
    thread.join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn many_coroutines_are_dropped_with_their_executor_on_a_small_stack() {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let drops = Arc::new(AtomicUsize::new(0));
    let count = drops.clone();
    let thread = thread.spawn(move || {
        let mut executor = unclamped();
        for i in 0..200_000_u64 {
            let bound = Bound::here(&count);
            executor.spawn(async move {
                let _bound = bound;
                wait_frames(1 + i % 3).await;
                forever().await;
            });
        }
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        drop(executor);
    });
    thread.unwrap().join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 200_000);
}

#[test]
fn an_executor_may_be_moved_between_frames() {
    let mut executor = unclamped();
    let child = executor.start(wait_frames(3));
    executor.run_frame(0.25);
    let mut boxed = Box::new(executor);
    boxed.run_frame(0.25);
    let mut back = *boxed;
    back.run_frame(0.25);
    assert_eq!(result_of(&back, child).unwrap().frame, 3);
}
