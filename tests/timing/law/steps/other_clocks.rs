//! Stepped time: in the fixed phase, clocks below the game clock move with the
//! steps.

use super::*;
use framestep_testkit::timeline::unclamped;

/// A timeline with a child of its game clock.
fn with_child(dt: f64) -> (Timeline, Clock) {
    let executor = in_quarters();
    let child = executor.clock().child();
    (Timeline::with_executor(executor, dt), child)
}

/// A row that marks each quarter of a second of a clock, on fixed steps.
fn add_quarters(timeline: &mut Timeline, name: &str, clock: &Clock) {
    let clock = clock.clone();
    timeline.row(name, |mark| {
        each(mark, move || clock.wait_seconds(0.25).in_phase(FIXED))
    });
}

// docs/contract.md#stepped-child-clocks
#[test]
fn a_hit_stop_of_four_steps_is_four_steps_long_at_every_frame_rate() {
    let timeline = |dt| {
        let (mut timeline, enemies) = with_child(dt);
        add_quarters(&mut timeline, "enemy", &enemies);
        timeline.row("hit", |mark| async move {
            wait_steps(2).await;
            mark.hit();
            enemies.pause();
            wait_steps(4).await;
            mark.hit();
            enemies.resume();
        });
        timeline
    };
    // The pause holds in steps 3 to 6.
    timeline(0.25).check(
        "
        frame 0 1 2 3 4 5 6 7 8 9
        enemy - F F - - - - F F F
        hit   - - F - - - F
        ",
    );
    timeline(1.25).check(
        "
        frame 0 1  2    3
        enemy - FF FFFF FFFFF
        hit   - F  F
        ",
    );
    timeline(0.125).check(
        "
        frame 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
        enemy - - F - F - - - - - -  -  -  -  F  -  F
        hit   - - - - F - - - - - -  -  F
        ",
    );
}

// docs/contract.md#stepped-changes
#[test]
fn a_scale_set_in_a_step_holds_from_the_next_one_on() {
    let timeline = |dt| {
        let (mut timeline, child) = with_child(dt);
        add_quarters(&mut timeline, "child", &child);
        timeline.row("slow", |mark| async move {
            wait_steps(2).await;
            mark.hit();
            child.set_scale(0.5);
        });
        timeline
    };
    timeline(0.25).check(
        "
        frame 0 1 2 3 4 5 6 7 8 9 10
        child - F F - F - F - F - F
        slow  - - F
        ",
    );
    timeline(1.25).check(
        "
        frame 0 1   2
        child - FFF FFF
        slow  - F
        ",
    );
}

// docs/contract.md#stepped-changes
#[test]
fn a_scale_set_before_the_steps_of_a_frame_shows_in_them_and_in_frame_time_a_frame_later() {
    let (mut timeline, child) = with_child(0.5);
    add_quarters(&mut timeline, "steps", &child);
    let clock = child.clone();
    timeline.row("frames", |mark| each(mark, move || clock.wait_seconds(0.5)));
    timeline.row("slow", |mark| async move {
        wait_frames(2).in_phase(Phase::EarlyUpdate).await;
        mark.hit();
        child.set_scale(0.5);
    });
    timeline.check(
        "
        frame  0 1  2 3 4
        steps  - FF F F F
        frames - *  * - *
        slow   - -  E
        ",
    );
}

#[test]
fn a_wait_of_three_steps_is_three_steps_long_at_every_frame_rate() {
    for dt in [0.01, 0.02, 0.04, 0.1, 0.2] {
        let mut executor = Executor::new();
        let child = executor.clock().child();
        let owner = executor.owner_on(&child);
        let step = Rc::new(Cell::new(0));
        let now = step.clone();
        let script = owner.script("").in_phase(FIXED).spawn(async move {
            let mut steps = Vec::new();
            for _ in 0..20 {
                let began = now.get();
                wait_seconds(0.05).in_phase(FIXED).await;
                steps.push(now.get() - began);
            }
            steps
        });
        while !script.is_finished() {
            executor.begin_frame(dt);
            while executor.begin_fixed_step() {
                step.set(step.get() + 1);
                executor.run_phase(FIXED);
            }
        }
        let steps = framestep_testkit::result_of(&executor, script).unwrap();
        assert_eq!(steps, [3; 20], "dt {dt}");
    }
}

// docs/contract.md#stepped-waits
#[test]
fn a_wait_begun_between_two_steps_counts_the_rest_of_the_frame_at_the_present_scale() {
    // After frame 1, the game clock is half a step ahead of the latest step.
    let (mut timeline, child) = with_child(0.375);
    let game = timeline.executor().clock();
    child.set_scale(0.5);
    let slow = child.child();
    let fast = slow.child();
    let rows: [(&str, &Clock, f64); 4] = [
        ("game", &game, 1.0),
        ("child", &child, 0.5),
        ("slower", &slow, 0.5),
        ("faster", &fast, 4.0),
    ];
    for (name, clock, scale) in rows {
        let clock = clock.clone();
        timeline.row(name, |mark| async move {
            next_frame().await;
            clock.set_scale(scale);
            mark.hit();
            clock.wait_seconds(0.25).in_phase(FIXED).await;
            mark.hit();
        });
    }
    // The game clock reads 0.375, and fixed time 0.25. The deadlines:
    // game    0.375                         + 0.25 = 0.625, in step 3
    // child   0.125 + 0.125 * 0.5           + 0.25 = 0.4375: 0.375, 0.5 in step 4
    // slower  0.125 + 0.125 * 0.5 * 0.5     + 0.25 = 0.40625: 0.1875, .. 0.4375 in step 6
    // faster  0.125 + 0.125 * 0.5 * 0.5 * 4 + 0.25 = 0.5: 0.375, 0.625 in step 3
    timeline.check(
        "
        frame  0 1 2 3 4
        game   - * F
        child  - * - F
        slower - * - - F
        faster - * F
        ",
    );
}

// docs/contract.md#decided-pause-in-a-step
#[test]
fn a_pause_in_a_step_counts_steps_for_timers_on_steps_and_frames_for_others() {
    let (mut timeline, child) = with_child(1.0);
    let owner = timeline.executor().owner_on(&child);
    timeline.row_on(&owner, "steps", |mark| async move {
        wait_seconds(1).in_phase(FIXED).await;
        mark.hit();
    });
    timeline.row_on(&owner, "animate", |mark| async move {
        animate(1, |_| ()).in_phase(FIXED).await;
        mark.hit();
    });
    timeline.row_on(&owner, "timeout", |mark| async move {
        let result = timeout(1, pending::<()>()).in_phase(FIXED).await;
        assert!(result.is_err());
        mark.hit();
    });
    timeline.row_on(&owner, "interval", |mark| async move {
        interval(1).in_phase(FIXED).tick().await;
        mark.hit();
    });
    timeline.row_on(&owner, "frames", |mark| async move {
        wait_seconds(1).await;
        mark.hit();
    });
    timeline.row("pauses", |mark| async move {
        fixed_update().await;
        mark.hit();
        owner.pause();
        wait_steps(2).await;
        mark.hit();
        owner.resume();
        pending::<()>().await;
    });
    // Paused from step 1 to step 3, all of them of frame 1.
    timeline.check(
        "
        frame    0 1  2
        steps    - -  F
        animate  - -  F
        timeout  - -  F
        interval - -  F
        frames   - *
        pauses   - FF -
        ",
    );
}

#[test]
fn a_pause_of_a_coroutine_and_one_of_its_clock_add_up() {
    let timeline = |dt| {
        let (mut timeline, child) = with_child(dt);
        let owner = timeline.executor().owner_on(&child);
        timeline.row_on(&owner, "timer", |mark| async move {
            wait_seconds(1).in_phase(FIXED).await;
            mark.hit();
        });
        timeline.row("pauses", |mark| async move {
            fixed_update().await;
            mark.hit();
            // The clock stands still in steps 2 to 4, and the coroutine from step 3
            // to step 6: two steps of the clock.
            child.pause();
            wait_steps(2).await;
            owner.pause();
            fixed_update().await;
            child.resume();
            wait_steps(2).await;
            mark.hit();
            owner.resume();
            pending::<()>().await;
        });
        timeline
    };
    timeline(0.25).check(
        "
        frame  0 1 2 3 4 5 6 7 8 9
        timer  - - - - - - - - - F
        pauses - F - - - - F - - -
        ",
    );
    timeline(2.5).check(
        "
        frame  0 1
        timer  - F
        pauses - FF
        ",
    );
}

// docs/contract.md#decided-scale-in-a-step
#[test]
fn time_and_clocks_read_the_step_inside_and_the_frame_outside() {
    let mut executor = in_quarters();
    let child = executor.clock().child();
    let owner = executor.owner_on(&child);
    let log = Log::new();
    let (say, clock) = (log.clone(), child.clone());
    owner.script("").in_phase(FIXED).spawn(async move {
        loop {
            let time = time();
            assert_eq!((time.elapsed, time.delta), (clock.now(), clock.delta()));
            say.say(format!(
                "{:?} {:?} {}",
                time.elapsed, time.delta, time.scale
            ));
            fixed_update().await;
        }
    });
    let (say, clock) = (log.clone(), child.clone());
    executor.start(async move {
        loop {
            next_frame().await;
            say.say(format!(
                "{:?} {:?} {}",
                clock.now(),
                clock.delta(),
                clock.effective_scale()
            ));
        }
    });
    let game = executor.clock();
    executor.start(async move {
        fixed_update().await;
        child.set_scale(0.5);
        fixed_update().await;
        game.set_scale(0.5);
    });
    executor.run_frame(1);
    executor.run_frame(0.5);
    log.check(&[
        "F1.FixedUpdate: 250ms 250ms 1",
        "F1.FixedUpdate: 375ms 125ms 0.5",
        // The scale of the game clock makes fewer steps, not shorter ones.
        "F1.FixedUpdate: 500ms 125ms 0.25",
        "F1.FixedUpdate: 625ms 125ms 0.25",
        "F1: 1s 1s 1",
        "F2.FixedUpdate: 750ms 125ms 0.25",
        "F2: 1.125s 125ms 0.25",
    ]);
}

// docs/contract.md#decided-new-clock
#[test]
fn a_clock_made_in_a_step_begins_with_the_next_one() {
    let mut executor = in_quarters();
    executor.begin_frame(1);
    assert!(executor.begin_fixed_step());
    let child = executor.clock().child();
    child.set_scale(0.5);
    let grandchild = child.child();
    let read = || [child.now(), child.delta(), grandchild.now()].map(|it| it.as_millis());
    assert_eq!(read(), [0, 0, 0]);
    assert!(executor.begin_fixed_step());
    assert_eq!(read(), [125, 125, 125]);
    child.set_scale(2);
    let late = grandchild.child();
    assert!(executor.begin_fixed_step());
    assert_eq!(read(), [625, 500, 625]);
    assert_eq!(late.now().as_millis(), 500);
    executor.end_fixed_step();
    assert_eq!(read(), [0, 0, 0]);
    executor.begin_frame(0.25);
    assert_eq!(read(), [500, 500, 500]);
}

// docs/contract.md#stepped-realtime
#[test]
fn clocks_below_realtime_read_the_frame_in_steps_too() {
    let executor = in_quarters();
    let menu = executor.realtime().child();
    menu.set_scale(0.5);
    let mut timeline = Timeline::with_executor(executor, 1.0);
    let clock = menu.clone();
    timeline.row("menu", |mark| async move {
        fixed_update().await;
        loop {
            assert_eq!(clock.now() * 2, time().unscaled_elapsed);
            clock.wait_seconds(0.5).in_phase(FIXED).await;
            mark.hit();
        }
    });
    timeline.row("pause", |mark| async move {
        wait_steps(5).await;
        mark.hit();
        menu.pause();
    });
    timeline.check(
        "
        frame 0 1 2 3 4
        menu  - - F - -
        pause - - F
        ",
    );
}

// docs/contract.md#decided-steps-ahead
#[test]
fn steps_that_the_host_begins_ahead_of_the_frame_move_a_child_as_they_move_fixed_time() {
    let executor = in_quarters();
    let child = executor.clock().child();
    let mut timeline = Timeline::with_executor(executor, 0.5);
    // The physics of a frame runs before its dt is known.
    timeline.frames_are(|executor, dt| {
        for _ in 0..3 {
            executor.begin_fixed_step_of(dt / 2.0);
            executor.run_phase(FIXED);
        }
        executor.begin_frame(dt);
        executor.run_phase(Phase::Update);
    });
    for (name, clock) in [("game", timeline.executor().clock()), ("child", child)] {
        timeline.row(name, |mark| async move {
            assert_eq!(clock.now(), Duration::ZERO);
            for step in 1..=3 {
                clock.wait_seconds(0.25).in_phase(FIXED).await;
                assert_eq!(clock.now(), Duration::from_millis(250 * step));
                mark.hit();
            }
            // Counts from the frame, which is behind the steps.
            next_frame().await;
            assert_eq!(clock.now(), Duration::from_millis(500));
            mark.hit();
            clock.wait_seconds(0.75).in_phase(FIXED).await;
            mark.hit();
        });
    }
    // The draw begins with frame 1: its steps come before it.
    timeline.check(
        "
        frame 0 1    2
        game  - FFF* F
        child - FFF* F
        ",
    );
}

// docs/contract.md#decided-custom-phases
#[test]
fn a_custom_phase_in_a_step_reads_the_step_and_its_waits_count_frames() {
    let custom = Phase::Custom(0);
    for on_child in [false, true] {
        let mut executor = in_quarters();
        let game = executor.clock();
        let clock = if on_child { game.child() } else { game };
        let log = Log::new();
        let say = log.clone();
        executor.start(async move {
            for _ in 0..4 {
                clock.wait_seconds(0.25).in_phase(custom).await;
                say.say(format!("{:?}", clock.now()));
            }
        });
        for _ in 0..3 {
            executor.begin_frame(0.5);
            while executor.begin_fixed_step() {
                executor.run_phase(custom);
            }
            executor.run_phase(Phase::Update);
            executor.run_phase(custom);
        }
        log.check(&[
            "F1.Custom(0): 250ms",
            "F2.Custom(0): 750ms",
            "F3.Custom(0): 1.25s",
        ]);
    }
}

// docs/contract.md#decided-custom-phases
#[test]
fn a_timer_of_a_custom_phase_in_a_step_is_due_when_the_frame_has_reached_its_deadline() {
    let custom = Phase::Custom(0);
    let executor = in_quarters();
    let child = executor.clock().child();
    let mut timeline = Timeline::with_executor(executor, 0.5);
    timeline.frames_are(move |executor, dt| {
        executor.begin_frame(dt);
        while executor.begin_fixed_step() {
            executor.run_phase(custom);
            executor.run_phase(FIXED);
        }
        executor.run_phase(Phase::Update);
    });
    for (name, clock) in [("game", timeline.executor().clock()), ("child", child)] {
        timeline.row(name, |mark| async move {
            clock.wait_seconds(1).in_phase(custom).await;
            assert_eq!(clock.now(), Duration::from_millis(750));
            mark.hit();
            // Also begins in the step.
            clock.wait_seconds(0.75).in_phase(custom).await;
            assert_eq!(clock.now(), Duration::from_millis(1_750));
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0 1 2 3 4
        game  - - C - C
        child - - C - C
        ",
    );
}

#[test]
fn a_long_chain_that_nobody_has_read_is_exact() {
    let mut executor = unclamped();
    let mut chain = vec![executor.clock()];
    for level in 0..2_000 {
        let clock = chain[level].child();
        chain.push(clock);
    }
    let (middle, last) = (chain[1_000].clone(), chain[2_000].clone());
    middle.set_scale(1.0 / 3.0);
    let wait = last.wait_seconds(0.3).in_phase(FIXED);
    let wait = executor.start(wait);
    for step in 1..=90 {
        executor.begin_fixed_step_of(0.01);
        if step == 60 {
            chain[500].set_scale(0);
        }
        if step == 70 {
            chain[500].set_scale(1);
        }
        assert!(!wait.is_finished());
    }
    assert_eq!(last.now(), Duration::from_nanos(266_666_667));
    drop(chain);
    for _ in 0..10 {
        assert!(!wait.is_finished());
        executor.begin_fixed_step_of(0.01);
        executor.run_phase(FIXED);
    }
    assert!(wait.is_finished());
    assert_eq!(last.now(), Duration::from_millis(300));
}

// docs/contract.md#decided-dropped-steps
#[test]
fn steps_that_are_dropped_count_on_every_clock() {
    let builder = Executor::builder().fixed_delta(0.25).max_delta(1);
    let mut executor = builder.build();
    executor.on_report(|_| ());
    let child = executor.clock().child();
    child.set_scale(0.5);
    executor.clock().set_scale(2);
    executor.begin_frame(1);
    while executor.begin_fixed_step() {}
    assert_eq!(executor.time().fixed_elapsed.as_secs(), 2);
    child.set_scale(1);
    executor.begin_frame(0.25);
    assert!(executor.begin_fixed_step());
    assert_eq!(
        (child.now(), child.delta()),
        (Duration::from_millis(1_250), Duration::from_millis(250))
    );
}
