//! Fixed steps: how many run in a frame, and what time it is inside one.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending};
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::prelude::*;
use framestep::time::Clock;

use framestep_testkit::timeline::{Log, Timeline, UNLIMITED};

fn steps_of(fixed_delta: f64) -> Executor {
    Executor::builder()
        .max_delta(UNLIMITED)
        .fixed_delta(fixed_delta)
        .build()
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

async fn mark_each_fixed_update(mark: framestep_testkit::timeline::Mark) {
    loop {
        fixed_update().await;
        mark.hit();
    }
}

#[test]
fn three_steps_in_a_frame_resume_a_loop_three_times() {
    let mut timeline = Timeline::with_executor(steps_of(0.25), 0.75);
    timeline.row("loop", mark_each_fixed_update);
    timeline.check(
        "
        frame 0 1   2   3
        loop  - FFF FFF FFF
        ",
    );
}

#[test]
fn a_frame_without_a_step_resumes_no_fixed_update() {
    let mut timeline = Timeline::with_executor(steps_of(1.0), 0.25);
    timeline.row("loop", mark_each_fixed_update);
    timeline.check(
        "
        frame 0    1    2    3    4    5    6    7    8
        time  0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75 2.00
        loop  -    -    -    -    F    -    -    -    F
        ",
    );
}

// docs/contract.md#time-fixed-steps
#[test]
fn steps_run_while_fixed_time_plus_a_step_is_within_game_time() {
    let mut timeline = Timeline::with_executor(steps_of(0.5), 0.375);
    timeline.row("loop", mark_each_fixed_update);
    // The third step, at 1.5, is due exactly in the fourth frame.
    timeline.check(
        "
        frame 0     1     2     3     4     5
        time  0.000 0.375 0.750 1.125 1.500 1.875
        loop  -     -     F     F     F     -
        ",
    );
}

#[test]
fn steps_that_a_frame_leaves_over_run_in_the_next() {
    let mut timeline = Timeline::with_executor(steps_of(0.5), 0.75);
    timeline.row("loop", mark_each_fixed_update);
    timeline.check(
        "
        frame 0 1 2  3 4
        loop  - F FF F FF
        ",
    );
}

#[test]
fn begin_fixed_step_says_whether_there_is_a_step_to_run() {
    let mut executor = steps_of(0.25);
    assert!(!executor.begin_fixed_step());
    executor.begin_frame(0.5);
    assert!(executor.begin_fixed_step());
    executor.run_phase(Phase::FixedUpdate);
    assert!(executor.begin_fixed_step());
    executor.run_phase(Phase::FixedUpdate);
    assert!(!executor.begin_fixed_step());
    assert!(!executor.begin_fixed_step());
}

// docs/contract.md#time-defaults
#[test]
fn the_defaults_are_those_of_unity() {
    let mut executor = Executor::new();
    assert_eq!(executor.time().fixed_delta, millis(20));
    executor.run_frame(10);
    // A third of a second, and the steps that fit.
    assert_eq!(executor.time().elapsed.as_micros(), 333_333);
    assert_eq!(executor.time().fixed_elapsed, millis(320));
}

#[test]
fn max_delta_bounds_the_steps_of_a_frame() {
    let executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
    let mut timeline = Timeline::with_executor(executor, 3_600.0);
    timeline.row("loop", mark_each_fixed_update);
    timeline.check(
        "
        frame 0 1    2
        time  0 1    2
        loop  - FFFF FFFF
        ",
    );
}

/// What `executor` reports, as text.
fn reports(executor: &Executor) -> Rc<RefCell<Vec<String>>> {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hear = heard.clone();
    executor.on_report(move |report| hear.borrow_mut().push(report.to_string()));
    heard
}

// docs/contract.md#decided-steps-in-a-frame
#[test]
fn max_delta_bounds_the_steps_of_a_frame_at_any_scale_and_the_rest_is_reported() {
    for scale in [2.0, 1e3, 1e9, f64::MAX] {
        let executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
        executor.clock().set_scale(scale);
        let heard = reports(&executor);
        let mut timeline = Timeline::with_executor(executor, 1.0);
        timeline.row("loop", mark_each_fixed_update);
        timeline.row("timer", |mark| async move {
            // Due in the first of the steps that are dropped.
            wait_seconds(1.25).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        });
        timeline.run_to(1);
        let time = timeline.executor().time();
        assert_eq!(
            time.fixed_elapsed.as_nanos() % 250_000_000,
            0,
            "whole steps are dropped"
        );
        assert!(time.elapsed < time.fixed_elapsed.saturating_add(millis(250)));
        let dropped = time.fixed_elapsed.saturating_sub(millis(1_000));
        assert_eq!(
            heard.take(),
            [format!(
                "frame 1: fixed steps for {dropped:?} exceed what max_delta allows; \
                 fixed time skips them"
            )]
        );
        timeline.executor().clock().set_scale(1);
        // At the clock's limit there are no more steps.
        if scale < f64::MAX {
            timeline.check(
                "
                frame 0 1    2
                loop  - FFFF FFFF
                timer - -    F
                ",
            );
            assert_eq!(*heard.borrow(), [""; 0], "nothing is left over");
        }
    }
}

#[test]
fn an_hour_at_a_huge_scale_is_no_more_than_max_delta_of_steps() {
    let mut executor = Executor::new();
    executor.on_report(|_| ());
    executor.clock().set_scale(1e9);
    let mut clock = executor.clock();
    for _ in 0..100 {
        clock = clock.child();
        clock.set_scale(1e9);
    }
    let steps = Rc::new(Cell::new(0));
    let (count, scripts) = (steps.clone(), executor.owner_on(&clock));
    scripts.start(async move {
        loop {
            fixed_update().await;
            count.set(count.get() + 1);
        }
    });
    executor.run_frame(3_600);
    assert_eq!(steps.take(), 17);
    executor.run_frame(3_600);
    assert_eq!(steps.take(), 17);
}

#[test]
fn steps_that_a_host_has_put_off_for_long_are_no_more_than_max_delta_of_them() {
    let mut executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
    for _ in 0..3_600 {
        executor.begin_frame(1);
        executor.run_phase(Phase::Update);
    }
    let heard = reports(&executor);
    executor.begin_frame(0);
    let mut steps = 0;
    while executor.begin_fixed_step() {
        steps += 1;
    }
    assert_eq!(steps, 4);
    assert_eq!(heard.borrow().len(), 1);
    assert_eq!(executor.time().fixed_elapsed, millis(3_600_000));
    assert!(!executor.begin_fixed_step());
    assert_eq!(heard.borrow().len(), 1);
}

#[test]
fn fast_motion_has_all_its_steps_while_they_fit_into_max_delta() {
    let mut executor = Executor::new();
    let heard = reports(&executor);
    executor.clock().set_scale(20);
    for _ in 0..600 {
        executor.run_frame(1.0 / 60.0);
        let time = executor.time();
        assert!(time.elapsed < time.fixed_elapsed + time.fixed_delta);
    }
    assert_eq!(*heard.borrow(), [""; 0]);
}

// docs/contract.md#time-in-a-step
#[test]
fn inside_a_step_time_is_fixed_time() {
    let mut executor = steps_of(0.25);
    let seen = Rc::new(RefCell::new(Vec::new()));
    for phase in [Phase::EarlyUpdate, Phase::FixedUpdate, Phase::Update] {
        let seen = seen.clone();
        executor.start(async move {
            loop {
                in_phase(phase).await;
                let now = time();
                seen.borrow_mut().push((phase, now.delta, now.elapsed));
            }
        });
    }
    executor.run_frame(0.625);
    assert_eq!(
        *seen.borrow(),
        [
            (Phase::EarlyUpdate, millis(625), millis(625)),
            (Phase::FixedUpdate, millis(250), millis(250)),
            (Phase::FixedUpdate, millis(250), millis(500)),
            (Phase::Update, millis(625), millis(625)),
        ]
    );
}

#[test]
fn delta_seconds_inside_a_step_is_the_length_of_the_step() {
    let mut executor = steps_of(0.25);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    executor.start(async move {
        fixed_update().await;
        see.borrow_mut().push(delta_seconds());
        in_phase(Phase::Update).await;
        see.borrow_mut().push(delta_seconds());
    });
    executor.run_frame(0.5);
    assert_eq!(*seen.borrow(), [0.25, 0.5]);
}

#[test]
fn the_fixed_update_of_the_host_reads_fixed_time_as_well() {
    let mut executor = steps_of(0.25);
    executor.begin_frame(0.625);
    assert_eq!(executor.time().elapsed, millis(625));
    let mut steps = Vec::new();
    while executor.begin_fixed_step() {
        steps.push((executor.time().elapsed, executor.time().delta));
        executor.run_phase(Phase::FixedUpdate);
    }
    assert_eq!(
        steps,
        [(millis(250), millis(250)), (millis(500), millis(250))]
    );
    assert_eq!(executor.time().elapsed, millis(625));
    assert_eq!(executor.time().delta, millis(625));
    assert_eq!(executor.time().fixed_elapsed, millis(500));
}

#[test]
fn fixed_elapsed_is_the_sum_of_the_steps_in_every_phase() {
    let mut executor = steps_of(0.25);
    let log = Log::new();
    for phase in [Phase::EarlyUpdate, Phase::FixedUpdate, Phase::Update] {
        let log = log.clone();
        executor.start(async move {
            loop {
                in_phase(phase).await;
                log.say(time().fixed_elapsed.as_millis());
            }
        });
    }
    executor.run_frame(0.625);
    log.check(&[
        "F1.EarlyUpdate: 0",
        "F1.FixedUpdate: 250",
        "F1.FixedUpdate: 500",
        "F1: 500",
    ]);
}

/// Two steps in each frame. A script begins something for Update in the first step of
/// frame 2, at 0.75 s, when the frame is at 1 s.
fn begun_in_a_step<F: Future>(wait: impl Fn(Clock) -> F + Copy + 'static, timeline: &str) {
    let executor = steps_of(0.25);
    let child = executor.clock().child();
    let mut rows = Timeline::with_executor(executor, 0.5);
    let game = rows.executor().clock();
    let owners = [&game, &child].map(|clock| rows.executor().owner_on(clock));
    for ((name, clock), owner) in [("game", game), ("child", child)].into_iter().zip(&owners) {
        rows.row_on(owner, name, move |mark| async move {
            next_frame().await;
            fixed_update().await;
            mark.hit();
            wait(clock).await;
            mark.hit();
        });
    }
    rows.check(timeline);
}

// docs/contract.md#stepped-waits
#[test]
fn what_begins_in_a_step_for_another_phase_counts_from_the_frame() {
    // Counted from the step, each would end in frame 3.
    let ends_in_frame_4 = "
        frame 0 1 2 3 4
        game  - - F - *
        child - - F - *
        ";
    begun_in_a_step(|_| wait_seconds(0.75), ends_in_frame_4);
    begun_in_a_step(|clock| clock.wait_seconds(0.75), ends_in_frame_4);
    begun_in_a_step(|_| animate(0.75, |_| ()), ends_in_frame_4);
    begun_in_a_step(|_| timeout(0.75, pending::<()>()), ends_in_frame_4);
    let tick = |_| async { _ = interval(0.75).tick().await };
    begun_in_a_step(tick, ends_in_frame_4);
}

// docs/contract.md#stepped-waits
#[test]
fn a_length_begun_in_the_fixed_update_of_the_host_counts_from_the_frame() {
    let mut executor = steps_of(0.25);
    executor.begin_frame(1);
    assert!(executor.begin_fixed_step());
    let wait = executor.start(wait_seconds(1));
    executor.run_phase(Phase::FixedUpdate);
    executor.run_phase(Phase::Update);
    executor.run_frame(0.75);
    assert!(!wait.is_finished(), "the deadline is 2");
    executor.run_frame(0.25);
    assert!(wait.is_finished());
}

// docs/contract.md#stepped-waits
#[test]
fn an_animation_begun_in_a_step_shows_the_time_of_its_frames() {
    for on_child in [false, true] {
        let mut executor = steps_of(0.25);
        let game = executor.clock();
        let clock = if on_child { game.child() } else { game };
        let owner = executor.owner_on(&clock);
        let shares = Rc::new(RefCell::new(Vec::new()));
        let seen = shares.clone();
        owner.start(async move {
            fixed_update().await;
            animate(2, |share| seen.borrow_mut().push(share)).await;
        });
        executor.run_frame(1);
        executor.run_frame(1);
        executor.run_frame(0.5);
        assert_eq!(*shares.borrow(), [0.0, 0.5, 0.75], "on a child: {on_child}");
    }
}

// docs/contract.md#stepped-realtime
#[test]
fn realtime_inside_a_step_is_the_time_of_the_frame() {
    let mut executor = steps_of(0.25);
    let wait = executor.start(async move {
        fixed_update().await;
        wait_seconds_realtime(1).await;
    });
    executor.run_frame(1);
    executor.run_frame(0.5);
    executor.run_frame(0.25);
    assert!(!wait.is_finished(), "the deadline is 2");
    executor.run_frame(0.25);
    assert!(wait.is_finished());
}

// docs/contract.md#stepped-game-clock
#[test]
fn a_timer_in_the_fixed_phase_compares_with_fixed_time() {
    let mut executor = steps_of(0.25);
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        wait_seconds(0.375).in_phase(Phase::FixedUpdate).await;
        say.say(time().elapsed.as_millis());
    });
    executor.run_frame(0.375); // one step, to 0.25: game time has come, fixed time has not
    log.check(&[]);
    executor.run_frame(0.375); // two steps, to 0.5 and 0.75
    log.check(&["F2.FixedUpdate: 500"]);
}

// docs/contract.md#stepped-waits
#[test]
fn a_timer_for_the_fixed_phase_counts_from_the_clock_where_it_begins() {
    let mut executor = steps_of(0.25);
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await; // game time 0.375, fixed time 0.25
        wait_seconds(0.125).in_phase(Phase::FixedUpdate).await;
        say.say(time().elapsed.as_millis());
    });
    executor.run_frame(0.375);
    executor.run_frame(0.375);
    log.check(&["F2.FixedUpdate: 500"]);
}

#[test]
fn a_timer_begun_in_a_step_may_be_due_in_the_next_step_of_that_frame() {
    let mut timeline = Timeline::with_executor(steps_of(0.25), 0.75);
    timeline.row("zero", |mark| async move {
        loop {
            wait_seconds(0).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.row("step", |mark| async move {
        loop {
            wait_seconds(0.25).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.row("next", |mark| async move {
        loop {
            next_frame().in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1   2   3
        zero  - FFF FFF FFF
        step  - FFF FFF FFF
        next  - F   F   F
        ",
    );
}

#[test]
fn fixed_update_awaited_outside_the_fixed_phase_takes_the_first_step_to_come() {
    let mut timeline = Timeline::with_executor(steps_of(0.25), 0.5);
    timeline.row("early", |mark| async move {
        in_phase(Phase::EarlyUpdate).await;
        mark.hit();
        fixed_update().await;
        mark.hit();
    });
    timeline.row("update", |mark| async move {
        in_phase(Phase::Update).await;
        mark.hit();
        fixed_update().await;
        mark.hit();
    });
    timeline.row("second", |mark| async move {
        fixed_update().await;
        fixed_update().await;
        mark.hit();
        assert_eq!(time().elapsed, millis(500));
    });
    timeline.check(
        "
        frame  0 1  2
        early  - EF
        update - *  F
        second - F
        ",
    );
}
