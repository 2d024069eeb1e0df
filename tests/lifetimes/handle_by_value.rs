//! Handles in call chains and fields: `named` and `stop_on_drop` return the handle,
//! `take` leaves it in place.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of};

/// A behaviour that has one order at a time.
struct Enemy {
    order: Coroutine<()>,
}

#[test]
fn named_and_stop_on_drop_return_the_handle() {
    let executor = unclamped();
    let coroutine = executor.start(forever()).named("boss").stop_on_drop();
    let id = coroutine.id();
    let name = |id| executor.snapshot().get(id).unwrap().name().to_owned();
    assert_eq!(name(id), "boss");
    let coroutine = coroutine.named(String::from("boss of the second level"));
    assert_eq!(name(id), "boss of the second level");
    drop(coroutine);
    executor.assert_empty();
}

#[test]
fn assigning_to_the_field_that_holds_a_handle_ends_the_old_script() {
    let mut executor = unclamped();
    let log = Log::new();
    let order = |name: &'static str| {
        let (log, guard) = (log.clone(), log.on_drop(format!("{name} ends")));
        async move {
            let _guard = guard;
            log.say(format!("{name} begins"));
            forever().await;
        }
    };
    let mut enemy = Enemy {
        order: executor.start(order("patrol")).stop_on_drop(),
    };
    executor.run_frame(0.25);
    // The new script begins first, because the value is made before it is assigned.
    enemy.order = executor.start(order("chase")).stop_on_drop();
    assert_eq!(executor.len(), 1);
    log.check(&["F0: patrol begins", "F1.host: chase begins", "patrol ends"]);
    drop(enemy);
    log.check(&["chase ends"]);
    executor.assert_empty();
}

#[test]
fn a_script_that_assigns_to_the_field_of_its_own_handle_ends_at_its_next_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    let enemy = Rc::new(RefCell::new(Enemy {
        order: executor.spawn(forever()).stop_on_drop(),
    }));
    let (own, say) = (enemy.clone(), log.clone());
    let flees = executor.spawn(async move {
        let next = start(forever()).stop_on_drop();
        let old = std::mem::replace(&mut own.borrow_mut().order, next);
        drop(old);
        say.say("until the next wait");
        next_frame().await;
        say.say("never");
    });
    enemy.borrow_mut().order = flees.stop_on_drop();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: until the next wait"]);
    assert_eq!(executor.len(), 1, "the script that it has started");
    drop(enemy);
    executor.assert_empty();
}

#[test]
fn a_result_is_taken_once_and_only_when_it_is_there() {
    let mut executor = unclamped();
    let coroutine = executor.start(async {
        next_frame().await;
        Rc::new(3)
    });
    assert!(coroutine.take_output().is_none());
    executor.run_frame(0.25);
    assert!(coroutine.is_finished());
    let result = coroutine.take_output().unwrap().unwrap();
    assert_eq!(
        Rc::strong_count(&result),
        1,
        "nothing is left in the handle"
    );
    assert!(coroutine.take_output().is_none());
    assert!(coroutine.is_finished());
}

#[test]
fn take_returns_why_there_is_no_result() {
    let executor = unclamped();
    let (stopped, panicked) = (
        executor.start(forever()),
        executor.start(async { panic!("on purpose") }),
    );
    stopped.stop();
    assert!(stopped.take_output().unwrap().unwrap_err().is_stopped());
    assert!(stopped.take_output().is_none());
    let error = panicked.take_output().unwrap().unwrap_err();
    assert_eq!(error.into_panic().downcast_ref(), Some(&"on purpose"));
    assert!(panicked.take_output().is_none());

    let handle = executor.handle();
    drop(executor);
    let refused = handle.start(forever());
    assert!(refused.take_output().unwrap().unwrap_err().is_stopped());
    assert!(refused.take_output().is_none());
}

#[test]
fn a_handle_whose_result_was_taken_is_terminated_and_not_to_be_awaited() {
    use futures::future::FusedFuture;

    let mut executor = unclamped();
    let coroutine = executor.start(async { 3 });
    assert!(!coroutine.is_terminated());
    coroutine.take_output().unwrap().unwrap();
    assert!(coroutine.is_terminated());
    let message = panic_of(|| {
        executor.run_until(coroutine, 0.25).unwrap();
    });
    assert!(message.contains("awaited again"), "{message}");
}

#[test]
fn taking_a_result_frees_the_block_with_the_handle() {
    let executor = unclamped();
    let coroutine = executor.start(async { 3 });
    let id = coroutine.id();
    coroutine.take_output().unwrap().unwrap();
    drop(coroutine);
    let next = executor.start(async { 4 });
    assert_eq!(id.to_string(), "0v1");
    assert_eq!(next.id().to_string(), "0v2", "the same block again");
}

#[test]
fn the_default_handle_is_that_of_a_coroutine_that_has_ended() {
    #[derive(Default)]
    struct Enemy {
        order: Coroutine<u32>,
    }
    let mut executor = unclamped();
    let mut enemy = Enemy::default();
    assert!(enemy.order.is_finished() && !enemy.order.is_paused());
    assert!(!enemy.order.stop() && !enemy.order.pause() && !enemy.order.resume());
    assert!(!executor.is_alive(enemy.order.id()));
    let ended = enemy.order.finished();
    let outcome = executor.run_until(ended, 0.25);
    assert_eq!(outcome, framestep::task::Outcome::Stopped);
    let order = std::mem::replace(&mut enemy.order, executor.start(async { 5 }));
    assert!(executor.run_until(order, 0.25).unwrap_err().is_stopped());
    assert_eq!(executor.run_until(enemy.order, 0.25).unwrap(), 5);
    assert!(Coroutine::<u32>::default().take_output().unwrap().is_err());
}
