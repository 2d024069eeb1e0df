//! `join_all` and `race`: the ends of several coroutines.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::FusedFuture;
use futures::{FutureExt, select_biased};

use framestep::prelude::*;

use crate::support::{counted, panic_of, panic_text, swallow};
use crate::timeline::{Log, Timeline, unclamped};

/// A coroutine that waits so many frames, and gives the number.
fn child(frames: u64) -> Coroutine<u64> {
    start(wait_frames(frames).map(move |()| frames))
}

#[test]
fn join_all_goes_on_as_soon_as_the_last_has_ended() {
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
        assert!(join_all::<()>([]).await.is_empty());
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
fn join_all_gives_what_became_of_each() {
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
    // The first awaited ends last: the others cost no poll.
    polls.set(0);
    let joins = executor.start(counted(polls.clone(), async {
        join_all((0..100).map(|i| child(100 - i))).await.len()
    }));
    assert_eq!(executor.run_until(joins, 0.25).unwrap(), 100);
    assert_eq!(polls.get(), 2);
}

#[test]
fn race_goes_on_as_soon_as_the_first_has_ended() {
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
fn losers_go_on_unless_they_stop_on_drop() {
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
        let runners = [runner("a", 3), runner("b", 1), runner("c", 3)];
        runners[2].stop_on_drop();
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
    assert!(panic_of(|| race::<()>([])).contains("no coroutines"));
}

#[test]
fn they_work_inside_combinators() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("select", |mark| async move {
        let mut all = join_all([child(1), child(5)]);
        let mut first = race([child(2), child(3)]);
        select_biased! {
            _ = all => unreachable!(),
            (index, _) = first => assert_eq!(index, 0),
        }
        assert!(first.is_terminated() && !all.is_terminated());
        mark.hit();
    });
    timeline.row("join", |mark| async move {
        let (all, (index, _)) =
            futures::join!(join_all([child(1), child(3)]), race([child(3), child(2)]));
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
