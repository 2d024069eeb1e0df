//! Guards of owners: an owner is held while any guard exists, and while it is
//! paused.

use super::*;

use framestep::task::PauseGuard;

#[test]
fn an_owner_is_held_until_the_last_guard_and_the_pause_are_over() {
    let (mut timeline, owner) = quarters();
    let child = owner.child();
    for (name, owner) in [("own", &owner), ("child", &child)] {
        timeline.row_on(owner, name, |mark| async move {
            loop {
                wait_seconds(0.25).await;
                mark.hit();
            }
        });
    }
    timeline.run_to(1);
    let ice = owner.pause_guard();
    let web = owner.handle().pause_guard();
    assert!(owner.is_paused() && child.is_paused());
    timeline.run_to(2);
    drop(ice);
    assert!(!owner.resume(), "a hold is no pause");
    timeline.run_to(3);
    assert!(owner.pause() && !owner.pause());
    drop(web);
    timeline.run_to(4);
    assert!(owner.resume());
    assert!(!owner.is_paused() && !child.is_paused());
    timeline.check(
        "
        frame 0 1 2 3 4 5 6
        own   - * - - - * *
        child - * - - - * *
        ",
    );
}

// docs/contract.md#rule-12-pause
#[test]
fn a_pause_guard_ends_like_a_pause_with_one_wake_in_order() {
    let mut executor = in_quarters();
    let owner = executor.owner();
    let log = Log::new();
    let gate = Watch::new(false);
    for name in ["first", "second"] {
        let (log, gate) = (log.clone(), gate.clone());
        owner.start(async move {
            gate.wait_for(|&open| open).await;
            log.say(name);
        });
    }
    let holds = [owner.pause_guard(), owner.pause_guard()];
    gate.set(true);
    gate.set(true);
    executor.run_frame(0.25);
    let [one, other] = holds;
    drop(one);
    executor.run_frame(0.25);
    log.check(&[]);
    drop(other);
    executor.run_frame(0.25);
    log.check(&["F3: first", "F3: second"]);
}

#[test]
fn a_script_that_ends_lets_go_of_what_it_holds() {
    let mut executor = in_quarters();
    let enemy = executor.owner();
    let spell = enemy.handle();
    let freezes = executor.start(async move {
        let _frozen = spell.pause_guard();
        forever().await;
    });
    assert!(enemy.is_paused());
    // Coroutines started on a paused owner wait for the end of the pause.
    let attack = enemy.start(async {});
    executor.run_frame(0.25);
    assert!(!attack.is_finished());
    freezes.stop();
    executor.run_frame(0.25);
    assert!(attack.is_finished());
}

#[test]
fn a_guard_that_outlives_its_owner_or_executor_does_nothing() {
    let executor = in_quarters();
    let owner = executor.owner();
    let guard = owner.pause_guard();
    drop(owner);
    // Another owner takes the slot of the first.
    let owner = executor.owner();
    let own = owner.pause_guard();
    drop(guard);
    assert!(owner.is_paused());
    let parent = executor.owner();
    let child = parent.child();
    let of_child = child.pause_guard();
    drop(parent);
    drop((child.pause_guard(), of_child));
    let handle = owner.handle();
    drop(executor);
    drop(own);
    drop(handle.pause_guard());
}

#[test]
fn a_forgotten_guard_holds_its_owner_and_nothing_else() {
    let mut executor = in_quarters();
    let (owner, other) = (executor.owner(), executor.owner());
    std::mem::forget(owner.pause_guard());
    let (held, free) = (owner.start(next_frame()), other.start(next_frame()));
    executor.run_frame(0.25);
    assert!(!held.is_finished() && free.is_finished());
    drop(owner);
    assert!(held.is_finished());
}

#[test]
fn a_guard_says_whether_its_owner_lives() {
    let executor = in_quarters();
    let owner = executor.owner();
    let guard: PauseGuard = owner.pause_guard();
    assert_eq!(format!("{guard:?}"), "PauseGuard { owner_alive: true }");
    drop(owner);
    assert_eq!(format!("{guard:?}"), "PauseGuard { owner_alive: false }");
}

#[test]
fn a_handle_knows_who_is_paused() {
    let executor = in_quarters();
    let (handle, owner) = (executor.handle(), executor.owner());
    let (own, owned) = (executor.start(forever()), owner.start(forever()));
    let paused = |id| (handle.is_paused(id), executor.is_paused(id));
    assert_eq!(paused(own.id()), (false, false));
    own.pause();
    let hold = owner.pause_guard();
    assert_eq!(paused(own.id()), (true, true));
    assert_eq!(paused(owned.id()), (true, true));
    drop(hold);
    assert_eq!(paused(owned.id()), (false, false));
    let elsewhere = in_quarters();
    assert!(!elsewhere.handle().is_paused(own.id()));
    own.stop();
    assert_eq!(paused(own.id()), (false, false));
    drop(executor);
    assert!(!handle.is_paused(owned.id()));
}
