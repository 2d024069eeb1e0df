//! The run that ends a wait: awaited, behind combinators, after a pause, and
//! polled for another reason.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use futures::future::{self, LocalBoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use super::table::{Boxed, Kind, PHASES, Stage, When, table};
use super::{Over, run, start};
use crate::support::{counted, forever, poll_once, swallow};

/// The length of a run of frames in which a script is paused.
const PAUSE: u64 = 4;

#[test]
fn each_ends_in_the_run_of_its_row_and_is_polled_for_nothing_else() {
    for row in table() {
        let (mut executor, stage) = Stage::new();
        let polls = Rc::new(Cell::new(0));
        let (_, over) = start(&executor, &stage, &row, {
            let polls = polls.clone();
            |wait| counted(polls, wait)
        });
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(row.due), "{}", row.call);
        let asked = if row.asks { row.due.0 } else { 1 };
        let asked = u32::try_from(asked).expect("small");
        assert_eq!(polls.get(), 1 + asked, "{}", row.call);
        assert!(executor.is_empty() && !executor.has_ready(), "{}", row.call);
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
    }
}

// docs/contract.md#rule-2-every-wait-takes-time
#[test]
fn none_is_ready_when_first_polled() {
    for row in table() {
        let (executor, stage) = Stage::new();
        let (script, _) = start(&executor, &stage, &row, |wait| async move {
            let mut wait = wait;
            assert!(poll_once(&mut wait).await.is_pending());
            forever().await;
        });
        assert!(!script.is_finished(), "{}", row.call);
    }
}

type Wrap = fn(Boxed) -> LocalBoxFuture<'static, ()>;

/// Each ends with the wait.
const WRAPPERS: [(&str, Wrap); 11] = [
    ("boxed", |wait| wait.boxed_local()),
    ("futures' join", |wait| {
        future::join(wait, async {}).map(drop).boxed_local()
    }),
    ("futures' select", |wait| {
        let beside = forever().boxed_local();
        future::select(beside, wait).map(drop).boxed_local()
    }),
    ("FuturesUnordered", |wait| {
        async {
            let mut waits = FuturesUnordered::new();
            waits.push(wait.boxed_local());
            waits.push(forever().boxed_local());
            waits.next().await;
        }
        .boxed_local()
    }),
    ("join_all of many", |wait| {
        let others = (0..40).map(|_| async {}.boxed_local());
        let all = others.chain([wait.boxed_local()]);
        future::join_all(all).map(drop).boxed_local()
    }),
    ("join!", |wait| {
        async { _ = framestep::join!(wait, async {}) }.boxed_local()
    }),
    ("select!", |wait| {
        async {
            select! {
                () = forever() => {}
                () = wait => {}
            }
        }
        .boxed_local()
    }),
    ("join_all", |wait| join_all([wait]).map(drop).boxed_local()),
    ("race", |wait| race([wait]).map(drop).boxed_local()),
    ("timeout", |wait| timeout(99, wait).map(drop).boxed_local()),
    ("a future without a waker", |wait| {
        swallow(wait).boxed_local()
    }),
];

#[test]
fn each_ends_in_the_same_run_behind_every_combinator() {
    for row in table() {
        for (name, wrap) in WRAPPERS {
            if name.contains("without a waker") && !row.is_of_the_table() {
                continue;
            }
            let (mut executor, stage) = Stage::new();
            let (_, over) = start(&executor, &stage, &row, wrap);
            run(&mut executor, &stage);
            assert_eq!(over.get(), Some(row.due), "{} in {name}", row.call);
        }
    }
}

// docs/contract.md#rule-4-home
#[test]
fn each_that_names_no_phase_ends_at_home_wherever_that_is() {
    for row in table() {
        // Before this phase, the host has sent nothing in frame 2.
        for home in [
            Phase::Update,
            Phase::Custom(7),
            Phase::LateUpdate,
            Phase::EndOfFrame,
        ] {
            let (mut executor, stage) = Stage::new();
            let (over, make, on) = (Over::default(), row.make, stage.clone());
            let note = over.clone();
            executor.start_in(home, async move {
                make(&on).await;
                note.now();
            });
            run(&mut executor, &stage);
            assert_eq!(over.get(), Some(row.due_at(home)), "{} in {home}", row.call);
        }
    }
}

#[test]
fn two_behind_one_combinator_end_each_in_its_run() {
    let count = table().len();
    let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
    for (one, other) in pairs {
        let (mut executor, stage) = Stage::new();
        let ends = [one, other].map(|at| {
            let row = table().swap_remove(at);
            (row.call, row.due, (row.make)(&stage), Over::default())
        });
        let [(_, _, first, at_first), (_, _, second, at_second)] = ends;
        let (first_over, second_over) = (at_first.clone(), at_second.clone());
        executor.start(future::join(
            async move {
                first.await;
                first_over.now();
            },
            async move {
                second.await;
                second_over.now();
            },
        ));
        run(&mut executor, &stage);
        let (first, second) = (&table()[one], &table()[other]);
        let names = format!("{} beside {}", first.call, second.call);
        assert_eq!(at_first.get(), Some(first.due), "{names}");
        assert_eq!(at_second.get(), Some(second.due), "{names}");
    }
}

/// From frame `from` on, a script polls a wait that it began in frame 0, in each
/// run of each phase.
fn looked_at(row: &super::Row, from: u64) -> Option<When> {
    let (mut executor, stage) = Stage::new();
    let (_, over) = start(&executor, &stage, row, move |wait| async move {
        let mut wait = wait;
        assert!(poll_once(&mut wait).await.is_pending());
        // Another wait in each run, so that the script is polled there in any
        // case.
        let mut runs: Vec<_> = PHASES.map(in_phase).into();
        poll_fn(move |cx| {
            for (run, phase) in runs.iter_mut().zip(PHASES) {
                while run.poll_unpin(cx).is_ready() {
                    *run = in_phase(phase);
                }
            }
            if time().frame < from {
                return Poll::Pending;
            }
            wait.poll_unpin(cx)
        })
        .await;
    });
    run(&mut executor, &stage);
    over.get()
}

// docs/contract.md#law-stays-ready
#[test]
fn each_is_ready_from_that_run_on_and_stays_so() {
    for row in table() {
        assert_eq!(looked_at(&row, 1), Some(row.due), "{}", row.call);
        let later = Some(When(6, PHASES[0]));
        assert_eq!(looked_at(&row, 6), later, "{}", row.call);
    }
}

/// The run that ends a wait after it has stood still for so many frames.
fn after_a_pause(row: &super::Row) -> When {
    let When(frame, phase) = row.due;
    match row.kind {
        _ if row.counts_time => When(frame + PAUSE, phase),
        // Remembered as a wake.
        Kind::Join => When(PAUSE + 1, Phase::Update),
        _ => When(PAUSE + 1, phase),
    }
}

#[test]
fn each_ends_after_a_pause_in_the_first_run_that_can_end_it() {
    for row in table() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &row, |wait| wait);
        assert!(script.pause());
        while executor.time().frame < PAUSE {
            stage.frame(&mut executor, |_| ());
        }
        assert!(script.resume() && over.get().is_none(), "{}", row.call);
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(after_a_pause(&row)), "{}", row.call);
    }
}
