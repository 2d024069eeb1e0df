//! Owners that are sent to other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::SendOwner;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

fn on_another_thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    thread::spawn(f).join().unwrap()
}

/// An owner of one coroutine, which logs its end.
fn owner_of_one(executor: &Executor, log: &Log) -> SendOwner {
    let owner = executor.owner();
    let guard = log.on_drop("stopped");
    owner.start(async move {
        forever().await;
        drop(guard);
    });
    owner.into_send()
}

#[test]
fn it_goes_anywhere() {
    fn check<T: Send + Sync + 'static>() {}
    check::<SendOwner>();
}

#[test]
fn the_owner_is_there_at_home_only() {
    let executor = unclamped();
    let owner = executor.owner().into_send();
    assert!(owner.get().is_some());
    let owner = on_another_thread(move || {
        assert!(owner.get().is_none());
        // Nor on a thread with another executor.
        let other = unclamped();
        other.enter(|| assert!(owner.get().is_none()));
        owner
    });
    owner.get().unwrap().start(forever());
    assert_eq!(executor.len(), 1);
    thread::scope(|scope| {
        scope.spawn(|| assert!(owner.get().is_none()));
    });
}

#[test]
fn dropped_at_home_it_stops_at_once() {
    let executor = unclamped();
    let log = Log::new();
    let owner = owner_of_one(&executor, &log);
    drop(owner);
    log.check(&["stopped"]);
    executor.assert_empty();
}

#[test]
fn dropped_elsewhere_it_stops_when_the_next_run_begins() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = owner_of_one(&executor, &log);
    let say = log.clone();
    executor.start(async move {
        in_phase(Phase::Custom(0)).await;
        say.note("the run");
    });
    on_another_thread(move || drop(owner));
    log.check(&[]);
    assert!(executor.has_ready());
    executor.run_phase(Phase::Custom(0));
    log.check(&["stopped", "the run"]);
}

#[test]
fn the_host_is_woken_by_a_drop_elsewhere() {
    let executor = unclamped();
    let wakes = Arc::new(AtomicU32::new(0));
    let count = wakes.clone();
    executor.on_wake(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let owner = executor.owner().into_send();
    on_another_thread(move || drop(owner));
    assert_eq!(wakes.load(Ordering::Relaxed), 1);
}

#[test]
fn children_and_joiners_are_notified() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let child = owner.child();
    let joined = child.start(forever());
    let joiner = executor.start(async move { joined.await.unwrap_err().is_stopped() });
    let owner = owner.into_send();
    on_another_thread(move || drop(owner));
    executor.run_frame(0.25);
    assert!(!child.is_active());
    assert!(executor.run_until(joiner, 0.25).unwrap());
}

#[test]
fn destructors_may_act_when_it_is_dropped_elsewhere() {
    struct Acts;
    impl Drop for Acts {
        fn drop(&mut self) {
            spawn(async {
                with(|number: &mut u32| *number += 1);
            });
            with_deferred(|number: &mut u32| *number += 10);
        }
    }
    let mut executor = unclamped();
    let owner = executor.owner();
    let acts = Acts;
    owner.start(async move {
        forever().await;
        drop(acts);
    });
    // It spawns a coroutine with an owner other than the one being dropped.
    let owner = owner.into_send();
    on_another_thread(move || drop(owner));
    let mut number = 0_u32;
    executor.lend(&mut number, |executor| executor.run_frame(0.25));
    assert_eq!(number, 10);
    executor.assert_empty();
}

#[test]
fn what_is_started_before_the_run_that_takes_over_the_drop_is_stopped_with_it() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let child = owner.child();
    child.pause();
    let owner = owner.into_send();
    on_another_thread(move || drop(owner));
    let started = child.start(forever());
    assert!(!started.is_finished());
    executor.run_frame(0.25);
    assert!(started.is_finished() && executor.is_empty());
}

#[test]
fn without_its_executor_it_does_nothing() {
    let log = Log::new();
    let executor = unclamped();
    let [at_home, elsewhere] = [(); 2].map(|()| owner_of_one(&executor, &log));
    let late = executor.owner();
    drop(executor);
    log.check(&["stopped", "stopped"]);
    let late = late.into_send();
    assert!(at_home.get().is_none() && late.get().is_none());
    drop((at_home, late));
    on_another_thread(move || drop(elsewhere));
}

#[test]
fn it_may_outlive_the_thread_of_its_executor() {
    let owners = on_another_thread(|| {
        let executor = unclamped();
        let owners = [(); 2].map(|()| owner_of_one(&executor, &Log::new()));
        let left = executor.owner().into_send();
        std::mem::forget(executor);
        (owners, left)
    });
    let (owners, left) = owners;
    assert!(left.get().is_none());
    drop((owners, left));
}

#[test]
fn many_may_be_dropped_on_many_threads_while_the_executor_runs() {
    let mut executor = unclamped();
    let log = Log::new();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let owners: Vec<_> = (0..100).map(|_| owner_of_one(&executor, &log)).collect();
            thread::spawn(move || drop(owners))
        })
        .collect();
    while !executor.is_empty() {
        executor.run_frame(0.25);
        thread::yield_now();
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(log.take().len(), 400);
}
