//! Everything that makes a paused coroutine due is remembered as one wake,
//! which arrives when the coroutine is resumed.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use futures::FutureExt;
use futures::channel::{mpsc, oneshot};
use futures::future::{LocalBoxFuture, select};
use futures::stream::{FuturesUnordered, StreamExt};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, in_quarters, unclamped};
use framestep_testkit::{counted, forever, update, yield_now};

/// A coroutine of `owner` that says `name` when `wait` is over.
fn says<F>(owner: &Owner, log: &Log, name: &'static str, wait: F) -> Coroutine<()>
where
    F: Future + 'static,
{
    let log = log.clone();
    owner.start(async move {
        wait.await;
        log.say(name);
    })
}

/// Resumes `owner` in `phase` of `frame`.
fn resumes_in(executor: &Executor, owner: &Rc<Owner>, phase: Phase, frame: u64) {
    let owner = owner.clone();
    executor.start(async move {
        while time().frame < frame {
            in_phase(phase).await;
        }
        assert!(owner.resume());
    });
}

// One wake

// docs/contract.md#rule-12-one-wake, docs/contract.md#decided-first-event
#[test]
fn several_reasons_are_one_poll_in_the_phase_of_the_first() {
    let mut executor = in_quarters();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    let (sender, mut receiver) = mpsc::unbounded();
    let child = executor.start(wait_frames(3));
    let say = log.clone();
    let script = executor.start(counted(polls.clone(), async move {
        futures::join!(
            next_frame(),
            in_phase(Phase::EarlyUpdate), // the first
            fixed_update(),
            end_of_frame(),
            wait_frames(2),
            wait_frames(3).in_phase(Phase::LateUpdate),
            receiver.next(),
            async { child.await.unwrap() },
        );
        say.say("all");
    }));
    script.pause();
    for _ in 0..4 {
        executor.run_frame(0.25);
        for _ in 0..10 {
            sender.unbounded_send(()).unwrap();
        }
    }
    assert_eq!(polls.take(), 1);
    assert!(script.resume());
    executor.run_frame(0.25);
    log.check(&["F5.EarlyUpdate: all"]);
    assert_eq!(polls.get(), 1);
}

// docs/contract.md#law-stays-ready, docs/contract.md#decided-first-event
#[test]
fn a_wait_of_the_run_comes_before_a_wake_of_that_run() {
    type Make = fn() -> LocalBoxFuture<'static, ()>;
    let waits: [Make; 3] = [
        || end_of_frame().boxed_local(),
        || wait_seconds(0.25).in_phase(Phase::EndOfFrame).boxed_local(),
        || {
            let wait = FuturesUnordered::from_iter([end_of_frame()]);
            wait.into_future().map(drop).boxed_local()
        },
    ];
    for wait in waits {
        let mut executor = in_quarters();
        let log = Log::new();
        let (sender, receiver) = oneshot::channel::<()>();
        let script = Rc::new(Cell::new(None::<Coroutine<()>>));
        let pauses = script.clone();
        executor.start(async move {
            wait_until(|| true).in_phase(Phase::EndOfFrame).await;
            let script: Coroutine<()> = pauses.take().unwrap();
            script.pause();
            sender.send(()).unwrap();
            next_frame().await;
            script.resume();
            forever().await;
        });
        let say = log.clone();
        script.set(Some(executor.start(async move {
            select(wait(), receiver).await;
            say.say("goes on");
        })));
        (0..3).for_each(|_| executor.run_frame(0.25));
        log.check(&["F2.EndOfFrame: goes on"]);
    }
}

#[test]
fn what_was_sent_in_the_pause_is_taken_in_one_poll() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let (sender, mut receiver) = mpsc::unbounded::<()>();
    let script = executor.start(counted(polls.clone(), async move {
        loop {
            receiver.next().await;
        }
    }));
    script.pause();
    for _ in 0..3 {
        sender.unbounded_send(()).unwrap();
        executor.run_frame(0.25);
    }
    script.resume();
    polls.take();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
}

#[test]
fn pausing_and_resuming_again_and_again_adds_no_wake() {
    let mut executor = unclamped();
    let polls = Rc::new(Cell::new(0));
    let wait = counted(polls.clone(), async {
        next_frame().await;
        forever().await;
    });
    let script = executor.start(wait);
    script.pause();
    executor.run_frame(0.25);
    for _ in 0..5 {
        script.resume();
        script.pause();
    }
    executor.run_frame(0.25);
    assert_eq!(polls.take(), 1);
    for _ in 0..5 {
        script.resume();
        script.pause();
    }
    script.resume();
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
}

// The phase

#[test]
fn a_wait_resumes_in_its_own_phase_whichever_it_is() {
    type Make = fn(Phase) -> LocalBoxFuture<'static, ()>;
    let waits: [Make; 5] = [
        |phase| in_phase(phase).boxed_local(),
        |phase| next_frame().in_phase(phase).boxed_local(),
        |phase| wait_frames(2).in_phase(phase).boxed_local(),
        |phase| wait_until(|| true).in_phase(phase).boxed_local(),
        |phase| timeout(9, in_phase(phase)).map(drop).boxed_local(),
    ];
    for wait in waits {
        let executor = in_quarters();
        let owner = executor.owner();
        let mut timeline = Timeline::with_executor(executor, 0.25);
        for phase in framestep_testkit::timeline::DRAWN {
            timeline.row_on(&owner, &format!("{phase:?}"), |mark| async move {
                wait(phase).await;
                mark.hit();
            });
        }
        owner.pause();
        timeline.run_to(3);
        owner.resume();
        timeline.check(
            "
            frame       0 1 2 3 4
            EarlyUpdate - - - - E
            FixedUpdate - - - - F
            Update      - - - - *
            LateUpdate  - - - - L
            EndOfFrame  - - - - Z
            ",
        );
    }
}

#[test]
fn of_several_waits_the_one_that_came_first_says_in_which_phase() {
    type Pair = fn() -> LocalBoxFuture<'static, ()>;
    // Paused in frame 0; the first event is listed first.
    let pairs: [(Pair, &str); 5] = [
        (
            || select(next_frame(), end_of_frame()).map(drop).boxed_local(),
            "F4: both",
        ),
        (
            || {
                let late = wait_frames(2).in_phase(Phase::LateUpdate);
                select(late, wait_frames(3)).map(drop).boxed_local()
            },
            "F4.LateUpdate: both",
        ),
        (
            || {
                let end = in_phase(Phase::EndOfFrame);
                let early = wait_frames(2).in_phase(Phase::EarlyUpdate);
                select(end, early).map(drop).boxed_local()
            },
            "F4.EndOfFrame: both",
        ),
        (
            || {
                let until = wait_until(|| true).in_phase(Phase::EarlyUpdate);
                select(until, next_frame()).map(drop).boxed_local()
            },
            "F4.EarlyUpdate: both",
        ),
        (
            || {
                let joins = start(next_frame().in_phase(Phase::LateUpdate));
                let late = in_phase(Phase::FixedUpdate);
                select(late, joins).map(drop).boxed_local()
            },
            "F4.FixedUpdate: both",
        ),
    ];
    for (pair, expected) in pairs {
        let mut executor = in_quarters();
        let log = Log::new();
        let owner = executor.owner();
        let say = log.clone();
        let both = owner.start(async move {
            pair().await;
            say.say("both");
        });
        both.pause();
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        both.resume();
        executor.run_frame(0.25);
        log.check(&[expected]);
    }
}

#[test]
fn a_wake_or_a_join_resumes_at_home() {
    for phase in framestep_testkit::PHASES {
        let mut executor = in_quarters();
        let owner = executor.owner();
        let log = Log::new();
        let (sender, receiver) = oneshot::channel::<()>();
        let child = executor.start(wait_frames(2));
        for (name, waits) in [
            ("woken", receiver.map(drop).boxed_local()),
            ("joins", child.map(drop).boxed_local()),
        ] {
            let say = log.clone();
            owner.script("").in_phase(phase).start(async move {
                in_phase(Phase::EarlyUpdate).await;
                waits.await;
                say.say(name);
            });
        }
        executor.run_frame(0.25);
        owner.pause();
        sender.send(()).unwrap();
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        owner.resume();
        executor.run_frame(0.25);
        let at = |name| match phase {
            Phase::Update => format!("F4: {name}"),
            phase => format!("F4.{phase:?}: {name}"),
        };
        log.check(&[at("woken").as_str(), at("joins").as_str()]);
    }
}

#[test]
fn a_wake_that_comes_before_a_wait_says_in_which_phase() {
    let mut executor = in_quarters();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel::<()>();
    let say = log.clone();
    let script = executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            in_phase(Phase::LateUpdate).await;
            futures::join!(receiver.map(drop), in_phase(Phase::EarlyUpdate));
            say.say("both");
        });
    executor.run_frame(0.25);
    script.pause();
    sender.send(()).unwrap();
    executor.run_frame(0.25);
    script.resume();
    executor.run_frame(0.25);
    log.check(&["F3.LateUpdate: both"]);
}

// When: later in the current run, or in the next

#[test]
fn resumed_in_a_run_of_its_phase_it_continues_later_in_that_run() {
    for phase in framestep_testkit::PHASES {
        let mut executor = in_quarters();
        let owner = Rc::new(executor.owner());
        let log = Log::new();
        says(&owner, &log, "resumed", next_frame().in_phase(phase));
        owner.pause();
        resumes_in(&executor, &owner, phase, 2);
        let say = log.clone();
        executor.start(async move {
            loop {
                next_frame().in_phase(phase).await;
                say.note(format!("F{} waiter", time().frame));
            }
        });
        let say = log.clone();
        executor.start(async move {
            wait_seconds(0.5).in_phase(phase).await;
            say.note("timer");
        });
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        let resumed = match phase {
            Phase::Update => "F2: resumed".to_owned(),
            phase => format!("F2.{phase:?}: resumed"),
        };
        log.check(&["F1 waiter", "F2 waiter", "timer", &resumed, "F3 waiter"]);
    }
}

#[test]
fn resumed_in_a_run_of_another_phase_it_continues_in_the_next_of_its_own() {
    let executor = in_quarters();
    let owner = Rc::new(executor.owner());
    resumes_in(&executor, &owner, Phase::Update, 3);
    let mut timeline = Timeline::with_executor(executor, 0.25);
    for phase in framestep_testkit::timeline::DRAWN {
        timeline.row_on(&owner, &format!("{phase:?}"), |mark| async move {
            in_phase(phase).await;
            mark.hit();
        });
    }
    owner.pause();
    timeline.check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - - - - E
        FixedUpdate - - - - F
        Update      - - - *
        LateUpdate  - - - L
        EndOfFrame  - - - Z
        ",
    );
}

#[test]
fn resumed_in_a_step_it_continues_in_that_step() {
    let mut executor = in_quarters();
    let owner = Rc::new(executor.owner());
    let log = Log::new();
    let say = log.clone();
    owner.start(async move {
        loop {
            fixed_update().await;
            say.say(time().fixed_elapsed.as_millis());
        }
    });
    executor.run_frame(0.25);
    owner.pause();
    let own = owner.clone();
    executor.start(async move {
        wait_until(|| time().fixed_elapsed.as_millis() == 750)
            .in_phase(Phase::FixedUpdate)
            .await;
        own.resume();
    });
    executor.run_frame(1);
    log.check(&[
        "F1.FixedUpdate: 250",
        "F2.FixedUpdate: 750",
        "F2.FixedUpdate: 1000",
        "F2.FixedUpdate: 1250",
    ]);
}

// docs/contract.md#rule-12-one-wake
#[test]
fn a_wait_that_is_due_first_counts_even_behind_a_waker_of_its_own() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, event) = (log.clone(), Signal::<()>::new());
    let last = wait_frames(2).in_phase(Phase::EndOfFrame);
    let waits: [LocalBoxFuture<'static, ()>; 2] = [last.boxed_local(), event.wait().boxed_local()];
    let script = executor.start(async move {
        let mut waits = FuturesUnordered::from_iter(waits);
        while waits.next().await.is_some() {
            say.say("a wait is over");
        }
    });
    executor.run_frame(0.25);
    script.pause();
    executor.run_frame(0.25);
    event.emit(()); // the second, at home
    executor.run_frame(0.25);
    script.resume();
    executor.run_frame(0.25);
    log.check(&[
        "F4.EndOfFrame: a wait is over",
        "F4.EndOfFrame: a wait is over",
    ]);
}

/// Passes its wakes on, so that the core does not know the waker of the coroutine.
struct Relay(Waker);

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

/// Polls `wait` behind a waker of its own.
async fn relayed(mut wait: LocalBoxFuture<'static, ()>) {
    poll_fn(|cx| {
        let waker = Waker::from(Arc::new(Relay(cx.waker().clone())));
        wait.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await;
}

fn as_it_is(wait: LocalBoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
    wait
}

fn behind_a_relay(wait: LocalBoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
    relayed(wait).boxed_local()
}

fn unordered(wait: LocalBoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
    let mut waits = FuturesUnordered::from_iter([wait, forever().boxed_local()]);
    async move { waits.next().await.unwrap() }.boxed_local()
}

fn shared(wait: LocalBoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
    wait.shared().boxed_local()
}

const WRAPPERS: [fn(LocalBoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()>; 4] =
    [as_it_is, behind_a_relay, unordered, shared];

// docs/contract.md#rule-12-one-wake, docs/contract.md#rule-4-wakes
#[test]
fn paused_in_the_run_in_which_its_wait_is_due_it_continues_in_the_phase_of_the_wait() {
    for wrap in WRAPPERS {
        let mut executor = unclamped();
        let log = Log::new();
        let waiter = Rc::new(Cell::new(None));
        // It began to wait first, so it has its turn first.
        let (handle, id) = (executor.handle(), waiter.clone());
        executor.start(async move {
            end_of_frame().await;
            handle.pause(id.get().unwrap());
        });
        let say = log.clone();
        let script = executor.start(async move {
            wrap(end_of_frame().boxed_local()).await;
            say.say("over");
        });
        waiter.set(Some(script.id()));
        executor.run_frame(0.25);
        assert!(script.is_paused());
        log.check(&[]);
        script.resume();
        executor.run_frame(0.25);
        log.check(&["F2.EndOfFrame: over"]);
    }
}

// docs/contract.md#rule-4-no-wake-forgotten
#[test]
fn paused_in_the_run_in_which_its_wait_is_due_it_needs_no_other_run_of_its_home() {
    let home = Phase::Custom(1);
    for wrap in WRAPPERS {
        let mut executor = unclamped();
        let waiter = Rc::new(Cell::new(None));
        let (handle, id) = (executor.handle(), waiter.clone());
        executor.start(async move {
            next_frame().await;
            next_frame().await;
            handle.pause(id.get().unwrap());
        });
        let script = executor.script("").in_phase(home).spawn(async move {
            wrap(next_frame().in_phase(Phase::Update).boxed_local()).await;
        });
        waiter.set(Some(script.id()));
        let frame = |executor: &mut Executor, phases: &[Phase]| {
            executor.begin_frame(0.25);
            for &phase in phases {
                executor.run_phase(phase);
            }
        };
        // `FuturesUnordered` wakes itself in its first poll: that is over after the second run.
        frame(&mut executor, &[Phase::Update, home, home]);
        frame(&mut executor, &[Phase::Update]);
        assert!(script.is_paused());
        executor.run_phase(home); // for the last time
        script.resume();
        frame(&mut executor, &[Phase::Update]);
        assert!(script.is_finished());
    }
}

// docs/contract.md#stepped-waits
#[test]
fn paused_in_a_step_in_which_its_wait_is_due_it_depends_on_the_steps_alone() {
    for (wrap, steps_in_a_frame) in WRAPPERS.into_iter().flat_map(|wrap| [(wrap, 1), (wrap, 6)]) {
        let mut executor = in_quarters();
        let log = Log::new();
        let (step, waiter) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
        let (handle, id, count) = (executor.handle(), waiter.clone(), step.clone());
        executor
            .script("")
            .in_phase(Phase::FixedUpdate)
            .spawn(async move {
                loop {
                    count.set(count.get() + 1);
                    match count.get() {
                        3 => assert!(handle.pause(id.get().unwrap())),
                        4 => assert!(handle.resume(id.get().unwrap())),
                        _ => {}
                    }
                    fixed_update().await;
                }
            });
        let (say, count) = (log.clone(), step.clone());
        let script = executor.start(async move {
            wrap(wait_steps(3).boxed_local()).await;
            say.note(format_args!("step {}", count.get()));
        });
        waiter.set(Some(script.id()));
        for _ in 0..12 / steps_in_a_frame {
            executor.run_frame(0.25 * f64::from(steps_in_a_frame));
        }
        log.check(&["step 4"]);
    }
}

// docs/contract.md#decided-innermost
#[test]
fn one_that_pauses_itself_remembers_its_own_wake() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, handle) = (log.clone(), executor.handle());
    let script = executor.start(async move {
        next_frame().await;
        assert!(handle.pause(current()));
        yield_now().await;
        say.say("yielded");
    });
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    log.check(&[]);
    script.resume();
    executor.run_frame(0.25);
    log.check(&["F4: yielded"]);
}

// The order

// docs/contract.md#rule-12-order
#[test]
fn resumed_by_one_call_they_come_in_the_order_in_which_they_were_spawned() {
    let mut executor = unclamped();
    let log = Log::new();
    let top = executor.owner();
    let (left, right) = (top.child(), top.child());
    let below = left.child();
    let (sender, receiver) = oneshot::channel::<()>();
    // Not in the order of the owners, of the deadlines, or of the waits.
    says(&right, &log, "a", wait_frames(3));
    says(&below, &log, "b", next_frame());
    says(&top, &log, "c", receiver);
    says(&left, &log, "d", wait_until(|| true));
    says(&right, &log, "e", next_frame());
    says(&below, &log, "f", wait_frames(2));
    top.pause();
    executor.run_frame(0.25);
    sender.send(()).unwrap();
    says(&top, &log, "g", async {});
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    let say = log.clone();
    executor.spawn(async move { say.say("before the resume") });
    top.resume();
    let say = log.clone();
    executor.spawn(async move { say.say("after the resume") });
    executor.run_frame(0.25);
    log.check(&[
        "F4: before the resume",
        "F4: a",
        "F4: b",
        "F4: c",
        "F4: d",
        "F4: e",
        "F4: f",
        "F4: g",
        "F4: after the resume",
    ]);
}

#[test]
fn resumed_one_after_another_they_come_in_the_order_of_the_calls() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let one = |name| says(&owner, &log, name, next_frame());
    let [a, b, c] = ["a", "b", "c"].map(one);
    for script in [&a, &b, &c] {
        script.pause();
    }
    executor.run_frame(0.25);
    says(&owner, &log, "waiter", next_frame());
    for script in [&b, &c, &a] {
        script.resume();
    }
    executor.run_frame(0.25);
    log.check(&["F2: b", "F2: c", "F2: a", "F2: waiter"]);
}

#[test]
fn resumed_in_the_run_they_come_after_what_was_ready_before() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    says(&owner, &log, "a", wait_frames(2));
    says(&owner, &log, "b", next_frame());
    owner.pause();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    let (own, say) = (owner.clone(), log.clone());
    executor.start(async move {
        next_frame().await;
        let before = say.clone();
        spawn(async move { before.say("spawned before") });
        own.resume();
        spawn(async move { say.say("spawned after") });
    });
    let other = executor.owner();
    says(&other, &log, "waiter", next_frame());
    says(&other, &log, "timer", wait_seconds(0));
    executor.run_frame(0.25);
    log.check(&[
        "F3: waiter",
        "F3: timer",
        "F3: spawned before",
        "F3: a",
        "F3: b",
        "F3: spawned after",
    ]);
}

#[test]
fn a_wake_in_the_pause_arrives_with_the_resume_also_when_no_run_has_come_by() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let (sender, receiver) = oneshot::channel::<()>();
    says(&owner, &log, "woken in the pause", receiver);
    owner.pause();
    sender.send(()).unwrap();
    says(&owner, &log, "started in the pause", async {});
    let say = log.clone();
    executor.spawn(async move { say.say("spawned in the pause") });
    owner.resume();
    executor.run_frame(0.25);
    log.check(&[
        "F1: spawned in the pause",
        "F1: woken in the pause",
        "F1: started in the pause",
    ]);
}

#[test]
fn a_pause_in_which_nothing_is_due_moves_no_coroutine() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let other = executor.owner();
    for (owner, [next, until, frames, timer]) in [
        (&owner, ["next a", "until a", "frames a", "timer a"]),
        (&other, ["next b", "until b", "frames b", "timer b"]),
    ] {
        says(owner, &log, next, next_frame());
        says(owner, &log, until, wait_until(|| true));
        says(owner, &log, frames, wait_frames(2));
        says(owner, &log, timer, wait_seconds(0.25));
    }
    owner.pause();
    executor.run_phase(Phase::Custom(1));
    owner.resume();
    executor.run_frame(0.25);
    log.check(&[
        "F1: next a",
        "F1: until a",
        "F1: next b",
        "F1: until b",
        "F1: timer a",
        "F1: timer b",
    ]);
    owner.pause();
    executor.run_phase(Phase::Custom(1));
    owner.resume();
    executor.run_frame(0.25);
    log.check(&["F2: frames a", "F2: frames b"]);
}

// Waits that continue, and waits that do not

#[test]
fn frames_are_counted_in_the_pause() {
    let executor = unclamped();
    let owner = executor.owner();
    let mut timeline = Timeline::with_executor(executor, 0.25);
    for frames in 1..=6 {
        timeline.row_on(&owner, &format!("frames({frames})"), |mark| async move {
            wait_frames(frames).await;
            mark.hit();
            wait_frames(2).await;
            mark.hit();
        });
    }
    timeline.run_to(1);
    owner.pause();
    timeline.run_to(3);
    owner.resume();
    timeline.check(
        "
        frame     0 1 2 3 4 5 6 7 8
        frames(1) - * - - *
        frames(2) - - - - * - *
        frames(3) - - - - * - *
        frames(4) - - - - * - *
        frames(5) - - - - - * - *
        frames(6) - - - - - - * - *
        ",
    );
}

// docs/contract.md#decided-due-in-the-pause
#[test]
fn a_condition_is_asked_once_when_the_pause_is_over_and_then_as_ever() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let ask = log.clone();
    let asks = wait_until(move || {
        ask.say("asked");
        time().frame == 5
    });
    says(&owner, &log, "holds", asks);
    resumes_in(&executor, &owner, Phase::Update, 3);
    executor.run_frame(0.25);
    owner.pause();
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F1: asked",
        "F3: asked",
        "F4: asked",
        "F5: asked",
        "F5: holds",
    ]);
}

// docs/contract.md#rule-12-start
#[test]
fn a_start_on_a_paused_owner_is_queued_as_a_spawn_is() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let (own, say) = (owner.clone(), log.clone());
    executor.start(async move {
        next_frame().await;
        own.pause();
        for name in ["first", "second"] {
            let later = say.clone();
            let started = own.start(async move { later.say(name) });
            assert!(!started.is_finished());
        }
        let other = say.clone();
        spawn(async move { other.say("other") });
        own.resume();
        say.say("resumed");
    });
    executor.run_frame(0.25);
    log.check(&["F1: resumed", "F1: other", "F1: first", "F1: second"]);
}

#[test]
fn one_that_is_stopped_in_the_pause_leaves_no_wake() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    let stopped = says(&owner, &log, "stopped", next_frame());
    says(&owner, &log, "stays", next_frame());
    owner.pause();
    executor.run_frame(0.25);
    assert!(stopped.stop());
    // In the slot of the one that is gone.
    says(&owner, &log, "new", async {});
    executor.run_frame(0.25);
    owner.resume();
    executor.run_frame(0.25);
    log.check(&["F3: stays", "F3: new"]);
    executor.assert_empty();
}

#[test]
fn paused_by_several_flags_the_wake_arrives_when_the_last_is_gone() {
    let mut executor = unclamped();
    let log = Log::new();
    let top = executor.owner();
    let owner = top.child();
    let script = says(&owner, &log, "resumed", next_frame());
    script.pause();
    owner.pause();
    executor.run_frame(0.25);
    top.pause();
    executor.run_frame(0.25);
    script.resume();
    executor.run_frame(0.25);
    top.resume();
    executor.run_frame(0.25);
    let say = log.clone();
    executor.spawn(async move { say.say("spawned") });
    owner.resume();
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F5: spawned", "F5: resumed"]);
}

#[test]
fn a_host_sees_the_wake_when_the_pause_is_over() {
    let polls = Rc::new(Cell::new(0));
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.start(counted(polls.clone(), async {
        loop {
            next_frame().await;
        }
    }));
    update(&mut executor, 0.25);
    owner.pause();
    update(&mut executor, 0.25);
    assert!(!executor.has_ready());
    owner.resume();
    assert!(executor.has_ready());
    update(&mut executor, 0.25);
    assert_eq!(polls.get(), 3);
}

#[test]
fn a_wake_by_another_coroutine_just_before_the_resume_is_no_second_one() {
    let mut executor = in_quarters();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let (sender, receiver) = oneshot::channel();
    let both = async { futures::join!(fixed_update(), receiver) };
    says(&owner, &log, "resumed", both);
    owner.pause();
    let resumed = owner.clone();
    executor.start(async move {
        next_frame().await;
        // The wait of the fixed phase was due before: it is the same wake.
        sender.send(()).unwrap();
        assert!(resumed.resume());
    });
    executor.run_frame(0.25);
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2.FixedUpdate: resumed"]);
}

// Beside an earlier readiness

#[test]
fn a_wait_that_comes_due_in_a_pause_is_served_beside_a_readiness_in_a_phase_that_does_not_run() {
    let mut executor = in_quarters();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel::<()>();
    let say = log.clone();
    let script = executor
        .script("")
        .in_phase(Phase::Custom(0))
        .start(async move {
            futures::join!(receiver.map(drop), async move {
                next_frame().in_phase(Phase::Update).await;
                say.say("frame");
            });
        });
    sender.send(()).unwrap(); // ready in Custom(0)
    script.pause();
    executor.run_frame(0.25);
    script.resume();
    executor.run_frame(0.25);
    log.check(&["F2: frame"]);
}

#[test]
fn a_message_is_served_beside_a_readiness_in_a_phase_that_does_not_run() {
    let mut executor = in_quarters();
    let log = Log::new();
    let (sender, receiver) = oneshot::channel::<()>();
    let say = log.clone();
    let script = executor.start(async move {
        futures::join!(in_phase(Phase::Custom(0)), async move {
            receiver.await.unwrap();
            say.say("message");
        });
    });
    script.pause();
    executor.run_phase(Phase::Custom(0));
    script.resume(); // ready in Custom(0)
    sender.send(()).unwrap();
    executor.run_frame(0.25);
    log.check(&["F1: message"]);
}

#[test]
fn a_wake_in_a_pause_is_served_in_the_run_under_way_beside_a_readiness_for_the_next() {
    let mut executor = in_quarters();
    let polls = Rc::new(Cell::new(0));
    let count = polls.clone();
    let script = executor.spawn(std::future::poll_fn(move |cx| {
        count.set(count.get() + 1);
        if count.get() == 1 {
            cx.waker().wake_by_ref(); // for the next run
            handle().pause(current());
            cx.waker().wake_by_ref(); // remembered
        }
        std::task::Poll::<()>::Pending
    }));
    let id = script.id();
    executor.spawn(async move { handle().resume(id) });
    executor.run_phase(Phase::Update);
    assert_eq!(polls.get(), 2);
}

#[test]
fn resumed_in_the_run_in_which_its_wait_came_due_it_continues_in_that_run() {
    async fn a_step() {
        use futures::stream::FuturesUnordered;
        let mut waits: FuturesUnordered<_> = [fixed_update()].into_iter().collect();
        while waits.next().await.is_some() {}
    }
    let mut executor = in_quarters();
    let paused = executor.start(a_step());
    let id = paused.id();
    executor.start(async move {
        a_step().await;
        assert!(handle().resume(id));
    });
    paused.pause();
    executor.begin_frame(0.5);
    assert!(executor.begin_fixed_step());
    executor.run_phase(Phase::FixedUpdate);
    assert!(paused.is_finished());
}
