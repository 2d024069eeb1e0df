//! Pauses that begin in a poll or end before a fixed step:
//! docs/contract.md#rule-12-pause

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::select;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, in_quarters, unclamped};
use framestep_testkit::{poll_once, result_of, update};

#[test]
fn a_wait_that_begins_after_the_owner_was_paused_stands_still() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let (own, say) = (Rc::downgrade(&owner), log.clone());
    owner.spawn(async move {
        own.upgrade().expect("it is there").pause();
        wait_seconds_realtime(0.5).await;
        say.say("half a second later");
    });
    for _ in 0..5 {
        update(&mut executor, 0.25);
    }
    owner.resume();
    update(&mut executor, 0.25);
    log.check(&[]);
    update(&mut executor, 0.25);
    log.check(&["F7: half a second later"]);
}

#[test]
fn a_step_that_reads_less_than_the_end_of_a_pause_may_begin_a_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let coroutine = executor.start(async move {
        let step = async {
            fixed_update().await;
            wait_seconds(0.125).in_phase(Phase::FixedUpdate).await;
            say.say(time().elapsed.as_millis());
        };
        futures::join!(wait_seconds(60), step);
    });
    coroutine.pause();
    executor.begin_frame(0.5);
    coroutine.resume();
    assert!(executor.begin_fixed_step());
    executor.run_phase(Phase::FixedUpdate);
    executor.begin_frame(0.25);
    while executor.begin_fixed_step() {
        executor.run_phase(Phase::FixedUpdate);
    }
    assert!(!coroutine.is_finished());
    // Begun in the step at 20 ms.
    log.check(&["F2.FixedUpdate: 160"]);
}

#[test]
fn a_coroutine_whose_owner_is_gone_may_ask_for_one_that_takes_nothing() {
    let mut executor = unclamped();
    let owner = Rc::new(RefCell::new(Some(executor.owner())));
    let own = owner.clone();
    let script = async move {
        drop(own.take());
        let below = owner_of_nobody();
        below.is_active()
    };
    let asked = owner.borrow().as_ref().expect("it is there").spawn(script);
    executor.run_frame(0.25);
    assert!(!executor.run_until(asked, 0.25).expect("it returned"));
}

fn owner_of_nobody() -> Owner {
    owner()
}

// docs/contract.md#decided-custom-phases
#[test]
fn a_timer_in_a_phase_inside_and_outside_of_fixed_steps_counts_frames() {
    const OWN: Phase = Phase::Custom(0);
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        wait_seconds(0.25).in_phase(OWN).await;
        say.say("there");
    });
    executor.begin_frame(Duration::from_millis(240));
    executor.run_phase(OWN);
    executor.begin_frame(Duration::from_millis(5));
    assert!(executor.begin_fixed_step());
    executor.run_phase(OWN);
    executor.end_fixed_step();
    executor.run_phase(OWN);
    log.check(&[]);
    executor.begin_frame(Duration::from_millis(5));
    // The frame is at 250 ms, the step at 40 ms.
    assert!(executor.begin_fixed_step());
    executor.run_phase(OWN);
    log.check(&["F3.Custom(0): there"]);
}

#[test]
fn a_wait_begun_in_a_fixed_step_that_lags_behind_a_pause_is_not_moved_by_it() {
    for at_once in [true, false] {
        let mut executor = in_quarters();
        let handle = executor.handle();
        let script = executor.start(async move {
            handle.pause(current());
            fixed_update().await;
            let begun = time().elapsed;
            let mut wait = wait_seconds(0.5);
            // Even if it is polled before it is due.
            if !at_once {
                assert!(poll_once(&mut wait).await.is_pending());
                end_of_frame().await;
                assert!(poll_once(&mut wait).await.is_pending());
            }
            wait.await;
            begun
        });
        executor.begin_frame(2);
        executor.run_phase(Phase::Update);
        script.resume();
        // The clock has advanced by two seconds without it, the steps by none.
        assert!(executor.begin_fixed_step());
        executor.run_phase(Phase::FixedUpdate);
        executor.run_phase(Phase::EndOfFrame);
        // It counts from the frame, at two seconds.
        update(&mut executor, 0.25);
        assert!(!script.is_finished());
        update(&mut executor, 0.25);
        let begun = result_of(&executor, script).unwrap();
        assert_eq!(begun, Duration::from_millis(250));
    }
}

#[test]
fn next_deadline_is_exact_for_coroutines_that_are_or_were_paused() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let seconds = |executor: &Executor| {
        let next = executor.next_deadline();
        next.map(|next| next.as_secs_f64())
    };
    // One timer stored with its coroutine, two with entries.
    owner.start(wait_seconds(1));
    let both = async { futures::join!(wait_seconds(1.5), wait_seconds_realtime(1.5)) };
    owner.start(both);
    let other = executor.start(wait_seconds(4));
    executor.run_frame(0.25);
    assert_eq!(seconds(&executor), Some(0.75));
    owner.pause();
    assert_eq!(seconds(&executor), Some(3.75), "that of the other one");
    executor.run_frame(1);
    executor.run_frame(1);
    assert_eq!(seconds(&executor), Some(1.75));
    owner.resume();
    assert_eq!(seconds(&executor), Some(0.75), "what it was");
    executor.run_frame(0.5);
    assert_eq!(seconds(&executor), Some(0.25));
    other.pause();
    assert_eq!(seconds(&executor), Some(0.25));
    executor.run_frame(0.25);
    assert_eq!(seconds(&executor), Some(0.5));
    executor.run_frame(0.5);
    assert!(owner.is_empty());
    assert_eq!(seconds(&executor), None);
    executor.run_frame(100);
    other.resume();
    // It existed for 2.75 of the four seconds.
    assert_eq!(seconds(&executor), Some(1.25));
    executor.run_frame(1.25);
    assert!(other.is_finished());
    assert_eq!(seconds(&executor), None);
}

#[test]
fn asking_for_the_next_deadline_changes_no_order() {
    let order = |asks: bool| {
        let mut executor = unclamped();
        let log = Log::new();
        let coroutines: Vec<_> = (0..6)
            .map(|at| {
                let log = log.clone();
                executor.start(async move {
                    wait_seconds(f64::from(2 + at % 2) * 0.5).await;
                    log.note(at);
                })
            })
            .collect();
        for frame in 0..20 {
            let _ = asks.then(|| executor.next_deadline());
            coroutines[frame % 3].pause();
            let _ = asks.then(|| executor.next_deadline());
            executor.run_frame(0.25);
            coroutines[frame % 3].resume();
            let _ = asks.then(|| executor.next_deadline());
        }
        log.take()
    };
    let without = order(false);
    assert_eq!(without.len(), 6);
    assert_eq!(order(true), without);
}

#[test]
fn one_resumed_in_the_run_that_left_it_aside_has_its_turn_later_in_it() {
    let mut executor = unclamped();
    let [joined, joining, resuming] = [(); 3].map(|()| oneshot::channel::<()>());
    let first = executor.start(joined.1);
    let second = Rc::new(executor.start(select(first, joining.1)));
    let goes_on = second.clone();
    executor.start(async move {
        resuming.1.await.unwrap();
        assert!(goes_on.resume());
    });
    // The second one is also woken, but the coroutine that it joins comes
    // first.
    for sender in [joined.0, resuming.0, joining.0] {
        sender.send(()).unwrap();
    }
    second.pause();
    update(&mut executor, 0.25);
    assert!(second.is_finished());
    executor.assert_empty();
}
