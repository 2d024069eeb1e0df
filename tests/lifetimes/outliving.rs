//! `handle()`: a script starts coroutines that its owner does not own.

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::handle;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, panic_of};

/// An owner whose script has started one coroutine by handle and one by the free
/// function, in frame 1.
fn enemy(executor: &mut Executor, owner: &Owner, log: &Log) {
    let log = log.clone();
    owner.start(async move {
        next_frame().await;
        for (name, by_handle) in [("debris", true), ("growl", false)] {
            let (say, guard) = (log.clone(), log.on_drop(format!("{name} ends")));
            let script = async move {
                let _guard = guard;
                wait_seconds(1).await;
                say.say(name);
            };
            if by_handle {
                handle().start(script);
            } else {
                start(script);
            }
        }
        forever().await;
    });
    executor.run_frame(0.25);
    assert_eq!(executor.len(), 3);
}

#[test]
fn what_a_script_starts_by_handle_outlives_its_owner() {
    let (mut executor, log) = (unclamped(), Log::new());
    let owner = executor.owner();
    enemy(&mut executor, &owner, &log);
    drop(owner);
    log.check(&["growl ends"]);
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F5: debris", "debris ends"]);
    executor.assert_empty();
}

#[test]
fn it_runs_on_while_the_owner_is_paused() {
    let (mut executor, log) = (unclamped(), Log::new());
    let owner = executor.owner();
    enemy(&mut executor, &owner, &log);
    owner.pause();
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    log.check(&["F5: debris", "debris ends"]);
}

#[test]
fn it_counts_on_the_game_clock() {
    let (mut executor, log) = (unclamped(), Log::new());
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    enemy(&mut executor, &owner, &log);
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    log.check(&["F5: debris", "debris ends", "F9: growl", "growl ends"]);
}

#[test]
fn it_is_there_while_an_owner_above_is_inactive() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let started = executor.run_until(
        async move {
            owner.set_active(false);
            let refused = owner.start(forever());
            let taken = handle().start(forever());
            (refused.is_finished(), taken.is_finished())
        },
        0.25,
    );
    assert_eq!(started, (true, false));
}

#[test]
fn inside_enter_it_is_the_handle_of_that_executor() {
    let executor = unclamped();
    let script = executor.enter(|| handle().start(forever()));
    assert!(executor.is_alive(script.id()));
}

#[test]
fn outside_of_an_executor_it_panics() {
    let message = panic_of(|| drop(handle()));
    assert!(message.contains("`handle` was called outside"), "{message}");
}
