//! A panic ends one coroutine: docs/contract.md#rule-11-panics

mod everywhere;
mod run_loop;
mod unwinding;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{counted, forever, panic_text, result_of};

/// Says `name` in every frame.
fn ticker(executor: &Executor, log: &Log, name: &'static str) {
    let log = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            log.say(name);
        }
    });
}

#[test]
fn siblings_run_on_in_the_same_run() {
    let mut executor = unclamped();
    let log = Log::new();
    ticker(&executor, &log, "before");
    let panics = executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    ticker(&executor, &log, "after");
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: before", "F1: after", "F2: before", "F2: after"]);
    assert!(panics.is_finished());
    assert_eq!(executor.len(), 2);
}

#[test]
fn every_sibling_may_panic_in_one_run() {
    let mut executor = unclamped();
    let log = Log::new();
    for i in 0..100 {
        executor.start(async move {
            next_frame().await;
            panic!("on purpose: {i}");
        });
    }
    ticker(&executor, &log, "after");
    executor.run_frame(0.25);
    log.check(&["F1: after"]);
    assert_eq!(executor.len(), 1);
}

#[test]
fn joiners_get_the_payload() {
    let mut executor = unclamped();
    let text = executor.start(async { panic!("text") });
    let number = executor.start(async {
        next_frame().await;
        panic_any(42_i32);
    });
    executor.run_frame(0.25);
    let payload = result_of::<()>(&executor, text).unwrap_err().into_panic();
    assert_eq!(panic_text(&*payload), "text");
    let payload = result_of::<()>(&executor, number).unwrap_err().into_panic();
    assert_eq!(payload.downcast_ref::<i32>(), Some(&42));
}

#[test]
fn a_panic_in_a_started_coroutine_does_not_reach_the_host() {
    let executor = unclamped();
    let coroutine = executor.start(async { panic!("on purpose") });
    assert!(coroutine.is_finished());
    assert!(
        result_of::<()>(&executor, coroutine)
            .unwrap_err()
            .is_panic()
    );
}

#[test]
fn a_panic_in_a_started_coroutine_does_not_reach_its_starter() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        let child = start(async { panic!("on purpose") });
        say.say("goes on");
        let result: Result<(), _> = child.await;
        assert!(result.unwrap_err().is_panic());
        say.say("has joined");
    });
    executor.run_frame(0.25);
    log.check(&["F1: goes on", "F1: has joined"]);
}

#[test]
fn a_panic_that_is_not_awaited_is_no_panic_of_the_parent() {
    let mut executor = unclamped();
    let parent = executor.start(async {
        drop(start(async {
            next_frame().await;
            panic!("on purpose");
        }));
        wait_frames(2).await;
        5
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert_eq!(result_of(&executor, parent).unwrap(), 5);
}

#[test]
fn an_unwrapped_join_error_panics_in_the_joiner_in_turn() {
    let mut executor = unclamped();
    let child = executor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    let id = child.id().to_string();
    let parent = executor.start(child.map(Result::unwrap));
    executor.run_frame(0.25);
    let error = result_of::<()>(&executor, parent).unwrap_err();
    let text = panic_text(&*error.into_panic());
    assert!(text.contains(&id), "the error names the coroutine: {text}");
}

#[test]
fn locals_are_dropped_while_the_panic_unwinds() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let _first = say.on_drop("first");
        let _second = say.on_drop("second");
        next_frame().await;
        panic!("on purpose");
    });
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    log.check(&["second", "first", "F1: sibling"]);
}

#[test]
fn a_coroutine_that_panicked_is_not_polled_again() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async {
        futures::join!(
            async {
                next_frame().await;
                panic!("on purpose");
            },
            wait_frames(2),
            wait_seconds(0.25),
            end_of_frame(),
        );
    }));
    polls.take();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
    assert_eq!(executor.next_deadline(), None);
}

#[test]
fn a_panic_in_any_phase_leaves_the_executor_usable() {
    let mut executor = unclamped();
    let log = Log::new();
    ticker(&executor, &log, "ticks");
    for phase in framestep_testkit::PHASES {
        executor.start(async move {
            in_phase(phase).await;
            panic!("on purpose");
        });
    }
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: ticks", "F2: ticks"]);
    assert_eq!(executor.time().phase, None);
    let next = executor.start(next_frame());
    executor.run_frame(0.25);
    assert!(next.is_finished());
}

#[test]
fn a_predicate_that_panics_ends_its_coroutine() {
    let mut executor = unclamped();
    let log = Log::new();
    let waits = executor.start(async {
        wait_until(|| panic!("the predicate panics")).await;
    });
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    log.check(&["F1: sibling"]);
    let error = result_of(&executor, waits).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "the predicate panics");
}

#[test]
fn a_panic_within_a_joiner_does_not_hold_up_the_other_joiners() {
    let mut executor = unclamped();
    let log = Log::new();
    let child = executor.start(next_frame().map(drop));
    let finished = child.finished();
    executor.start(async move {
        finished.await;
        panic!("on purpose");
    });
    let say = log.clone();
    executor.start(async move {
        child.await.unwrap();
        say.say("joiner");
    });
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    log.check(&["F1: joiner", "F1: sibling"]);
}

#[test]
fn a_coroutine_may_catch_its_own_panics() {
    let mut executor = unclamped();
    let coroutine = executor.start(async {
        let inner = async {
            next_frame().await;
            panic!("on purpose");
        };
        let caught = AssertUnwindSafe(inner).catch_unwind().await.is_err();
        next_frame().await;
        caught
    });
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert!(result_of(&executor, coroutine).unwrap());
}

/// A panic payload whose destructor panics.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("the payload panics");
    }
}

/// A value whose destructor counts and panics.
struct Bomb(Rc<Cell<u32>>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        panic!("the destructor panics");
    }
}

#[test]
fn a_payload_whose_destructor_panics_does_not_reach_the_host() {
    let mut executor = unclamped();
    let log = Log::new();
    // Detached before it panics, and detached after.
    drop(executor.start(async {
        next_frame().await;
        panic_any(Payload);
    }));
    let later = executor.start(async {
        next_frame().await;
        panic_any(Payload);
    });
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    drop(later);
    executor.run_frame(0.25);
    log.check(&["F1: sibling", "F2: sibling"]);
}

#[test]
fn an_output_whose_destructor_panics_does_not_reach_the_host() {
    let mut executor = unclamped();
    let log = Log::new();
    let drops = Rc::new(Cell::new(0));
    let bomb = Bomb(drops.clone());
    drop(executor.start(async move {
        next_frame().await;
        bomb
    }));
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    log.check(&["F1: sibling"]);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_destructor_that_panics_when_its_coroutine_returns_makes_the_join_an_error() {
    let mut executor = unclamped();
    let log = Log::new();
    let drops = Rc::new(Cell::new(0));
    let bomb = Bomb(drops.clone());
    let coroutine = executor.start(async move {
        let _bomb = bomb;
        next_frame().await;
    });
    let finished = coroutine.finished();
    let outcome = executor.start(finished);
    ticker(&executor, &log, "sibling");
    executor.run_frame(0.25);
    log.check(&["F1: sibling"]);
    assert_eq!(drops.get(), 1);
    assert!(result_of(&executor, coroutine).unwrap_err().is_panic());
    assert_eq!(result_of(&executor, outcome).unwrap(), Outcome::Panicked);
}

#[test]
fn destructors_that_panic_when_the_executor_goes_do_not_hold_up_the_others() {
    let executor = unclamped();
    let log = Log::new();
    let drops = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let bomb = Bomb(drops.clone());
        executor.start(async move {
            let _bomb = bomb;
            forever().await;
        });
        let dropped = log.on_drop("dropped");
        executor.start(async move {
            let _dropped = dropped;
            forever().await;
        });
    }
    // Whether or not the panics leave the destructor: everything is dropped.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(executor)));
    assert_eq!(drops.get(), 3);
    log.check(&["dropped", "dropped", "dropped"]);
}
