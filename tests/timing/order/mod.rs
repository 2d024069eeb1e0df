//! The order within a run is total: docs/contract.md#rule-8-order
//!
//! First coroutines that became ready before the run, in order of arrival. Then
//! the phase's waiters, in the order they began to wait. Then waits for two
//! frames or more, by due frame, then registration. Then timers, clock by
//! clock, by deadline, then registration. Then coroutines that become ready
//! during the run.

mod acts;
mod counting;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{PHASES, counted};

/// Starts a coroutine that says `name` when `wait` is over.
fn says<F: Future + 'static>(executor: &Executor, log: &Log, name: &'static str, wait: F) {
    let log = log.clone();
    executor.start(async move {
        wait.await;
        log.say(name);
    });
}

#[test]
fn what_arrived_before_the_run_goes_first_in_order_of_arrival() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let say = log.clone();
    executor.start(async move {
        while let Some(name) = receiver.next().await {
            say.say(name);
        }
    });
    says(&executor, &log, "waiter", next_frame());
    says(&executor, &log, "timer", wait_seconds(0));
    let spawn = |name| {
        let log = log.clone();
        executor.spawn(async move { log.say(name) });
    };
    spawn("spawned first");
    sender.unbounded_send("woken second").unwrap();
    spawn("spawned third");
    executor.run_frame(0.25);
    log.check(&[
        "F1: spawned first",
        "F1: woken second",
        "F1: spawned third",
        "F1: waiter",
        "F1: timer",
    ]);
}

#[test]
fn arrivals_from_a_thread_keep_their_place_among_the_others() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = async_channel::unbounded();
    let say = log.clone();
    executor.start(async move {
        while let Ok(name) = receiver.recv().await {
            say.say(name);
        }
    });
    let spawn = |name| {
        let log = log.clone();
        executor.spawn(async move { log.say(name) });
    };
    spawn("first");
    std::thread::spawn(move || sender.send_blocking("second").unwrap())
        .join()
        .unwrap();
    spawn("third");
    executor.run_frame(0.25);
    log.check(&["F1: first", "F1: second", "F1: third"]);
}

#[test]
fn spawns_in_a_phase_arrive_in_that_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    for (name, phase) in [
        ("a", Phase::LateUpdate),
        ("b", Phase::Update),
        ("c", Phase::LateUpdate),
        ("d", Phase::EarlyUpdate),
        ("e", Phase::Update),
    ] {
        let log = log.clone();
        executor
            .script("")
            .in_phase(phase)
            .spawn(async move { log.say(name) });
    }
    says(&executor, &log, "waits", in_phase(Phase::LateUpdate));
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: d",
        "F1: b",
        "F1: e",
        "F1.LateUpdate: a",
        "F1.LateUpdate: c",
        "F1.LateUpdate: waits",
    ]);
}

#[test]
fn waiters_resume_in_the_order_in_which_they_began_to_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "a", next_frame());
    says(&executor, &log, "b", in_phase(Phase::Update));
    says(&executor, &log, "c", wait_until(|| true));
    says(&executor, &log, "d", wait_frames(1));
    says(&executor, &log, "e", wait_while(|| false));
    says(&executor, &log, "f", next_frame());
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b", "F1: c", "F1: d", "F1: e", "F1: f"]);
}

#[test]
fn a_loop_of_next_frame_keeps_its_order_from_frame_to_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    for name in ["a", "b", "c"] {
        let log = log.clone();
        executor.start(async move {
            loop {
                next_frame().await;
                log.say(name);
            }
        });
    }
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: a", "F1: b", "F1: c", "F2: a", "F2: b", "F2: c"]);
}

#[test]
fn wait_frames_comes_after_next_frame_whichever_began_first() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            next_frame().await;
            say.say("next");
        }
    });
    says(&executor, &log, "frames(3)", wait_frames(3));
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        wait_frames(2).await;
        say.say("frames(2), a frame later");
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: next",
        "F2: next",
        "F3: next",                     // waiting since F2
        "F3: frames(3)",                // since F0
        "F3: frames(2), a frame later", // since F1
    ]);
}

#[test]
fn waiters_that_began_in_different_phases_resume_in_the_order_in_which_they_began() {
    let mut executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
    let begun = Log::new();
    let resumed = Log::new();
    let script = |phase: Phase, kind: usize| {
        let (begun, resumed) = (begun.clone(), resumed.clone());
        executor.start(async move {
            in_phase(phase).await;
            let name = format!("{phase:?} {kind}");
            begun.note(&name);
            match kind {
                0 => next_frame().await,
                1 => wait_frames(1).await,
                2 => wait_until(|| true).await,
                _ => wait_while(|| false).await,
            }
            resumed.note(&name);
        });
    };
    // Neither in the order of the phases nor in that of the waits.
    let pairs = PHASES.len() * 4;
    for i in 0..pairs {
        let at = i * 11 % pairs;
        script(PHASES[at / 4], at % 4);
    }
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(resumed.take(), begun.take());
}

#[test]
fn a_condition_that_is_still_false_begins_to_wait_anew_at_each_asking() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "until", wait_until(|| time().frame >= 2));
    says(&executor, &log, "frames", wait_frames(2));
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        next_frame().await;
        say.say("next");
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&[
        "F2: until",  // waiting since F1, where it was asked before `next` resumed
        "F2: next",   // since F1
        "F2: frames", // counts two frames: after the phase's waiters
    ]);
}

#[test]
fn waiters_of_other_phases_keep_the_same_order() {
    let others = |phase: &Phase| !matches!(phase, Phase::FixedUpdate | Phase::Update);
    for phase in PHASES.into_iter().filter(others) {
        let mut executor = unclamped();
        let log = Log::new();
        let name = format!("{phase:?}");
        says(&executor, &log, "timer", wait_seconds(0).in_phase(phase));
        says(&executor, &log, "a", in_phase(phase));
        says(&executor, &log, "b", wait_until(|| true).in_phase(phase));
        says(&executor, &log, "c", wait_frames(1).in_phase(phase));
        says(&executor, &log, "d", next_frame().in_phase(phase));
        executor.run_frame(0.25);
        let line = |text| format!("F1.{name}: {text}");
        log.check(
            &["a", "b", "c", "d", "timer"]
                .map(line)
                .each_ref()
                .map(String::as_str),
        );
    }
}

#[test]
fn timers_resume_by_deadline_then_by_registration() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "0.50 first", wait_seconds(0.50));
    says(&executor, &log, "0.75", wait_seconds(0.75));
    says(&executor, &log, "0.25 first", wait_seconds(0.25));
    says(&executor, &log, "0.50 second", wait_seconds(0.50));
    says(&executor, &log, "0.25 second", wait_seconds(0.25));
    says(&executor, &log, "0.50 third", wait_seconds(0.50));
    executor.run_frame(1);
    log.check(&[
        "F1: 0.25 first",
        "F1: 0.25 second",
        "F1: 0.50 first",
        "F1: 0.50 second",
        "F1: 0.50 third",
        "F1: 0.75",
    ]);
}

#[test]
fn deadlines_a_nanosecond_apart_resume_in_their_order() {
    let mut executor = unclamped();
    let log = Log::new();
    let nanos = Duration::from_nanos;
    says(&executor, &log, "3", wait_seconds(nanos(500_000_003)));
    says(&executor, &log, "1", wait_seconds(nanos(500_000_001)));
    says(&executor, &log, "2", wait_seconds(nanos(500_000_002)));
    executor.run_frame(1);
    log.check(&["F1: 1", "F1: 2", "F1: 3"]);
}

#[test]
fn equal_deadlines_begun_in_different_frames_resume_by_registration() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "a", wait_seconds(1));
    executor.run_frame(0.25);
    says(&executor, &log, "b", wait_seconds(0.75));
    executor.run_frame(0.25);
    says(&executor, &log, "c", wait_seconds(0.5));
    executor.run_frame(0.25);
    says(&executor, &log, "d", wait_seconds(0.25));
    says(&executor, &log, "sooner", wait_seconds(0.125));
    executor.run_frame(0.25);
    log.check(&["F4: sooner", "F4: a", "F4: b", "F4: c", "F4: d"]);
}

#[test]
fn deadlines_that_have_passed_when_the_frame_begins_keep_their_order() {
    let mut executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    let log = Log::new();
    says(&executor, &log, "1.50, since F0", wait_seconds(1.5));
    for (phase, length, name) in [
        (Phase::LateUpdate, 0.25, "1.25, since LateUpdate"),
        (Phase::Update, 0.0, "1.00, since Update"),
        (Phase::FixedUpdate, 0.125, "1.125, since a step of F1"),
    ] {
        let log = log.clone();
        executor.start(async move {
            in_phase(phase).await;
            wait_seconds(length).await;
            log.say(name);
        });
    }
    executor.run_frame(1);
    log.check(&[]);
    executor.run_frame(1);
    log.check(&[
        "F2: 1.00, since Update",
        "F2: 1.125, since a step of F1",
        "F2: 1.25, since LateUpdate",
        "F2: 1.50, since F0",
    ]);
}

#[test]
fn a_zero_length_has_the_deadline_of_the_moment_in_which_it_began() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "0.5, since F0", wait_seconds(0.5));
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        wait_seconds(0).await;
        say.say("0.25, since F1");
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F2: 0.25, since F1", "F2: 0.5, since F0"]);
}

#[test]
fn a_thousand_timers_of_one_deadline_resume_by_registration() {
    let mut executor = unclamped();
    let log = Log::new();
    for i in 0..1_000 {
        // Begun in many frames, so that they cascade differently.
        if i % 10 == 0 {
            executor.run_frame(0.25);
        }
        let left = 60.0 - executor.time().elapsed.as_secs_f64();
        let log = log.clone();
        executor.start(async move {
            wait_seconds(left).await;
            log.note(i);
        });
    }
    executor.run_frame(60);
    let expected: Vec<String> = (0..1_000).map(|i: u32| i.to_string()).collect();
    assert_eq!(log.take(), expected);
}

#[test]
fn timers_of_the_game_clock_go_before_those_of_realtime() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "real 0.25", wait_seconds_realtime(0.25));
    says(&executor, &log, "game 0.75", wait_seconds(0.75));
    says(&executor, &log, "real 0.50", wait_seconds_realtime(0.50));
    says(&executor, &log, "game 0.50", wait_seconds(0.50));
    executor.run_frame(1);
    log.check(&[
        "F1: game 0.50",
        "F1: game 0.75",
        "F1: real 0.25",
        "F1: real 0.50",
    ]);
}

#[test]
fn what_becomes_ready_during_the_run_goes_last_in_order() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let say = log.clone();
    executor.start(async move {
        while let Some(name) = receiver.next().await {
            say.say(name);
        }
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("first waiter");
        let log = say.clone();
        spawn(async move { log.say("spawned in the run") });
        sender.unbounded_send("woken in the run").unwrap();
        let log = say.clone();
        spawn(async move { log.say("spawned later in the run") });
        // Keeps the sender alive.
        wait_seconds(1).await;
        drop(sender);
    });
    says(&executor, &log, "second waiter", next_frame());
    says(&executor, &log, "timer", wait_seconds(0.25));
    executor.run_frame(0.25);
    log.check(&[
        "F1: first waiter",
        "F1: second waiter",
        "F1: timer",
        "F1: spawned in the run",
        "F1: woken in the run",
        "F1: spawned later in the run",
    ]);
}

#[test]
fn joiners_go_before_everything_that_is_still_queued() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let child = executor.start(async move {
        next_frame().await;
        say.say("child");
        let log = say.clone();
        spawn(async move { log.say("spawned by child") });
    });
    says(&executor, &log, "waiter", next_frame());
    says(&executor, &log, "timer", wait_seconds(0));
    says(&executor, &log, "joiner", child);
    executor.run_frame(0.25);
    log.check(&[
        "F1: child",
        "F1: joiner",
        "F1: waiter",
        "F1: timer",
        "F1: spawned by child",
    ]);
}

#[test]
fn who_is_due_for_several_reasons_is_polled_once_at_the_earliest_place() {
    let mut executor = unclamped();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    let (sender, receiver) = async_channel::unbounded();
    says(&executor, &log, "waiter", next_frame());
    let say = log.clone();
    executor.start(counted(polls.clone(), async move {
        let everything = async {
            futures::join!(
                next_frame(),
                wait_frames(1),
                wait_seconds(0.25),
                wait_seconds_realtime(0.25),
                wait_until(|| true),
                in_phase(Phase::Update),
                receiver.recv(),
            )
        };
        let _ = everything.await;
        say.say("everything");
    }));
    assert_eq!(polls.take(), 1);
    sender.try_send("woken from outside").unwrap();
    executor.run_frame(0.25);
    log.check(&["F1: everything", "F1: waiter"]);
    assert_eq!(polls.get(), 1);
}

#[test]
fn who_is_due_as_a_joiner_is_not_polled_again_at_a_later_place() {
    let mut executor = unclamped();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    let child = executor.start(next_frame().map(drop));
    says(&executor, &log, "waiter", next_frame());
    let say = log.clone();
    executor.start(counted(polls.clone(), async move {
        let (result, (), ()) = futures::join!(child, wait_seconds(0.25), next_frame());
        result.unwrap();
        say.say("joiner");
    }));
    polls.take();
    executor.run_frame(0.25);
    log.check(&["F1: joiner", "F1: waiter"]);
    assert_eq!(polls.get(), 1);
}

#[test]
fn a_waiter_that_was_polled_earlier_in_the_run_has_given_up_its_place() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let say = log.clone();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async move {
        loop {
            select_biased! {
                message = receiver.next().fuse() => say.say(message.unwrap()),
                () = next_frame() => say.say("frame"),
            }
        }
    }));
    polls.take();
    sender.unbounded_send("message").unwrap();
    executor.run_frame(0.25);
    // Polled as an arrival: the message wins, and a new wait for the next
    // frame replaces the one that was due.
    log.check(&["F1: message"]);
    assert_eq!(polls.get(), 1);
    executor.run_frame(0.25);
    log.check(&["F2: frame"]);
    assert_eq!(polls.get(), 2);
    drop(sender);
}

#[test]
fn a_coroutine_that_is_woken_again_keeps_its_place_among_the_arrivals() {
    let mut executor = unclamped();
    let log = Log::new();
    let (to_a, mut a_hears) = mpsc::unbounded();
    let (to_b, mut b_hears) = mpsc::unbounded();
    let (again, mut b_hears_again) = mpsc::unbounded();
    says(&executor, &log, "a", async move {
        a_hears.next().await;
        again.unbounded_send(()).unwrap();
    });
    says(&executor, &log, "b", async move {
        select_biased! {
            () = b_hears.select_next_some() => {}
            () = b_hears_again.select_next_some() => {}
        }
    });
    says(&executor, &log, "waiter", next_frame());
    to_a.unbounded_send(()).unwrap();
    to_b.unbounded_send(()).unwrap();
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b", "F1: waiter"]);
}

#[test]
fn an_end_outside_of_a_run_comes_after_an_earlier_wake_from_outside() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    says(&executor, &log, "woken first", async move {
        receiver.next().await;
    });
    let victim = executor.start(std::future::pending::<()>());
    says(&executor, &log, "joined second", victim.finished());
    sender.unbounded_send(()).unwrap();
    victim.stop();
    executor.run_frame(0.25);
    log.check(&["F1: woken first", "F1: joined second"]);
}
