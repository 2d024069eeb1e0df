//! The phases, and waits for one of them: docs/contract.md#frame,
//! docs/contract.md#law-phases

use super::*;

#[test]
fn a_frame_runs_its_phases_in_order() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.125)
        .build();
    let log = Log::new();
    for phase in [
        Phase::Custom(7),
        Phase::EndOfFrame,
        Phase::LateUpdate,
        Phase::Update,
        Phase::FixedUpdate,
        Phase::EarlyUpdate,
    ] {
        let log = log.clone();
        executor.start(async move {
            loop {
                in_phase(phase).await;
                log.say("");
            }
        });
    }
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: ",
        "F1.FixedUpdate: ",
        "F1.FixedUpdate: ",
        "F1: ",
        "F1.LateUpdate: ",
        "F1.EndOfFrame: ",
    ]);
    executor.run_phase(Phase::Custom(7));
    log.check(&["F1.Custom(7): "]);
}

#[test]
fn in_phase_resumes_in_the_first_run_of_the_phase_that_begins_after_the_await() {
    for target in DRAWN {
        let mut timeline = Timeline::with_a_fixed_step_each(0.25);
        for phase in DRAWN {
            timeline.row(&format!("{phase:?}"), |mark| async move {
                in_phase(phase).await;
                mark.hit();
                in_phase(target).await;
                mark.hit();
            });
        }
        timeline.check(match target {
            Phase::EarlyUpdate => {
                "
                frame       0 1 2 3
                EarlyUpdate - E E
                FixedUpdate - F E
                Update      - * E
                LateUpdate  - L E
                EndOfFrame  - Z E
                "
            }
            Phase::FixedUpdate => {
                "
                frame       0 1  2 3
                EarlyUpdate - EF
                FixedUpdate - F  F
                Update      - *  F
                LateUpdate  - L  F
                EndOfFrame  - Z  F
                "
            }
            Phase::Update => {
                "
                frame       0 1  2 3
                EarlyUpdate - E*
                FixedUpdate - F*
                Update      - *  *
                LateUpdate  - L  *
                EndOfFrame  - Z  *
                "
            }
            Phase::LateUpdate => {
                "
                frame       0 1  2 3
                EarlyUpdate - EL
                FixedUpdate - FL
                Update      - *L
                LateUpdate  - L  L
                EndOfFrame  - Z  L
                "
            }
            _ => {
                "
                frame       0 1  2 3
                EarlyUpdate - EZ
                FixedUpdate - FZ
                Update      - *Z
                LateUpdate  - LZ
                EndOfFrame  - Z  Z
                "
            }
        });
    }
}

#[test]
fn fixed_update_and_end_of_frame_are_in_phase_by_name() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    timeline.row("fixed", |mark| async move {
        for _ in 0..2 {
            fixed_update().await;
            mark.hit();
        }
    });
    timeline.row("end", |mark| async move {
        for _ in 0..2 {
            end_of_frame().await;
            mark.hit();
        }
    });
    timeline.row("mixed", |mark| async move {
        fixed_update().await;
        mark.hit();
        end_of_frame().await;
        mark.hit();
        fixed_update().await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1  2 3
        fixed - F  F
        end   - Z  Z
        mixed - FZ F
        ",
    );
}

#[test]
fn a_custom_phase_resumes_when_the_host_runs_it() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.run_frame(dt);
        executor.run_phase(Phase::Custom(3));
        if executor.time().frame == 2 {
            executor.run_phase(Phase::Custom(4));
        }
    });
    timeline.row("three", |mark| async move {
        for _ in 0..2 {
            in_phase(Phase::Custom(3)).await;
            mark.hit();
        }
    });
    timeline.row("four", |mark| async move {
        in_phase(Phase::Custom(4)).await;
        mark.hit();
    });
    timeline.row("timed", |mark| async move {
        wait_seconds(0.5).in_phase(Phase::Custom(3)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3
        three - C C
        four  - - C
        timed - - C
        ",
    );
}
