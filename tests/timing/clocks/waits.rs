use super::*;

#[test]
fn a_child_at_a_quarter_takes_four_times_as_long() {
    let (executor, enemies) = with_child();
    enemies.set_scale(0.25);
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row("player", |mark| async move {
        loop {
            wait_seconds(0.5).await;
            mark.hit();
        }
    });
    timeline.row("enemy", |mark| async move {
        loop {
            enemies.wait_seconds(0.5).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame  0    1    2    3    4    5    6    7    8    9    16
        time   0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75 2.00 2.25 4.00
        player -    -    *    -    *    -    *    -    *    -    *
        enemy  -    -    -    -    -    -    -    -    *    -    *
        ",
    );
}

#[test]
fn two_seconds_of_which_one_passes_at_half_speed_end_after_three() {
    for on_child in [false, true] {
        let executor = unclamped();
        let clock = if on_child {
            executor.clock().child()
        } else {
            executor.clock()
        };
        clock.set_scale(0.5);
        let mut timeline = Timeline::with_executor(executor, 0.5);
        let on = clock.clone();
        timeline.row("wait", move |mark| async move {
            on.wait_seconds(2).await;
            mark.hit();
        });
        timeline.row("speed", move |mark| async move {
            wait_seconds_realtime(2).await;
            mark.hit();
            clock.set_scale(1);
        });
        timeline.check(
            "
            frame 0 1 2 3 4 5 6
            wait  - - - - - - *
            speed - - - - *
            ",
        );
    }
}

#[test]
fn a_paused_clock_holds_its_waits_up_and_no_others() {
    let (executor, child) = with_child();
    let grandchild = child.child();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    let waits = [
        ("child", child.wait_seconds(0.5)),
        ("grandchild", grandchild.wait_seconds(0.5)),
        ("game", wait_seconds(0.5)),
    ];
    for (name, wait) in waits {
        timeline.row(name, |mark| async move {
            wait.await;
            mark.hit();
        });
    }
    timeline.row("pause", |mark| async move {
        next_frame().await;
        mark.hit();
        child.pause();
        wait_frames(3).await;
        mark.hit();
        child.resume();
    });
    timeline.check(
        "
        frame      0 1 2 3 4 5
        child      - - - - - *
        grandchild - - - - - *
        game       - - *
        pause      - * - - *
        ",
    );
}

// docs/contract.md#time-scale-zero
#[test]
fn at_scale_zero_only_deadlines_already_reached_resume() {
    let (executor, child) = with_child();
    executor.clock().set_scale(0);
    let mut timeline = Timeline::with_executor(executor, 0.25);
    let waits = [
        ("game 0", wait_seconds(0)),
        ("game -1", wait_seconds(-1)),
        ("game 1ns", wait_seconds(nanos(1))),
        ("child 0", child.wait_seconds(0)),
        ("child 1ns", child.wait_seconds(nanos(1))),
    ];
    for (name, wait) in waits {
        let name = name.replace(' ', "_");
        timeline.row(&name, |mark| async move {
            wait.await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame     0 1 2 9
        game_0    - *
        game_-1   - *
        game_1ns  - - - -
        child_0   - *
        child_1ns - - - -
        ",
    );
}

#[test]
fn the_length_is_compared_with_what_the_clock_itself_reads() {
    let (mut executor, child) = with_child();
    child.set_scale(0.5);
    let wait = executor.start(child.wait_seconds(0.375));
    // It reads 0.25, then 0.5.
    executor.run_until(wait, 0.5).unwrap();
    assert_eq!(executor.time().frame, 2);
    assert_eq!(child.now(), millis(500));
}

#[test]
fn clocks_go_in_the_order_in_which_they_were_made() {
    let mut executor = unclamped();
    let log = Log::new();
    let first = executor.clock().child();
    let second = executor.clock().child();
    let grandchild = first.child();
    grandchild.set_scale(2);
    let waits = [
        ("grandchild 1", grandchild.wait_seconds(1)),
        ("second 0.5", second.wait_seconds(0.5)),
        ("second 0.25", second.wait_seconds(0.25)),
        ("first 1", first.wait_seconds(1)),
        ("game 1", wait_seconds(1)),
        ("game's own", executor.clock().wait_seconds(1)),
        ("first 1 again", first.wait_seconds(1)),
    ];
    for (name, wait) in waits {
        let log = log.clone();
        executor.start(async move {
            wait.await;
            log.say(name);
        });
    }
    let real = log.clone();
    executor.start(async move {
        wait_seconds_realtime(1).await;
        real.say("realtime");
    });
    executor.run_frame(1);
    log.check(&[
        "F1: game 1",
        "F1: game's own",
        "F1: realtime",
        "F1: first 1",
        "F1: first 1 again",
        "F1: second 0.25",
        "F1: second 0.5",
        "F1: grandchild 1",
    ]);
}

#[test]
fn a_wait_keeps_its_clock() {
    let (mut executor, child) = with_child();
    let grandchild = child.child();
    child.set_scale(0.5);
    let wait = grandchild.wait_seconds(0.5);
    drop((child, grandchild));
    let wait = executor.start(wait);
    executor.run_frame(0.5);
    assert!(!wait.is_finished());
    executor.run_frame(0.5);
    assert!(wait.is_finished());
}

#[test]
fn a_dropped_wait_is_not_resumed_and_holds_nothing_up() {
    let (mut executor, child) = with_child();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        for _ in 0..100 {
            select_biased! {
                () = child.wait_seconds(10) => say.say("slow"),
                () = child.wait_seconds(0.25).in_phase(Phase::LateUpdate) => {}
            }
        }
        say.say("done");
    });
    for _ in 0..100 {
        executor.run_frame(0.25);
    }
    log.check(&["F100.LateUpdate: done"]);
    assert_eq!(executor.next_deadline(), None);
}

#[test]
fn combinators_find_all_that_is_ready_in_one_poll() {
    let (mut executor, child) = with_child();
    child.set_scale(0.5);
    let log = Log::new();
    let say = log.clone();
    let on = child.clone();
    executor.start(async move {
        join!(wait_seconds(0.5), on.wait_seconds(0.25), async {
            swallow(on.wait_seconds(0.25)).await;
        });
        say.say("joined");
        let mut many: FuturesUnordered<_> = (1..=3)
            .map(|i| on.wait_seconds(0.125 * f64::from(i)))
            .collect();
        while many.next().await.is_some() {
            say.say("one of many");
        }
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F2: joined",
        "F3: one of many",
        "F4: one of many",
        "F5: one of many",
    ]);
}

#[test]
fn a_wait_that_was_due_stays_ready_whatever_the_clock_does() {
    let (mut executor, child) = with_child();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    executor.start(async move {
        let mut wait = child.wait_seconds(0.5).in_phase(Phase::LateUpdate);
        assert!(poll_once(&mut wait).await.is_pending());
        for _ in 0..2 {
            next_frame().await;
            let ready = poll_once(&mut wait).await.is_ready();
            see.borrow_mut().push(ready);
        }
        // Due in LateUpdate of frame 2, but not polled there.
        child.pause();
        wait_frames(5).in_phase(Phase::EarlyUpdate).await;
        assert_eq!(child.now(), millis(500));
        wait.await;
        see.borrow_mut()
            .push(time().phase == Some(Phase::EarlyUpdate));
    });
    for _ in 0..7 {
        executor.run_frame(0.25);
    }
    assert_eq!(*seen.borrow(), [false, false, true]);
}

#[test]
fn a_wait_may_change_hands() {
    let (mut executor, child) = with_child();
    let slot = Rc::new(RefCell::new(Some(child.wait_seconds(0.75))));
    let first = slot.clone();
    executor.start(async move {
        let mut wait = first.borrow_mut().take().unwrap();
        assert!(poll_once(&mut wait).await.is_pending());
        *first.borrow_mut() = Some(wait);
    });
    executor.run_frame(0.25);
    let wait = slot.borrow_mut().take().unwrap();
    let second = executor.start(wait);
    executor.run_until(second, 0.25).unwrap();
    assert_eq!(executor.time().frame, 3);
}

#[test]
fn nan_names_the_place_of_the_call() {
    let (executor, child) = with_child();
    let line = line!() + 1;
    let wait = child.wait_seconds(f64::NAN);
    let coroutine = executor.start(wait);
    let error = result_of(&executor, coroutine).unwrap_err();
    let text = panic_text(&*error.into_panic());
    assert!(text.contains(&format!("clocks/waits.rs:{line}")), "{text}");
}

#[test]
fn infinity_on_a_child_never_ends_and_can_be_stopped() {
    let (mut executor, child) = with_child();
    let forever = executor.start(child.wait_seconds(f32::INFINITY));
    executor.run_frame(1);
    assert_eq!(executor.next_deadline(), None);
    forever.stop();
    executor.assert_empty();
}

#[test]
fn a_clock_of_another_executor_is_refused() {
    for clock in [unclamped().clock(), unclamped().clock().child()] {
        let executor = unclamped();
        let coroutine = executor.start(clock.wait_seconds(1));
        let error = result_of(&executor, coroutine).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(text.contains("polled in another"), "{text}");
    }
}
