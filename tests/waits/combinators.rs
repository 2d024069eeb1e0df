//! A wait inside any wrapper resumes the coroutine that polled it, and a wait that
//! has been dropped resumes no coroutine: docs/contract.md#rule-5-its-coroutine

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use futures::future::{Either, LocalBoxFuture, join_all, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{counted, forever, poll_once, swallow, update, yield_now};

type Made = LocalBoxFuture<'static, ()>;

/// Every kind of wait, due in the second frame of a quarter of a second.
fn waits_of_two_frames() -> Vec<(&'static str, Made)> {
    fn made(wait: impl Future + 'static) -> Made {
        wait.map(drop).boxed_local()
    }
    vec![
        ("frames", made(wait_frames(2))),
        ("seconds", made(wait_seconds(0.5))),
        ("realtime", made(wait_seconds_realtime(0.5))),
        ("until", made(wait_until(|| time().frame == 2))),
        ("while", made(wait_while(|| time().frame < 2))),
        ("next", made(next_frame().then(|()| next_frame()))),
        (
            "phase",
            made(next_frame().then(|()| in_phase(Phase::Update))),
        ),
    ]
}

/// A row for each of them inside `wrap`.
fn wrapped<F: Future<Output = ()> + 'static>(wrap: fn(Made) -> F) -> Timeline {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, wait) in waits_of_two_frames() {
        timeline.row(name, |mark| async move {
            mark.hit();
            wrap(wait).await;
            mark.hit();
        });
    }
    timeline.row("join", |mark| async move {
        mark.hit();
        let child = start(wait_frames(2).map(drop));
        wrap(child.map(Result::unwrap).boxed_local()).await;
        mark.hit();
    });
    timeline
}

const ALL_DUE_IN_FRAME_2: &str = "
    frame    0 1 2 3
    frames   * - *
    seconds  * - *
    realtime * - *
    until    * - *
    while    * - *
    next     * - *
    phase    * - *
    join     * - *
    ";

#[test]
fn boxed_waits_are_waits() {
    wrapped(|wait| async move {
        let nested: Pin<Box<dyn Future<Output = ()>>> = Box::pin(wait);
        nested.await;
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_behind_a_wrapper_that_swallows_the_waker() {
    wrapped(swallow).check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_behind_a_swallowed_waker_beside_others() {
    wrapped(|wait| async move {
        futures::join!(swallow(wait), swallow(next_frame()), wait_frames(1));
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_in_select() {
    wrapped(|wait| async move {
        let mut wait = wait.fuse();
        let mut never = wait_seconds(f64::INFINITY);
        futures::select! {
            () = wait => (),
            () = never => unreachable!(),
        }
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_in_join() {
    wrapped(|wait| async move {
        futures::join!(next_frame(), wait, wait_frames(1));
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_in_futures_unordered() {
    wrapped(|wait| async move {
        let mut waits: FuturesUnordered<Made> = [wait, wait_frames(1).map(drop).boxed_local()]
            .into_iter()
            .collect();
        while waits.next().await.is_some() {}
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_in_a_futures_unordered_behind_a_swallowed_waker() {
    wrapped(|wait| {
        swallow(async move {
            let mut waits: FuturesUnordered<Made> = [wait].into_iter().collect();
            while waits.next().await.is_some() {}
        })
    })
    .check(ALL_DUE_IN_FRAME_2);
}

#[test]
fn waits_work_when_shared() {
    wrapped(|wait| async move {
        let wait = wait.shared();
        futures::join!(wait.clone(), wait);
    })
    .check(ALL_DUE_IN_FRAME_2);
}

// docs/contract.md#decided-shared-waits
#[test]
fn a_wait_shared_between_coroutines_resumes_all_of_them() {
    let mut timeline = Timeline::with_dt(0.25);
    let wait = wait_seconds(0.5).map(drop).boxed_local().shared();
    for name in ["a", "b", "c"] {
        let wait = wait.clone();
        timeline.row(name, |mark| async move {
            wait.await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0 1 2 3
        a     - - *
        b     - - *
        c     - - *
        ",
    );
}

#[test]
fn join_waits_for_the_longest_and_select_for_the_shortest() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("join", |mark| async move {
        futures::join!(wait_seconds(0.25), wait_seconds(0.75), wait_frames(2));
        mark.hit();
    });
    timeline.row("select", |mark| async move {
        futures::select! {
            () = wait_seconds(0.75) => unreachable!(),
            () = wait_frames(2) => mark.hit(),
        }
    });
    timeline.check(
        "
        frame  0 1 2 3 4
        join   - - - *
        select - - *
        ",
    );
}

#[test]
fn both_branches_that_are_due_in_a_run_are_ready_in_it() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("first", |mark| async move {
        futures::select_biased! {
            () = wait_seconds(0.5) => mark.hit(), // the later place in the order
            () = wait_frames(2) => unreachable!(),
        }
    });
    timeline.row("both", |mark| async move {
        futures::join!(
            async {
                wait_seconds(0.5).await;
                mark.hit();
            },
            async {
                wait_frames(2).await;
                mark.hit();
            }
        );
    });
    timeline.check(
        "
        frame 0 1 2  3
        first - - *
        both  - - **
        ",
    );
}

#[test]
fn waits_of_different_phases_in_one_coroutine_resume_each_in_its_own() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("join", |mark| async move {
        let marked = |phase| {
            let mark = mark.clone();
            async move {
                loop {
                    in_phase(phase).await;
                    mark.hit();
                }
            }
        };
        let early = marked(Phase::EarlyUpdate);
        let update = marked(Phase::Update);
        let end = marked(Phase::EndOfFrame);
        futures::join!(update, end, early);
    });
    timeline.check(
        "
        frame 0 1   2   3
        join  - E*Z E*Z E*Z
        ",
    );
}

#[test]
fn sixty_four_frames_joined_are_one_frame() {
    let mut executor = unclamped();
    let all = executor.start(async {
        let frames = join_all((0..64).map(|_| next_frame().map(|()| time().frame))).await;
        assert!(frames.iter().all(|&frame| frame == 1));
        frames.len()
    });
    executor.run_frame(0.25);
    assert_eq!(framestep_testkit::result_of(&executor, all).unwrap(), 64);
}

#[test]
fn futures_unordered_yields_its_waits_in_the_runs_in_which_they_are_due() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let mut waits: FuturesUnordered<LocalBoxFuture<'static, &str>> = FuturesUnordered::new();
        waits.push(wait_seconds(0.75).map(|()| "seconds").boxed_local());
        waits.push(wait_frames(2).map(|()| "frames").boxed_local());
        waits.push(end_of_frame().map(|()| "phase").boxed_local());
        waits.push(next_frame().map(|()| "next").boxed_local());
        let child = start(async { wait_frames(4).await });
        waits.push(child.map(|_| "join").boxed_local());
        while let Some(name) = waits.next().await {
            say.say(name);
        }
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: next",
        "F1.EndOfFrame: phase",
        "F2: frames",
        "F3: seconds",
        "F4: join",
    ]);
}

// wakers

/// A waker that counts its calls.
fn counter() -> (Arc<AtomicUsize>, Waker) {
    let count = Arc::new(AtomicUsize::new(0));
    let counts = count.clone();
    let waker = waker_fn::waker_fn(move || {
        counts.fetch_add(1, Ordering::Relaxed);
    });
    (count, waker)
}

/// Polls `wait` with one foreign waker, then with another. When the coroutine is
/// resumed, notes how often each was woken.
async fn with_two_wakers(mut wait: Made, log: Log, name: &'static str) {
    let (first_count, first) = counter();
    let (second_count, second) = counter();
    let mut poll = |waker| wait.as_mut().poll(&mut Context::from_waker(waker));
    assert!(poll(&first).is_pending());
    assert!(poll(&second).is_pending());
    poll_fn(|_| {
        let woken = second_count.load(Ordering::Relaxed) > 0;
        let polled = poll(&second);
        assert_eq!(polled.is_ready(), woken, "{name}: ready means woken");
        polled
    })
    .await;
    let stale = first_count.load(Ordering::Relaxed);
    log.say(format_args!(
        "{name}, the first waker was woken {stale} times"
    ));
}

#[test]
fn a_changed_waker_replaces_the_one_before() {
    let mut executor = unclamped();
    let log = Log::new();
    for (name, wait) in [
        ("next", next_frame().map(drop).boxed_local()),
        ("frames", wait_frames(2).map(drop).boxed_local()),
        ("seconds", wait_seconds(0.5).map(drop).boxed_local()),
        (
            "realtime",
            wait_seconds_realtime(0.5).map(drop).boxed_local(),
        ),
        ("phase", end_of_frame().map(drop).boxed_local()),
    ] {
        executor.start(with_two_wakers(wait, log.clone(), name));
    }
    let child = executor.start(wait_frames(3).map(drop));
    executor.start(with_two_wakers(
        child.map(drop).boxed_local(),
        log.clone(),
        "join",
    ));
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: next, the first waker was woken 0 times",
        "F1.EndOfFrame: phase, the first waker was woken 0 times",
        "F2: frames, the first waker was woken 0 times",
        "F2: seconds, the first waker was woken 0 times",
        "F2: realtime, the first waker was woken 0 times",
        "F3: join, the first waker was woken 0 times",
    ]);
}

#[test]
fn a_foreign_waker_that_does_not_change_is_woken_once() {
    let mut executor = unclamped();
    let (count, waker) = counter();
    let mut wait = wait_seconds(0.5).boxed_local();
    executor.start(async move {
        poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(&waker))).await;
    });
    executor.run_frame(0.25);
    assert_eq!(count.load(Ordering::Relaxed), 0);
    for _ in 0..4 {
        executor.run_frame(0.25);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}

// docs/contract.md#decided-moved-waits, docs/contract.md#rule-8-moved-waits
#[test]
fn a_wait_that_moves_to_another_coroutine_resumes_that_one() {
    let mut executor = unclamped();
    let log = Log::new();
    let wait = Rc::new(RefCell::new(Some(wait_seconds(0.5))));
    let polls = Rc::new(Cell::new(0));
    let leave = wait.clone();
    executor.start(counted(polls.clone(), async move {
        let mut wait = leave.take().unwrap();
        assert!(poll_once(&mut wait).await.is_pending());
        leave.replace(Some(wait));
        forever().await;
    }));
    let say = log.clone();
    executor.start(async move {
        let wait = wait.take().unwrap();
        wait.await;
        say.say("resumed");
    });
    assert_eq!(polls.take(), 1);
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&["F2: resumed"]);
    assert_eq!(polls.get(), 0, "the first one waits for something else now");
}

// dropping

#[test]
fn a_branch_that_lost_resumes_no_coroutine() {
    for (name, lost) in waits_of_two_frames() {
        let mut executor = unclamped();
        let polls = Rc::new(Cell::new(0));
        executor.start(counted(polls.clone(), async move {
            match select(lost, next_frame()).await {
                Either::Left(_) => panic!("due in frame 2"),
                Either::Right(((), lost)) => drop(lost),
            }
            forever().await;
        }));
        executor.run_frame(0.25);
        polls.take();
        for _ in 0..4 {
            executor.run_frame(0.25);
        }
        assert_eq!(polls.get(), 0, "{name}");
        assert_eq!(executor.next_deadline(), None, "{name}");
    }
}

#[test]
fn a_lost_join_resumes_no_coroutine() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let mut child = executor.start(wait_frames(2));
    let also = child.finished();
    executor.start(counted(polls.clone(), async move {
        futures::select! {
            _ = child => unreachable!(),
            _ = also.fuse() => unreachable!(),
            () = next_frame() => (),
        }
        drop(child);
        forever().await;
    }));
    executor.run_frame(0.25);
    polls.take();
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 0);
    assert_eq!(executor.len(), 1, "the child has ended, unheard");
}

#[test]
fn a_dropped_phase_wait_resumes_no_coroutine() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async move {
        for phase in [Phase::Update, Phase::LateUpdate, Phase::EndOfFrame] {
            let mut wait = in_phase(phase);
            assert!(poll_once(&mut wait).await.is_pending());
        }
        let mut wait = next_frame();
        assert!(poll_once(&mut wait).await.is_pending());
        drop(wait);
        forever().await;
    }));
    polls.take();
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 0);
}

#[test]
fn a_dropped_condition_is_not_asked_again() {
    let mut executor = unclamped();
    let asked = Rc::new(Cell::new(0));
    let ask = asked.clone();
    executor.start(async move {
        futures::select! {
            () = wait_until(move || { ask.set(ask.get() + 1); false }) => unreachable!(),
            () = wait_frames(2) => (),
        }
        wait_frames(3).await;
    });
    executor.run_frame(0.25);
    assert_eq!(asked.get(), 1);
    executor.run_frame(0.25);
    let when_dropped = asked.get();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(asked.get(), when_dropped);
}

#[test]
fn a_wait_begun_anew_waits_the_full_time() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("anew", |mark| async move {
        for _ in 0..3 {
            futures::select! {
                () = wait_seconds(0.5) => unreachable!(),
                () = next_frame() => mark.hit(),
            }
        }
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3 4 5 6
        anew  - * * * - *
        ",
    );
}

#[test]
fn a_coroutine_resumed_by_one_wait_keeps_the_others() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("one-timer", |mark| async move {
        let mut timer = wait_seconds(1);
        for _ in 0..10 {
            futures::select_biased! {
                () = timer => break,
                () = next_frame() => mark.hit(),
            }
        }
    });
    timeline.check(
        "
        frame     0    1    2    3    4    5
        time      0.00 0.25 0.50 0.75 1.00 1.25
        one-timer -    *    *    *
        ",
    );
}

#[test]
fn waits_are_unpin_and_know_when_they_have_ended() {
    use futures::future::FusedFuture;
    fn check<F: FusedFuture + Unpin + 'static>(mut wait: F) {
        let mut executor = unclamped();
        let done = executor.start(async move {
            assert!(!wait.is_terminated());
            (&mut wait).await;
            assert!(wait.is_terminated());
        });
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        framestep_testkit::result_of(&executor, done).unwrap();
    }
    check(next_frame());
    check(wait_frames(2));
    check(wait_seconds(0.25));
    check(wait_seconds_realtime(0.25));
    check(fixed_update());
    check(end_of_frame());
    check(in_phase(Phase::LateUpdate));
    check(wait_until(|| true));
    check(wait_while(|| false));
}

#[test]
fn a_select_in_a_loop_leaves_no_timers_behind() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), async {
        for _ in 0..1_000 {
            futures::select_biased! {
                () = wait_seconds(3_600) => unreachable!(),
                () = next_frame() => (),
            }
        }
        forever().await;
    }));
    for _ in 0..1_000 {
        executor.run_frame(0.25);
    }
    assert_eq!(executor.next_deadline(), None);
    polls.take();
    update(&mut executor, 10_000);
    assert_eq!(polls.get(), 0);
}

#[test]
fn a_coroutine_is_due_once_a_waker_was_called_for_it_even_if_that_wait_is_gone() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let waits: Rc<RefCell<FuturesUnordered<_>>> = Rc::default();
    let taken = waits.clone();
    executor.start(async move {
        next_frame().await;
        drop(taken.take());
    });
    waits.borrow().push(next_frame());
    let count = polls.clone();
    executor.start(poll_fn(move |cx| {
        count.set(count.get() + 1);
        let _ = waits.borrow_mut().poll_next_unpin(cx);
        Poll::<()>::Pending
    }));
    assert_eq!(polls.take(), 1);
    executor.run_frame(0.25);
    assert_eq!(polls.take(), 1);
    executor.run_frame(0.25);
    assert_eq!(polls.take(), 0);
}

#[test]
fn a_wait_without_end_is_not_over_when_it_is_polled_for_another_reason() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("join", |mark| async move {
        let other = async {
            yield_now().await;
            mark.hit();
        };
        futures::join!(wait_seconds(f64::INFINITY), other);
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3
        join  - * - -
        ",
    );
}
