//! `wait_frames`: docs/contract.md#law-wait-frames

use super::*;

#[test]
fn wait_frames_counts_frames_and_zero_counts_as_one() {
    let mut timeline = Timeline::with_dt(0.25);
    for n in [0, 1, 2, 3] {
        timeline.row(&format!("frames({n})"), |mark| async move {
            mark.hit();
            wait_frames(n).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame     0 1 2 3 4
        frames(0) * *
        frames(1) * *
        frames(2) * - *
        frames(3) * - - *
        ",
    );
}

#[test]
fn wait_frames_counts_from_the_frame_in_which_it_is_awaited() {
    begun_in_each_phase(|| wait_frames(2)).check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - E - *
        FixedUpdate - F - *
        Update      - * - *
        LateUpdate  - L - *
        EndOfFrame  - Z - *
        ",
    );
}

#[test]
fn wait_frames_of_zero_is_not_due_later_in_the_same_frame() {
    begun_in_each_phase(|| wait_frames(0)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
    begun_in_each_phase(|| wait_frames(0).in_phase(Phase::EndOfFrame)).check(
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
fn wait_frames_in_a_phase_resumes_in_that_phase() {
    ended_in_each_phase(|phase| wait_frames(2).in_phase(phase)).check(
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
fn wait_frames_of_the_largest_number_never_ends_and_can_be_stopped() {
    let mut executor = unclamped();
    let waits = executor.start(wait_frames(u64::MAX).map(drop));
    executor.run_frame(0.25);
    let later = executor.start(wait_frames(u64::MAX).map(drop));
    for _ in 0..1_000 {
        executor.run_frame(0.25);
    }
    assert!(!waits.is_finished() && !later.is_finished());
    assert!(waits.stop() && later.stop());
}
