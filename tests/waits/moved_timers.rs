//! Timers that move: `reset`, `first_after`, `timeout_at`.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::wait::WaitSeconds;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, panic_of, place_of_panic, poll_once};

// docs/contract.md#decided-reset
#[test]
fn a_wait_that_is_moved_is_as_new() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("plain", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    for (name, length) in [("later", 0.75), ("sooner", 0.25), ("zero", 0.0)] {
        timeline.row(name, |mark| async move {
            let mut wait = wait_seconds(0.5);
            assert!(poll_once(&mut wait).await.is_pending());
            next_frame().await;
            mark.hit();
            wait.reset(length);
            wait.await;
            mark.hit();
        });
    }
    timeline.row("unbegun", |mark| async move {
        let mut wait = wait_seconds(9);
        wait.reset(0.5);
        wait.await;
        mark.hit();
    });
    timeline.row("infinite", |mark| async move {
        let mut wait = wait_seconds_realtime(f32::INFINITY);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.reset(0.5);
        wait.await;
        mark.hit();
    });
    timeline.check(
        "
        frame    0    1    2    3    4    5
        time     0.00 0.25 0.50 0.75 1.00 1.25
        plain    -    -    *
        later    -    *    -    -    *
        sooner   -    *    *
        zero     -    *    *
        unbegun  -    -    *
        infinite -    -    *
        ",
    );
}

#[test]
fn it_keeps_its_clock_and_its_phase() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let half = executor.clock().child();
    half.set_scale(0.5);
    executor.start(async move {
        let mut wait = half.wait_seconds(9).in_phase(Phase::LateUpdate);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.reset(1);
        wait.await;
        say.say("over");
    });
    executor.run_frames(4, 0.5);
    log.check(&["F4.LateUpdate: over"]);
}

#[test]
fn nothing_is_left_of_the_deadline_before() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async {
        let mut wait = wait_seconds(1);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.reset(3);
        wait.await;
    }));
    assert_eq!(executor.next_deadline().map(|at| at.as_secs()), Some(3));
    executor.run_frames(2, 1);
    assert_eq!(polls.get(), 2); // once more, in frame 1, because the wait was moved
    executor.run_frame(1);
    assert_eq!(polls.get(), 3);
    executor.assert_empty();
}

/// A wait that other scripts and the host may move.
#[derive(Clone)]
struct Shared(Rc<RefCell<WaitSeconds>>);

impl Shared {
    async fn wait(self) {
        poll_fn(|cx| self.0.borrow_mut().poll_unpin(cx)).await;
    }
}

// docs/contract.md#decided-reset
#[test]
fn moved_by_another_script_or_the_host_it_still_resumes_its_own() {
    let mut executor = unclamped();
    let log = Log::new();
    let shared = Shared(Rc::new(RefCell::new(wait_seconds(5))));
    let (say, wait) = (log.clone(), shared.clone());
    let waits = executor.start(async move {
        wait.wait().await;
        say.say("over");
    });
    let moves = shared.clone();
    executor.start(async move {
        next_frame().await;
        moves.0.borrow_mut().reset(8);
    });
    executor.run_frames(6, 1);
    assert!(!waits.is_finished());
    shared.0.borrow_mut().reset(2); // before frame 7, in which it is polled
    executor.run_frames(3, 1);
    log.check(&["F9: over"]);
}

#[test]
fn a_paused_script_has_all_of_the_new_length_after_the_pause() {
    let mut executor = unclamped();
    let shared = Shared(Rc::new(RefCell::new(wait_seconds(5))));
    let waits = executor.start(shared.clone().wait());
    executor.run_frame(1);
    waits.pause();
    shared.0.borrow_mut().reset(2);
    executor.run_frames(9, 1);
    waits.resume();
    executor.run_frames(2, 1);
    assert!(!waits.is_finished()); // polled in frame 11
    executor.run_frame(1);
    assert!(waits.is_finished());
}

#[test]
fn behind_a_combinator_with_wakers_it_is_polled_again() {
    let mut executor = unclamped();
    let waits = executor.start(async {
        let mut waits = FuturesUnordered::from_iter([wait_seconds(1), wait_seconds(9)]);
        assert!(poll_once(&mut waits.next()).await.is_pending());
        for mut wait in Pin::new(&mut waits).iter_pin_mut() {
            wait.reset(2);
        }
        let mut frames = Vec::new();
        while waits.next().await.is_some() {
            frames.push(time().frame);
        }
        frames
    });
    executor.run_frames(5, 1);
    assert_eq!(waits.take_output().unwrap().unwrap(), [2, 2]);
}

#[test]
fn a_timeout_moves_and_its_future_goes_on() {
    let mut executor = unclamped();
    let results = executor.start(async {
        let mut out = pin!(timeout(2, pending::<()>()));
        assert!(poll_once(&mut out.as_mut()).await.is_pending());
        wait_seconds(1).await;
        out.as_mut().reset(3);
        let out = (out.await.is_err(), time().frame);

        let mut done = pin!(timeout(1, wait_seconds(4)));
        assert!(poll_once(&mut done.as_mut()).await.is_pending());
        done.as_mut().reset(9);
        (out, done.await.is_ok(), time().frame)
    });
    executor.run_frames(9, 1);
    assert_eq!(
        results.take_output().unwrap().unwrap(),
        ((true, 4), true, 8)
    );
}

#[test]
fn a_timer_that_is_over_cannot_be_moved() {
    let mut executor = unclamped();
    let script = executor.start(async {
        let mut wait = wait_seconds(1);
        (&mut wait).await;
        let line = line!() + 1;
        let place = place_of_panic(|| wait.reset(1));
        assert_eq!(place, format!("{}:{line}", file!()));
        assert_eq!(
            panic_of(|| wait.reset(1)),
            "`reset` was called on a `wait_seconds()` that is over: make a new one"
        );
        let mut out = pin!(timeout(1, pending::<()>()));
        assert!(out.as_mut().await.is_err());
        assert_eq!(
            panic_of(|| out.as_mut().reset(1)),
            "`reset` was called on a `timeout()` that is over: make a new one"
        );
        let mut wait = wait_seconds(1);
        assert!(panic_of(|| wait.reset(f64::NAN)).contains("got a length of NaN"));
        // The wait is as before.
        wait.await;
        time().frame
    });
    executor.run_frames(3, 1);
    assert_eq!(script.take_output().unwrap().unwrap(), 3);
}

#[test]
fn a_timer_that_is_moved_into_the_past_ends_in_the_next_frame_and_is_reported() {
    let mut executor = unclamped();
    let reports: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = reports.clone();
    executor.on_report(move |report| heard.borrow_mut().push(report.to_string()));
    let line = line!() + 3;
    let script = executor.start(async {
        let mut wait = wait_seconds(9);
        wait.reset(-1);
        wait.await;
    });
    executor.run_frame(1);
    assert!(script.is_finished());
    assert_eq!(
        *reports.borrow(),
        [format!(
            "at {}:{line}:14: `reset` moved a `wait_seconds()` into the past, so it ends in the \
             next frame: give it a length of 0 or more",
            file!()
        )]
    );
}

// docs/contract.md#decided-reset
#[test]
fn the_first_tick_of_an_interval_may_differ() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, first) in [
        ("plain", None),
        ("sooner", Some(0.25)),
        ("later", Some(0.75)),
        ("zero", Some(0.0)),
    ] {
        timeline.row(name, |mark| async move {
            let mut ticks = interval(0.5);
            if let Some(first) = first {
                ticks = ticks.first_after(first);
            }
            for _ in 0..3 {
                ticks.tick().await;
                mark.hit();
            }
        });
    }
    timeline.row("infinite", |mark| async move {
        interval(0.5).first_after(f32::INFINITY).tick().await;
        mark.hit();
    });
    timeline.check(
        "
        frame    0    1    2    3    4    5    6    7
        time     0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75
        plain    -    -    *    -    *    -    *
        sooner   -    *    -    *    -    *
        later    -    -    -    *    -    *    -    *
        zero     -    *    *    -    *
        infinite -    -    -    -    -    -    -    -
        ",
    );
}

#[test]
fn an_interval_that_is_reset_begins_again() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("reset", |mark| async move {
        let mut ticks = interval(0.5).first_after(0.25);
        ticks.tick().await;
        mark.hit();
        wait_seconds(1.25).await; // two ticks are missed
        ticks.reset();
        for _ in 0..2 {
            ticks.tick().await;
            mark.hit();
        }
    });
    timeline.row("unbegun", |mark| async move {
        let mut ticks = interval(0.5);
        ticks.reset();
        ticks.tick().await;
        mark.hit();
    });
    timeline.check(
        "
        frame   0    1    2    3    4    5    6    7    8    9    10
        reset   -    *    -    -    -    -    -    -    *    -    *
        unbegun -    -    *
        ",
    );
}

#[test]
fn first_after_checks_its_length_where_it_is_called() {
    let line = line!() + 1;
    let place = place_of_panic(|| interval(1).first_after(f32::NAN));
    assert_eq!(place, format!("{}:{line}", file!()));
    let executor = unclamped();
    let script = executor.start(async {
        let mut ticks = interval(1);
        assert!(poll_once(&mut ticks.tick()).await.is_pending());
        panic_of(|| ticks.first_after(1))
    });
    let text = script.take_output().unwrap().unwrap();
    assert!(text.contains("`first_after` was called on an interval that has begun"));
}

/// Two scripts poll their timers, and move each other's: each wakes the other, later in the run.
// docs/contract.md#rule-4-limit
#[test]
fn scripts_that_move_each_others_timers_are_left_to_the_next_run_at_the_limit() {
    let mut executor = Executor::builder().max_polls_per_run(10).build();
    let reached: Rc<RefCell<Vec<u64>>> = Rc::default();
    let frames = reached.clone();
    executor.on_report(move |report| match report {
        Report::PollLimitReached { frame, .. } => frames.borrow_mut().push(*frame),
        _ => panic!("{report}"),
    });
    let timers = [(); 2].map(|()| Shared(Rc::new(RefCell::new(wait_seconds(1)))));
    let polls: [Rc<Cell<u32>>; 2] = Default::default();
    for (own, name) in [(0, "first"), (1, "second")] {
        let (mine, others, polls) = (
            timers[own].clone(),
            timers[1 - own].clone(),
            polls[own].clone(),
        );
        executor.script(name).start(poll_fn(move |cx| {
            polls.set(polls.get() + 1);
            others.0.borrow_mut().reset(0);
            mine.0.borrow_mut().poll_unpin(cx)
        }));
    }
    for frame in 1..=3 {
        for polls in &polls {
            polls.set(0);
        }
        executor.run_frame(0.25);
        // One poll each for what was ready before the run, and as many as the limit for wakes.
        let polls = [0, 1].map(|of| polls[of].get());
        assert!(
            polls.iter().all(|polls| (10..=12).contains(polls)),
            "F{frame}: {polls:?}"
        );
    }
    assert_eq!(*reached.borrow(), [1, 2, 3]);
}

// docs/contract.md#law-timeout
#[test]
fn several_timeouts_may_share_one_point_on_the_clock_of_the_script() {
    let mut executor = unclamped();
    let half = executor.clock().child();
    half.set_scale(0.5);
    let owner = executor.owner_on(&half);
    executor.run_frames(3, 1);
    let script = owner.start(async {
        let end = time().elapsed + std::time::Duration::from_secs(2);
        let first = timeout_at(end, wait_seconds(1)).await.is_ok();
        let second = timeout_at(end, wait_seconds(9)).await.is_ok();
        let frame = time().frame;
        let past = timeout_at(0, pending::<()>()).await.is_ok();
        (first, second, frame, past, time().frame)
    });
    executor.run_frames(6, 1);
    let expected = (true, false, 7, false, 8);
    assert_eq!(script.take_output().unwrap().unwrap(), expected);
}

// docs/contract.md#decided-reset
#[test]
fn a_wait_without_an_end_is_woken_when_it_is_moved() {
    let infinite = || wait_seconds(f64::INFINITY);
    let beyond_the_end_of_the_clock = || wait_seconds(Duration::from_nanos(u64::MAX));
    for endless in [infinite, beyond_the_end_of_the_clock] {
        let mut executor = unclamped();
        executor.run_frame(1);
        let shared = Shared(Rc::new(RefCell::new(endless())));
        let plain = executor.start(shared.clone().wait());
        let wrapped = Shared(Rc::new(RefCell::new(endless())));
        let wait = wrapped.clone();
        let behind = executor.start(async move {
            let mut waits: FuturesUnordered<_> = [wait.wait()].into_iter().collect();
            waits.next().await;
        });
        executor.run_frame(1);
        shared.0.borrow_mut().reset(1);
        wrapped.0.borrow_mut().reset(1);
        executor.run_frame(1);
        assert!(!plain.is_finished() && !behind.is_finished());
        executor.run_frame(1);
        assert!(plain.is_finished() && behind.is_finished());
    }
}

// docs/contract.md#decided-reset
#[test]
fn a_timer_may_be_moved_by_a_later_branch_of_its_own_script() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("idle", |mark| async move {
        let keys = Signal::new();
        let idle = Shared(Rc::new(RefCell::new(wait_seconds(0.5))));
        let mut pressed = keys.subscribe();
        start(async move {
            next_frame().await;
            keys.emit(());
        });
        join!(
            async {
                idle.clone().wait().await;
                mark.hit();
            },
            async {
                while let Some(()) = pressed.next().await {
                    idle.0.borrow_mut().reset(0.5);
                    mark.hit();
                }
            },
        );
    });
    // Polled again in frame 2, from which it counts.
    timeline.check(
        "
        frame 0 1 2 3 4
        idle  - * - - *
        ",
    );
}

/// An interval in a field, whose ticks a script awaits.
async fn ticks_of(interval: Rc<RefCell<framestep::wait::Interval>>, frames: Rc<RefCell<Vec<u64>>>) {
    loop {
        poll_fn(|cx| interval.borrow_mut().poll_next_unpin(cx)).await;
        frames.borrow_mut().push(time().frame);
    }
}

// docs/contract.md#decided-reset
#[test]
fn an_interval_that_others_reset_ticks_again_even_if_it_had_no_first_tick() {
    for first in [0.5, f64::INFINITY] {
        let mut executor = unclamped();
        let ticks = Rc::new(RefCell::new(interval(0.5).first_after(first)));
        let frames = Rc::default();
        executor.start(ticks_of(ticks.clone(), Rc::clone(&frames)));
        executor.run_frame(0.25);
        ticks.borrow_mut().reset(); // polled in frame 2
        executor.run_frames(5, 0.25);
        assert_eq!(*frames.borrow(), [4, 6], "{first}");
    }
}

// docs/contract.md#decided-reset
#[test]
fn an_interval_that_is_reset_keeps_its_clock() {
    let mut executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let frames = executor.start(async move {
        let mut ticks = interval(0.5);
        on_clock(&slow, ticks.tick()).await;
        let first = time().frame;
        ticks.reset();
        ticks.tick().await;
        [first, time().frame]
    });
    assert_eq!(executor.run_until(frames, 0.25).unwrap(), [4, 8]);
}

// docs/contract.md#decided-reset
#[test]
fn the_phase_of_a_timer_is_fixed_even_if_it_is_moved() {
    let executor = unclamped();
    let wait = executor.start(async {
        let mut wait = wait_seconds(5);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.reset(1);
        wait.in_phase(Phase::LateUpdate).await;
    });
    let bounded = executor.start(async {
        let mut bounded = Box::pin(timeout(5, pending::<()>()));
        assert!(poll_once(&mut bounded).await.is_pending());
        bounded.as_mut().reset(1);
        bounded.await.unwrap_err();
    });
    let ticks = executor.start(async {
        let mut ticks = interval(5);
        assert!(poll_once(&mut ticks.tick()).await.is_pending());
        ticks.reset();
        ticks.in_phase(Phase::LateUpdate).tick().await;
    });
    for script in [wait, ticks] {
        let error = script.take_output().unwrap().unwrap_err().to_string();
        assert!(error.contains("`in_phase` was called on a"), "{error}");
    }
    assert!(!bounded.is_finished());
    // Before the first poll, a length may be set again, and the phase as well.
    let mut wait = wait_seconds(5);
    wait.reset(1);
    let wait = wait.in_phase(Phase::LateUpdate);
    let mut executor = unclamped();
    let script = executor.start(wait);
    executor.begin_frame(1);
    executor.run_phase(Phase::Update);
    assert!(!script.is_finished());
    executor.run_phase(Phase::LateUpdate);
    assert!(script.is_finished());
}

// docs/contract.md#decided-moved-waits
#[test]
fn a_timer_that_was_moved_does_not_leave_its_executor() {
    for length in [1.0, f64::INFINITY] {
        let (first, second) = (unclamped(), unclamped());
        let place = Rc::new(RefCell::new(None));
        let put = place.clone();
        first.start(async move {
            let mut wait = wait_seconds(5);
            assert!(poll_once(&mut wait).await.is_pending());
            wait.reset(length);
            *put.borrow_mut() = Some(wait);
        });
        let wait: WaitSeconds = place.take().unwrap();
        let error = second
            .start(wait)
            .take_output()
            .unwrap()
            .unwrap_err()
            .to_string();
        assert!(error.contains("begun in one executor"), "{error}");
    }
}

#[test]
fn the_phase_of_an_animation_that_is_over_is_fixed() {
    let mut executor = unclamped();
    let script = executor.start(async {
        let mut animation = animate(1, |_| ());
        (&mut animation).await;
        drop(animation.in_phase(Phase::LateUpdate));
    });
    executor.run_frame(1);
    let error = script.take_output().unwrap().unwrap_err().to_string();
    assert!(
        error.contains("`in_phase` was called on an `animate()`"),
        "{error}"
    );
}
