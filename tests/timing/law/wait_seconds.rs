//! `wait_seconds`, and properties of all lengths:
//! docs/contract.md#law-wait-seconds

use super::*;

// docs/contract.md#time-deadline
#[test]
fn wait_seconds_resumes_on_the_first_frame_at_or_past_the_deadline() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, seconds) in [("short", 0.125), ("exact", 0.50), ("late", 0.60)] {
        timeline.row(name, |mark| async move {
            mark.hit();
            wait_seconds(seconds).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        short *    *
        exact *    -    *
        late  *    -    -    *
        ",
    );
}

#[test]
fn wait_seconds_begun_in_any_phase_resumes_in_update_of_a_later_frame() {
    begun_in_each_phase(|| wait_seconds(0.5)).check(
        "
        frame       0    1    2    3    4
        time        0.00 0.25 0.50 0.75 1.00
        EarlyUpdate -    E    -    *
        FixedUpdate -    F    -    *
        Update      -    *    -    *
        LateUpdate  -    L    -    *
        EndOfFrame  -    Z    -    *
        ",
    );
}

#[test]
fn wait_seconds_in_a_phase_resumes_in_that_phase() {
    ended_in_each_phase(|phase| wait_seconds(0.5).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn wait_seconds_realtime_follows_the_same_law() {
    begun_in_each_phase(|| wait_seconds_realtime(0.5)).check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - E - *
        FixedUpdate - F - *
        Update      - * - *
        LateUpdate  - L - *
        EndOfFrame  - Z - *
        ",
    );
    ended_in_each_phase(|phase| wait_seconds_realtime(0.5).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn a_length_counts_from_the_first_poll_and_not_from_the_call() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("early", |mark| async move {
        let wait = wait_seconds(0.5);
        mark.hit();
        next_frame().await;
        wait.await;
        mark.hit();
    });
    timeline.row("frames", |mark| async move {
        let wait = wait_frames(2);
        mark.hit();
        next_frame().await;
        wait.await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0    1    2    3    4
        time   0.00 0.25 0.50 0.75 1.00
        early  *    -    -    *
        frames *    -    -    *
        ",
    );
}

// docs/contract.md#time-zero
#[test]
fn zero_and_negative_lengths_wait_one_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, seconds) in [
        ("zero", 0.0),
        ("minus-zero", -0.0),
        ("minus-one", -1.0),
        ("minus-max", f64::MIN),
        ("minus-inf", f64::NEG_INFINITY),
    ] {
        timeline.row(name, |mark| async move {
            for _ in 0..3 {
                mark.hit();
                wait_seconds(seconds).await;
            }
        });
        timeline.row(&format!("{name}-realtime"), |mark| async move {
            for _ in 0..3 {
                mark.hit();
                wait_seconds_realtime(seconds).await;
            }
        });
    }
    timeline.check(
        "
        frame               0 1 2 3 4
        zero                * * *
        zero-realtime       * * *
        minus-zero          * * *
        minus-zero-realtime * * *
        minus-one           * * *
        minus-one-realtime  * * *
        minus-max           * * *
        minus-max-realtime  * * *
        minus-inf           * * *
        minus-inf-realtime  * * *
        ",
    );
}

#[test]
fn zero_lengths_need_a_frame_but_no_time() {
    let mut timeline = Timeline::with_dt(0.0);
    timeline.row("zero", |mark| async move {
        wait_seconds(0).await;
        mark.hit();
    });
    timeline.row("frame", |mark| async move {
        next_frame().await;
        mark.hit();
    });
    timeline.row("short", |mark| async move {
        wait_seconds(Duration::from_nanos(1)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0    1    2
        time  0.00 0.00 0.00
        zero  -    *
        frame -    *
        short -    -    -
        ",
    );
}

#[test]
fn zero_lengths_are_not_due_later_in_the_same_frame() {
    begun_in_each_phase(|| wait_seconds(0).in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
    begun_in_each_phase(|| wait_until(|| true).in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
}

#[test]
fn zero_lengths_resume_in_the_phase_they_name() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("late", |mark| async move {
        for _ in 0..2 {
            wait_seconds(0).in_phase(Phase::LateUpdate).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3
        late  - L L
        ",
    );
}

// docs/contract.md#time-infinity
#[test]
fn infinite_lengths_never_end_and_can_be_stopped() {
    let mut executor = unclamped();
    let waits = [
        executor.start(wait_seconds(f64::INFINITY).map(drop)),
        executor.start(wait_seconds(f32::INFINITY).map(drop)),
        executor.start(wait_seconds_realtime(f64::INFINITY).map(drop)),
        executor.start(wait_seconds(Duration::MAX).map(drop)),
    ];
    for _ in 0..1_000 {
        update(&mut executor, 1_000);
    }
    for wait in waits {
        assert!(!wait.is_finished());
        assert!(wait.stop());
    }
    executor.assert_empty();
}

#[test]
fn overshoot_is_not_paid_back() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            wait_seconds(0.375).await;
            say.say(time().elapsed.as_millis());
        }
    });
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F2: 500",  // the deadline is 0.375
        "F4: 1000", // 0.875; with what is over paid back it would be 0.75
        "F6: 1500", // 1.375
    ]);
}

// docs/contract.md#rule-3-one-resume
#[test]
fn a_wait_resumes_once_in_a_run_however_long_the_frame() {
    let mut timeline = Timeline::with_dt(10.0);
    timeline.row("short", |mark| async move {
        loop {
            wait_seconds(0.125).await;
            mark.hit();
        }
    });
    timeline.row("ten", |mark| async move {
        loop {
            wait_seconds(10).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3
        short - * * *
        ten   - * * *
        ",
    );
}
