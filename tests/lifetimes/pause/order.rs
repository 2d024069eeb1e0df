//! The order in which coroutines continue after a pause, and joins of paused ones.

use futures::future::{LocalBoxFuture, join_all};

use super::*;

#[test]
fn wakes_arrive_with_the_resume_at_home_before_the_waiters() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let mut senders = Vec::new();
    for name in ["a", "b", "c"] {
        let (sender, receiver) = oneshot::channel::<()>();
        senders.push(sender);
        let log = log.clone();
        owner
            .script("")
            .in_phase(Phase::LateUpdate)
            .start(async move {
                receiver.await.unwrap();
                log.say(name);
            });
    }
    let say = log.clone();
    executor.start(async move {
        loop {
            in_phase(Phase::LateUpdate).await;
            say.say("fresh");
        }
    });
    executor.run_frame(0.25);
    owner.pause();
    let mut senders: Vec<_> = senders.into_iter().map(Some).collect();
    senders[2].take().unwrap().send(()).unwrap();
    executor.run_frame(0.25);
    senders[0].take().unwrap().send(()).unwrap();
    executor.run_frame(0.25);
    owner.resume();
    senders[1].take().unwrap().send(()).unwrap();
    executor.run_frame(0.25);
    log.check(&[
        "F1.LateUpdate: fresh",
        "F2.LateUpdate: fresh",
        "F3.LateUpdate: fresh",
        "F4.LateUpdate: a", // resumed in the order of spawning
        "F4.LateUpdate: c",
        "F4.LateUpdate: b", // woken after that
        "F4.LateUpdate: fresh",
    ]);
}

#[test]
fn waiters_that_fell_due_come_in_the_order_of_spawning_before_fresh_ones() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let script = |name: &'static str, late: bool| {
        let log = log.clone();
        async move {
            if late {
                end_of_frame().await;
            }
            loop {
                next_frame().await;
                log.say(name);
            }
        }
    };
    owner.start(script("late", true));
    owner.start(script("early", false));
    executor.start(script("fresh", false));
    executor.run_frame(0.25);
    log.check(&["F1: early", "F1: fresh"]);
    executor.run_frame(0.25);
    log.check(&["F2: early", "F2: fresh", "F2: late"]);
    owner.pause();
    executor.run_frame(0.25);
    log.check(&["F3: fresh"]);
    owner.resume();
    executor.run_frame(0.25);
    log.check(&["F4: late", "F4: early", "F4: fresh"]);
}

// docs/contract.md#rule-8-delayed-timers
#[test]
fn timers_that_their_clock_has_reached_come_in_the_order_of_the_resumes() {
    for resumed_one_by_one in [false, true] {
        let mut executor = unclamped();
        let owner = executor.owner();
        let log = Log::new();
        let script = |name: &'static str, frames: u64| {
            let log = log.clone();
            async move {
                wait_frames(frames).await;
                wait_seconds(1.0 - 0.25 * f64::from(u32::try_from(frames).unwrap())).await;
                log.say(name);
            }
        };
        // All due at second 1, registered in the order of their names.
        let c = owner.start(script("c", 3));
        let b = owner.start(script("b", 2));
        let a = owner.start(script("a", 1));
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        owner.pause();
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        if resumed_one_by_one {
            for one in [&a, &b, &c] {
                one.pause();
            }
            owner.resume();
            for one in [&b, &c, &a] {
                one.resume();
            }
        } else {
            owner.resume();
        }
        executor.run_frame(0.25);
        // One call resumes them in the order they were spawned.
        log.check(if resumed_one_by_one {
            &["F7: b", "F7: c", "F7: a"]
        } else {
            &["F7: c", "F7: b", "F7: a"]
        });
    }
}

#[test]
fn a_paused_joiner_resumes_in_the_first_run_after_whenever_the_other_ended() {
    let (mut timeline, owner) = quarters();
    let mut joined = Vec::new();
    for frames in [2, 4, 6] {
        let child = timeline.executor().start(async move {
            wait_frames(frames).await;
        });
        joined.push(
            timeline.row_on(&owner, &format!("join({frames})"), |mark| async move {
                child.await.unwrap();
                mark.hit();
            }),
        );
    }
    timeline.run_to(1);
    owner.pause();
    timeline.run_to(4);
    owner.resume();
    timeline.check(
        "
        frame   0 1 2 3 4 5 6
        join(2) - - - - - *
        join(4) - - - - - *
        join(6) - - - - - - *
        ",
    );
}

#[test]
fn a_joiner_of_a_paused_coroutine_waits_and_gets_an_error_when_that_is_stopped() {
    for stopped in [false, true] {
        let mut executor = unclamped();
        let child = executor.start(async { wait_seconds(0.25).await });
        let id = child.id();
        let joiner = executor.start(async move {
            let result = child.await;
            (time().frame, result.is_err_and(|error| error.is_stopped()))
        });
        executor.pause(id);
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        assert!(!joiner.is_finished());
        let resumes = if stopped {
            executor.stop(id)
        } else {
            executor.resume(id)
        };
        assert!(resumes);
        executor.run_frame(0.25);
        assert_eq!(result_of(&executor, joiner).unwrap(), (4, stopped));
    }
}

// docs/contract.md#rule-8-kept-from-its-turn
#[test]
fn one_whose_turn_has_passed_arrives_with_the_resume_behind_any_waker() {
    type Wait = fn() -> LocalBoxFuture<'static, ()>;
    let waits: [Wait; 3] = [
        || next_frame().boxed_local(),
        || wait_frames(1).boxed_local(),
        || wait_seconds(0.25).boxed_local(),
    ];
    for wait in waits {
        for is_combined in [false, true] {
            let mut executor = unclamped();
            let owner = Rc::new(executor.owner());
            let log = Log::new();
            let (own, say) = (owner.clone(), log.clone());
            executor.start(async move {
                wait().await;
                own.pause();
                say.say("pauses");
            });
            let say = log.clone();
            owner.start(async move {
                if is_combined {
                    // So many have wakers of their own.
                    join_all((0..40).map(|_| wait())).await;
                } else {
                    wait().await;
                }
                say.say("goes on");
            });
            let (own, say) = (owner.clone(), log.clone());
            executor.start(async move {
                wait().await;
                let said = say.clone();
                start(async move {
                    framestep::wait::yield_now().await;
                    said.say("arrives before");
                });
                own.resume();
                say.say("resumes");
            });
            // Consumes the wakes that a collection causes in its first poll.
            executor.run_phase(Phase::Update);
            executor.run_frame(0.25);
            log.check(&[
                "F1: pauses",
                "F1: resumes",
                "F1: arrives before",
                "F1: goes on",
            ]);
        }
    }
}

// docs/contract.md#rule-12-start
#[test]
fn starts_on_a_paused_owner_begin_in_order_when_it_is_resumed() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let script = |name: &'static str| {
        let log = log.clone();
        async move { log.say(name) }
    };
    owner.pause();
    owner.spawn(script("spawned"));
    let started = owner.start(script("started"));
    assert!(started.is_paused());
    owner
        .script("")
        .in_phase(Phase::EndOfFrame)
        .spawn(script("late"));
    executor.run_frame(0.25);
    owner.start(script("later"));
    executor.run_frame(0.25);
    log.check(&[]);
    owner.resume();
    executor.start(script("host"));
    executor.run_frame(0.25);
    log.check(&[
        "F2.host: host",
        "F3: spawned",
        "F3: started",
        "F3: later",
        "F3.EndOfFrame: late",
    ]);
    // If resumed before any run, it is like any other spawned coroutine.
    owner.pause();
    owner.start(script("again"));
    owner.resume();
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F4: again"]);
}
