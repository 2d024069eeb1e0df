//! Inputs 1 to 6: wakers on other threads, millions of them, and after the end of the
//! executor or the coroutine, when they do nothing.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Poll, Waker};

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

use super::sleepers::{Bound, sleeper, waker_of};

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
fn each_of_a_thousand_wakes_from_a_thread_is_a_poll_in_the_next_frame() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let waker = waker_of(&executor, &polls);
    let (ask, asked) = std::sync::mpsc::channel();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        for wakes in asked {
            (0..wakes).for_each(|_| waker.wake_by_ref());
            tell.send(()).unwrap();
        }
    });
    for round in 0..1_000 {
        ask.send(round % 3).unwrap();
        told.recv().unwrap();
        polls.set(0);
        executor.run_frame(0.25);
        assert_eq!(polls.get(), u32::from(round % 3 > 0));
    }
    drop(ask);
    thread.join().unwrap();
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
    // The last wakers are dropped on another thread, and find nothing to drop.
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
    executor.assert_empty();
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
fn a_slot_that_is_used_again_ignores_the_wakers_of_earlier_coroutines() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let slot = |coroutine: &Coroutine<()>| {
        let id = coroutine.id().to_string();
        id.split('v').next().unwrap().to_owned()
    };
    let (mut stale, mut slots) = (Vec::new(), Vec::new());
    for _ in 0..1_000 {
        let (coroutine, waker) = sleeper(&executor, &polls);
        stale.push(waker);
        slots.push(slot(&coroutine));
        assert!(coroutine.stop());
    }
    // Of the same type, so that it gets the same slot.
    let (coroutine, _) = sleeper(&executor, &polls);
    assert!(slots.iter().all(|before| *before == slot(&coroutine)));
    polls.set(0);
    for waker in &stale {
        Waker::wake_by_ref(waker);
    }
    let thread = std::thread::spawn(move || stale.into_iter().for_each(Waker::wake));
    thread.join().unwrap();
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 0);
}

#[test]
fn eight_threads_may_wake_and_clone_and_drop_across_the_ends_of_many_executors() {
    const THREADS: usize = 8;
    let drops = Arc::new(AtomicUsize::new(0));
    for round in 0..20 {
        let mut executor = unclamped();
        let polls = Rc::new(Cell::new(0));
        let mut wakers = Vec::new();
        for _ in 0..THREADS {
            let bound = Bound::here(&drops);
            executor.start(async move {
                let _bound = bound;
                forever().await;
            });
            wakers.push(waker_of(&executor, &polls));
        }
        let (stop, begun) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(Barrier::new(THREADS + 1)),
        );
        let threads: Vec<_> = (0..THREADS)
            .map(|at| {
                let (mut wakers, remote) = (wakers.clone(), executor.remote());
                let (stop, begun) = (stop.clone(), begun.clone());
                std::thread::spawn(move || {
                    begun.wait();
                    let mut woken = 0_usize;
                    while !stop.load(Ordering::Relaxed) {
                        let waker = &mut wakers[(at + woken) % THREADS];
                        let clone = waker.clone();
                        waker.wake_by_ref();
                        drop(std::mem::replace(waker, clone));
                        // Seldom: eight threads would spawn faster than a debug build
                        // polls.
                        if woken % 2_048 == 0 {
                            remote.spawn(|| async {});
                        }
                        woken += 1;
                    }
                    wakers.drain(..).for_each(Waker::wake);
                })
            })
            .collect();
        begun.wait();
        for _ in 0..5 {
            executor.run_frame(0.25);
        }
        drop(wakers);
        // Before, while or after the threads drop their wakers.
        if round % 2 == 0 {
            stop.store(true, Ordering::Relaxed);
        }
        drop(executor);
        assert_eq!(drops.swap(0, Ordering::Relaxed), THREADS);
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
