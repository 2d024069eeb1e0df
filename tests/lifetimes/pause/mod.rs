//! Pausing: nothing resumes, time stands still, and everything that becomes due
//! is one wake, which arrives when the pause ends.
//! docs/contract.md#rule-12-pause

mod edges;
mod guards;
mod heard;
mod one_wake;
mod order;
mod stands_still;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, join, select_biased};

use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::timeline::{Log, Mark, Timeline, in_quarters, unclamped};
use framestep_testkit::{counted, forever, poll_once, result_of, swallow, update, yield_now};

/// Frames of a quarter of a second with a fixed step in each, and an owner.
fn quarters() -> (Timeline, Owner) {
    let executor = in_quarters();
    let owner = executor.owner();
    (Timeline::with_executor(executor, 0.25), owner)
}

/// Marks when the wait that `wait` makes is over.
async fn after<F: Future>(mark: Mark, wait: F) {
    wait.await;
    mark.hit();
}

fn seconds(n: f64) -> Duration {
    Duration::from_secs_f64(n)
}

// What falls due

#[test]
fn what_falls_due_while_the_owner_is_paused_resumes_in_the_first_run_of_its_phase_after() {
    let (mut timeline, owner) = quarters();
    let mut row = |name: &str, wait: futures::future::LocalBoxFuture<'static, ()>| {
        timeline.row_on(&owner, name, |mark| after(mark, wait));
    };
    row("frames(1)", wait_frames(1).map(drop).boxed_local());
    row("frames(2)", wait_frames(2).map(drop).boxed_local());
    row("frames(4)", wait_frames(4).map(drop).boxed_local());
    row("frames(5)", wait_frames(5).map(drop).boxed_local());
    row("frames(6)", wait_frames(6).map(drop).boxed_local());
    let seen = || time().frame >= 3;
    row("until(F3)", wait_until(seen).map(drop).boxed_local());
    row(
        "while(F3)",
        wait_while(move || !seen()).map(drop).boxed_local(),
    );
    timeline.run_to(1);
    assert!(owner.pause());
    timeline.run_to(4);
    assert!(owner.resume());
    timeline.check(
        "
        frame     0 1 2 3 4 5 6
        frames(1) - *
        frames(2) - - - - - *
        frames(4) - - - - - *
        frames(5) - - - - - *
        frames(6) - - - - - - *
        until(F3) - - - - - *
        while(F3) - - - - - *
        ",
    );
}

#[test]
fn waits_for_a_phase_resume_in_that_phase() {
    for of_owner in [true, false] {
        let (mut timeline, owner) = quarters();
        let ids: Vec<CoroutineId> = framestep_testkit::timeline::DRAWN
            .iter()
            .map(|&phase| {
                timeline.row_on(&owner, &format!("{phase:?}"), move |mark| async move {
                    loop {
                        in_phase(phase).await;
                        mark.hit();
                    }
                })
            })
            .collect();
        timeline.run_to(1);
        let pause = |timeline: &mut Timeline, paused: bool| {
            let executor = timeline.executor();
            for &id in &ids {
                match (of_owner, paused) {
                    (true, true) => drop(owner.pause()),
                    (true, false) => drop(owner.resume()),
                    (false, true) => assert!(executor.pause(id)),
                    (false, false) => assert!(executor.resume(id)),
                }
            }
        };
        pause(&mut timeline, true);
        timeline.run_to(3);
        pause(&mut timeline, false);
        timeline.check(
            "
            frame       0 1 2 3 4 5
            EarlyUpdate - E - - E E
            FixedUpdate - F - - F F
            Update      - * - - * *
            LateUpdate  - L - - L L
            EndOfFrame  - Z - - Z Z
            ",
        );
    }
}

#[test]
fn seconds_stand_still() {
    let (mut timeline, owner) = quarters();
    let child = timeline.executor().clock().child();
    child.set_scale(2);
    for tenths in [0_u32, 25, 50, 75, 100] {
        let length = f64::from(tenths) / 100.0;
        let name = |of: &str| format!("{of}({length:.2})");
        timeline.row_on(&owner, &name("game"), |mark| {
            after(mark, wait_seconds(length))
        });
        let real = wait_seconds_realtime(length);
        timeline.row_on(&owner, &name("real"), |mark| after(mark, real));
        let fixed = wait_seconds(length).in_phase(Phase::FixedUpdate);
        timeline.row_on(&owner, &name("fixed"), |mark| after(mark, fixed));
        let twice = child.wait_seconds(length * 2.0);
        timeline.row_on(&owner, &name("child"), |mark| after(mark, twice));
    }
    timeline.run_to(2);
    owner.pause();
    timeline.run_to(5);
    owner.resume();
    timeline.check(
        "
        frame       0 1 2 3 4 5 6 7 8
        game(0.00)  - *
        real(0.00)  - *
        fixed(0.00) - F
        child(0.00) - *
        game(0.25)  - *
        real(0.25)  - *
        fixed(0.25) - F
        child(0.25) - *
        game(0.50)  - - *
        real(0.50)  - - *
        fixed(0.50) - - F
        child(0.50) - - *
        game(0.75)  - - - - - - *
        real(0.75)  - - - - - - *
        fixed(0.75) - - - - - - F
        child(0.75) - - - - - - *
        game(1.00)  - - - - - - - *
        real(1.00)  - - - - - - - *
        fixed(1.00) - - - - - - - F
        child(1.00) - - - - - - - *
        ",
    );
}

#[test]
fn a_pause_and_a_resume_in_one_frame_cost_no_time() {
    let (mut timeline, owner) = quarters();
    let id = timeline.row_on(&owner, "wait", |mark| after(mark, wait_seconds(0.75)));
    for frame in 0..3 {
        timeline.run_to(frame);
        owner.pause();
        timeline.executor().pause(id);
        owner.resume();
        timeline.executor().resume(id);
    }
    timeline.check("frame 0 1 2 3\nwait  - - - *");
}

#[test]
fn several_pauses_add_up() {
    let (mut timeline, owner) = quarters();
    timeline.row_on(&owner, "wait", |mark| after(mark, wait_seconds(1)));
    for frame in 0..4 {
        // Paused in every second frame: before 1, 3, 5, 7.
        timeline.run_to(frame * 2);
        owner.pause();
        timeline.run_to(frame * 2 + 1);
        owner.resume();
    }
    timeline.check("frame 0 1 2 3 4 5 6 7 8\nwait  - - - - - - - - *");
}

#[test]
fn a_wait_due_within_a_frame_that_is_paused_before_update_resumes_at_once_after() {
    // The clock had reached the deadline when the pause began.
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let say = log.clone();
    owner.start(async move {
        wait_seconds(0.5).await;
        say.say("there");
    });
    executor.begin_frame(0.75);
    owner.pause();
    executor.run_phase(Phase::Update);
    update(&mut executor, 10);
    owner.resume();
    executor.run_phase(Phase::Update);
    log.check(&["F2: there"]);
}

// Which coroutines are paused

#[test]
fn a_flag_on_a_coroutine_or_above_pauses_it_in_any_order_of_resumes() {
    let orders: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for pauses in orders {
        for resumes in orders {
            let (mut timeline, top) = quarters();
            let owner = top.child();
            let own = timeline.executor().handle();
            let id = timeline.row_on(&owner, "wait", |mark| after(mark, wait_seconds(0.5)));
            timeline.row_on(&owner, "other", |mark| after(mark, next_frame()));
            let set = |which: usize, paused: bool| match (which, paused) {
                (0, true) => own.pause(id),
                (0, false) => own.resume(id),
                (1, true) => owner.pause(),
                (1, false) => owner.resume(),
                (_, true) => top.pause(),
                (_, false) => top.resume(),
            };
            timeline.run_to(1);
            for (frame, which) in (2..).zip(pauses) {
                assert!(set(which, true) && !set(which, true));
                timeline.run_to(frame);
            }
            for (frame, which) in (5..).zip(resumes) {
                assert!(set(which, false) && !set(which, false));
                timeline.run_to(frame);
            }
            timeline.check(
                "
                frame 0 1 2 3 4 5 6 7 8
                wait  - - - - - - - *
                other - *
                ",
            );
        }
    }
}

#[test]
fn pausing_twice_is_pausing_once() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let wait = owner.start(async { next_frame().await });
    assert!(owner.pause() && !owner.pause());
    assert!(wait.pause() && !wait.pause());
    assert!(wait.resume() && !wait.resume());
    assert!(wait.is_paused() && owner.is_paused());
    assert!(owner.resume() && !owner.resume());
    assert!(!wait.is_paused() && !owner.is_paused());
    executor.run_frame(0.25);
    assert!(wait.is_finished());
}

#[test]
fn what_has_ended_or_is_of_another_executor_is_not_paused() {
    let (executor, other) = (unclamped(), unclamped());
    let ended = executor.start(async {});
    assert!(!ended.pause() && !ended.resume() && !ended.is_paused());
    let foreign = other.start(forever());
    assert!(!executor.pause(foreign.id()) && !executor.resume(foreign.id()));
    assert!(!foreign.is_paused());
    let refused = {
        let owner = executor.owner();
        owner.set_active(false);
        owner.start(forever())
    };
    assert!(!refused.pause() && !executor.pause(refused.id()));
    let handle = executor.handle();
    let alive = executor.start(forever());
    drop(executor);
    assert!(!alive.pause() && !handle.pause(alive.id()) && !handle.resume(alive.id()));
}

// Predicates

#[test]
fn conditions_are_not_asked() {
    let mut executor = unclamped();
    let asked = Rc::new(Cell::new(0));
    let ask = asked.clone();
    let wait = executor.start(async move {
        wait_until(move || {
            ask.set(ask.get() + 1);
            false
        })
        .await;
    });
    for (paused, after) in [(false, 1), (true, 1), (true, 1), (false, 2), (false, 3)] {
        if paused {
            wait.pause();
        } else {
            wait.resume();
        }
        executor.run_frame(0.25);
        assert_eq!(asked.get(), after);
    }
}

// Spawn, start and stop

#[test]
fn a_coroutine_that_is_stopped_while_paused_leaves_nothing() {
    type Script = fn() -> futures::future::LocalBoxFuture<'static, ()>;
    let scripts: [Script; 7] = [
        || next_frame().map(drop).boxed_local(),
        || wait_frames(2).map(drop).boxed_local(),
        || wait_seconds(0.25).map(drop).boxed_local(),
        || wait_until(|| true).map(drop).boxed_local(),
        || swallow(next_frame()).map(drop).boxed_local(),
        || swallow(wait_seconds(0.25)).map(drop).boxed_local(),
        || yield_now().boxed_local(),
    ];
    for script in scripts {
        for frames in 0..4 {
            for resumed in [false, true] {
                let mut executor = unclamped();
                let owner = executor.owner();
                let log = Log::new();
                let (dropped, script) = (log.on_drop("dropped"), script());
                owner.start(async move {
                    let _dropped = dropped;
                    script.await;
                    unreachable!("paused until it is stopped");
                });
                owner.pause();
                for _ in 0..frames {
                    executor.run_frame(0.25);
                }
                if resumed {
                    owner.resume();
                }
                owner.stop_all();
                log.check(&["dropped"]);
                assert!(executor.is_empty() && owner.is_empty());
                assert!(!executor.has_ready(), "after {frames} frames");
                assert_eq!(executor.next_deadline(), None);
                owner.resume();
                executor.run_frame(0.25);
            }
        }
    }
}

// docs/contract.md#decided-has-ready
#[test]
fn a_host_is_not_kept_awake_by_paused_coroutines() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(async {
        loop {
            next_frame().await;
        }
    });
    owner.start(async { wait_until(|| false).await });
    owner.start(async { wait_seconds(1).await });
    let ready = owner.spawn(async {});
    owner.start(wait_frames(3));
    assert!(executor.has_ready());
    owner.pause();
    assert!(!executor.has_ready());
    assert_eq!(executor.next_deadline(), None);
    executor.run_frame(1);
    assert!(!executor.has_ready() && !ready.is_finished());
    assert_eq!(executor.next_deadline(), None);
    executor.run_frame(1);
    owner.resume();
    assert!(executor.has_ready());
    assert_eq!(executor.next_deadline(), Some(seconds(1.0)));
}

// docs/contract.md#decided-has-ready
#[test]
fn a_host_learns_of_each_wait_again_when_the_pause_is_over() {
    type Make = fn() -> futures::future::LocalBoxFuture<'static, ()>;
    let waits: [Make; 4] = [
        || next_frame().boxed_local(),
        || wait_frames(2).boxed_local(),
        || wait_until(|| false).boxed_local(),
        || {
            futures::future::join(next_frame(), wait_frames(9))
                .map(drop)
                .boxed_local()
        },
    ];
    for wait in waits {
        let mut executor = unclamped();
        let script = executor.start(wait());
        for _ in 0..2 {
            assert!(executor.has_ready());
            script.pause();
            assert!(!executor.has_ready());
            script.resume();
        }
        script.pause();
        executor.run_frame(1);
        assert!(!executor.has_ready());
        script.resume();
        assert!(executor.has_ready());
    }
}

// docs/contract.md#decided-has-ready
#[test]
fn a_host_runs_once_for_the_waker_of_a_combinator_in_a_paused_coroutine() {
    let mut executor = unclamped();
    let script = executor.start(swallow(next_frame()));
    script.pause();
    assert!(executor.has_ready());
    executor.run_frame(1);
    assert!(!executor.has_ready());
    script.resume();
    assert!(executor.has_ready());
    executor.run_frame(1);
    assert!(script.is_finished());
}

#[test]
fn a_paused_coroutine_is_not_polled() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let (sender, mut receiver) = mpsc::unbounded::<()>();
    let listener = executor.start(counted(polls.clone(), async move {
        loop {
            select_biased! {
                _ = receiver.next() => {}
                () = next_frame() => {}
            }
        }
    }));
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2);
    listener.pause();
    for _ in 0..100 {
        for _ in 0..10 {
            sender.unbounded_send(()).unwrap();
        }
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 2);
    listener.resume();
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 3);
}

// In the middle of things

// docs/contract.md#decided-keeps-its-place
#[test]
fn one_paused_in_the_run_in_which_it_is_due_continues_when_it_is_resumed() {
    for wait in 0..4 {
        let mut executor = unclamped();
        let owner = Rc::new(executor.owner());
        let log = Log::new();
        let pauser = owner.clone();
        executor.start(async move {
            next_frame().await;
            pauser.pause();
            wait_frames(2).await;
            pauser.resume();
        });
        let say = log.clone();
        owner.start(async move {
            match wait {
                0 => next_frame().await,
                1 => wait_frames(1).await,
                2 => wait_seconds(0.25).await,
                _ => swallow(wait_seconds(0.25)).await,
            }
            say.say("due");
        });
        // Resumed in the middle of F3.Update, later in that run.
        for _ in 0..4 {
            executor.run_frame(0.25);
        }
        log.check(&["F3: due"]);
    }
}

#[test]
fn a_coroutine_that_pauses_itself_continues_to_its_next_wait() {
    for of_owner in [false, true] {
        let (mut timeline, owner) = quarters();
        let owner = Rc::new(owner);
        let executor = timeline.executor().handle();
        let (own, handle) = (owner.clone(), executor.clone());
        let id = timeline.row_on(&owner, "self", |mark| async move {
            next_frame().await;
            let paused = if of_owner {
                own.pause()
            } else {
                handle.pause(current())
            };
            assert!(paused);
            mark.hit();
            // Begun while paused: its whole length is still to come.
            wait_seconds(0.5).await;
            mark.hit();
        });
        timeline.run_to(4);
        if of_owner {
            owner.resume();
        } else {
            executor.resume(id);
        }
        timeline.check("frame 0 1 2 3 4 5 6\nself  - * - - - - *");
    }
}

#[test]
fn a_coroutine_that_pauses_and_resumes_itself_loses_no_time() {
    let (mut timeline, owner) = quarters();
    let owner = Rc::new(owner);
    let own = owner.clone();
    timeline.row_on(&owner, "self", |mark| async move {
        for _ in 0..3 {
            own.pause();
            let wait = wait_seconds(0.5);
            own.resume();
            wait.await;
            mark.hit();
        }
    });
    timeline.check("frame 0 1 2 3 4 5 6\nself  - - * - * - *");
}

#[test]
fn a_wait_polled_again_for_another_reason_is_not_ready_early() {
    let mut executor = unclamped();
    let (sender, mut receiver) = mpsc::unbounded::<()>();
    let wait = executor.start(async move {
        let mut wait = wait_seconds(1);
        loop {
            select_biased! {
                () = wait => break time().frame,
                _ = receiver.next() => {}
            }
        }
    });
    executor.run_frame(0.25);
    wait.pause();
    for _ in 0..10 {
        executor.run_frame(0.25);
    }
    wait.resume();
    while !wait.is_finished() {
        sender.unbounded_send(()).unwrap();
        executor.run_frame(0.25);
    }
    assert_eq!(result_of(&executor, wait).unwrap(), 14);
}

#[test]
fn combinators_find_all_of_their_waits_where_they_were() {
    let (mut timeline, owner) = quarters();
    timeline.row_on(&owner, "join", |mark| async move {
        join!(
            wait_seconds(0.5),
            wait_seconds_realtime(0.75),
            wait_frames(2)
        );
        mark.hit();
    });
    timeline.row_on(&owner, "all", |mark| async move {
        let mut waits: FuturesUnordered<_> = (1..=4_u32)
            .map(|n| wait_seconds(f64::from(n) / 4.0))
            .collect();
        while waits.next().await.is_some() {
            mark.hit();
        }
    });
    timeline.row_on(&owner, "select", |mark| async move {
        let (mut a, mut b) = (wait_seconds(0.75), wait_frames(10));
        select_biased! {
            () = a => mark.hit(),
            () = b => unreachable!("due in frame 10"),
        }
    });
    timeline.run_to(1);
    owner.pause();
    timeline.run_to(5);
    owner.resume();
    timeline.check(
        "
        frame  0 1 2 3 4 5 6 7 8
        join   - - - - - - - *
        all    - * - - - - * * *
        select - - - - - - - *
        ",
    );
}

#[test]
fn a_wait_that_goes_to_another_coroutine_keeps_what_is_left_of_it() {
    let mut executor = unclamped();
    // A coroutine that was paused for five seconds hands over a wait with one
    // second left.
    let (give, take) = oneshot::channel();
    let first = executor.start(async move {
        wait_seconds(0.25).await;
        let mut wait = Box::pin(wait_seconds(1));
        assert!(poll_once(&mut wait).await.is_pending());
        give.send(wait).unwrap();
        forever().await;
    });
    first.pause();
    for _ in 0..20 {
        executor.run_frame(0.25);
    }
    first.resume();
    let second = executor.start(async move {
        take.await.unwrap().await;
        time().frame
    });
    assert_eq!(executor.run_until(second, 0.25).unwrap(), 25);
}

// For a pause, fixed time and game time are different clocks

// docs/contract.md#decided-pause-in-a-step
#[test]
fn a_pause_that_ends_in_a_fixed_step_counts_for_each_wait_on_its_own_time() {
    let mut executor = in_quarters();
    let owner = executor.owner();
    let log = Log::new();
    for phase in [Phase::FixedUpdate, Phase::Update] {
        let log = log.clone();
        owner.start(async move {
            wait_seconds(2).in_phase(phase).await;
            log.say(time().elapsed.as_secs_f64());
        });
    }
    executor.run_frame(1);
    // Paused at 1 s on both, and resumed in the second of four fixed steps.
    owner.pause();
    for resumed_in in [Some(1), None] {
        executor.begin_frame(1);
        for step in 0..4 {
            assert!(executor.begin_fixed_step());
            if resumed_in == Some(step) {
                owner.resume();
            }
            executor.run_phase(Phase::FixedUpdate);
        }
        executor.run_phase(Phase::Update);
    }
    // Update missed a frame of a second, the fixed steps two of a quarter.
    log.check(&["F3.FixedUpdate: 2.5", "F3: 3"]);
}
