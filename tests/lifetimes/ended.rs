//! Waits for the end of all scripts of an owner.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{allocations_of, counted, forever, panic_text, poll_once};

#[test]
fn it_is_not_polled_before_the_last_script_has_ended() {
    let mut executor = unclamped();
    let owner = executor.owner();
    for seconds in 1..=8 {
        owner.start(wait_seconds(seconds));
    }
    let polls = Rc::new(Cell::new(0));
    let waits = executor.start(counted(polls.clone(), owner.ended()));
    executor.run_frames(7, 1);
    assert_eq!(polls.get(), 1);
    executor.run_frame(1);
    assert!(waits.is_finished());
    assert_eq!(polls.get(), 2);
}

// docs/contract.md#law-ended
#[test]
fn scripts_that_are_started_in_the_meantime_count() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    owner.start(async {
        next_frame().await;
        start(async {
            next_frame().await;
            spawn(next_frame());
        });
    });
    let say = log.clone();
    let ended = owner.ended();
    executor.start(async move {
        ended.await;
        say.say("ended");
    });
    executor.run_frames(5, 1);
    log.check(&["F3: ended"]);
}

#[test]
fn a_script_that_is_started_before_the_wait_resumes_does_not_prolong_it() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(next_frame());
    let waits = executor.start(owner.ended());
    let handle = owner.handle();
    // Resumes first: it began to wait first.
    let again = executor.start({
        let ended = owner.ended();
        async move {
            ended.await;
            handle.start(forever());
        }
    });
    drop(waits);
    let late = executor.start(owner.ended());
    executor.run_frame(1);
    assert!(again.is_finished() && late.is_finished());
    assert!(!owner.is_empty());
}

#[test]
fn it_outlives_the_owner_and_the_executor() {
    for drops_executor in [false, true] {
        let mut other = unclamped();
        let executor = unclamped();
        let owner = executor.owner();
        owner.start(forever());
        let waits = other.start(owner.ended());
        let never_polled = owner.ended();
        other.run_frame(1);
        assert!(!waits.is_finished());
        if drops_executor {
            drop(executor);
        } else {
            drop(owner);
        }
        other.run_frame(1);
        assert!(waits.is_finished());
        assert_eq!(never_polled.now_or_never(), Some(()));
    }
}

#[test]
fn stopping_and_dropping_end_it_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let (stopped, dropped) = (executor.owner(), executor.owner());
    let below = dropped.child();
    for owner in [&stopped, &dropped, &below] {
        owner.start(forever());
    }
    for (name, ended) in [("stopped", stopped.ended()), ("dropped", dropped.ended())] {
        let log = log.clone();
        executor.start(async move {
            ended.await;
            log.say(name);
        });
    }
    executor.start(async move {
        next_frame().await;
        stopped.stop_all();
        next_frame().await;
        drop(dropped);
    });
    executor.run_frames(3, 1);
    log.check(&["F1: stopped", "F2: dropped"]);
    drop(below);
}

#[test]
fn a_loop_of_cancelled_waits_takes_no_memory() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(forever());
    let ended = owner.handle();
    executor.start(async move {
        loop {
            let mut wait = ended.ended();
            assert!(poll_once(&mut wait).await.is_pending());
            next_frame().await;
        }
    });
    executor.run_frames(100, 1);
    assert_eq!(allocations_of(|| executor.run_frames(1000, 1)), 0);
}

#[test]
fn a_script_of_the_owner_that_awaits_it_panics() {
    let executor = unclamped();
    let owner = executor.owner().named("crowd");
    let below = owner.child();
    let awaits = |ended: framestep::task::OwnerHandle| async move {
        let caught = std::panic::AssertUnwindSafe(async move {
            ended.ended().await;
        });
        let payload = caught.catch_unwind().await.unwrap_err();
        panic_text(&*payload)
    };
    for inside in [&owner, &below] {
        let script = inside.start(awaits(owner.handle()));
        let id = script.id();
        assert_eq!(
            script.take_output().unwrap().unwrap(),
            format!(
                "coroutine {id} awaits `ended()` of the owner `crowd`, on which it runs itself, so \
                 that would never come: await it in a coroutine of another owner, or call \
                 `stop_all()` to end the others"
            )
        );
    }
    // A script of a child may be awaited by one of its parent.
    let handle = below.handle();
    below.start(next_frame());
    let outside = owner.start(async move { handle.ended().await });
    assert!(!outside.is_finished());
}

#[test]
fn each_owner_of_a_tree_ends_when_all_below_it_have() {
    let mut executor = unclamped();
    let log = Log::new();
    let root = executor.owner().named("root");
    let mut owners = vec![root];
    for depth in 1..=4 {
        let parent = &owners[depth - 1];
        owners.push(parent.child().named(format!("{depth}")));
    }
    // The deepest ends last.
    for (depth, owner) in owners.iter().enumerate() {
        owner.start(wait_seconds(depth as u64 + 1));
        let (log, ended) = (log.clone(), owner.ended());
        executor.start(async move {
            ended.await;
            log.say(format!("{depth}"));
        });
    }
    executor.run_frames(4, 1);
    assert!(log.take().is_empty());
    // All are over at once, the innermost first.
    executor.run_frame(1);
    log.check(&["F5: 4", "F5: 3", "F5: 2", "F5: 1", "F5: 0"]);
}

// docs/contract.md#law-ended
#[test]
fn a_coroutine_whose_destructor_runs_has_not_ended() {
    for is_dropped in [false, true] {
        let executor = Rc::new(RefCell::new(unclamped()));
        let log = Log::new();
        let level = executor.borrow().owner();
        let enemies = level.child();
        let (host, say) = (executor.clone(), log.clone());
        enemies.start(async move {
            let _runs_a_frame = defer_call(move || {
                host.borrow_mut().run_frame(1);
                say.say("dropped");
            });
            forever().await;
        });
        let (ended, say) = (level.ended(), log.clone());
        executor.borrow().start(async move {
            ended.await;
            say.say("ended");
        });
        // The end of another coroutine in that frame completes the joins of the frame.
        let other = executor.borrow().owner();
        other.spawn(async {});
        if is_dropped {
            drop(enemies);
        } else {
            enemies.stop_all();
        }
        executor.borrow_mut().run_frame(1);
        log.check(&["F1.host: dropped", "F2: ended"]);
    }
}
