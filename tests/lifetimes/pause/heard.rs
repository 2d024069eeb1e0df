//! The wakers of a combinator inside a paused coroutine are called at once, except for those
//! of timers.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use futures::future::{LocalBoxFuture, join_all};
use futures::stream::{FuturesUnordered, StreamExt};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, in_quarters, unclamped};
use framestep_testkit::{counted, forever};

/// Counts its wakes, like a combinator that notes which of its futures to poll.
#[derive(Default)]
struct Bell(AtomicU32);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    fn rung(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Polls `wait` with a separate waker.
async fn behind(bell: Arc<Bell>, mut wait: LocalBoxFuture<'static, ()>) {
    let waker = Waker::from(bell);
    poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(&waker))).await;
}

#[test]
fn a_wait_behind_another_waker_calls_it_in_the_run_in_which_it_is_due() {
    type Make = fn() -> LocalBoxFuture<'static, ()>;
    let waits: [(&str, Make, [u32; 4]); 7] = [
        // How often it has been called after each frame, during a pause.
        ("next", || next_frame().boxed_local(), [1; 4]),
        ("phase", || in_phase(Phase::Update).boxed_local(), [1; 4]),
        ("fixed", || fixed_update().boxed_local(), [1; 4]),
        ("end", || end_of_frame().boxed_local(), [1; 4]),
        ("frames", || wait_frames(3).boxed_local(), [0, 0, 1, 1]),
        (
            "join",
            || {
                let child = start(wait_frames(2));
                child.map(|ended| ended.unwrap()).boxed_local()
            },
            [0, 1, 1, 1],
        ),
        // It stands still: docs/contract.md#decided-hidden-waits
        ("seconds", || wait_seconds(0.25).boxed_local(), [0; 4]),
    ];
    for (name, wait, expected) in waits {
        let mut executor = in_quarters();
        let bell = Arc::new(Bell::default());
        let polls = Rc::new(Cell::new(0));
        let ring = bell.clone();
        let waits = async move { behind(ring, wait()).await };
        let script = executor.start(counted(polls.clone(), waits));
        script.pause();
        for calls in expected {
            executor.run_frame(0.25);
            assert_eq!(bell.rung(), calls, "{name}");
            assert_eq!(polls.get(), 1, "{name}: it is paused");
        }
        script.resume();
        executor.run_frame(0.25);
        assert_eq!(polls.get(), 2, "{name}");
        assert!(script.is_finished(), "{name}");
    }
}

#[test]
fn a_combinator_of_many_finds_all_that_fell_due_in_one_poll() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    let say = log.clone();
    owner.start(counted(polls.clone(), async move {
        join_all((0..40).map(|at| wait_frames(1 + at % 5))).await;
        say.say("join_all");
    }));
    let say = log.clone();
    owner.start(async move {
        let mut waits: FuturesUnordered<_> = (0..40).map(|at| wait_frames(1 + at % 5)).collect();
        let mut over = 0;
        while waits.next().await.is_some() {
            over += 1;
        }
        say.say(format_args!("{over} of FuturesUnordered"));
    });
    // The first poll of such a collection wakes itself; that has already
    // happened.
    executor.run_phase(Phase::Update);
    polls.take();
    owner.pause();
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    log.check(&[]);
    owner.resume();
    executor.run_frame(0.25);
    log.check(&["F7: join_all", "F7: 40 of FuturesUnordered"]);
    assert_eq!(polls.get(), 1);
}

// docs/contract.md#decided-keeps-its-place
#[test]
fn a_combinator_paused_as_the_run_begins_and_resumed_in_it_continues_in_that_run() {
    type Make = fn() -> LocalBoxFuture<'static, ()>;
    let combinators: [(&str, Make); 5] = [
        ("none", || next_frame().boxed_local()),
        ("join_all of 3", || {
            join_all((0..3).map(|_| next_frame()))
                .map(drop)
                .boxed_local()
        }),
        ("join_all of 40", || {
            join_all((0..40).map(|_| next_frame()))
                .map(drop)
                .boxed_local()
        }),
        ("one of FuturesUnordered", || {
            let mut waits: FuturesUnordered<_> = (0..3).map(|_| next_frame()).collect();
            async move { waits.next().await.unwrap() }.boxed_local()
        }),
        ("select", || {
            futures::future::select(next_frame(), forever().boxed_local())
                .map(drop)
                .boxed_local()
        }),
    ];
    for (name, combinator) in combinators {
        // The coroutine that calls `resume` is polled before it, or after it.
        for resumes_first in [true, false] {
            let mut executor = unclamped();
            let owner = Rc::new(executor.owner());
            let log = Log::new();
            let resumes = || {
                let (own, say) = (owner.clone(), log.clone());
                executor.start(async move {
                    next_frame().await;
                    own.resume();
                    say.say("resumes");
                })
            };
            let early = resumes_first.then(&resumes);
            let say = log.clone();
            owner.start(async move {
                combinator().await;
                say.say("goes on");
            });
            let late = early.is_none().then(&resumes);
            // Consumes the wake that a collection causes in its first poll.
            executor.run_phase(Phase::Update);
            owner.pause();
            executor.run_frame(0.25);
            assert!(early.or(late).is_some_and(|one| one.is_finished()));
            assert_eq!(log.take(), ["F1: resumes", "F1: goes on"], "{name}");
        }
    }
}

#[test]
fn what_is_heard_in_the_pause_is_not_lost_to_a_second_pause() {
    let mut executor = unclamped();
    let bell = Arc::new(Bell::default());
    let ring = bell.clone();
    let script = executor.start(async move {
        let first = behind(ring.clone(), next_frame().boxed_local());
        let second = behind(ring, wait_frames(3).boxed_local());
        futures::join!(first, second);
    });
    script.pause();
    executor.run_frame(0.25);
    assert_eq!(bell.rung(), 1);
    script.resume();
    script.pause();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(bell.rung(), 2);
    assert!(!script.is_finished());
    script.resume();
    executor.run_frame(0.25);
    assert!(script.is_finished());
}

#[test]
fn a_wait_that_another_coroutine_looks_at_is_ready_though_its_own_is_paused() {
    let mut executor = unclamped();
    let log = Log::new();
    let wait = Rc::new(std::cell::RefCell::new(next_frame().boxed_local()));
    let begins = wait.clone();
    let first = executor.start(async move {
        let pending = poll_fn(|cx| Poll::Ready(begins.borrow_mut().as_mut().poll(cx))).await;
        assert!(pending.is_pending());
        forever().await;
    });
    first.pause();
    let say = log.clone();
    executor.start(async move {
        end_of_frame().await;
        poll_fn(|cx| Pin::new(&mut *wait.borrow_mut()).poll(cx)).await;
        say.say("ready");
    });
    executor.run_frame(0.25);
    log.check(&["F1.EndOfFrame: ready"]);
}
