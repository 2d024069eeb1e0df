//! `owner.ended()`: docs/contract.md#law-ended

use super::*;

#[test]
fn the_wait_for_an_owner_ends_with_its_last_script() {
    let mut timeline = Timeline::with_dt(0.25);
    let owner = timeline.executor().owner();
    let (empty, below) = (timeline.executor().owner(), owner.child());
    timeline.row_on(&owner, "first", |mark| async move {
        wait_seconds(0.25).await;
        mark.hit();
    });
    timeline.row_on(&below, "below", |mark| async move {
        wait_seconds(0.75).await;
        mark.hit();
    });
    let (whole, part, none) = (owner.ended(), below.ended(), empty.ended());
    timeline.row("whole", |mark| async move {
        whole.await;
        mark.hit();
    });
    timeline.row("part", |mark| async move {
        part.await;
        mark.hit();
    });
    timeline.row("empty", |mark| async move {
        none.await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        first -    *
        below -    -    -    *
        whole -    -    -    *
        part  -    -    -    *
        empty *
        ",
    );
}

#[test]
fn it_ends_in_the_phase_in_which_the_last_script_ends() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in DRAWN {
        let owner = timeline.executor().owner();
        owner.start(async move {
            next_frame().in_phase(phase).await;
        });
        timeline.row(&format!("{phase:?}"), |mark| async move {
            owner.ended().await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame       0 1 2
        EarlyUpdate - E
        FixedUpdate - F
        Update      - *
        LateUpdate  - L
        EndOfFrame  - Z
        ",
    );
}
