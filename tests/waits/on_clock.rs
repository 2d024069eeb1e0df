//! `on`: one future on a clock other than its coroutine's.
//! docs/contract.md#decided-on-a-clock

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::FusedFuture;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Mark, Timeline, in_quarters, unclamped};
use framestep_testkit::{forever, panic_of, poll_once, swallow};

/// An executor, and a clock at half speed.
fn at_half_speed() -> (Executor, Clock) {
    let executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    (executor, slow)
}

async fn then_marks<F: Future>(mark: Mark, future: F) {
    future.await;
    mark.hit();
}

#[test]
fn all_that_counts_time_inside_counts_on_the_clock() {
    let (executor, slow) = at_half_speed();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    let half = || slow.clone();
    timeline.row("game", |mark| then_marks(mark, wait_seconds(0.5)));
    timeline.row("wait", |mark| {
        then_marks(mark, on_clock(half(), wait_seconds(0.5)))
    });
    timeline.row("timeout", |mark| {
        then_marks(mark, on_clock(half(), timeout(0.5, forever())))
    });
    timeline.row("animate", |mark| {
        then_marks(mark, on_clock(half(), animate(0.5, |_| ())))
    });
    timeline.row("interval", |mark| {
        let ticks = async {
            let mut ticks = interval(0.25);
            ticks.tick().await;
            ticks.tick().await;
        };
        then_marks(mark, on_clock(half(), ticks))
    });
    timeline.row("real", |mark| {
        then_marks(mark, on_clock(half(), wait_seconds_realtime(0.5)))
    });
    timeline.row("late", |mark| {
        then_marks(
            mark,
            on_clock(half(), wait_seconds(0.5).in_phase(Phase::LateUpdate)),
        )
    });
    timeline.row("started", |mark| {
        let slow = half();
        async move {
            start(on_clock(&slow, then_marks(mark, wait_seconds(0.5))))
                .await
                .unwrap();
        }
    });
    timeline.row("after", |mark| {
        let slow = half();
        async move {
            on_clock(&slow, next_frame()).await;
            wait_seconds(0.25).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame    0 1 2 3 4 5
        game     - - *
        wait     - - - - *
        timeout  - - - - *
        animate  - - - - *
        interval - - - - *
        real     - - *
        late     - - - - L
        started  - - - - *
        after    - - *
        ",
    );
}

#[test]
fn on_realtime_it_continues_through_a_pause_of_the_game() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("menu", |mark| async move {
        let _paused = clock().pause_guard();
        on_clock(realtime(), animate(0.5, |_| ())).await;
        mark.hit();
    });
    timeline.row("game", |mark| then_marks(mark, wait_seconds(0.25)));
    timeline.check(
        "
        frame 0 1 2 3
        menu  - - *
        game  - - - *
        ",
    );
}

fn scale() -> f64 {
    time().scale
}

#[test]
fn the_time_inside_is_that_of_the_innermost_clock_and_outside_as_before() {
    let (mut executor, slow) = at_half_speed();
    let slower = slow.child();
    slower.set_scale(0.5);
    let game = executor.clock();
    let owner = executor.owner_on(&slower);
    let log = Log::new();
    let say = log.clone();
    let script = owner.start(async move {
        next_frame().await;
        say.note(scale());
        on_clock(&slow, async {
            say.note(scale());
            on_clock(&game, async {
                say.note(scale());
                next_frame().await;
                say.note(scale());
            })
            .await;
            on_clock(realtime(), async { say.note(time().delta.as_secs_f64()) }).await;
            say.note(scale());
        })
        .await;
        say.note(scale());
    });
    executor.run_until(script, 0.25).unwrap();
    log.check(&["0.25", "0.5", "1", "1", "0.25", "0.5", "0.25"]);
}

#[test]
fn beside_others_in_a_combinator_each_reads_its_own_clock() {
    let (mut executor, slow) = at_half_speed();
    let log = Log::new();
    let script = {
        let say = log.clone();
        let reads = move |name: &'static str| {
            let say = say.clone();
            async move {
                for _ in 0..2 {
                    next_frame().await;
                    say.note(format!("{name} {}", scale()));
                }
            }
        };
        let inside = on_clock(&slow, reads("inside"));
        let behind = on_clock(&slow, swallow(reads("behind")));
        executor.start(async move {
            join!(reads("first"), inside, reads("last"), behind);
        })
    };
    executor.run_until(script, 0.25).unwrap();
    let round = ["first 1", "inside 0.5", "last 1", "behind 0.5"];
    log.check(&[round, round].concat());
}

#[test]
fn what_is_started_inside_is_on_the_clock_of_the_owner() {
    let (mut executor, slow) = at_half_speed();
    let log = Log::new();
    let say = log.clone();
    let script = executor.start(async move {
        on_clock(&slow, async {
            let (started, spawned) = (say.clone(), say.clone());
            start(async move { started.note(format!("started {}", scale())) });
            spawn(async move { spawned.note(format!("spawned {}", scale())) });
            say.note(format!("after it {}", scale()));
            next_frame().await;
        })
        .await;
    });
    executor.run_until(script, 0.25).unwrap();
    log.check(&["started 1", "after it 1", "spawned 1"]);
}

#[test]
fn a_panic_and_destructors_leave_the_clock_as_it_was() {
    /// Records the scale when it is dropped.
    struct SayOnDrop(Log, &'static str);

    impl Drop for SayOnDrop {
        fn drop(&mut self) {
            self.0.note(format!("{} {}", self.1, scale()));
        }
    }

    let (mut executor, slow) = at_half_speed();
    let log = Log::new();
    let guarded = |name| {
        let guard = SayOnDrop(log.clone(), name);
        async move {
            let _guard = guard;
            forever().await;
        }
    };
    let (ended, dropped, stopped) = (guarded("ended"), guarded("dropped"), guarded("stopped"));
    let say = log.clone();
    let script = executor.start(async move {
        next_frame().await;
        let caught = std::panic::AssertUnwindSafe(on_clock(&slow, async { panic!("on purpose") }));
        assert!(caught.catch_unwind().await.is_err());
        say.note(format!("after a panic {}", scale()));
        on_clock(&slow, async { drop(ended) }).await;
        let mut wait = Box::pin(on_clock(&slow, dropped));
        let _ = poll_once(&mut wait).await;
        drop(wait);
        say.note(format!("after a drop {}", scale()));
        on_clock(&slow, stopped).await;
    });
    executor.run_frame(0.25);
    script.stop();
    log.check(&[
        "after a panic 1",
        "ended 0.5",
        "dropped 0.5",
        "after a drop 1",
        "stopped 0.5",
    ]);
}

// docs/contract.md#rule-12-stands-still
#[test]
fn a_pause_of_the_coroutine_stands_still_on_the_clock() {
    let (executor, slow) = at_half_speed();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    let (owner, on_slow) = (timeline.executor().owner(), slow.clone());
    timeline.row_on(&owner, "animate", |mark| {
        then_marks(mark, on_clock(&on_slow, animate(0.5, |_| ())))
    });
    let on_slow = slow.clone();
    timeline.row_on(&owner, "wait", |mark| {
        then_marks(mark, on_clock(&on_slow, wait_seconds(0.5)))
    });
    timeline.run_to(1);
    owner.pause();
    slow.set_scale(8);
    timeline.run_to(4);
    slow.set_scale(0.5);
    owner.resume();
    timeline.check(
        "
        frame   0 1 2 3 4 5 6 7 8
        animate - - - - - - - *
        wait    - - - - - - - *
        ",
    );
}

#[test]
fn a_coroutine_that_pauses_itself_stands_still_on_a_clock_that_it_has_just_met() {
    let (mut executor, slow) = at_half_speed();
    let handle = executor.handle();
    let script = executor.start(async move {
        handle.pause(current());
        on_clock(&slow, animate(0.25, |_| ())).await;
        time().frame
    });
    executor.run_frames(5, 0.25);
    script.resume();
    assert_eq!(executor.run_until(script, 0.25).unwrap(), 7);
}

// docs/contract.md#stepped-child-clocks
#[test]
fn in_fixed_steps_it_reads_stepped_time() {
    let mut executor = in_quarters();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            fixed_update().await;
            let seen = on_clock(&slow, async { (time().elapsed, time().delta) }).await;
            say.say(format!("{:?} {:?}", seen.0, seen.1));
        }
    });
    executor.run_frame(0.5);
    log.check(&["F1.FixedUpdate: 125ms 125ms", "F1.FixedUpdate: 250ms 125ms"]);
}

#[test]
fn it_may_move_to_another_coroutine() {
    let (mut executor, slow) = at_half_speed();
    let moved = Rc::new(RefCell::new(None));
    let (give, other) = (moved.clone(), slow.clone());
    executor.start(async move {
        let mut wait = on_clock(&other, wait_seconds(0.5));
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
    });
    let script = executor.start(async move {
        let wait = moved.take().unwrap();
        wait.await;
        time().frame
    });
    assert_eq!(executor.run_until(script, 0.25).unwrap(), 4);
}

#[test]
fn a_wait_keeps_the_clock_on_which_it_began() {
    let (mut executor, slow) = at_half_speed();
    let script = executor.start(async move {
        let mut wait = wait_seconds(0.5);
        assert!(poll_once(&mut wait).await.is_pending());
        on_clock(&slow, wait).await;
        time().frame
    });
    assert_eq!(executor.run_until(script, 0.25).unwrap(), 2);
}

#[test]
fn a_clock_of_another_executor_is_refused_with_the_line_of_the_call() {
    let (executor, other) = (unclamped(), unclamped());
    let clock = other.clock().child();
    let wrong = on_clock(&clock, forever());
    let line = line!() - 1;
    let script = executor.start(async move { panic_of(|| wrong.now_or_never()) });
    let text = script.take_output().unwrap().unwrap();
    let place = format!("{}:{line}:", file!());
    assert!(
        text.contains("a clock of another executor") && text.contains(&place),
        "{text}"
    );
    // In its own executor it can be made anywhere.
    let right = executor.enter(|| on_clock(&clock, async { scale() }));
    assert!((other.start(right).take_output().unwrap().unwrap() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn it_is_fused_and_says_what_it_is() {
    let (executor, slow) = at_half_speed();
    let text = executor.enter(|| {
        let mut now = on_clock(&slow, std::future::ready(7));
        assert!(!now.is_terminated());
        assert_eq!((&mut now).now_or_never(), Some(7));
        assert!(now.is_terminated());
        assert!(format!("{now:?}").starts_with("On { clock: Clock"));
        panic_of(|| now.now_or_never())
    });
    assert!(text.contains("`on_clock()` was polled again"), "{text}");
    let text = panic_of(|| on_clock(&slow, async {}).now_or_never());
    assert!(text.contains("polled outside"), "{text}");
    // Dropped outside an executor, it drops its future.
    let held = Rc::new(());
    drop(on_clock(&slow, std::future::ready(held.clone())));
    assert_eq!(Rc::strong_count(&held), 1);
}
