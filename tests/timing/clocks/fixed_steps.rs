use super::*;

fn steps_of(fixed_delta: f64) -> Executor {
    let builder = Executor::builder().max_delta(UNLIMITED);
    builder.fixed_delta(fixed_delta).build()
}

// docs/contract.md#stepped-agree
#[test]
fn slow_motion_makes_fewer_of_them() {
    let executor = steps_of(0.25);
    let game = executor.clock();
    let mut timeline = Timeline::with_executor(executor, 0.5);
    timeline.row("steps", |mark| async move {
        loop {
            fixed_update().await;
            assert_eq!(time().delta, millis(250));
            mark.hit();
        }
    });
    timeline.row("scale", |mark| async move {
        for scale in [0.5, 0.25, 0.0, 1.0, 2.0] {
            wait_frames(2).await;
            mark.hit();
            game.set_scale(scale);
        }
    });
    timeline.check(
        "
        frame 0    1    2    3    4    5     6     7    8    9    10   11
        time  0.00 0.50 1.00 1.25 1.50 1.625 1.750 1.75 1.75 2.25 2.75 3.75
        steps -    FF   FF   F    F    -     F     -    -    FF   FF   FFFF
        scale -    -    *    -    *    -     *     -    *    -    *
        ",
    );
}

// docs/contract.md#decided-held-steps
#[test]
fn a_scale_of_the_game_clock_set_in_a_step_leaves_the_others_of_its_frame_alone() {
    for (scale, after) in [(0.5, ["F", "FF", "F"]), (0.0, ["-", "-", "-"])] {
        let executor = steps_of(0.25);
        let game = executor.clock();
        let mut timeline = Timeline::with_executor(executor, 0.75);
        timeline.row("steps", |mark| async move {
            loop {
                fixed_update().await;
                mark.hit();
            }
        });
        timeline.row("scale", |mark| async move {
            fixed_update().await;
            mark.hit();
            game.set_scale(scale);
        });
        timeline.check(&format!(
            "
            frame 0 1   2   3   4
            steps - FFF {:3} {:3} {:3}
            scale - F
            ",
            after[0], after[1], after[2]
        ));
    }
}

// docs/contract.md#stepped-child-clocks
#[test]
fn in_one_the_game_clock_reads_fixed_time_and_a_child_its_share_of_the_steps() {
    let mut executor = steps_of(0.25);
    let game = executor.clock();
    let child = game.child();
    child.set_scale(0.5);
    executor.begin_frame(0.625);
    assert!(executor.begin_fixed_step());
    assert_eq!((game.now(), game.delta()), (millis(250), millis(250)));
    assert_eq!((child.now(), child.delta()), (millis(125), millis(125)));
    assert!(executor.begin_fixed_step());
    assert_eq!((child.now(), child.delta()), (millis(250), millis(125)));
    assert!(!executor.begin_fixed_step());
    assert_eq!((game.now(), game.delta()), (millis(625), millis(625)));
    let share = Duration::from_micros(312_500);
    assert_eq!((child.now(), child.delta()), (share, share));
}

#[test]
fn the_delta_of_a_child_in_a_step_does_not_depend_on_the_game_clocks_scale() {
    let mut executor = steps_of(0.25);
    let child = executor.clock().child();
    let grandchild = child.child();
    executor.clock().set_scale(0.5);
    child.set_scale(0.5);
    grandchild.set_scale(3);
    executor.begin_frame(0.5);
    assert!(executor.begin_fixed_step());
    assert_eq!(child.delta(), millis(125));
    assert_eq!(grandchild.delta(), millis(375));
}

// docs/contract.md#stepped-waits
#[test]
fn a_timer_of_a_child_in_the_fixed_phase_counts_the_steps() {
    let executor = steps_of(0.25);
    let child = executor.clock().child();
    let mut timeline = Timeline::with_executor(executor, 0.625);
    timeline.row("child", |mark| async move {
        loop {
            child.wait_seconds(0.625).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.row("game", |mark| async move {
        loop {
            wait_seconds(0.625).in_phase(Phase::FixedUpdate).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3
        child - - F F
        game  - - F F
        ",
    );
}
