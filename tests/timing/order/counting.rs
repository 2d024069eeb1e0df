//! The place of `wait_frames` of 2 and more in the order: after the phase's
//! waiters and before the timers.

use super::*;
use framestep_testkit::update;

/// A coroutine that waits for a frame `frames` times and says `name` at the end.
fn goes_round(executor: &Executor, log: &Log, name: &'static str, frames: u32) {
    says(executor, log, name, async move {
        for _ in 0..frames {
            next_frame().await;
        }
    });
}

#[test]
fn a_run_has_its_places_in_this_order() {
    for phase in [Phase::EarlyUpdate, Phase::Update, Phase::LateUpdate] {
        let mut executor = unclamped();
        let log = Log::new();
        let child = executor.clock().child();
        // Begun from the last place to the first.
        let wait = child.wait_seconds(0.5).in_phase(phase);
        says(&executor, &log, "timer of another clock", wait);
        let wait = wait_seconds_realtime(0.5).in_phase(phase);
        says(&executor, &log, "timer of realtime", wait);
        let wait = wait_seconds(0.5).in_phase(phase);
        says(&executor, &log, "timer of the game clock", wait);
        let wait = wait_frames(2).in_phase(phase);
        says(&executor, &log, "counts", wait);
        executor.run_frame(0.25);
        let wait = wait_until(|| true).in_phase(phase);
        says(&executor, &log, "asks", wait);
        says(&executor, &log, "waits for the phase", in_phase(phase));
        let say = log.clone();
        executor.script("").in_phase(phase).spawn(async move {
            say.note("arrived");
            let say = say.clone();
            spawn(async move { say.note("became ready in the run") });
        });
        executor.run_frame(0.25);
        let trace = log.take();
        let names = trace.iter().map(|line| {
            let (_, name) = line.split_once(": ").unwrap_or(("", line));
            name
        });
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                "arrived",
                "asks",
                "waits for the phase",
                "counts",
                "timer of the game clock",
                "timer of realtime",
                "timer of another clock",
                "became ready in the run",
            ],
            "{phase:?}"
        );
    }
}

#[test]
fn one_frame_and_none_stand_with_the_waiters_and_two_do_not() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "two", wait_frames(2));
    executor.run_frame(0.25);
    says(&executor, &log, "timer", wait_seconds(0.25));
    says(&executor, &log, "one", wait_frames(1));
    says(&executor, &log, "next", next_frame());
    says(&executor, &log, "none", wait_frames(0));
    executor.run_frame(0.25);
    log.check(&["F2: one", "F2: next", "F2: none", "F2: two", "F2: timer"]);
}

#[test]
fn those_of_one_frame_resume_as_they_were_registered_however_many_they_count() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "since F0", wait_frames(4));
    executor.run_frame(0.25);
    says(&executor, &log, "since F1", wait_frames(3));
    executor.run_frame(0.25);
    says(&executor, &log, "since F2", wait_frames(2));
    executor.run_frame(0.25);
    says(&executor, &log, "a waiter since F3", wait_frames(1));
    executor.run_frame(0.25);
    log.check(&[
        "F4: a waiter since F3",
        "F4: since F0",
        "F4: since F1",
        "F4: since F2",
    ]);
}

#[test]
fn those_of_several_frames_that_a_host_has_skipped_resume_by_the_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    says(&executor, &log, "timer", wait_seconds(0.25));
    says(&executor, &log, "F4", wait_frames(4));
    says(&executor, &log, "F3", wait_frames(3));
    says(&executor, &log, "F2", wait_frames(2));
    says(&executor, &log, "F3, too", wait_frames(3));
    says(&executor, &log, "F5", wait_frames(5));
    says(&executor, &log, "a waiter", wait_frames(1));
    for _ in 0..4 {
        executor.begin_frame(0.25);
    }
    executor.run_phase(Phase::Update);
    log.check(&[
        "F4: a waiter",
        "F4: F2",
        "F4: F3",
        "F4: F3, too",
        "F4: F4",
        "F4: timer",
    ]);
    update(&mut executor, 0.25);
    log.check(&["F5: F5"]);
}

#[test]
fn a_thousand_of_them_resume_by_the_frame_and_then_by_registration() {
    let mut executor = unclamped();
    let log = Log::new();
    let mut expected = Vec::new();
    for i in 0..1_000_u64 {
        // 389 and 1,000 have no factor in common: all counts, shuffled.
        let frames = 2 + i * 389 % 1_000 / 4;
        let log = log.clone();
        expected.push((frames, i));
        executor.start(async move {
            wait_frames(frames).await;
            log.note(format_args!("{frames} {i}"));
        });
    }
    expected.sort_unstable();
    for _ in 0..300 {
        executor.begin_frame(0.25);
    }
    executor.run_phase(Phase::Update);
    let expected: Vec<String> = expected.iter().map(|(f, i)| format!("{f} {i}")).collect();
    assert_eq!(log.take(), expected);
}

#[test]
fn a_loop_of_them_comes_after_a_loop_of_next_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    for (name, frames) in [("two", 2), ("one", 1), ("three", 3)] {
        let log = log.clone();
        executor.start(async move {
            loop {
                wait_frames(frames).await;
                log.say(name);
            }
        });
    }
    goes_round(&executor, &log, "next", 6);
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: one",
        "F2: one",
        "F2: two",
        "F3: one",
        "F3: three",
        "F4: one",
        "F4: two",
        "F5: one",
        // Registered in F3 and F4.
        "F6: one",
        "F6: next",
        "F6: three",
        "F6: two",
    ]);
}

#[test]
fn who_counts_and_waits_for_something_else_is_polled_once_at_the_earliest_place() {
    let mut executor = unclamped();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    says(&executor, &log, "timer", wait_seconds(0.5));
    says(&executor, &log, "counts", wait_frames(2));
    let both = |name, wait: futures::future::LocalBoxFuture<'static, ()>| {
        let wait = futures::future::join(wait, wait_frames(2)).map(drop);
        says(&executor, &log, name, counted(polls.clone(), wait));
    };
    both("counts before a timer", wait_seconds(0.5).boxed_local());
    let second = wait_until(|| time().frame == 2).boxed_local();
    both("asks before it counts", second);
    executor.run_frame(0.25);
    polls.take();
    executor.run_frame(0.25);
    log.check(&[
        "F2: asks before it counts",
        "F2: counts",
        "F2: counts before a timer",
        "F2: timer",
    ]);
    assert_eq!(polls.get(), 2);
}

#[test]
fn one_polled_at_an_earlier_place_begins_to_count_anew() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, mut receiver) = mpsc::unbounded();
    let say = log.clone();
    executor.start(async move {
        loop {
            select_biased! {
                message = receiver.next().fuse() => say.say(message.unwrap()),
                () = wait_frames(2) => say.say("two frames"),
            }
        }
    });
    executor.run_frame(0.25);
    sender.unbounded_send("message").unwrap();
    executor.run_frame(0.25);
    log.check(&["F2: message"]);
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F4: two frames"]);
    drop(sender);
}
