//! Owners on a clock: what their coroutines count on and read.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep::{Executor, Time};

use framestep_testkit::timeline::{Log, Timeline, in_quarters, unclamped};
use framestep_testkit::{panic_of, place_of_panic, result_of};

/// An executor, a clock at half speed and an owner on it.
fn at_half_speed() -> (Executor, Clock, Owner) {
    let executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    (executor, slow, owner)
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The parts of the time that depend on the clock.
fn seen(time: Time) -> (Duration, Duration, f64) {
    (time.elapsed, time.delta, time.scale)
}

#[test]
fn plain_waits_count_on_the_clock_of_the_owner() {
    let (executor, slow, owner) = at_half_speed();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row("player", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row_on(&owner, "enemy", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row_on(&owner, "real", |mark| async move {
        wait_seconds_realtime(0.5).await;
        mark.hit();
    });
    timeline.row_on(&owner, "late", |mark| async move {
        wait_seconds(0.5).in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.row_on(&owner, "started", |mark| async move {
        start(async move {
            wait_seconds(0.5).await;
            mark.hit();
        })
        .await
        .unwrap();
    });
    timeline.row_on(&owner, "spawned", |mark| async move {
        spawn(async move {
            wait_seconds(0.5).await;
            mark.hit();
        })
        .await
        .unwrap();
    });
    timeline.row_on(&owner, "below", |mark| async move {
        let below = framestep::task::owner();
        below
            .start(async move {
                wait_seconds(0.5).await;
                mark.hit();
            })
            .await
            .unwrap();
    });
    timeline.check(
        "
        frame   0 1 2 3 4 5
        player  - - *
        enemy   - - - - *
        real    - - *
        late    - - - - L
        started - - - - *
        spawned - - - - - *
        below   - - - - *
        ",
    );
    assert_eq!(slow.now(), millis(625));
}

#[test]
fn the_time_reads_as_on_the_clock_of_the_owner() {
    let (mut executor, _slow, owner) = at_half_speed();
    let times = Rc::new(RefCell::new(Vec::new()));
    let see = times.clone();
    owner.start(async move {
        for _ in 0..2 {
            next_frame().await;
            let next = time();
            assert!((delta_seconds() - 0.125).abs() < f32::EPSILON);
            see.borrow_mut().push(seen(next));
            in_phase(Phase::LateUpdate).await;
            assert_eq!(seen(time()), seen(next));
            assert_eq!(time().frame, next.frame);
        }
        wait_frames(1).await;
        see.borrow_mut().push(seen(time()));
        wait_until(|| seen(time()).1 == millis(125)).await;
        see.borrow_mut().push(seen(time()));
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
        // The host reads the game clock.
        assert_eq!(executor.time().delta, millis(250));
    }
    let expected = [125, 250, 375, 500].map(|at| (millis(at), millis(125), 0.5));
    assert_eq!(*times.borrow(), expected);
}

#[test]
fn a_fixed_step_is_as_long_as_the_clock_makes_it() {
    let mut executor = in_quarters();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    let log = Log::new();
    for (name, on_owner) in [("game", false), ("slow", true)] {
        let log = log.clone();
        let script = async move {
            loop {
                fixed_update().await;
                let time = time();
                let (now, delta) = (time.elapsed.as_secs_f64(), time.delta.as_secs_f64());
                log.say(format!("{name} {now} {delta}"));
            }
        };
        if on_owner {
            owner.start(script);
        } else {
            executor.start(script);
        }
    }
    executor.run_frame(0.5);
    log.check(&[
        "F1.FixedUpdate: game 0.25 0.25",
        "F1.FixedUpdate: slow 0.125 0.125",
        "F1.FixedUpdate: game 0.5 0.25",
        "F1.FixedUpdate: slow 0.25 0.125",
    ]);
}

#[test]
fn starts_across_owners_show_each_its_own_clock_and_then_the_outer_again() {
    let (mut executor, slow, owner) = at_half_speed();
    let slower = slow.child();
    slower.set_scale(0.5);
    let other = Rc::new(executor.owner_on(&slower));
    let game = Rc::new(owner.child_on(&executor.clock()));
    let handle = executor.handle();
    let log = Log::new();
    let logs = log.clone();
    let say = move |log: &Log, name: &str| log.note(format!("{name} {}", time().scale));
    owner.start(async move {
        next_frame().await;
        say(&logs, "slow");
        let (inner, on, back) = (logs.clone(), game.clone(), handle.clone());
        other.start(async move {
            say(&inner, "slower");
            let innermost = inner.clone();
            on.start(async move { say(&innermost, "game") });
            say(&inner, "slower");
            let innermost = inner.clone();
            back.start(async move { say(&innermost, "none") });
            say(&inner, "slower");
            // A panic, and destructors, leave the clock as it was.
            let bad = on.start(async { panic!("in a start") });
            assert!(bad.await.is_err());
            say(&inner, "slower");
            let innermost = inner.clone();
            let stopped = on.start(async move {
                let _guard = SayOnDrop(innermost);
                next_frame().await;
            });
            stopped.stop();
            say(&inner, "slower");
        });
        say(&logs, "slow");
        let innermost = logs.clone();
        spawn(async move { say(&innermost, "spawned") });
        panic!("so does a panic");
    });
    let logs = log.clone();
    executor.start(async move {
        next_frame().await;
        say(&logs, "host");
    });
    executor.run_frame(1);
    log.check(&[
        "slow 0.5",
        "slower 0.25",
        "game 1",
        "slower 0.25",
        "none 1",
        "slower 0.25",
        "slower 0.25",
        "dropped 1",
        "slower 0.25",
        "slow 0.5",
        "host 1",
        "spawned 0.5",
    ]);
}

/// Notes the scale that it sees when it is dropped.
struct SayOnDrop(Log);

impl Drop for SayOnDrop {
    fn drop(&mut self) {
        self.0.note(format!("dropped {}", time().scale));
    }
}

#[test]
fn destructors_read_the_clock_of_the_owner_also_when_it_is_that_which_goes() {
    for how in ["stop", "stop_all", "drop", "drop from inside"] {
        let (mut executor, _slow, owner) = at_half_speed();
        let log = Log::new();
        let guard = SayOnDrop(log.clone());
        let owner = Rc::new(RefCell::new(Some(owner)));
        let own = owner.clone();
        let script = owner.borrow().as_ref().unwrap().spawn(async move {
            let _guard = guard;
            next_frame().await;
            if how == "drop from inside" {
                let gone = own.borrow_mut().take();
                drop(gone);
                assert!(time().scale < 1.0);
            }
            next_frame().await;
        });
        executor.run_frame(0.25);
        match how {
            "stop" => drop(script.stop()),
            "stop_all" => owner.borrow().as_ref().unwrap().stop_all(),
            "drop" => drop(owner.borrow_mut().take()),
            _ => executor.run_frame(0.25),
        }
        log.check(&["dropped 0.5"]);
    }
}

#[test]
fn an_owner_on_the_game_clock_may_be_below_one_on_another() {
    let (executor, slow, owner) = at_half_speed();
    let game = owner.child_on(&executor.clock());
    let same = game.child();
    let slow_again = game.child_on(&slow);
    let mut timeline = Timeline::with_executor(executor, 0.25);
    let rows = [
        ("owner", &owner),
        ("game", &game),
        ("same", &same),
        ("again", &slow_again),
    ];
    for (name, on) in rows {
        timeline.row_on(on, name, |mark| async move {
            wait_seconds(0.25).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0 1 2
        owner - - *
        game  - *
        same  - *
        again - - *
        ",
    );
}

#[test]
fn a_clock_of_another_executor_is_refused_where_it_is_given() {
    let (executor, other) = (unclamped(), unclamped());
    let clock = other.clock().child();
    let owner = executor.owner();
    let text = panic_of(|| executor.owner_on(&clock));
    assert!(text.contains("a clock of another executor"), "{text}");
    let handle = executor.handle();
    let line = line!();
    let places = [
        place_of_panic(|| executor.owner_on(&clock)),
        place_of_panic(|| owner.child_on(&clock)),
        place_of_panic(|| handle.owner_on(&clock)),
    ];
    for (place, line) in places.into_iter().zip(line + 2..) {
        assert_eq!(place, format!("{}:{line}", file!()));
    }
    // Nothing else is lost.
    assert!(owner.child_on(&executor.clock()).is_active());
}

#[test]
fn a_pause_stands_still_on_the_clock_of_the_owner() {
    let (executor, slow, owner) = at_half_speed();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    timeline.row_on(&owner, "wait", |mark| async move {
        loop {
            wait_seconds(0.25).await;
            mark.hit();
        }
    });
    timeline.run_to(1);
    owner.pause();
    slow.set_scale(4);
    timeline.run_to(3);
    slow.set_scale(0.5);
    owner.resume();
    timeline.run_to(6);
    slow.pause();
    timeline.run_to(8);
    slow.resume();
    timeline.check(
        "
        frame 0 1 2 3 4 5 6 7 8 9 10
        wait  - - - - * - * - - - *
        ",
    );
}

#[test]
fn a_coroutine_that_pauses_itself_stands_still_on_a_clock_without_other_waits() {
    let (mut executor, _slow, owner) = at_half_speed();
    let handle = executor.handle();
    let script = owner.start(async move {
        handle.pause(current());
        wait_seconds(0.25).await;
        time().frame
    });
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    script.resume();
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert_eq!(result_of(&executor, script).unwrap(), 10);
}

#[test]
fn an_owner_keeps_its_clock() {
    let mut executor = unclamped();
    let owner = {
        let slow = executor.clock().child();
        slow.set_scale(0.5);
        executor.owner_on(&slow)
    };
    for _ in 0..300 {
        executor.run_frame(0.25);
    }
    let frame = owner.start(async {
        wait_seconds(1).await;
        time().frame
    });
    assert_eq!(executor.run_until(frame, 0.25).unwrap(), 308);
}

#[test]
fn a_script_finds_the_game_clock_also_on_another_clock() {
    let (mut executor, slow, owner) = at_half_speed();
    executor.start(async { clock().set_scale(3.0) });
    assert_eq!(executor.clock().scale().to_bits(), 3.0_f64.to_bits());
    executor.enter(|| clock().set_scale(2.0));
    assert_eq!(executor.clock().scale().to_bits(), 2.0_f64.to_bits());

    let script = owner.start(async {
        next_frame().await;
        clock().set_scale(0.25);
    });
    executor.run_until(script, 0.25).unwrap();
    assert_eq!(executor.clock().scale().to_bits(), 0.25_f64.to_bits());
    assert_eq!(slow.scale().to_bits(), 0.5_f64.to_bits());
}

#[test]
fn what_a_script_starts_on_realtime_continues_through_a_pause_and_ends_with_the_script() {
    let mut timeline = Timeline::with_dt(0.25);
    let game = timeline.executor().clock();
    timeline.row("menu", |mark| async move {
        clock().pause();
        let menu = owner_on(&realtime());
        menu.start(async move {
            loop {
                wait_seconds(0.5).await;
                mark.hit();
            }
        });
        wait_seconds_realtime(1.25).await;
        clock().resume();
    });
    timeline.row("game", |mark| async move {
        wait_seconds(0.25).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0    1    2    3    4    5    6    7
        menu  -    -    *    -    *
        game  -    -    -    -    -    -    *
        ",
    );
    assert!(!game.is_paused());
}

#[test]
fn a_script_cannot_have_an_owner_on_the_clock_of_another_executor() {
    let elsewhere = Executor::new();
    let other = elsewhere.clock();
    let executor = Executor::new();
    let text = executor.enter(|| panic_of(|| owner_on(&other)));
    assert!(text.contains("a clock of another executor"), "{text}");
}

/// Runs frames when it is dropped, and notes what it reads before and after.
struct RunsOnDrop(Rc<RefCell<Executor>>, Log);

impl Drop for RunsOnDrop {
    fn drop(&mut self) {
        let note = |name| {
            let (elapsed, delta, scale) = seen(time());
            self.1.note(format!("{name} {elapsed:?} {delta:?} {scale}"));
        };
        note("before");
        self.0.borrow_mut().run_frame(1);
        note("between");
        self.0.borrow_mut().begin_frame(1);
        note("after");
    }
}

#[test]
fn a_frame_that_a_destructor_runs_shows_each_script_its_own_clock() {
    let (executor, _slow, owner) = at_half_speed();
    let log = Log::new();
    let executor = Rc::new(RefCell::new(executor));
    let guard = RunsOnDrop(executor.clone(), log.clone());
    let says = |name: &'static str| {
        let log = log.clone();
        async move {
            log.note(format!("{name} {:?}", seen(time())));
            wait_seconds(1).await;
            log.note(format!("{name}, frame {}", time().frame));
        }
    };
    let other = executor.borrow().owner_on(&executor.borrow().realtime());
    drop(executor.borrow().spawn(says("game")));
    drop(other.spawn(says("real")));
    drop(executor.borrow().start(async {
        next_frame().await;
        assert_eq!(seen(time()), (millis(1_000), millis(1_000), 1.0));
    }));
    owner.start(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    drop(owner);
    executor.borrow_mut().run_phase(Phase::Update);
    log.check(&[
        "before 0ns 0ns 1",
        "game (1s, 1s, 1.0)",
        "real (1s, 1s, 1.0)",
        "between 500ms 500ms 0.5",
        "after 1s 500ms 0.5",
        "game, frame 2",
        "real, frame 2",
    ]);
}
