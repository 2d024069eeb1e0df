//! Weak handles of owners.

use std::cell::Cell;
use std::rc::Rc;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::OwnerHandle;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

/// Whether a handle does nothing any more.
#[track_caller]
fn check_gone(handle: &OwnerHandle) {
    assert!(!handle.is_alive());
    assert!(handle.spawn(forever()).is_finished());
    assert!(
        handle
            .start(async { unreachable!("it is refused") })
            .is_finished()
    );
    assert!(!handle.pause());
    assert!(!handle.resume());
    handle.stop_all();
}

#[test]
fn it_does_what_the_owner_does() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let handle = owner.handle();
    let say = log.clone();
    let started = handle.start(async move {
        say.say("started");
        next_frame().await;
        say.say("resumed");
        forever().await;
    });
    let spawned = handle.clone().spawn(forever());
    assert!(handle.pause() && !handle.pause());
    assert!(owner.is_paused() && spawned.is_paused());
    executor.run_frame(0.25);
    assert!(handle.resume() && !handle.resume());
    executor.run_frame(0.25);
    log.check(&["F0: started", "F2: resumed"]);
    handle.stop_all();
    assert!(started.is_finished() && spawned.is_finished());
    assert!(handle.is_alive());
}

#[test]
fn it_keeps_nothing_alive() {
    let executor = unclamped();
    let owner = executor.owner();
    let handle = owner.handle();
    handle.start(forever());
    drop(owner);
    executor.assert_empty();
    check_gone(&handle);
    let owner = executor.owner();
    let handle = owner.handle();
    drop(executor);
    check_gone(&handle);
    check_gone(&owner.handle());
    check_gone(&owner.child().handle());
}

#[test]
fn it_does_not_take_the_next_owner_for_its_own() {
    let executor = unclamped();
    let handle = executor.owner().handle();
    let next = executor.owner();
    let coroutine = next.start(forever());
    check_gone(&handle);
    assert!(!coroutine.is_finished() && !next.is_paused());
}

#[test]
fn of_a_child_it_is_gone_with_the_parent() {
    let executor = unclamped();
    let owner = executor.owner();
    let child = owner.child();
    let handle = child.handle();
    assert!(handle.is_alive());
    drop(owner);
    check_gone(&handle);
}

#[test]
fn an_inactive_owner_is_alive_and_takes_nothing() {
    let executor = unclamped();
    let owner = executor.owner();
    let handle = owner.handle();
    owner.set_active(false);
    assert!(handle.is_alive());
    assert!(handle.start(forever()).is_finished());
    owner.set_active(true);
    assert!(!handle.start(forever()).is_finished());
}

#[test]
fn a_coroutine_of_the_owner_may_hold_it_and_act_on_its_own_owner() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let (handle, say) = (owner.handle(), log.clone());
    let guard = log.on_drop("dropped");
    owner.start(async move {
        let _guard = guard;
        handle.start(forever());
        next_frame().await;
        handle.stop_all();
        say.say("goes on to its next wait");
        next_frame().await;
    });
    executor.run_frame(0.25);
    log.check(&["F1: goes on to its next wait", "dropped"]);
    executor.assert_empty();
}

#[test]
fn another_executor_does_not_know_it() {
    let (mine, other) = (unclamped(), unclamped());
    let owner = mine.owner();
    let handle = owner.handle();
    let spawned = other.enter(|| handle.spawn(forever()));
    assert_eq!((mine.len(), other.len()), (1, 0));
    drop::<Executor>(other);
    assert!(!spawned.is_finished());
}

// A spawn outside a run may take messages over, and thereby call the trace
// hook.

#[test]
fn a_hook_may_drop_the_owner_while_a_coroutine_is_spawned_on_it() {
    let mut executor = unclamped();
    let owner = Rc::new(Cell::new(Some(executor.owner())));
    let handle = {
        let real = owner.take().unwrap();
        let handle = real.handle();
        owner.set(Some(real));
        handle
    };
    let dropped = owner.clone();
    executor.on_trace(move |_| drop(dropped.take()));
    executor.remote().spawn(|| async {});
    let spawned = handle.spawn(forever());
    executor.run_frame(0.25);
    assert!(!handle.is_alive() && spawned.is_finished());
}

#[test]
fn an_owner_in_the_place_of_another_gets_none_of_its_calls() {
    let mut executor = unclamped();
    let first = executor.owner();
    let handle = first.handle();
    let owner = Rc::new(Cell::new(Some(first)));
    let (replaced, weak) = (owner.clone(), executor.handle());
    let mut once = true;
    executor.on_trace(move |_| {
        if std::mem::take(&mut once) {
            drop(replaced.take());
            replaced.set(weak.owner());
        }
    });
    executor.remote().spawn(|| async {});
    let spawned = handle.spawn(forever());
    executor.run_frame(0.25);
    let second = owner.take().unwrap();
    assert!(spawned.is_finished() && second.is_empty());
    check_gone(&handle);
    assert!(second.is_empty() && second.is_active() && !second.is_paused());
    let own = second.start(forever());
    handle.stop_all();
    assert!(!own.is_finished());
}

#[test]
fn start_with_lends_state_to_the_first_poll_alone() {
    let mut executor = Executor::new();
    let owner = executor.owner();
    let mut number = 1_u32;
    let script = owner.handle().start_with(&mut number, async {
        with(|number: &mut u32| *number += 1);
        next_frame().await;
        try_with(|number: &mut u32| *number += 10).is_err()
    });
    assert_eq!(number, 2);
    executor.run_frame(0.25);
    assert!(script.take_output().unwrap().unwrap());
}

#[test]
fn start_with_of_an_owner_that_is_gone_polls_nothing() {
    let executor = Executor::new();
    executor.on_report(|_| ());
    let owner = executor.owner();
    let handle = owner.handle();
    let polls = || async { with(|number: &mut u32| *number += 1) };
    drop(owner);
    let mut number = 1_u32;
    let refused = handle.start_with(&mut number, polls());
    assert!(refused.take_output().unwrap().unwrap_err().is_stopped());
    drop(executor);
    let refused = handle.start_with(&mut number, polls());
    assert!(refused.take_output().unwrap().unwrap_err().is_stopped());
    assert_eq!(number, 1);
}
