//! Runs that a host skips or repeats: docs/contract.md#law-skipped-runs

use super::*;

#[test]
fn a_host_that_skips_update_delays_what_is_due_there() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        if matches!(executor.time().frame, 3 | 5) {
            executor.run_phase(Phase::Update);
        }
        executor.run_phase(Phase::LateUpdate);
    });
    timeline.row("next", |mark| async move {
        loop {
            next_frame().await;
            mark.hit();
        }
    });
    timeline.row("frames(2)", |mark| async move {
        wait_frames(2).await;
        mark.hit();
    });
    timeline.row("frames(4)", |mark| async move {
        wait_frames(4).await;
        mark.hit();
    });
    timeline.row("seconds(0.5)", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row("seconds(1)", |mark| async move {
        wait_seconds(1).await;
        mark.hit();
    });
    timeline.row("until", |mark| async move {
        wait_until(|| time().frame >= 2).await;
        mark.hit();
    });
    timeline.row("late", |mark| async move {
        next_frame().in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.check(
        "
        frame        0 1 2 3 4 5
        next         - - - * - *
        frames(2)    - - - *
        frames(4)    - - - - - *
        seconds(0.5) - - - *
        seconds(1)   - - - - - *
        until        - - - *
        late         - L
        ",
    );
}

#[test]
fn a_host_that_repeats_update_resumes_waits_by_their_own_rows() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        executor.run_phase(Phase::Update);
        executor.run_phase(Phase::Update);
    });
    // These count frames, not runs.
    timeline.row("next", |mark| async move {
        loop {
            next_frame().await;
            mark.hit();
        }
    });
    timeline.row("zero", |mark| async move {
        loop {
            wait_seconds(0).await;
            mark.hit();
        }
    });
    timeline.row("frames(2)", |mark| async move {
        loop {
            wait_frames(2).await;
            mark.hit();
        }
    });
    // These count runs.
    timeline.row("in_phase", |mark| async move {
        loop {
            in_phase(Phase::Update).await;
            mark.hit();
        }
    });
    timeline.row("asked", |mark| async move {
        wait_until(move || {
            mark.hit();
            time().frame == 2
        })
        .await;
    });
    timeline.check(
        "
        frame     0 1  2  3
        next      - *  *  *
        zero      - *  *  *
        frames(2) - -  *  -
        in_phase  - ** ** **
        asked     - ** *
        ",
    );
}

#[test]
fn a_phase_run_in_frame_zero_resumes_what_waits_for_the_phase_alone() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        in_phase(Phase::Update).await;
        say.note("in_phase");
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.note("next_frame");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds(0).await;
        say.note("wait_seconds");
    });
    executor.run_phase(Phase::Update);
    log.check(&["in_phase"]);
    executor.run_frame(0.25);
    log.check(&["next_frame", "wait_seconds"]);
}
