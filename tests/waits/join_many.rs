//! `join_all` and `race`: any number of handles or other futures.

use std::cell::Cell;
use std::future::ready;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;
use futures::future::FusedFuture;

use framestep::prelude::*;
use framestep::wait::NextFrame;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, noted, panic_of, panic_text, place_of_panic, poll_once, swallow};

/// A coroutine that waits so many frames, and returns the number.
fn child(frames: u64) -> Coroutine<u64> {
    start(wait_frames(frames).map(move |()| frames))
}

#[test]
fn join_all_continues_as_soon_as_the_last_has_ended() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, frames) in [
        ("first", [3, 1, 2]),
        ("middle", [1, 3, 2]),
        ("last", [1, 2, 3]),
    ] {
        timeline.row(name, |mark| async move {
            let results = join_all(frames.map(child)).await;
            let values: Vec<_> = results.into_iter().map(Result::unwrap).collect();
            assert_eq!(values, frames);
            mark.hit();
        });
    }
    timeline.row("none", |mark| async move {
        assert!(join_all::<Coroutine<()>>([]).await.is_empty());
        mark.hit();
    });
    timeline.row("ended", |mark| async move {
        let ended = [start(async { 1 }), start(async { 2 })];
        assert_eq!(join_all(ended).await.len(), 2);
        mark.hit();
    });
    timeline.row("phase", |mark| async move {
        let late = start(wait_frames(2).in_phase(Phase::LateUpdate).map(drop));
        join_all([late, start(next_frame().map(drop))]).await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3 4
        first  - - - *
        middle - - - *
        last   - - - *
        none   *
        ended  *
        phase  - - L
        ",
    );
}

#[test]
fn join_all_returns_the_result_of_each() {
    let mut executor = unclamped();
    let parent = executor.start(async {
        let stopped = start(async {
            wait_frames(9).await;
            1
        });
        let id = stopped.id();
        let panics = start(async {
            next_frame().await;
            panic!("on purpose")
        });
        let finishes = start(wait_frames(2).map(|()| 3));
        start(async move {
            next_frame().await;
            stop(id);
        });
        join_all([stopped, panics, finishes]).await
    });
    let mut results = executor.run_until(parent, 0.25).unwrap().into_iter();
    assert!(results.next().unwrap().unwrap_err().is_stopped());
    let payload = results.next().unwrap().unwrap_err().into_panic();
    assert_eq!(panic_text(&*payload), "on purpose");
    assert_eq!(results.next().unwrap().unwrap(), 3);
    assert_eq!(executor.time().frame, 2);
}

#[test]
fn join_all_of_many_that_end_together_is_polled_once_for_each_at_most() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let joins = executor.start(counted(polls.clone(), async {
        join_all((0..100).map(|_| child(1))).await.len()
    }));
    assert_eq!(executor.run_until(joins, 0.25).unwrap(), 100);
    assert!(polls.get() <= 101, "{}", polls.get());
}

#[test]
fn race_continues_as_soon_as_the_first_has_ended() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, frames, winner) in [
        ("first", [1, 3, 2], 0),
        ("middle", [3, 1, 2], 1),
        ("last", [3, 2, 1], 2),
        ("tie", [2, 1, 1], 1), // the one that is resumed first
    ] {
        timeline.row(name, |mark| async move {
            let (index, result) = race(frames.map(child)).await;
            assert_eq!((index, result.unwrap()), (winner, 1));
            mark.hit();
        });
    }
    timeline.row("ended", |mark| async move {
        let (index, _) = race([child(5), start(async { 1 }), start(async { 2 })]).await;
        assert_eq!(index, 1);
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2
        first  - *
        middle - *
        last   - *
        tie    - *
        ended  *
        ",
    );
}

#[test]
fn a_tie_within_a_run_goes_to_the_one_that_ends_first() {
    let mut executor = unclamped();
    let parent = executor.start(async {
        // Waiters come before timers.
        let timer = start(wait_seconds(0.25).map(|()| "timer"));
        let waiter = start(next_frame().map(|()| "waiter"));
        race([timer, waiter]).await.1.unwrap()
    });
    assert_eq!(executor.run_until(parent, 0.25).unwrap(), "waiter");
}

#[test]
fn several_that_end_in_one_poll_tie_by_index() {
    let mut executor = unclamped();
    let parent = executor.start(async {
        let runners = [child(9), child(9), child(9)];
        let ids = [2, 1].map(|i: usize| runners[i].id());
        start(async move {
            next_frame().await;
            for id in ids {
                stop(id);
            }
        });
        let (index, result) = race(runners).await;
        assert!(result.unwrap_err().is_stopped());
        index
    });
    assert_eq!(executor.run_until(parent, 0.25).unwrap(), 1);
}

#[test]
fn losers_continue_unless_they_stop_on_drop() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let runner = |name: &'static str, frames| {
            let (say, guard) = (say.clone(), say.on_drop(format!("{name} dropped")));
            start(async move {
                let _guard = guard;
                wait_frames(frames).await;
                say.say(name);
            })
        };
        let runners = [
            runner("a", 3),
            runner("b", 1),
            runner("c", 3).stop_on_drop(),
        ];
        let (winner, _) = race(runners).await;
        say.say(format!("{winner} has won"));
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: b",
        "b dropped",
        "c dropped",
        "F1: 1 has won",
        "F3: a",
        "a dropped",
    ]);
}

#[test]
fn a_race_of_nothing_is_refused() {
    let line = line!() + 1;
    let nothing = || race::<Coroutine<()>>([]);
    assert!(panic_of(nothing).contains("no futures"));
    assert_eq!(place_of_panic(nothing), format!("{}:{line}", file!()));
}

#[test]
fn they_work_inside_combinators() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("select", |mark| async move {
        let mut all = join_all([child(1), child(5)]);
        let mut first = race([child(2), child(3)]);
        select! {
            _ = &mut all => unreachable!(),
            (index, _) = &mut first => assert_eq!(index, 0),
        }
        assert!(first.is_terminated() && !all.is_terminated());
        mark.hit();
    });
    timeline.row("join", |mark| async move {
        let (all, (index, _)) = join!(join_all([child(1), child(3)]), race([child(3), child(2)]));
        assert_eq!((all.len(), index), (2, 1));
        mark.hit();
    });
    timeline.row("swallow", |mark| async move {
        swallow(join_all([child(1), child(2)])).await;
        assert_eq!(swallow(race([child(2), child(1)])).await.0, 1);
        mark.hit();
    });
    timeline.row("timeout", |mark| async move {
        assert!(timeout(0.5, join_all([child(3)])).await.is_err());
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3 4
        select  - - *
        join    - - - *
        swallow - - - *
        timeout - - *
        ",
    );
}

#[test]
fn dropping_them_detaches() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let parent = executor.start(async move {
        let children = [1, 2].map(|frames| {
            let say = say.clone();
            start(async move {
                wait_frames(frames).await;
                say.say(frames);
            })
        });
        join_all(children).await;
    });
    parent.stop();
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: 1", "F2: 2"]);
}

/// A future that is neither `Unpin` nor fused.
async fn after(frames: u64) -> u64 {
    wait_frames(frames).await;
    frames
}

#[test]
fn they_take_futures_that_are_no_handles() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("all", |mark| async move {
        assert_eq!(join_all([2, 3, 1].map(after)).await, [2, 3, 1]);
        mark.hit();
    });
    timeline.row("race", |mark| async move {
        assert_eq!(race([3, 2, 4, 2].map(after)).await, (1, 2));
        mark.hit();
    });
    timeline.row("borrow", |mark| async move {
        let names = [String::from("a"), String::from("bcd")];
        let lengths = join_all(names.iter().map(async |name| {
            wait_frames(name.len() as u64).await;
            name.len()
        }));
        assert_eq!(lengths.await, [1, 3]);
        mark.hit();
    });
    timeline.row("handles", |mark| async move {
        let mut children = [child(1), child(3)];
        assert_eq!(race(&mut children).await.0, 0);
        assert_eq!(race(&mut children[1..]).await.1.unwrap(), 3);
        mark.hit();
    });
    timeline.row("none", |mark| async move {
        assert!(join_all(std::iter::empty::<NextFrame>()).await.is_empty());
        mark.hit();
    });
    timeline.check(
        "
        frame   0 1 2 3
        all     - - - *
        race    - - *
        borrow  - - - *
        handles - - - *
        none    *
        ",
    );
}

#[test]
fn waits_that_are_due_together_are_one_poll() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let script = executor.start(counted(polls.clone(), async {
        join_all((0..64).map(|_| next_frame())).await;
        race((0..64).map(|_| next_frame())).await;
    }));
    executor.run_until(script, 0.25).unwrap();
    assert_eq!(polls.get(), 3);
}

#[test]
fn join_all_polls_in_order_and_drops_what_is_ready() {
    let mut executor = unclamped();
    let log = Log::new();
    let futures = [("a", 2), ("b", 1), ("c", 3)].map(|(name, polls)| noted(&log, name, polls));
    let names = executor.run_until(join_all(futures), 0.25);
    assert_eq!(names, ["a", "b", "c"]);
    log.check(&["a", "b", "drop b", "c", "a", "drop a", "c", "c", "drop c"]);
    let futures = [("a", 9), ("b", 1), ("c", 9)].map(|(name, polls)| noted(&log, name, polls));
    executor.start(join_all(futures)).stop();
    log.check(&["a", "b", "drop b", "c", "drop a", "drop c"]);
}

#[test]
fn race_polls_in_order_and_drops_all_before_it_returns() {
    let mut executor = unclamped();
    let log = Log::new();
    let futures = [("a", 9), ("b", 2), ("c", 2)].map(|(name, polls)| noted(&log, name, polls));
    let say = log.clone();
    executor.run_until(
        async move {
            let winner = race(futures).await;
            assert_eq!(winner, (1, "b"));
            say.note("returned");
        },
        0.25,
    );
    log.check(&[
        "a", "b", "c", "a", "b", "drop a", "drop b", "drop c", "returned",
    ]);
}

#[test]
fn losing_waits_are_removed() {
    let mut executor = unclamped();
    executor.start(async {
        race([0.25, 1000.0].map(wait_seconds)).await;
        select! {
            _ = wait_seconds(1000) => {}
            _ = next_frame() => {}
        }
        std::future::pending::<()>().await;
    });
    for left in [true, true, false] {
        assert_eq!(
            executor.next_deadline().is_some() || executor.has_ready(),
            left
        );
        executor.run_frame(0.25);
    }
}

#[test]
fn they_are_fused_and_refuse_another_poll() {
    let mut executor = unclamped();
    executor.run_until(
        async {
            let (mut all, mut first) = (join_all([after(1)]), race([after(1)]));
            assert!(poll_once(&mut all).await.is_pending());
            assert!(!all.is_terminated() && !first.is_terminated());
            next_frame().await;
            assert!(poll_once(&mut all).await.is_ready());
            (&mut first).await;
            assert!(all.is_terminated() && first.is_terminated());
            let mut cx = Context::from_waker(Waker::noop());
            let text = panic_of(|| Pin::new(&mut all).poll(&mut cx).is_ready());
            assert_eq!(text, "`join_all()` was polled again after it had finished");
            let text = panic_of(|| Pin::new(&mut first).poll(&mut cx).is_ready());
            assert_eq!(text, "`race()` was polled again after it had finished");
        },
        0.25,
    );
}

#[test]
fn one_that_panics_takes_the_others_with_it() {
    for many in [true, false] {
        let mut executor = unclamped();
        let log = Log::new();
        let panics = async {
            next_frame().await;
            panic!("on purpose")
        };
        let futures = [noted(&log, "a", 9).boxed_local(), panics.boxed_local()];
        let script = executor.start(async move {
            if many {
                join_all(futures).await;
            } else {
                race(futures).await;
            }
        });
        let payload = executor.run_until(script, 0.25).unwrap_err().into_panic();
        assert_eq!(panic_text(&*payload), "on purpose");
        assert_eq!(log.take().last().unwrap(), "drop a");
    }
}

#[test]
fn they_print_how_many_are_pending() {
    let futures = || [ready(1), ready(2)];
    assert_eq!(
        format!("{:?}", join_all(futures())),
        "JoinAll { pending: 2, .. }"
    );
    assert_eq!(format!("{:?}", race(futures())), "Race { pending: 2, .. }");
    let mut executor = unclamped();
    let text = executor.run_until(
        async {
            let mut all = join_all([after(1), after(2)]);
            assert!(poll_once(&mut all).await.is_pending());
            next_frame().await;
            assert!(poll_once(&mut all).await.is_pending());
            let text = format!("{all:?}");
            (&mut all).await;
            text + &format!(" {all:?}")
        },
        0.25,
    );
    assert_eq!(
        text,
        "JoinAll { pending: 1, .. } JoinAll { pending: 0, .. }"
    );
}
