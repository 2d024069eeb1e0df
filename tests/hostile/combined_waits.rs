//! Waits behind combinators: whatever is paused, resumed, stopped or woken, none
//! is lost, and none resumes twice.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::{LocalBoxFuture, pending};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::watched::{check_no_faults, watched};
use framestep_testkit::yield_now;

type Wait = LocalBoxFuture<'static, ()>;

struct Row {
    name: &'static str,
    wait: fn() -> Wait,
    /// The frame in which the wait ends if it is resumed in this one.
    due: fn(u64) -> u64,
}

/// Paused in frame 0 and resumed early in the Update run of another frame.
const WAITS: [Row; 9] = [
    Row {
        name: "next_frame",
        wait: || next_frame().map(drop).boxed_local(),
        due: |resumed| resumed,
    },
    Row {
        name: "wait_frames(3)",
        wait: || wait_frames(3).map(drop).boxed_local(),
        due: |resumed| resumed.max(3),
    },
    Row {
        name: "wait_frames(1)",
        wait: || wait_frames(1).map(drop).boxed_local(),
        due: |resumed| resumed,
    },
    Row {
        name: "in_phase(Update)",
        wait: || in_phase(Phase::Update).map(drop).boxed_local(),
        due: |resumed| resumed,
    },
    Row {
        name: "end_of_frame",
        wait: || end_of_frame().map(drop).boxed_local(),
        due: |resumed| resumed,
    },
    Row {
        name: "timeout",
        wait: || timeout(9, next_frame()).map(drop).boxed_local(),
        due: |resumed| resumed,
    },
    // The pause lasts as long as the clock has advanced.
    Row {
        name: "wait_seconds(0.25)",
        wait: || wait_seconds(0.25).map(drop).boxed_local(),
        due: |resumed| resumed + 1,
    },
    Row {
        name: "wait_seconds_realtime(0.5)",
        wait: || wait_seconds_realtime(0.5).map(drop).boxed_local(),
        due: |resumed| resumed + 2,
    },
    // A check that was due in the pause is one wake.
    Row {
        name: "wait_until(true)",
        wait: || wait_until(|| true).map(drop).boxed_local(),
        due: |resumed| resumed,
    },
];

type Combine = fn(fn() -> Wait) -> Wait;

const COMBINATORS: [(&str, Combine); 5] = [
    ("nothing", |wait| wait()),
    ("FuturesUnordered", |wait| {
        async move {
            let mut waits: FuturesUnordered<Wait> = (0..3).map(|_| wait()).collect();
            while waits.next().await.is_some() {}
        }
        .boxed_local()
    }),
    ("join_all of 31", |wait| {
        futures::future::join_all((0..31).map(|_| wait()))
            .map(drop)
            .boxed_local()
    }),
    ("select", |wait| {
        futures::future::select(pending::<()>(), wait())
            .map(drop)
            .boxed_local()
    }),
    ("join! in FuturesUnordered", |wait| {
        async move {
            let both = async move { _ = futures::join!(wait(), wait()) };
            let mut waits: FuturesUnordered<_> = [both].into_iter().collect();
            waits.next().await;
        }
        .boxed_local()
    }),
];

#[derive(Clone, Copy, Debug)]
enum Paused {
    Itself,
    ByItsOwner,
}

/// The frame in which `wait` ends, if paused in frame 0 and resumed in frame
/// `resumed`.
fn resumed_in(resumed: u64, paused: Paused, wait: Wait) -> Option<u64> {
    let mut executor = unclamped();
    let owner = Rc::new(executor.owner());
    let id = Rc::new(Cell::new(None::<CoroutineId>));
    // Has waited for longer than the other, so it comes first.
    let (handle, own, other) = (executor.handle(), owner.clone(), id.clone());
    executor.start(async move {
        loop {
            next_frame().await;
            if time().frame == resumed {
                let changed = match paused {
                    Paused::Itself => handle.resume(other.get().unwrap()),
                    Paused::ByItsOwner => own.resume(),
                };
                assert!(changed);
            }
        }
    });
    let ended = Rc::new(Cell::new(None));
    let end = ended.clone();
    let coroutine = owner.start(watched(async move {
        wait.await;
        end.set(Some(time().frame));
    }));
    id.set(Some(coroutine.id()));
    let changed = match paused {
        Paused::Itself => coroutine.pause(),
        Paused::ByItsOwner => owner.pause(),
    };
    assert!(changed);
    for _ in 0..12 {
        executor.run_frame(0.25);
    }
    check_no_faults();
    ended.get()
}

// docs/contract.md#rule-4-no-wake-forgotten
#[test]
fn a_wait_that_is_resumed_in_the_run_in_which_it_is_due_is_not_lost() {
    let mut failures = Vec::new();
    for (combinator, combine) in COMBINATORS {
        for Row { name, wait, due } in WAITS {
            for paused in [Paused::Itself, Paused::ByItsOwner] {
                for resumed in 1..=3 {
                    let ended = resumed_in(resumed, paused, combine(wait));
                    if ended != Some(due(resumed)) {
                        failures.push(format!(
                            "{name} in {combinator}, paused {paused:?} until frame {resumed}: \
                             {ended:?}, not {}",
                            due(resumed)
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn one_that_is_paused_and_resumed_in_every_frame_misses_none() {
    let mut executor = unclamped();
    let frames = Rc::new(Cell::new(0));
    let count = frames.clone();
    let coroutine = executor.start(watched(async move {
        loop {
            let mut waits: FuturesUnordered<Wait> = [
                next_frame().map(drop).boxed_local(),
                wait_frames(1).map(drop).boxed_local(),
                in_phase(Phase::Update).map(drop).boxed_local(),
            ]
            .into_iter()
            .collect();
            while waits.next().await.is_some() {}
            count.set(count.get() + 1);
        }
    }));
    for frame in 1..=20 {
        coroutine.pause();
        if frame % 3 == 0 {
            executor.run_phase(Phase::Custom(7));
        }
        coroutine.resume();
        executor.run_frame(0.25);
        coroutine.pause();
        coroutine.resume();
        assert_eq!(frames.get(), frame);
    }
    check_no_faults();
}

#[test]
fn a_stop_by_the_host_takes_no_message_from_another_coroutine() {
    for delay in 0..3 {
        let mut executor = unclamped();
        let log = Log::new();
        let (send, message) = oneshot::channel::<()>();
        let joined: Rc<RefCell<Option<Coroutine<()>>>> = Rc::default();
        let take = joined.clone();
        executor.spawn(watched(async move {
            let joined = take.take().unwrap();
            assert!(joined.await.unwrap_err().is_stopped());
        }));
        let say = log.clone();
        executor.start(watched(async move {
            let mut branches: FuturesUnordered<LocalBoxFuture<'_, &str>> = [
                async {
                    wait_seconds(3_600).await;
                    "an hour"
                }
                .boxed_local(),
                async {
                    message.await.unwrap();
                    "a message"
                }
                .boxed_local(),
            ]
            .into_iter()
            .collect();
            while let Some(branch) = branches.next().await {
                say.note(format_args!("F{} {branch}", time().frame));
            }
        }));
        let victim = executor.spawn(watched(pending()));
        let id = victim.id();
        joined.replace(Some(victim));
        for _ in 0..2 {
            executor.run_frame(0.25);
        }
        assert!(executor.stop(id));
        for _ in 0..delay {
            executor.run_frame(0.25);
        }
        send.send(()).unwrap();
        for _ in 0..4 {
            executor.run_frame(0.25);
        }
        log.check(&[&format!("F{} a message", 3 + delay)]);
        check_no_faults();
    }
}

#[test]
fn after_a_message_a_wait_that_is_due_in_the_run_does_not_poll_again() {
    let waits: [fn() -> Wait; 3] = [
        || next_frame().map(drop).boxed_local(),
        || wait_frames(1).map(drop).boxed_local(),
        || wait_seconds(0.125).map(drop).boxed_local(),
    ];
    for wait in waits {
        let mut executor = unclamped();
        let log = Log::new();
        let (send, mut message) = oneshot::channel::<()>();
        let say = log.clone();
        executor.start(watched(async move {
            let mut wait = wait().fuse();
            select_biased! { _ = message => {}, () = wait => {} }
            say.note(format_args!("F{} message", time().frame));
            // The wait is still alive, and due in this run.
            yield_now().await;
            say.note(format_args!("F{} yielded", time().frame));
        }));
        send.send(()).unwrap();
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        log.check(&["F1 message", "F2 yielded"]);
    }
}

/// Resumed by a coroutine that is polled after the place of the other.
#[test]
fn one_that_is_resumed_late_in_a_run_continues_in_that_run() {
    for (name, combine) in COMBINATORS {
        let mut executor: Executor = unclamped();
        let log = Log::new();
        let say = log.clone();
        let coroutine = executor.start(async move {
            combine(|| next_frame().map(drop).boxed_local()).await;
            say.note(format_args!("went on in {}", time().frame));
        });
        let (handle, id) = (executor.handle(), coroutine.id());
        executor.start(async move {
            for _ in 0..2 {
                next_frame().await;
            }
            assert!(handle.resume(id));
        });
        coroutine.pause();
        for _ in 0..3 {
            executor.run_frame(0.25);
        }
        assert_eq!(log.take(), ["went on in 2"], "{name}");
    }
}
