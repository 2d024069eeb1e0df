//! The run that ends a wait: awaited, behind combinators, after a pause, and
//! polled for another reason.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use futures::FutureExt;
use futures::future;

use framestep::prelude::*;

use super::{Over, run, start};
use framestep_testkit::combinators::COMBINATORS;
use framestep_testkit::waits::{Case, Rule, When, cases};
use framestep_testkit::{Stage, counted, forever, poll_once};

/// The length of a run of frames in which a script is paused.
const PAUSE: u64 = 4;

#[test]
fn each_ends_in_the_run_of_its_row_and_is_polled_for_nothing_else() {
    for case in cases() {
        let (mut executor, stage) = Stage::new();
        let polls = Rc::new(Cell::new(0));
        let (_, over) = start(&executor, &stage, &case, {
            let polls = polls.clone();
            |wait| counted(polls, wait)
        });
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(case.due), "{case}");
        let asked = if case.asks { case.due.0 } else { 1 };
        let asked = u32::try_from(asked).expect("small");
        assert_eq!(polls.get(), 1 + asked, "{case}");
        assert!(executor.is_empty() && !executor.has_ready(), "{case}");
        assert_eq!(executor.next_deadline(), None, "{case}");
    }
}

// docs/contract.md#rule-2-every-wait-takes-time
#[test]
fn none_is_ready_when_first_polled() {
    for case in cases() {
        let (executor, stage) = Stage::new();
        let (script, _) = start(&executor, &stage, &case, |wait| async move {
            let mut wait = wait;
            assert!(poll_once(&mut wait).await.is_pending());
            forever().await;
        });
        assert!(!script.is_finished(), "{case}");
    }
}

#[test]
fn each_ends_in_the_same_run_behind_every_combinator() {
    for case in cases() {
        for combinator in COMBINATORS {
            if combinator.swallows_wakers && !case.rule.is_of_the_contract() {
                continue;
            }
            let (mut executor, stage) = Stage::new();
            let (_, over) = start(&executor, &stage, &case, |wait| {
                combinator.wrap(wait.boxed_local())
            });
            run(&mut executor, &stage);
            assert_eq!(over.get(), Some(case.due), "{case} in {}", combinator.name);
        }
    }
}

// docs/contract.md#rule-4-home
#[test]
fn each_that_names_no_phase_ends_at_home_wherever_that_is() {
    for case in cases() {
        // Before this phase, the host has sent nothing in frame 2.
        for home in [
            Phase::Update,
            Phase::Custom(7),
            Phase::LateUpdate,
            Phase::EndOfFrame,
        ] {
            let (mut executor, stage) = Stage::new();
            let (over, given) = (Over::default(), stage.given.clone());
            let note = over.clone();
            executor.script("").in_phase(home).start(async move {
                case.make(&given).await;
                note.now();
            });
            run(&mut executor, &stage);
            assert_eq!(over.get(), Some(case.due_at(home)), "{case} in {home}");
        }
    }
}

#[test]
fn two_behind_one_combinator_end_each_in_its_run() {
    let cases = cases();
    let pairs = cases
        .iter()
        .flat_map(|one| cases.iter().map(move |other| (one, other)));
    for (one, other) in pairs {
        let (mut executor, stage) = Stage::new();
        let waits = [one, other].map(|case| case.make(&stage.given));
        let [first, second] = waits;
        let [at_first, at_second] = [(); 2].map(|()| Over::default());
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
        assert_eq!(at_first.get(), Some(one.due), "{one} beside {other}");
        assert_eq!(at_second.get(), Some(other.due), "{one} beside {other}");
    }
}

/// From frame `from` on, a script polls a wait that it began in frame 0, in each
/// run of each phase.
fn looked_at(case: &Case, from: u64) -> Option<When> {
    let (mut executor, stage) = Stage::new();
    let (_, over) = start(&executor, &stage, case, move |wait| async move {
        let mut wait = wait;
        assert!(poll_once(&mut wait).await.is_pending());
        // Another wait in each run, so that the script is polled there in any
        // case.
        let mut runs: Vec<_> = Stage::PHASES.map(in_phase).into();
        poll_fn(move |cx| {
            for (run, phase) in runs.iter_mut().zip(Stage::PHASES) {
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
    for case in cases() {
        assert_eq!(looked_at(&case, 1), Some(case.due), "{case}");
        let later = Some(When(6, Stage::PHASES[0]));
        assert_eq!(looked_at(&case, 6), later, "{case}");
    }
}

/// The run that ends a wait after it has stood still for so many frames.
fn after_a_pause(case: &Case) -> When {
    let When(frame, phase) = case.due;
    match case.rule {
        Rule::Time(_) => When(frame + PAUSE, phase),
        // Remembered as a wake.
        Rule::Join => When(PAUSE + 1, Phase::Update),
        _ => When(PAUSE + 1, phase),
    }
}

#[test]
fn each_ends_after_a_pause_in_the_first_run_that_can_end_it() {
    for case in cases() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &case, |wait| wait);
        assert!(script.pause());
        stage.run_to(PAUSE, &mut executor);
        assert!(script.resume() && over.get().is_none(), "{case}");
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(after_a_pause(&case)), "{case}");
    }
}
