//! `executor.realtime()`, a clock that nothing slows down:
//! docs/contract.md#time-realtime

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::inspect::{TimerClock, Wait};
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, in_quarters};
use framestep_testkit::{Random, panic_of, place_of_panic};

/// Binary fractions, so that the sums are exact.
const QUARTER: Duration = Duration::from_millis(250);

fn on_realtime(executor: &Executor) -> Owner {
    executor.owner_on(&executor.realtime())
}

#[test]
fn everything_of_an_owner_on_realtime_runs_through_a_pause() {
    let executor = in_quarters();
    let menu = on_realtime(&executor);
    executor.clock().pause();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row("game", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row_on(&menu, "wait", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row_on(&menu, "real", |mark| async move {
        wait_seconds_realtime(0.5).await;
        mark.hit();
    });
    timeline.row_on(&menu, "animate", |mark| async move {
        animate(0.5, |_| mark.hit()).await;
    });
    timeline.row_on(&menu, "timeout", |mark| async move {
        timeout(0.5, std::future::pending::<()>())
            .await
            .unwrap_err();
        mark.hit();
    });
    timeline.row_on(&menu, "interval", |mark| async move {
        let mut ticks = interval(0.5).take(2);
        while ticks.next().await.is_some() {
            mark.hit();
        }
    });
    timeline.row_on(&menu, "late", |mark| async move {
        wait_seconds(0.5).in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.row_on(&menu, "started", |mark| async move {
        start(async move {
            wait_seconds(0.5).await;
            mark.hit();
        })
        .await
        .unwrap();
    });
    timeline.check(
        "
        frame    0 1 2 3 4
        game     - - - - -
        wait     - - *
        real     - - *
        animate  * * *
        timeout  - - *
        interval - - * - *
        late     - - L
        started  - - *
        ",
    );
    assert!(timeline.executor().time().elapsed.is_zero());
}

#[test]
fn it_is_neither_scaled_nor_cut_to_max_delta() {
    let mut executor = Executor::builder().max_delta(0.25).build();
    let clock = executor.realtime();
    executor.clock().set_scale(0);
    executor.run_frame(3);
    assert_eq!(clock.now(), Duration::from_secs(3));
    assert_eq!(clock.delta(), Duration::from_secs(3));
    assert!((clock.effective_scale() - 1.0).abs() < f64::EPSILON);
    assert!((clock.scale() - 1.0).abs() < f64::EPSILON);
    assert!(executor.clock().now().is_zero());
}

#[test]
fn scripts_on_it_read_the_time_as_it_does() {
    let mut executor = in_quarters();
    let menu = on_realtime(&executor);
    executor.clock().pause();
    let seen = menu.start(async {
        next_frame().await;
        next_frame().await;
        time()
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    let time = seen.now_or_never().unwrap().unwrap();
    assert_eq!((time.elapsed, time.delta), (QUARTER * 2, QUARTER));
    assert!((time.scale - 1.0).abs() < f64::EPSILON);
}

/// For any lengths of frames and waits, the two kinds of wait on realtime resume
/// in the same runs, to the nanosecond.
#[test]
fn its_waits_agree_with_those_of_wait_seconds_realtime() {
    let mut random = Random(0x5eed);
    let mut executor = Executor::new();
    let menu = on_realtime(&executor);
    let clock = executor.realtime();
    let logs = [Log::new(), Log::new(), Log::new()];
    let lengths: Rc<Vec<u64>> = Rc::new((0..4_000).map(|_| random.below(200_000_000)).collect());
    for (way, log) in logs.iter().enumerate() {
        let (log, lengths, clock) = (log.clone(), lengths.clone(), clock.clone());
        menu.start(async move {
            for &ns in lengths.iter() {
                let length = Duration::from_nanos(ns);
                match way {
                    0 => wait_seconds(length).await,
                    1 => wait_seconds_realtime(length).await,
                    _ => clock.wait_seconds(length).await,
                }
                log.say(time().unscaled_elapsed.as_nanos());
            }
        });
    }
    while !executor.is_empty() {
        match random.below(20) {
            0 => executor.clock().set_scale(0),
            1 => executor.clock().set_scale(0.3),
            2 => drop(executor.clock().pause()),
            3 => drop(executor.clock().resume()),
            _ => {}
        }
        executor.run_frame(Duration::from_nanos(random.below(100_000_000)));
    }
    let [plain, real, on_clock] = logs.map(|log| log.take());
    assert_eq!(plain.len(), 4_000);
    assert_eq!(plain, real);
    assert_eq!(plain, on_clock);
}

/// All three kinds use the same wheel: with equal deadlines, the wait that began
/// first is first.
#[test]
fn its_timers_stand_in_one_order_with_those_of_wait_seconds_realtime() {
    let mut executor = in_quarters();
    let (menu, clock, log) = (on_realtime(&executor), executor.realtime(), Log::new());
    let other = executor.clock().child();
    for turn in 0..2 {
        let say = log.clone();
        executor.start(async move {
            wait_seconds_realtime(0.5).await;
            say.say(format!("real {turn}"));
        });
        let say = log.clone();
        menu.start(async move {
            wait_seconds(0.5).await;
            say.say(format!("plain {turn}"));
        });
        let (say, on) = (log.clone(), clock.clone());
        executor.start(async move {
            on.wait_seconds(0.5).await;
            say.say(format!("clock {turn}"));
        });
        let (say, on) = (log.clone(), other.clone());
        executor.start(async move {
            on.wait_seconds(0.5).await;
            say.say(format!("other {turn}"));
        });
    }
    executor.run_frame(0.5);
    log.check(&[
        "F1: real 0",
        "F1: plain 0",
        "F1: clock 0",
        "F1: real 1",
        "F1: plain 1",
        "F1: clock 1",
        "F1: other 0",
        "F1: other 1",
    ]);
}

#[test]
fn slowing_it_down_or_pausing_it_panics_at_the_callers_line() {
    let executor = Executor::new();
    let clock = executor.realtime();
    assert!(panic_of(|| clock.pause()).contains("realtime"));
    assert!(panic_of(|| clock.set_scale(0.5)).contains("realtime"));
    let (place, line) = (place_of_panic(|| clock.pause()), line!());
    assert!(place.ends_with(&format!("realtime.rs:{line}")), "{place}");
    let (place, line) = (place_of_panic(|| clock.set_scale(1)), line!());
    assert!(place.ends_with(&format!("realtime.rs:{line}")), "{place}");
    assert!(!clock.resume());
    assert!(!clock.is_paused());
}

#[test]
fn a_child_of_it_is_scaled_and_paused_like_any_other() {
    let mut executor = in_quarters();
    executor.clock().pause();
    let slow = executor.realtime().child();
    slow.set_scale(0.5);
    let wait = executor.start(slow.wait_seconds(0.5));
    assert_eq!(executor.next_deadline(), Some(Duration::from_secs(1)));
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!((slow.now(), slow.delta()), (QUARTER, QUARTER / 2));
    assert!((slow.effective_scale() - 0.5).abs() < f64::EPSILON);
    slow.pause();
    assert_eq!(executor.next_deadline(), None);
    executor.run_frame(0.25);
    slow.resume();
    executor.run_frame(0.25);
    assert!(!wait.is_finished());
    executor.run_frame(0.25);
    assert!(wait.is_finished());
}

#[test]
fn in_a_fixed_step_its_delta_is_what_the_step_takes_outside_of_the_game() {
    let mut executor = in_quarters();
    let clock = executor.realtime();
    executor.clock().set_scale(0.5);
    executor.begin_frame(0.5);
    assert!(executor.begin_fixed_step());
    assert_eq!(executor.clock().delta(), QUARTER);
    assert_eq!((clock.delta(), clock.now()), (QUARTER * 2, QUARTER * 2));
    executor.run_phase(Phase::Update);
    assert_eq!(clock.delta(), QUARTER * 2);
    // While the game clock stands still, only the host's own steps run.
    executor.clock().pause();
    executor.begin_frame(0.5);
    executor.begin_fixed_step_of(0.25);
    assert_eq!(clock.delta(), QUARTER);
}

#[test]
fn a_pause_of_its_owner_stops_it_all_the_same() {
    let executor = in_quarters();
    let menu = on_realtime(&executor);
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row_on(&menu, "wait", |mark| async move {
        wait_seconds(0.75).await;
        mark.hit();
    });
    timeline.run_to(1);
    menu.pause();
    timeline.run_to(4);
    menu.resume();
    timeline.check(
        "
        frame 0 1 2 3 4 5 6
        wait  - - - - - - *
        ",
    );
}

#[test]
fn a_snapshot_names_it() {
    let executor = Executor::new();
    let wait = on_realtime(&executor).start(wait_seconds(1));
    assert!(wait.is_finished(), "its owner is gone");
    let menu = on_realtime(&executor);
    let wait = menu.start(wait_seconds(1));
    let snapshot = executor.snapshot();
    let mut waits = snapshot.get(wait.id()).unwrap().waits();
    assert!(matches!(
        waits.next(),
        Some(Wait::Timer {
            clock: TimerClock::Realtime,
            ..
        })
    ));
}

#[test]
fn there_is_one_and_the_handle_has_it_too() {
    let executor = Executor::new();
    let handle = executor.handle();
    assert_eq!(handle.realtime(), Some(executor.realtime()));
    assert_ne!(executor.realtime(), executor.clock());
    drop(executor);
    assert_eq!(handle.realtime(), None);
}

#[test]
fn it_stops_where_the_clocks_end() {
    let mut executor = Executor::new();
    executor.on_report(|_| {});
    let slow = executor.realtime().child();
    executor.run_frame(1);
    slow.set_scale(0.5);
    executor.run_frame(f64::INFINITY);
    executor.run_frame(f64::INFINITY);
    let end = Duration::from_nanos(u64::MAX);
    assert_eq!(executor.realtime().now(), end);
    assert!(executor.realtime().delta().is_zero());
    assert!(slow.now() > end / 2 && slow.delta().is_zero());
}

#[test]
fn what_a_script_on_it_starts_for_the_game_counts_on_the_game_clock() {
    let mut executor = in_quarters();
    let menu = on_realtime(&executor);
    let handle = executor.handle();
    let door = Rc::new(RefCell::new(None));
    let put = door.clone();
    menu.start(async move {
        *put.borrow_mut() = Some(handle.start(wait_seconds(0.25)));
    });
    executor.clock().pause();
    executor.run_frame(0.5);
    let door = door.take().unwrap();
    assert!(!door.is_finished());
    executor.clock().resume();
    executor.run_frame(0.5);
    assert!(door.is_finished());
}
