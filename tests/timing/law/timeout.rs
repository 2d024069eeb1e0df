//! `timeout`: docs/contract.md#law-timeout

use std::future::{pending, ready};

use super::*;

#[test]
fn a_timeout_ends_with_its_future_or_like_a_wait_of_its_length() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("wait", |mark| async move {
        wait_seconds(0.6).await;
        mark.hit();
    });
    timeline.row("times-out", |mark| async move {
        assert!(timeout(0.6, pending::<()>()).await.is_err());
        mark.hit();
    });
    timeline.row("future", |mark| async move {
        assert!(timeout(0.6, wait_seconds(0.5)).await.is_ok());
        mark.hit();
    });
    timeline.row("both", |mark| async move {
        assert!(timeout(0.5, wait_seconds(0.5)).await.is_ok());
        mark.hit();
    });
    timeline.row("at-once", |mark| async move {
        assert!(timeout(0, ready(())).await.is_ok());
        mark.hit();
    });
    timeline.check(
        "
        frame     0    1    2    3    4
        time      0.00 0.25 0.50 0.75 1.00
        wait      -    -    -    *
        times-out -    -    -    *
        future    -    -    *
        both      -    -    *
        at-once   *
        ",
    );
}

#[test]
fn a_timeout_of_zero_begun_in_any_phase_is_over_in_update_of_the_next_frame() {
    begun_in_each_phase(|| timeout(0, pending::<()>())).check(
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
fn a_timeout_in_a_phase_times_out_in_that_phase() {
    ended_in_each_phase(|phase| timeout(0.5, pending::<()>()).in_phase(phase)).check(
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
