//! `Semaphore`: a limited number at a time, first come, first served.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::future::FusedFuture;

use framestep::inspect::Wait;
use framestep::prelude::*;
use framestep::sync::Acquire;

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Log, Mark, Timeline, unclamped};
use framestep_testkit::{WakerCall, forever, panic_of, poll_once, waker_that_tells};

/// Holds a permit for so many frames, and marks each of them.
async fn works(permits: Semaphore, frames: u64, mark: Mark) {
    let _permit = permits.acquire().await;
    mark.hit();
    for _ in 0..frames {
        next_frame().await;
        mark.hit();
    }
}

#[test]
fn so_many_work_at_a_time_in_the_order_in_which_they_began_to_wait() {
    let mut timeline = Timeline::with_dt(0.25);
    let permits = Semaphore::new(2);
    for (name, frames) in [("long", 3), ("short", 1), ("third", 2), ("fourth", 1)] {
        let permits = permits.clone();
        timeline.row(name, |mark| works(permits, frames, mark));
    }
    timeline.check(
        "
        frame  0 1 2 3 4 5
        long   * * * *
        short  * *
        third  - * * *
        fourth - - - * *
        ",
    );
    assert_eq!(permits.available(), 2);
}

#[test]
fn a_permit_that_is_returned_in_another_phase_or_by_the_host_waits_for_the_next_run() {
    let mut timeline = Timeline::with_dt(0.25);
    let permits = Semaphore::new(1);
    let by_host = permits.try_acquire();
    let late = permits.clone();
    timeline.row("late", |mark| async move {
        let permit = late.acquire().await;
        mark.hit();
        next_frame().in_phase(Phase::LateUpdate).await;
        drop(permit);
        mark.hit();
    });
    let last = permits.clone();
    timeline.row("last", |mark| works(last, 0, mark));
    timeline.run_to(1);
    drop(by_host);
    timeline.check(
        "
        frame  0 1 2 3 4
        late   - - * L
        last   - - - - *
        ",
    );
}

#[test]
fn nobody_overtakes() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    let permit = permits.try_acquire();
    let first = executor.start(permits.acquire());
    drop(permit);
    // It belongs to the first waiter, which has not resumed yet.
    assert_eq!(permits.available(), 0);
    assert!(permits.try_acquire().is_none());
    assert!(!executor.start(permits.acquire()).is_finished());
    executor.run_frame(0.25);
    assert!(first.is_finished());
}

#[test]
fn a_place_in_the_queue_counts_from_the_first_poll() {
    let mut executor = unclamped();
    let (log, permits) = (Log::new(), Semaphore::new(1));
    let permit = permits.try_acquire();
    let early = permits.acquire();
    for (name, acquire) in [("b", permits.acquire()), ("a", early)] {
        let log = log.clone();
        executor.start(async move {
            let _permit = acquire.await;
            log.say(name);
        });
    }
    drop(permit);
    executor.run_frame(0.25);
    log.check(&["F1: b", "F1: a"]);
}

#[test]
fn who_stops_waiting_leaves_the_queue() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    let permit = permits.try_acquire();
    let first = executor.start(permits.acquire());
    let second = executor.start(permits.acquire());
    first.stop();
    drop(permit);
    executor.run_frame(0.25);
    assert!(second.is_finished());
    drop(second);
    assert_eq!(permits.available(), 1);
}

#[test]
fn a_permit_that_was_granted_and_not_taken_goes_to_the_next() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    let permit = permits.try_acquire();
    let [first, second, third] = [0, 1, 2].map(|_| executor.start(permits.acquire()));
    drop(permit);
    first.stop();
    second.stop();
    executor.run_frame(0.25);
    assert!(third.is_finished());
    drop(third);
    assert_eq!(permits.available(), 1);
}

#[test]
fn a_wait_with_a_time_limit_returns_what_it_was_granted_too_late() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    let permit = permits.try_acquire();
    let waits = permits.clone();
    let script = executor.start(async move {
        select! {
            _ = next_frame() => false,
            _ = waits.acquire() => true,
        }
    });
    drop(permit);
    assert!(!executor.run_until(script, 0.25).unwrap());
    assert_eq!(permits.available(), 1);
}

#[test]
fn a_paused_script_keeps_the_permit_that_it_was_granted() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    let permit = permits.try_acquire();
    let paused = executor.start(permits.acquire().map(drop));
    let next = executor.start(permits.acquire().map(drop));
    paused.pause();
    drop(permit);
    executor.run_frame(0.25);
    assert!(!paused.is_finished() && !next.is_finished());
    paused.resume();
    executor.run_frame(0.25);
    assert!(paused.is_finished() && next.is_finished());
}

#[test]
fn permits_are_returned_by_scripts_that_panic_or_are_stopped_and_by_their_owner() {
    let mut executor = unclamped();
    executor.on_report(|_| {});
    let permits = Semaphore::new(3);
    let hold = |then: fn()| {
        let permits = permits.clone();
        async move {
            let _permit = permits.acquire().await;
            next_frame().await;
            then();
            forever().await;
        }
    };
    executor.start(hold(|| panic!("on purpose")));
    let stopped = executor.start(hold(|| ()));
    let owner = executor.owner();
    owner.start(hold(|| ()));
    executor.run_frame(0.25);
    assert_eq!(permits.available(), 1);
    stopped.stop();
    drop(owner);
    assert_eq!(permits.available(), 3);
    drop(executor);
    assert_eq!(permits.available(), 3);
}

#[test]
fn without_permits_each_wait_lasts_and_a_forgotten_one_is_lost() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    std::mem::forget(permits.try_acquire());
    assert_eq!(permits.available(), 0);
    let waits = executor.start(permits.acquire());
    executor.run_frames(3, 0.25);
    assert!(!executor.has_ready() && !waits.is_finished());
    drop(permits);
    assert!(waits.stop());
}

#[test]
fn waits_are_owned_fused_and_refuse_a_poll_after_the_end() {
    let permits = Semaphore::new(1);
    let mut wait: Acquire = permits.acquire();
    assert!(!wait.is_terminated());
    let permit = (&mut wait).now_or_never();
    assert!(permit.is_some() && wait.is_terminated());
    let text = panic_of(|| wait.now_or_never());
    assert!(text.contains("polled again"), "{text}");
    assert_eq!(permits.available(), 0);
    drop((permits, permit));
}

// The waker's functions are user code: they may return the permit that this wait
// needs.
#[test]
fn a_permit_that_is_returned_while_the_waker_is_cloned_is_taken() {
    thread_local! {
        static HELD: RefCell<Option<framestep::sync::Permit>> = const { RefCell::new(None) };
    }
    let waker: Waker = waker_that_tells(|call| {
        if matches!(call, WakerCall::Clone) {
            let held = HELD.with(RefCell::take);
            drop(held);
        }
    });
    let permits = Semaphore::new(1);
    HELD.set(permits.try_acquire());
    let mut wait = permits.acquire();
    let polled = Pin::new(&mut wait).poll(&mut Context::from_waker(&waker));
    assert!(matches!(polled, Poll::Ready(_)));
    assert_eq!(permits.available(), 0);
    drop(polled);
    assert_eq!(permits.available(), 1);
}

#[test]
fn a_wait_that_moves_to_another_script_keeps_its_place() {
    let mut executor = unclamped();
    let (log, permits) = (Log::new(), Semaphore::new(1));
    let permit = permits.try_acquire();
    let moved = Rc::new(RefCell::new(None));
    let (from, mut acquire) = (moved.clone(), permits.acquire());
    executor.start(async move {
        assert!(poll_once(&mut acquire).await.is_pending());
        *from.borrow_mut() = Some(acquire);
    });
    let (say, second) = (log.clone(), permits.acquire());
    executor.start(async move {
        let _permit = second.await;
        say.say("second");
    });
    let (say, first) = (log.clone(), moved.take().unwrap());
    executor.start(async move {
        let _permit = first.await;
        say.say("first");
    });
    drop(permit);
    executor.run_frame(0.25);
    log.check(&["F1: first", "F1: second"]);
}

#[test]
fn named_ones_are_shown_in_snapshots_and_traces() {
    let mut executor = unclamped();
    let tokens = Semaphore::new(1).named("attack tokens");
    let trace = Rc::new(RefCell::new(Vec::new()));
    let log = trace.clone();
    executor.on_trace(move |event| log.borrow_mut().push(event.to_string()));
    let permit = tokens.try_acquire();
    let goblin = executor.start(tokens.acquire()).named("goblin");
    let snapshot = executor.snapshot();
    let waits: Vec<_> = snapshot.get(goblin.id()).unwrap().waits().collect();
    assert!(matches!(waits[..], [Wait::Permit { .. }]), "{waits:?}");
    assert_eq!(waits[0].to_string(), "a permit of attack tokens");
    assert_eq!(waits[0].phase(), Some(Phase::Update));
    trace.borrow_mut().clear();
    assert_eq!(
        format!("{tokens:?} {:?}", permit.as_ref().unwrap()),
        "Semaphore { name: \"attack tokens\", available: 0, .. } \
         Permit { of: \"attack tokens\", .. }"
    );
    drop(permit);
    executor.run_frame(0.25);
    let resumed = "frame 1, Update: 0v1 goblin resumed by attack tokens";
    assert_eq!(trace.borrow()[0], resumed);
}

#[test]
fn taking_turns_allocates_nothing_in_the_steady_state() {
    let mut executor = unclamped();
    let permits = Semaphore::new(1);
    for _ in 0..3 {
        let permits = permits.clone();
        executor.start(async move {
            loop {
                let permit = permits.acquire().await;
                next_frame().await;
                drop(permit);
            }
        });
    }
    executor.run_frames(10, 0.25);
    assert_eq!(allocations_of(|| executor.run_frames(100, 0.25)), 0);
}

/// The order in which coroutines are granted permits.
async fn takes(log: Log, name: &'static str, permits: Semaphore, count: usize, seconds: u64) {
    let _taken = permits.acquire_many(count).await;
    log.say(name);
    wait_seconds(seconds).await;
}

// docs/contract.md#decided-permits
#[test]
fn several_permits_at_once_are_not_overtaken() {
    let mut executor = unclamped();
    let log = Log::new();
    let permits = Semaphore::new(2);
    for (name, count, seconds) in [
        ("one", 1, 1),
        ("two", 2, 1),
        ("behind", 1, 1),
        ("none", 0, 1),
    ] {
        executor.start(takes(log.clone(), name, permits.clone(), count, seconds));
    }
    // One is free, and the second in the queue waits for two.
    assert_eq!(permits.available(), 0);
    assert!(permits.try_acquire().is_none());
    executor.run_frames(3, 1);
    log.check(&["F0: one", "F0: none", "F1: two", "F2: behind"]);
    assert_eq!((permits.available(), permits.count()), (2, 2));
}

#[test]
fn a_large_request_that_is_dropped_lets_those_behind_it_pass() {
    let mut executor = unclamped();
    let permits = Semaphore::new(2);
    let large = executor.start(permits.acquire_many(3));
    let behind = [1, 1].map(|count| executor.start(permits.acquire_many(count)));
    executor.run_frame(1);
    assert!(behind.iter().all(|script| !script.is_finished()));
    large.stop();
    executor.run_frame(1);
    assert!(behind.iter().all(Coroutine::is_finished));
}

// docs/contract.md#decided-permits
#[test]
fn added_permits_go_to_those_who_wait_first() {
    let mut executor = unclamped();
    let log = Log::new();
    let gate = Semaphore::new(0);
    for name in ["one", "two", "three"] {
        executor.start(takes(log.clone(), name, gate.clone(), 1, 99));
    }
    executor.run_frame(1);
    gate.add(2);
    assert_eq!((gate.available(), gate.count()), (0, 2));
    executor.run_frame(1);
    gate.add(2);
    assert_eq!((gate.available(), gate.count()), (1, 4));
    executor.run_frame(1);
    log.check(&["F2: one", "F2: two", "F3: three"]);
    let text = framestep_testkit::panic_of(|| gate.add(usize::MAX));
    assert!(text.contains("too many to count"), "{text}");
    assert_eq!(gate.count(), 4);
}

// docs/contract.md#decided-permits
#[test]
fn fewer_permits_than_are_taken_are_reported_and_hold_as_they_return() {
    let mut executor = unclamped();
    let reports: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = reports.clone();
    executor.on_report(move |report| heard.borrow_mut().push(report.to_string()));
    let permits = Semaphore::new(4).named("tokens");
    let mut taken: Vec<Permit> = (0..3).map_while(|_| permits.try_acquire()).collect();
    executor.enter(|| permits.set_count(3));
    assert_eq!((permits.available(), permits.count()), (0, 3));
    assert!(reports.borrow().is_empty());
    let line = line!() + 1;
    executor.enter(|| permits.set_count(1));
    assert_eq!(
        *reports.borrow(),
        [format!(
            "at {}:{line}:31: the permits of `tokens` were set to 1 while 3 are taken, so none is \
             granted until 2 of those have been returned: to have them back now, stop the scripts \
             that hold them",
            file!()
        )]
    );
    let waits = executor.start(permits.acquire());
    for available in [false, false, true] {
        taken.pop();
        executor.run_frame(1);
        assert_eq!(waits.is_finished(), available);
        assert_eq!(permits.count(), 1);
    }
    drop(waits);
    assert_eq!(permits.available(), 1);
    // More make up for those that would vanish.
    let all = executor.start(permits.acquire());
    executor.enter(|| permits.set_count(0));
    permits.add(1);
    drop(all);
    assert_eq!((permits.available(), permits.count()), (1, 1));
}
