//! No fixed step begins while the game clock is paused.

use super::*;
use framestep_testkit::timeline::in_quarters;
use framestep_testkit::waits::{Case, Given, cases};

async fn mark_steps(mark: framestep_testkit::timeline::Mark) {
    loop {
        fixed_update().await;
        mark.hit();
    }
}

// docs/contract.md#time-fixed-steps
#[test]
fn a_pause_in_a_step_holds_back_the_rest_of_its_frame_until_a_later_one() {
    let executor = in_quarters();
    let game = executor.clock();
    let mut timeline = Timeline::with_executor(executor, 0.75);
    timeline.row("steps", mark_steps);
    timeline.row("pause", |mark| async move {
        fixed_update().await;
        mark.hit();
        game.pause();
        wait_frames(3).await;
        mark.hit();
        game.resume();
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5     6
        steps - F - - - FFFFF FFF
        pause - F - - *
        ",
    );
}

#[test]
fn steps_that_were_held_back_follow_within_the_frame_if_the_host_resumes_the_clock() {
    let executor = in_quarters();
    let game = executor.clock();
    let mut timeline = Timeline::with_executor(executor, 0.75);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        while executor.begin_fixed_step() {
            executor.run_phase(Phase::FixedUpdate);
        }
        executor.run_phase(Phase::Update);
        executor.clock().resume();
        while executor.begin_fixed_step() {
            executor.run_phase(Phase::FixedUpdate);
        }
    });
    timeline.row("update", |mark| async move {
        loop {
            next_frame().await;
            mark.hit();
        }
    });
    timeline.row("steps", mark_steps);
    timeline.row("pause", |mark| async move {
        fixed_update().await;
        mark.hit();
        game.pause();
        next_frame().in_phase(Phase::FixedUpdate).await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1   2   3
        update - *   *   *
        steps  - FFF FFF FFF
        pause  - F   F
        ",
    );
}

#[test]
fn a_pause_before_the_steps_of_a_frame_holds_all_of_them_back() {
    let executor = in_quarters();
    let game = executor.clock();
    let mut timeline = Timeline::with_executor(executor, 0.5);
    timeline.row("steps", mark_steps);
    timeline.row("pause", |mark| async move {
        in_phase(Phase::EarlyUpdate).await;
        mark.hit();
        game.pause();
        next_frame().await;
        mark.hit();
        game.resume();
    });
    timeline.check(
        "
        frame 0 1 2 3    4
        steps - - - FFFF FF
        pause - E *
        ",
    );
}

// docs/contract.md#decided-held-steps
#[test]
fn steps_that_were_held_back_do_not_count_for_the_limit_of_a_frame() {
    let builder = Executor::builder().fixed_delta(0.25).max_delta(1);
    let mut executor = builder.build();
    executor.on_report(|report| panic!("{report}"));
    let game = executor.clock();
    let pauses = game.clone();
    executor.start(async move {
        loop {
            fixed_update().await;
            pauses.pause();
        }
    });
    for _ in 0..3 {
        executor.run_frame(1);
        game.resume();
    }
    assert_eq!(executor.time().fixed_elapsed, millis(750));
    executor.begin_frame(1);
    let mut steps = 0;
    while executor.begin_fixed_step() {
        steps += 1;
    }
    assert_eq!(steps, 13);
    assert_eq!(executor.time().fixed_elapsed, millis(4_000));
}

// docs/contract.md#decided-held-steps
#[test]
fn steps_that_were_held_back_are_remembered_by_a_host_that_asks_for_none_in_the_pause() {
    for before_the_steps in [false, true] {
        let builder = Executor::builder().fixed_delta(0.25).max_delta(0.75);
        let executor = builder.build();
        executor.on_report(|report| panic!("{report}"));
        let (game, clock) = (executor.clock(), executor.clock());
        let mut timeline = Timeline::with_executor(executor, 0.75);
        timeline.frames_are(move |executor, dt| {
            executor.begin_frame(dt);
            executor.run_phase(Phase::EarlyUpdate);
            while !clock.is_paused() && executor.begin_fixed_step() {
                executor.run_phase(Phase::FixedUpdate);
            }
            executor.run_phase(Phase::Update);
        });
        timeline.row("steps", mark_steps);
        timeline.row("pause", |mark| async move {
            if before_the_steps {
                in_phase(Phase::EarlyUpdate).await;
            } else {
                fixed_update().await;
            }
            mark.hit();
            game.pause();
            wait_frames(3).await;
            mark.hit();
            game.resume();
        });
        timeline.check(if before_the_steps {
            "
            frame 0 1 2 3 4 5      6
            steps - - - - - FFFFFF FFF
            pause - E - - *
            "
        } else {
            "
            frame 0 1 2 3 4 5     6
            steps - F - - - FFFFF FFF
            pause - F - - *
            "
        });
    }
}

// docs/contract.md#decided-held-steps
#[test]
fn steps_that_were_held_back_are_remembered_if_the_host_asks_for_fewer_after_the_pause() {
    let builder = Executor::builder().fixed_delta(0.25).max_delta(0.5);
    let mut executor = builder.build();
    executor.on_report(|report| panic!("{report}"));
    let game = executor.clock();
    executor.begin_frame(0.5);
    game.pause();
    assert!(!executor.begin_fixed_step()); // two are held back
    executor.begin_frame(0.5);
    game.resume();
    assert!(executor.begin_fixed_step()); // one of the two
    executor.begin_frame(0.5);
    let steps = std::iter::from_fn(|| executor.begin_fixed_step().then_some(()));
    assert_eq!(steps.count(), 1 + 2);
}

// docs/contract.md#time-driven-steps
#[test]
fn a_host_that_begins_the_steps_itself_may_do_so_while_the_clock_is_paused() {
    let executor = in_quarters();
    let game = executor.clock();
    let child = game.child();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        executor.begin_fixed_step_of(dt);
        executor.run_phase(Phase::FixedUpdate);
    });
    game.pause();
    timeline.row("steps", mark_steps);
    timeline.row("timer", |mark| async move {
        loop {
            wait_seconds(0.5).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.row("child", |mark| async move {
        loop {
            child.wait_seconds(0.5).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        steps - F F F F
        timer - - F - F
        child - - F - F
        ",
    );
}

// docs/contract.md#decided-has-ready
#[test]
fn while_no_step_can_begin_nothing_that_waits_for_one_is_due() {
    let mut executor = in_quarters();
    let game = executor.clock();
    let child = game.child();
    let given = Given::new(&executor.handle());
    let on_steps = |case: &Case| case.due.1 == Phase::FixedUpdate;
    // One with a deadline is due later, and a `race` is due in another phase, too.
    let is_ready = |case: &Case| !case.counts_time() && case.call != "race";
    for case in cases() {
        if !on_steps(&case) || !is_ready(&case) {
            continue;
        }
        let waiting = executor.start(case.make(&given));
        assert!(executor.has_ready(), "{case}");
        game.pause();
        assert!(!executor.has_ready(), "{case}");
        game.resume();
        game.set_scale(0);
        assert!(!executor.has_ready(), "{case}");
        game.set_scale(1);
        assert!(executor.has_ready(), "{case}");
        waiting.stop();
    }
    let timer = executor.start(wait_seconds(0.25).in_phase(Phase::FixedUpdate));
    let on_child = executor.start(child.wait_seconds(0.5).in_phase(Phase::FixedUpdate));
    assert_eq!(executor.next_deadline(), Some(millis(250)));
    timer.stop();
    assert_eq!(executor.next_deadline(), Some(millis(500)));
    game.pause();
    assert_eq!(executor.next_deadline(), None);
    game.resume();
    child.pause();
    assert_eq!(executor.next_deadline(), None);
    child.resume();
    child.set_scale(0.5);
    assert_eq!(executor.next_deadline(), Some(millis(1_000)));

    // Due steps do not begin during a pause, and take no time after it.
    executor.begin_frame(2);
    game.pause();
    assert_eq!(executor.next_deadline(), None);
    assert!(!executor.begin_fixed_step());
    game.resume();
    assert_eq!(executor.next_deadline(), Some(Duration::ZERO));
    executor.run_frame(0);
    assert!(on_child.is_finished());
}
