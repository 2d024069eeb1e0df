//! On fixed steps, a step takes the place of a frame:
//! docs/contract.md#law-fixed-phase

pub(super) mod frame_rates;
mod other_clocks;
mod owed;
mod simulation;

use framestep::Executor;
use futures::future::pending;

use super::*;
use framestep_testkit::timeline::{Mark, in_quarters};

const FIXED: Phase = Phase::FixedUpdate;

/// Marks when `wait` is over, again and again.
async fn each<F: Future>(mark: Mark, mut wait: impl FnMut() -> F) {
    loop {
        wait().await;
        mark.hit();
    }
}

/// A frame of `dt`; each fixed step first calls `in_step`.
fn frame_of_steps(executor: &mut Executor, dt: f64, mut in_step: impl FnMut(&Executor)) {
    executor.begin_frame(dt);
    while executor.begin_fixed_step() {
        in_step(executor);
        executor.run_phase(FIXED);
    }
    executor.run_phase(Phase::Update);
}

#[test]
fn what_counts_on_the_clock_is_due_in_each_of_several_steps() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.75);
    timeline.row("zero", |mark| {
        each(mark, || wait_seconds(0).in_phase(FIXED))
    });
    timeline.row("negative", |mark| {
        each(mark, || wait_seconds(-1).in_phase(FIXED))
    });
    timeline.row("0.25", |mark| {
        each(mark, || wait_seconds(0.25).in_phase(FIXED))
    });
    timeline.row("0.50", |mark| {
        each(mark, || wait_seconds(0.5).in_phase(FIXED))
    });
    timeline.row("0.30", |mark| {
        each(mark, || wait_seconds(0.3).in_phase(FIXED))
    });
    timeline.row("timeout", |mark| {
        each(mark, || timeout(0.25, pending::<()>()).in_phase(FIXED))
    });
    timeline.row("interval", |mark| async move {
        let mut ticks = interval(0.25).in_phase(FIXED);
        loop {
            ticks.tick().await;
            mark.hit();
        }
    });
    timeline.row("animate", |mark| {
        each(mark, || animate(0.25, |_| ()).in_phase(FIXED))
    });
    // Steps 1 to 3, 4 to 6, 7 to 9.
    timeline.check(
        "
        frame    0 1   2   3
        zero     - FFF FFF FFF
        negative - FFF FFF FFF
        0.25     - FFF FFF FFF
        0.50     - F   FF  F
        0.30     - F   FF  F
        timeout  - FFF FFF FFF
        interval - FFF FFF FFF
        animate  - FFF FFF FFF
        ",
    );
}

#[test]
fn conditions_are_asked_in_each_of_several_steps() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.75);
    timeline.row("until", |mark| {
        each(mark, || wait_until(|| true).in_phase(FIXED))
    });
    timeline.row("while", |mark| {
        each(mark, || wait_while(|| false).in_phase(FIXED))
    });
    timeline.row("asked", |mark| async move {
        wait_until(move || {
            mark.hit();
            time().fixed_elapsed == Duration::from_millis(1_250)
        })
        .in_phase(FIXED)
        .await;
    });
    timeline.check(
        "
        frame 0 1   2   3
        until - FFF FFF FFF
        while - FFF FFF FFF
        asked - FFF FF
        ",
    );
}

#[test]
fn what_is_named_after_frames_counts_frames() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.75);
    timeline.row("next", |mark| each(mark, || next_frame().in_phase(FIXED)));
    timeline.row("frames(0)", |mark| {
        each(mark, || wait_frames(0).in_phase(FIXED))
    });
    timeline.row("frames(2)", |mark| {
        each(mark, || wait_frames(2).in_phase(FIXED))
    });
    timeline.check(
        "
        frame     0 1 2 3 4
        next      - F F F F
        frames(0) - F F F F
        frames(2) - - F - F
        ",
    );
}

#[test]
fn a_child_of_the_game_clock_moves_with_the_steps_and_realtime_with_the_frames() {
    let executor = in_quarters();
    let child = executor.clock().child();
    let of_child = move |seconds: f64| child.wait_seconds(seconds).in_phase(FIXED);
    let real = |seconds: f64| wait_seconds_realtime(seconds).in_phase(FIXED);
    let mut timeline = Timeline::with_executor(executor, 0.75);
    let same = of_child.clone();
    timeline.row("child(0)", |mark| each(mark, move || same(0.0)));
    timeline.row("child(0.25)", |mark| each(mark, move || of_child(0.25)));
    timeline.row("real(0)", |mark| each(mark, move || real(0.0)));
    timeline.row("real(0.25)", |mark| each(mark, move || real(0.25)));
    timeline.row("real(1)", |mark| each(mark, move || real(1.0)));
    timeline.check(
        "
        frame       0 1   2   3   4
        child(0)    - FFF FFF FFF FFF
        child(0.25) - FFF FFF FFF FFF
        real(0)     - FFF FFF FFF FFF
        real(0.25)  - F   F   F   F
        real(1)     - -   F   -   F
        ",
    );
}

#[test]
fn awaited_before_the_steps_of_a_frame_they_are_due_in_that_frame() {
    fn check<F: Future + 'static>(wait: fn() -> F) {
        begun_in_each_phase(wait).check(
            "
            frame       0 1  2 3
            EarlyUpdate - EF
            FixedUpdate - F  F
            Update      - *  F
            LateUpdate  - L  F
            EndOfFrame  - Z  F
            ",
        );
    }
    check(|| wait_seconds(0).in_phase(FIXED));
    check(|| wait_seconds_realtime(0).in_phase(FIXED));
    check(|| wait_until(|| true).in_phase(FIXED));
    check(|| wait_while(|| false).in_phase(FIXED));
    check(|| timeout(0, pending::<()>()).in_phase(FIXED));
    check(|| animate(0, |_| ()).in_phase(FIXED));
}

#[test]
fn awaited_in_the_fixed_update_of_the_host_they_are_due_in_the_run_that_follows() {
    let mut executor = in_quarters();
    let log = Log::new();
    frame_of_steps(&mut executor, 0.5, |executor| {
        let at = executor.time().elapsed.as_millis();
        let says = |name: &str, wait: LocalBoxFuture<'static, ()>| {
            let (log, text) = (log.clone(), format!("{name} since {at}"));
            executor.start(async move {
                wait.await;
                log.say(format!("{text} at {}", time().elapsed.as_millis()));
            });
        };
        says("until", wait_until(|| true).in_phase(FIXED).boxed_local());
        says("zero", wait_seconds(0).in_phase(FIXED).boxed_local());
        says("0.25", wait_seconds(0.25).in_phase(FIXED).boxed_local());
    });
    log.check(&[
        "F1.FixedUpdate: until since 250 at 250",
        "F1.FixedUpdate: zero since 250 at 250",
        "F1.FixedUpdate: until since 500 at 500",
        // Both have the deadline 0.5: they resume by registration.
        "F1.FixedUpdate: 0.25 since 250 at 500",
        "F1.FixedUpdate: zero since 500 at 500",
    ]);
}

#[test]
fn a_run_that_the_host_repeats_is_another_step_to_them() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.25);
    timeline.frames_are(|executor, dt| {
        frame_of_steps(executor, dt, |_| ());
        executor.run_phase(FIXED);
    });
    timeline.row("until", |mark| {
        each(mark, || wait_until(|| true).in_phase(FIXED))
    });
    timeline.row("zero", |mark| {
        each(mark, || wait_seconds(0).in_phase(FIXED))
    });
    timeline.row("fixed", |mark| each(mark, fixed_update));
    timeline.row("next", |mark| each(mark, || next_frame().in_phase(FIXED)));
    timeline.check(
        "
        frame 0 1  2  3
        until - FF FF FF
        zero  - FF FF FF
        fixed - FF FF FF
        next  - F  F  F
        ",
    );
}

#[test]
fn a_frame_without_a_step_resumes_none_of_them() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.125);
    timeline.row("until", |mark| {
        each(mark, || wait_until(|| true).in_phase(FIXED))
    });
    timeline.row("zero", |mark| {
        each(mark, || wait_seconds(0).in_phase(FIXED))
    });
    timeline.row("real", |mark| {
        each(mark, || wait_seconds_realtime(0).in_phase(FIXED))
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        until - - F - F
        zero  - - F - F
        real  - - F - F
        ",
    );
}

#[test]
fn in_a_step_the_waits_of_other_phases_count_frames_as_ever() {
    begun_in_each_phase(|| async { futures::join!(wait_seconds(0), wait_until(|| true)) }).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
}

#[test]
fn an_animation_on_steps_is_called_in_each_of_them_with_fixed_time() {
    let mut executor = in_quarters();
    let log = Log::new();
    let say = log.clone();
    let moves = animate(1, move |t| say.say(t)).in_phase(FIXED);
    let moved = executor.start(moves);
    for dt in [0.625, 0.125, 0.5] {
        executor.run_frame(dt);
    }
    log.check(&[
        "F0: 0",
        "F1.FixedUpdate: 0.25",
        "F1.FixedUpdate: 0.5",
        "F2.FixedUpdate: 0.75",
        "F3.FixedUpdate: 1",
    ]);
    assert!(moved.is_finished());
}

#[test]
fn an_interval_that_has_fallen_behind_catches_up_a_tick_a_step() {
    let mut executor = in_quarters();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut ticks = interval(0.125).in_phase(FIXED);
        loop {
            let late = ticks.tick().await.late.as_millis();
            say.say(format!("{} {late}", time().elapsed.as_millis()));
        }
    });
    executor.run_frame(0.75);
    log.check(&[
        "F1.FixedUpdate: 250 125", // due at 0.125
        "F1.FixedUpdate: 500 250", // at 0.25
        "F1.FixedUpdate: 750 375", // at 0.375
    ]);
}

#[test]
fn no_step_polls_a_coroutine_that_is_not_due_in_it() {
    let mut executor = in_quarters();
    let polls = Rc::new(Cell::new(0));
    let sleeps = wait_seconds(100).in_phase(FIXED);
    executor.start(framestep_testkit::counted(polls.clone(), sleeps));
    let sleeps = timeout(100, pending::<()>()).in_phase(FIXED);
    executor.start(framestep_testkit::counted(polls.clone(), sleeps).map(drop));
    assert_eq!(polls.take(), 2);
    for _ in 0..99 {
        executor.run_frame(1);
    }
    assert_eq!(polls.get(), 0);
    executor.run_frame(1);
    assert_eq!(polls.get(), 2);
}
