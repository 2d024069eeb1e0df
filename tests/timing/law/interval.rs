//! `interval`: docs/contract.md#law-interval

use super::*;

#[test]
fn a_tick_comes_in_the_first_frame_at_or_past_a_multiple_of_the_period() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, period) in [("0.25", 0.25), ("0.40", 0.4), ("0.75", 0.75)] {
        timeline.row(name, |mark| async move {
            let mut ticks = interval(period);
            loop {
                ticks.tick().await;
                mark.hit();
            }
        });
    }
    // 0.4, 0.8, 1.2, 1.6
    timeline.check(
        "
        frame 0    1    2    3    4    5    6    7
        time  0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75
        0.25  -    *    *    *    *    *    *    *
        0.40  -    -    *    -    *    *    -    *
        0.75  -    -    -    *    -    -    *    -
        ",
    );
}

// docs/contract.md#decided-interval
#[test]
fn a_tick_that_is_overdue_when_it_is_awaited_comes_in_the_next_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("busy", |mark| async move {
        let mut ticks = interval(0.5);
        ticks.tick().await;
        mark.hit();
        wait_frames(5).await;
        mark.hit();
        loop {
            ticks.tick().await;
            mark.hit();
        }
    });
    // Due at 0.5, then 1.0, 1.5, 2.0, 2.5.
    timeline.check(
        "
        frame 0    1    2    3    4    5    6    7    8    9    10
        time  0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75 2.00 2.25 2.50
        busy  -    -    *    -    -    -    -    *    *    *    *
        ",
    );
}

#[test]
fn an_interval_in_a_phase_ticks_in_that_phase() {
    ended_in_each_phase(|phase| async move { interval(0.5).in_phase(phase).tick().await }).check(
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
