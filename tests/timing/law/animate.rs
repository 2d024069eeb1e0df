//! `animate`: docs/contract.md#law-animate

use super::*;

#[test]
fn an_animation_calls_at_once_and_in_each_frame_and_is_over_like_a_wait_of_its_length() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, seconds) in [
        ("zero", 0.0),
        ("exact", 0.5),
        ("late", 0.6),
        ("never", f64::INFINITY),
    ] {
        timeline.row(name, |mark| animate(seconds, move |_| mark.hit()));
    }
    timeline.row("wait", |mark| async move {
        wait_seconds(0.6).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        zero  *    *
        exact *    *    *
        late  *    *    *    *
        never *    *    *    *    *
        wait  -    -    -    *
        ",
    );
}

#[test]
fn an_animation_in_a_phase_calls_in_that_phase() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in DRAWN {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            wait_frames(1).await;
            animate(0.5, move |_| mark.hit()).in_phase(phase).await;
        });
    }
    // The first call is that of the first poll, in Update of frame 1.
    timeline.check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - * E E
        FixedUpdate - * F F
        Update      - * * *
        LateUpdate  - * L L
        EndOfFrame  - * Z Z
        ",
    );
}
