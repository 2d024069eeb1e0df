//! `interval` and `frames`: repeated events.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::FusedStream;
use futures::{FutureExt, StreamExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, UNLIMITED, unclamped};
use framestep_testkit::{counted, panic_of, update};

/// A row that marks every tick, until the timeline ends.
fn row(timeline: &mut Timeline, name: &str, period: f64, policy: MissedTicks) {
    timeline.row(name, |mark| async move {
        let mut ticks = interval(period).missed_ticks(policy);
        loop {
            ticks.tick().await;
            mark.hit();
        }
    });
}

#[test]
fn it_ticks_in_the_first_frame_at_or_past_each_multiple() {
    let mut timeline = Timeline::with_dt(0.25);
    row(&mut timeline, "0.50", 0.5, MissedTicks::Burst);
    row(&mut timeline, "0.75", 0.75, MissedTicks::Burst);
    // Due at 0.4, 0.8, 1.2, 1.6, 2.0.
    row(&mut timeline, "0.40", 0.4, MissedTicks::Burst);
    timeline.check(
        "
        frame 0    1    2    3    4    5    6    7    8
        time  0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75 2.00
        0.50  -    -    *    -    *    -    *    -    *
        0.75  -    -    -    *    -    -    *    -    -
        0.40  -    -    *    -    *    *    -    *    *
        ",
    );
}

#[test]
fn it_does_not_drift_however_long_it_runs() {
    let mut executor = unclamped();
    let ticks = Rc::new(Cell::new(0_u64));
    let count = ticks.clone();
    executor.start(async move {
        let mut interval = interval(Duration::from_nanos(333_333_333));
        loop {
            let tick = interval.tick().await;
            count.set(count.get() + 1);
            let due = 333_333_333 * count.get();
            assert_eq!(time().elapsed, Duration::from_nanos(due) + tick.late);
        }
    });
    for _ in 0..100_000 {
        update(&mut executor, 0.25);
    }
    assert_eq!(ticks.get(), 25_000_000_000_000 / 333_333_333);
}

#[test]
fn the_first_tick_comes_a_period_after_the_first_poll() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("late", |mark| async move {
        let mut interval = interval(0.5);
        wait_seconds(0.75).await;
        interval.tick().await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5 6
        late  - - - - - *
        ",
    );
}

/// Ticks of one second in frames of 0.5 s, except that the third lasts 2.7 s. Each
/// is listed as frame, ms late, skipped.
fn around_a_long_frame(policy: MissedTicks) -> Vec<(u64, u128, u64)> {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    executor.start(async move {
        let mut interval = interval(1).missed_ticks(policy);
        loop {
            let tick = interval.tick().await;
            let late = tick.late.as_millis();
            see.borrow_mut().push((time().frame, late, tick.skipped));
        }
    });
    for dt in [0.5, 0.5, 0.5, 2.7, 0.1, 0.1, 0.1, 0.5, 0.2, 0.5, 0.5] {
        update(&mut executor, dt); // to 0.5 1.0 1.5 4.2 4.3 4.4 4.5 5.0 5.2 5.7 6.2
    }
    seen.take()
}

// docs/contract.md#decided-interval
#[test]
fn burst_catches_up_one_tick_a_run() {
    assert_eq!(
        around_a_long_frame(MissedTicks::Burst),
        [
            (2, 0, 0),
            (4, 2_200, 0),
            (5, 1_300, 0),
            (6, 400, 0),
            (8, 0, 0),
            (11, 200, 0)
        ]
    );
}

#[test]
fn skip_continues_with_the_first_that_is_still_ahead() {
    assert_eq!(
        around_a_long_frame(MissedTicks::Skip),
        [(2, 0, 0), (4, 2_200, 2), (8, 0, 0), (11, 200, 0)]
    );
}

#[test]
fn delay_counts_the_next_period_from_now() {
    assert_eq!(
        around_a_long_frame(MissedTicks::Delay),
        [(2, 0, 0), (4, 2_200, 2), (9, 0, 0), (11, 0, 0)]
    );
}

#[test]
fn no_frame_however_long_is_held() {
    for policy in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
        let mut executor = unclamped();
        let ticks = Rc::new(Cell::new(0));
        let count = ticks.clone();
        executor.start(async move {
            let mut interval = interval(Duration::from_nanos(1)).missed_ticks(policy);
            loop {
                interval.tick().await;
                count.set(count.get() + 1);
            }
        });
        for _ in 0..3 {
            update(&mut executor, UNLIMITED);
        }
        assert_eq!(ticks.get(), 3, "{policy:?}");
    }
}

#[test]
fn the_end_of_the_clock_is_survived() {
    for policy in [MissedTicks::Burst, MissedTicks::Skip, MissedTicks::Delay] {
        for period in [1, u64::MAX / 3, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
            executor.start(async move {
                let mut interval = interval(Duration::from_nanos(period)).missed_ticks(policy);
                loop {
                    interval.tick().await;
                }
            });
            for dt in [u64::MAX - 5, 3, 3, 3, u64::MAX] {
                update(&mut executor, Duration::from_nanos(dt));
            }
            assert_eq!(executor.len(), 1, "{policy:?} {period}");
        }
    }
}

#[test]
fn in_the_fixed_phase_it_ticks_step_by_step_on_fixed_time() {
    let executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    let mut executor = executor;
    let log = Log::new();
    for (name, period) in [("a", 0.25), ("b", 0.5), ("c", 0.6)] {
        let say = log.clone();
        executor.start(async move {
            let mut ticks = interval(period).in_phase(Phase::FixedUpdate);
            loop {
                let late = ticks.tick().await.late.as_millis();
                say.note(format!(
                    "F{} {}: {name} {late}",
                    time().frame,
                    time().elapsed.as_millis()
                ));
            }
        });
    }
    executor.run_frame(0.75);
    // By deadline, then in the order the ticks were awaited.
    log.check(&[
        "F1 250: a 0",
        "F1 500: b 0",
        "F1 500: a 0",
        "F1 750: c 150",
        "F1 750: a 0",
    ]);
    executor.run_frame(0.1);
    log.check(&[]);
    executor.run_frame(0.9); // to 1.75: c is due at 1.2
    log.check(&[
        "F3 1000: b 0",
        "F3 1000: a 0",
        "F3 1250: c 50",
        "F3 1250: a 0",
        "F3 1500: b 0",
        "F3 1500: a 0",
        "F3 1750: a 0",
    ]);
}

#[test]
fn in_the_fixed_phase_the_rest_of_the_coroutine_may_be_elsewhere() {
    let mut executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut ticks = interval(0.25).in_phase(Phase::FixedUpdate);
        loop {
            let late = ticks.tick().await.late.as_millis();
            say.note(format!(
                "F{} {}: {late}",
                time().frame,
                time().elapsed.as_millis()
            ));
            in_phase(Phase::LateUpdate).await;
        }
    });
    for dt in [0.3, 0.3, 0.3, 0.3] {
        executor.run_frame(dt); // fixed steps to 0.25, 0.5, 0.75, 1.0 and a game time past each
    }
    log.check(&["F1 250: 0", "F2 500: 0", "F3 750: 0", "F4 1000: 0"]);
}

#[test]
fn between_ticks_nothing_is_polled() {
    let mut executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    for phase in [Phase::Update, Phase::FixedUpdate] {
        let polls = Rc::new(Cell::new(0));
        let ticking = async move {
            let mut ticks = interval(5).in_phase(phase);
            loop {
                ticks.tick().await;
            }
        };
        let ticking = executor.start(counted(polls.clone(), ticking).map(|()| ()));
        for _ in 0..100 {
            executor.run_frame(0.5);
        }
        assert_eq!(polls.get(), 11, "{phase:?}");
        ticking.stop();
    }
}

#[test]
fn a_tick_that_is_dropped_is_not_lost() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("select", |mark| async move {
        let mut ticks = interval(1);
        loop {
            select_biased! {
                _ = ticks.tick() => mark.hit(),
                () = next_frame() => {}
            }
        }
    });
    timeline.row("stream", |mark| async move {
        let mut ticks = interval(1).fuse();
        let mut frames = frames().fuse();
        loop {
            select_biased! {
                tick = ticks.select_next_some() => { assert_eq!(tick.skipped, 0); mark.hit(); }
                _ = frames.select_next_some() => {}
            }
        }
    });
    timeline.check(
        "
        frame  0 1 2 3 4 5 6 7 8
        select - - - - * - - - *
        stream - - - - * - - - *
        ",
    );
}

#[test]
fn bad_periods_are_refused_at_once() {
    assert!(panic_of(|| interval(0)).contains("above zero"));
    for period in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(panic_of(|| interval(period)).contains("above zero"));
    }
    assert!(panic_of(|| interval(Duration::ZERO)).contains("above zero"));
}

#[test]
fn with_an_infinite_period_it_never_ticks() {
    let mut executor = unclamped();
    let ticks = executor.start(async {
        let mut ticks = interval(f64::INFINITY);
        assert!(!ticks.is_terminated());
        ticks.tick().await;
    });
    executor.start(interval(Duration::MAX).for_each(|_| async { unreachable!() }));
    update(&mut executor, UNLIMITED);
    assert!(executor.next_deadline().is_none());
    assert!(ticks.stop());
}

#[test]
fn stopping_it_leaves_no_timer() {
    let mut executor = unclamped();
    let ticks = executor.start(interval(1).for_each(|_| async {}));
    executor.run_frame(0.25);
    assert_eq!(executor.next_deadline(), Some(Duration::from_millis(750)));
    ticks.stop();
    assert!(executor.next_deadline().is_none());
}

#[test]
fn frames_yields_one_item_a_frame() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    timeline.row("frames", |mark| async move {
        let mut frames = frames().take(3);
        while let Some(now) = frames.next().await {
            assert_eq!(now, time());
            mark.hit();
        }
    });
    for (name, phase) in [("fixed", Phase::FixedUpdate), ("late", Phase::LateUpdate)] {
        timeline.row(name, |mark| async move {
            let hit = frames().in_phase(phase).take(3).for_each(|now| {
                assert_eq!(now.phase, Some(phase));
                mark.hit();
                std::future::ready(())
            });
            hit.await;
        });
    }
    timeline.row("busy", |mark| async move {
        let mut frames = frames();
        loop {
            frames.next().await;
            mark.hit();
            wait_frames(2).await; // what passes meanwhile does not pile up
        }
    });
    timeline.check(
        "
        frame  0 1 2 3 4 5 6 7
        frames - * * *
        fixed  - F F F
        late   - L L L
        busy   - * - - * - - *
        ",
    );
}

#[test]
fn in_the_fixed_phase_frames_yields_one_item_a_frame_too() {
    let mut executor = Executor::builder().max_delta(10).fixed_delta(0.25).build();
    let seen = Rc::new(Cell::new(0));
    let see = seen.clone();
    executor.start(async move {
        let mut frames = frames().in_phase(Phase::FixedUpdate);
        while frames.next().await.is_some() {
            see.set(see.get() + 1);
        }
    });
    executor.run_frame(1);
    executor.run_frame(0.1);
    executor.run_frame(1);
    assert_eq!(seen.get(), 2);
}

#[test]
fn a_stream_of_frames_in_a_select_is_terminated_never() {
    let mut executor = unclamped();
    let count = executor.start(async {
        let (mut frames, mut never) = (frames(), pending::<()>().boxed_local().fuse());
        let mut count = 0;
        while count < 5 {
            select_biased! {
                _ = frames.select_next_some() => count += 1,
                () = never => unreachable!(),
            }
        }
        assert!(!frames.is_terminated());
        time().frame
    });
    assert_eq!(executor.run_until(count, 0.25).unwrap(), 5);
}

#[test]
fn one_that_begins_in_a_fixed_step_counts_from_the_frame_whatever_pauses_came_before() {
    let builder = Executor::builder().max_delta(UNLIMITED);
    let mut executor = builder.fixed_delta(0.25).build();
    let late = Rc::new(Cell::new(None));
    let tick = late.clone();
    let script = executor.start(async move {
        fixed_update().await;
        tick.set(Some(interval(0.5).tick().await.late));
    });
    executor.handle().pause(script.id());
    executor.begin_frame(0.375);
    executor.handle().resume(script.id());
    // The pause was longer than the time of the step, 0.25.
    assert!(executor.begin_fixed_step());
    executor.run_phase(Phase::FixedUpdate);
    // Due at 0.875.
    update(&mut executor, 0.375);
    assert_eq!(late.get(), None);
    update(&mut executor, 0.25);
    assert_eq!(late.get(), Some(Duration::from_millis(125)));
}

// docs/contract.md#rule-8-moved-waits
#[test]
fn one_that_moves_ticks_on_time_whichever_coroutine_was_paused_before() {
    // It moves in the middle of its first tick, or between the first and the second.
    for after_ticks in [0, 1] {
        for paused in [None, Some(0), Some(1)] {
            let mut executor = unclamped();
            let slot = Rc::new(RefCell::new(None));
            let (put, taken) = (slot.clone(), slot);
            let one = executor.start(async move {
                wait_until(|| time().frame >= 20).await;
                let mut ticks = interval(1.1);
                for _ in 0..after_ticks {
                    ticks.tick().await;
                }
                if after_ticks == 0 {
                    assert!(futures::poll!(ticks.tick()).is_pending());
                }
                *put.borrow_mut() = Some(ticks);
                wait_frames(2).await;
            });
            let two = executor.start(async move {
                wait_until(|| taken.borrow().is_some()).await;
                let mut ticks: framestep::wait::Interval = taken.take().unwrap();
                let mut frames = Vec::new();
                for _ in after_ticks..4 {
                    ticks.tick().await;
                    frames.push(time().frame);
                }
                frames
            });
            let both = [one.id(), two.id()];
            if let Some(paused) = paused {
                assert!(executor.pause(both[paused]));
            }
            executor.run_frames(12, 0.25);
            if let Some(paused) = paused {
                assert!(executor.resume(both[paused]));
            }
            executor.run_frames(60, 0.25);
            // Due 1.1, 2.2, 3.3 and 4.4 s after frame 20.
            let expected = &[25, 29, 34, 38][after_ticks..];
            let case = format!("after {after_ticks} ticks, paused: {paused:?}");
            assert_eq!(two.take_output().unwrap().unwrap(), expected, "{case}");
            assert!(one.is_finished());
        }
    }
}

// docs/contract.md#decided-on-a-clock
#[test]
fn it_keeps_the_clock_on_which_it_began() {
    let mut executor = unclamped();
    let game = executor.clock();
    let log = Log::new();
    for (name, begins_on) in [
        ("game", executor.clock()),
        ("realtime", executor.realtime()),
    ] {
        let say = log.clone();
        executor.start(async move {
            let mut ticks = interval(0.5);
            on_clock(&begins_on, ticks.tick()).await;
            loop {
                // On each clock in turn.
                let tick = on_clock(realtime(), ticks.tick()).await;
                say.say(format!("{name}, late {:?}", tick.late));
                let tick = ticks.tick().await;
                say.say(format!("{name}, late {:?}", tick.late));
            }
        });
    }
    executor.run_frames(2, 0.25);
    game.pause();
    executor.run_frames(4, 0.25);
    log.check(&["F4: realtime, late 0ns", "F6: realtime, late 0ns"]);
    game.resume();
    executor.run_frames(2, 0.25);
    log.check(&["F8: game, late 0ns", "F8: realtime, late 0ns"]);
}

// docs/contract.md#decided-on-a-clock
#[test]
fn a_pause_moves_its_ticks_on_the_clock_on_which_it_began() {
    let mut executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let log = Log::new();
    for is_awaited in [false, true] {
        let (slow, say) = (slow.clone(), log.clone());
        let script = executor.start(async move {
            let mut ticks = interval(1);
            on_clock(&slow, ticks.tick()).await; // after two seconds
            if !is_awaited {
                wait_frames(1).await;
            }
            ticks.tick().await;
            say.say("ticks");
        });
        executor.run_frames(8, 0.25);
        script.pause();
        executor.run_frames(4, 0.25);
        script.resume();
        executor.run_frames(8, 0.25);
        log.check(&[if is_awaited {
            "F40: ticks"
        } else {
            "F20: ticks"
        }]);
    }
}

// docs/contract.md#decided-reset
#[test]
fn an_infinite_interval_has_the_first_tick_that_is_set_and_no_other() {
    let mut timeline = Timeline::with_dt(1.0);
    timeline.row("set", |mark| async move {
        let mut ticks = interval(f64::INFINITY).first_after(2);
        loop {
            let tick = ticks.tick().await;
            assert_eq!((tick.late, tick.skipped), (Duration::ZERO, 0));
            mark.hit();
        }
    });
    timeline.row("reset", |mark| async move {
        let mut ticks = interval(f64::INFINITY).first_after(2);
        next_frame().await;
        assert!(ticks.tick().now_or_never().is_none());
        ticks.reset();
        ticks.tick().await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5
        set   - - * - - -
        reset - - - - - -
        ",
    );
}

/// Frames of a second. Each row of numbers says what `ticks()` returned in that frame.
fn counts_of(period: f64, policy: MissedTicks, frames: u32) -> Vec<u64> {
    let mut executor = unclamped();
    let counts = Rc::new(RefCell::new(Vec::new()));
    let log = counts.clone();
    executor.start(async move {
        let mut ticks = interval(period).missed_ticks(policy);
        loop {
            let count = ticks.ticks().await;
            log.borrow_mut().push(count);
        }
    });
    executor.run_frames(u64::from(frames), 1);
    counts.take()
}

// docs/contract.md#law-interval
#[test]
fn ticks_returns_all_that_are_due_and_keeps_the_schedule() {
    assert_eq!(counts_of(0.4, MissedTicks::Burst, 4), [2, 3, 2, 3]);
    assert_eq!(counts_of(1.0, MissedTicks::Burst, 3), [1, 1, 1]);
    assert_eq!(counts_of(2.0, MissedTicks::Burst, 4), [1, 1]);
    for policy in [MissedTicks::Skip, MissedTicks::Delay] {
        assert_eq!(counts_of(0.4, policy, 3), [1, 1, 1]);
    }
    // At most 1,000 at once: the rest follow.
    assert_eq!(
        counts_of(1.0 / 1_500.0, MissedTicks::Burst, 2),
        [1_000, 1_000]
    );
}

#[test]
fn single_ticks_and_all_that_are_due_share_a_schedule() {
    let mut executor = unclamped();
    let script = executor.start(async {
        let mut ticks = interval(0.25);
        assert!(ticks.ticks().now_or_never().is_none());
        wait_seconds(2).await;
        // It has been ready since frame 1.
        let tick = ticks.tick().await;
        assert_eq!(tick.late, Duration::from_millis(1_750));
        (ticks.ticks().await, time().frame)
    });
    executor.run_frames(6, 1);
    // Due from 0.5 s to 3 s.
    assert_eq!(script.take_output().unwrap().unwrap(), (11, 3));
}

// docs/contract.md#decided-interval
#[test]
fn more_than_a_hundred_ticks_that_are_owed_are_reported_once() {
    let mut executor = unclamped();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let log = heard.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
    let line = line!() + 2;
    let script = executor.start(async {
        let mut ticks = interval(0.01);
        for _ in 0..5 {
            ticks.tick().await; // in frame 1, 99 more are due, in frame 2 it is 198
        }
        assert_eq!(ticks.ticks().await, 595);
        wait_seconds(2).await;
        ticks.tick().await; // 299 more
        ticks.tick().await;
    });
    let id = script.named("gun").id();
    executor.run_frames(10, 1);
    let texts = [198, 299].map(|owed| {
        format!(
            "coroutine {id} (gun) is owed {owed} ticks of the interval at {}:{line}:25, which \
             come one in a run: await `ticks()`, which returns how many are due, or choose \
             `MissedTicks::Skip`",
            file!()
        )
    });
    assert_eq!(*heard.borrow(), texts);
}
