//! `yield_now`: later in the same run, once for each call, and never without end.
//! docs/contract.md#rule-4-yield

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use futures::future::{FusedFuture, join, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::wait::yield_now;

use framestep_testkit::timeline::{Log, in_quarters, unclamped};
use framestep_testkit::{counted, forever, panic_of, poll_once, swallow};

/// Says its name so many times, and yields in between.
async fn turns(log: Log, name: &'static str, count: u32) {
    for _ in 0..count {
        log.say(name);
        yield_now().await;
    }
}

#[test]
fn scripts_take_turns_within_one_run() {
    let mut executor = unclamped();
    let log = Log::new();
    executor.spawn(turns(log.clone(), "a", 3));
    executor.spawn(turns(log.clone(), "b", 2));
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: b", "F1: a", "F1: b", "F1: a"]);
    executor.assert_empty();
}

#[test]
fn it_comes_after_all_that_is_due_and_is_ready_at_the_time_of_the_call() {
    let mut executor = unclamped();
    let log = Log::new();
    let gate = Watch::new(false);
    for (name, wait) in [
        ("waiter", next_frame().boxed_local()),
        ("timer", wait_seconds(0.25).boxed_local()),
        ("woken", gate.wait_for(|&open| open).map(drop).boxed_local()),
    ] {
        let log = log.clone();
        executor.start(async move {
            wait.await;
            log.say(name);
        });
    }
    let say = log.clone();
    executor.spawn(async move {
        say.say("first");
        gate.set(true);
        let late = say.clone();
        spawn(async move { late.say("spawned") });
        yield_now().await;
        say.say("last");
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1: first",
        "F1: waiter",
        "F1: timer",
        "F1: woken",
        "F1: spawned",
        "F1: last",
    ]);
}

#[test]
fn it_stays_in_the_run_under_way_whatever_phase_that_is() {
    let mut executor = in_quarters();
    let log = Log::new();
    for phase in [Phase::EarlyUpdate, Phase::FixedUpdate, Phase::LateUpdate] {
        let log = log.clone();
        executor.start(async move {
            in_phase(phase).await;
            yield_now().await;
            log.say("same");
            next_frame().await;
            log.say("home");
        });
    }
    executor.run_frame(0.5);
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: same",
        "F1.FixedUpdate: same",
        "F1.LateUpdate: same",
        "F2: home",
        "F2: home",
        "F2: home",
    ]);
}

#[test]
fn outside_of_a_run_it_waits_for_the_next_one_of_home() {
    let mut executor = unclamped();
    let log = Log::new();
    for home in [Phase::Update, Phase::LateUpdate] {
        let log = log.clone();
        executor.script("").in_phase(home).start(async move {
            yield_now().await;
            log.say("resumed");
        });
    }
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    log.check(&["F1: resumed", "F1.LateUpdate: resumed"]);
}

#[test]
fn in_a_start_during_a_run_it_is_the_turn_of_the_others() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.spawn(async move {
        start(turns(say.clone(), "started", 2));
        say.say("starter");
    });
    executor.run_frame(0.25);
    log.check(&["F1: started", "F1: starter", "F1: started"]);
}

fn reports_of(executor: &Executor) -> Rc<RefCell<Vec<Report>>> {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let hears = reports.clone();
    executor.on_report(move |report| hears.borrow_mut().push(report.clone()));
    reports
}

#[test]
fn a_loop_around_it_cannot_hold_the_frame() {
    for has_own_waker in [false, true] {
        let mut executor = Executor::builder().max_polls_per_run(10).build();
        let reports = reports_of(&executor);
        let (polls, late) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        for (phase, polls) in [(Phase::Update, &polls), (Phase::LateUpdate, &late)] {
            let polls = polls.clone();
            executor.spawn(async move {
                if has_own_waker {
                    let _ = poll_once(&mut Signal::<()>::new().wait()).await;
                }
                in_phase(phase).await;
                loop {
                    polls.set(polls.get() + 1);
                    yield_now().await;
                }
            });
        }
        executor.run_frame(0.25);
        assert_eq!(late.get(), 11);
        executor.run_frame(0.25);
        // In the next frame, in the same phase: 11 more polls, 10 of them for yields.
        assert_eq!((polls.get(), late.get()), (11, 22));
        executor.run_frame(0.25);
        assert_eq!((polls.get(), late.get()), (22, 33));
        let reports = reports.borrow();
        assert_eq!(reports.len(), 5, "one for each run");
        for report in reports.iter() {
            assert!(
                matches!(report, Report::PollLimitReached { polls: 10, .. }),
                "{report}"
            );
        }
    }
}

// docs/contract.md#decided-budget-of-a-run
#[test]
fn the_yields_of_many_take_nothing_from_the_budget_of_the_run() {
    const YIELDS: u32 = 10;
    /// With their yields, more polls than the 1,000 of the budget and one for each.
    const SCRIPTS: u32 = 500;
    let mut executor = Executor::builder().max_polls_per_run(YIELDS).build();
    let (reports, log) = (reports_of(&executor), Log::new());
    for _ in 0..SCRIPTS {
        executor.spawn(turns(Log::new(), "many", YIELDS));
    }
    let say = log.clone();
    executor.spawn(async move {
        let child = spawn(turns(Log::new(), "child", YIELDS));
        child.await.unwrap();
        say.say("joined");
    });
    executor.run_frame(0.25);
    log.check(&["F1: joined"]);
    executor.assert_empty();
    assert_eq!(*reports.borrow(), []);
}

// docs/contract.md#rule-4-limit
#[test]
fn as_many_yields_as_wakes_are_allowed_beside_them() {
    const LIMIT: u32 = 10;
    let mut executor = Executor::builder().max_polls_per_run(LIMIT).build();
    let (reports, polls) = (reports_of(&executor), Rc::new(Cell::new(0)));
    let (sender, receiver) = async_channel::unbounded();
    executor.spawn(counted(polls.clone(), async move {
        for _ in 0..LIMIT {
            receiver.recv().await.unwrap();
        }
        for _ in 0..LIMIT {
            yield_now().await;
        }
    }));
    executor.spawn(async move {
        for _ in 0..LIMIT {
            sender.send(()).await.unwrap();
            yield_now().await;
        }
    });
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 1 + LIMIT + LIMIT);
    executor.assert_empty();
    assert_eq!(*reports.borrow(), []);
}

#[test]
fn each_call_resumes_once_behind_every_combinator() {
    let wrappers: [fn() -> futures::future::LocalBoxFuture<'static, ()>; 8] = [
        || yield_now().boxed_local(),
        || swallow(yield_now()).boxed_local(),
        || join(yield_now(), async {}).map(drop).boxed_local(),
        || {
            select(forever().boxed_local(), yield_now())
                .map(drop)
                .boxed_local()
        },
        || {
            async {
                let mut all: FuturesUnordered<_> = (0..2).map(|_| yield_now()).collect();
                while let Some(()) = all.next().await {}
            }
            .boxed_local()
        },
        || yield_now().shared().boxed_local(),
        || {
            async {
                select! {
                    _ = forever() => {}
                    _ = yield_now() => {}
                }
            }
            .boxed_local()
        },
        || timeout(9, yield_now()).map(drop).boxed_local(),
    ];
    for (at, wrapper) in wrappers.into_iter().enumerate() {
        let mut executor = unclamped();
        let (log, polls) = (Log::new(), Rc::new(Cell::new(0)));
        let say = log.clone();
        executor.spawn(counted(polls.clone(), async move {
            wrapper().await;
            say.say("yielded");
        }));
        let say = log.clone();
        executor.spawn(async move { say.say("other") });
        executor.run_frame(0.25);
        log.check(&["F1: other", "F1: yielded"]);
        assert_eq!(polls.get(), 2, "wrapper {at}");
        executor.run_frame(0.25);
        assert!(executor.is_empty() && !executor.has_ready());
    }
}

#[test]
fn two_polls_of_one_turn_are_not_two_turns() {
    let mut executor = unclamped();
    let script = executor.spawn(async {
        let mut wait = yield_now();
        assert!(poll_once(&mut wait).await.is_pending());
        assert!(poll_once(&mut wait).await.is_pending());
        assert!(!wait.is_terminated());
        wait.await;
        time().frame
    });
    assert_eq!(executor.run_until(script, 0.25).unwrap(), 1);
}

#[test]
fn a_poll_for_another_reason_takes_no_turn_away() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, polls) = (log.clone(), Rc::new(Cell::new(0)));
    // Polled by the spawn, by the timer, which is due in the same run, and by the yield.
    executor.spawn(counted(polls.clone(), async move {
        let mut timer = pin!(wait_seconds(0.25));
        assert!(poll_once(&mut timer).await.is_pending());
        next_frame().await;
        let both = join(timer, yield_now());
        both.await;
        say.say("both");
    }));
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&["F2: both"]);
}

#[test]
fn while_it_is_paused_nothing_resumes_it() {
    let mut executor = unclamped();
    let (log, handle) = (Log::new(), executor.handle());
    let (say, pauses) = (log.clone(), handle.clone());
    let yields = executor.spawn(async move {
        yield_now().await;
        say.say("paused by another");
        pauses.pause(current());
        yield_now().await;
        say.say("paused by itself");
    });
    let id = yields.id();
    executor.spawn(async move { assert!(handle.pause(id)) });
    executor.run_frame(0.25);
    log.check(&[]);
    yields.resume();
    executor.run_frame(0.25);
    log.check(&["F2: paused by another"]);
    executor.run_frame(0.25);
    log.check(&[]);
    yields.resume();
    executor.run_frame(0.25);
    log.check(&["F4: paused by itself"]);
}

#[test]
fn one_that_is_dropped_or_stopped_leaves_nothing_behind() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    executor.spawn(counted(polls.clone(), async {
        let mut wait = yield_now();
        assert!(poll_once(&mut wait).await.is_pending());
        drop(wait);
        forever().await;
    }));
    let stopped = executor.spawn(async {
        yield_now().await;
        unreachable!("it is stopped");
    });
    executor.spawn(async move { assert!(stopped.stop()) });
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2, "once more, and not again");
    executor.run_frame(0.25);
    assert_eq!((polls.get(), executor.has_ready()), (2, false));
}

#[test]
fn one_that_moves_resumes_the_script_that_polls_it_last() {
    let mut executor = unclamped();
    let log = Log::new();
    let moved = Rc::new(RefCell::new(None));
    let give = moved.clone();
    executor.spawn(async move {
        let mut wait = yield_now();
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
        forever().await;
    });
    let say = log.clone();
    executor.spawn(async move {
        let wait = moved.take().unwrap();
        say.say("takes");
        wait.await;
        say.say("continues");
    });
    let say = log.clone();
    executor.spawn(async move { say.say("other") });
    executor.run_frame(0.25);
    log.check(&["F1: takes", "F1: other", "F1: continues"]);
}

#[test]
fn a_panic_of_another_script_loses_no_turn() {
    let mut executor = unclamped();
    executor.on_report(|_| {});
    let log = Log::new();
    executor.spawn(turns(log.clone(), "a", 2));
    executor.spawn(async { panic!("on purpose") });
    executor.run_frame(0.25);
    log.check(&["F1: a", "F1: a"]);
}

#[test]
fn polled_where_it_does_not_belong_it_says_so() {
    let text = panic_of(|| yield_now().now_or_never());
    assert!(text.contains("`yield_now()` was polled outside"), "{text}");

    let (mut executor, mut other) = (unclamped(), unclamped());
    let moved = Rc::new(RefCell::new(None));
    let give = moved.clone();
    executor.spawn(async move {
        let mut wait = yield_now();
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
    });
    executor.run_frame(0.25);
    let taken = other.spawn(async move {
        let wait = moved.take().unwrap();
        panic_of(|| wait.now_or_never())
    });
    let text = other.run_until(taken, 0.25).unwrap();
    assert!(text.contains("polled in another"), "{text}");

    let again = executor.spawn(async {
        let mut wait = yield_now();
        (&mut wait).await;
        assert!(wait.is_terminated());
        panic_of(|| wait.now_or_never())
    });
    let text = executor.run_until(again, 0.25).unwrap();
    assert!(text.contains("polled again"), "{text}");
}

#[test]
fn a_yield_of_another_crate_waits_for_the_next_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.spawn(async move {
        let mut yielded = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        say.say("resumed");
    });
    executor.run_frame(0.25);
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2: resumed"]);
}
