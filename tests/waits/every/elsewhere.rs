//! Waits that move from one script to another, and waits that scripts share.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use super::{FRAMES, Over, run, start};
use framestep_testkit::waits::{Boxed, Case, When, cases};
use framestep_testkit::{Stage, forever, poll_once};

/// What happens to a script that has given its wait away.
#[derive(Clone, Copy, Debug)]
enum Before {
    Continues,
    Ends,
    IsStopped,
    IsPaused,
}

/// Begins a wait in a script, and awaits it in another one.
fn moved(case: &Case, before: Before) -> Option<When> {
    let (mut executor, stage) = Stage::new();
    let given: Rc<RefCell<Option<Boxed>>> = Rc::default();
    let give = given.clone();
    let (first, _) = start(&executor, &stage, case, move |wait| async move {
        let mut wait = wait;
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
        if !matches!(before, Before::Ends) {
            forever().await;
        }
        in_phase(Phase::EarlyUpdate).await;
    });
    let wait = given.take().expect("it was begun");
    let over = Over::default();
    let note = over.clone();
    executor.start(async move {
        wait.await;
        note.now();
    });
    match before {
        Before::Continues | Before::Ends => {}
        Before::IsStopped => assert!(first.stop()),
        Before::IsPaused => assert!(first.pause()),
    }
    run(&mut executor, &stage);
    over.get()
}

#[test]
fn each_ends_in_its_run_in_the_script_that_polled_it_last() {
    for case in cases() {
        for before in [
            Before::Continues,
            Before::Ends,
            Before::IsStopped,
            Before::IsPaused,
        ] {
            let over = moved(&case, before);
            assert_eq!(over, Some(case.due), "{case}, {before:?}");
        }
    }
}

/// The first run of Update that a wake in `due` reaches.
fn woken(case: &Case) -> When {
    let When(frame, phase) = case.due;
    let place = |one| Stage::PHASES.iter().position(|&phase| phase == one);
    if place(phase) <= place(Phase::Update) {
        When(frame, Phase::Update)
    } else {
        When(frame + 1, Phase::Update)
    }
}

/// Two scripts that share a wait.
fn sharing(case: &Case) -> (Executor, Stage, [Coroutine<()>; 2], [Over; 2]) {
    let (executor, stage) = Stage::new();
    let shared = case.make(&stage.given).shared();
    let overs = [Over::default(), Over::default()];
    let scripts = overs.clone().map(|over| {
        let shared = shared.clone();
        executor.start(async move {
            shared.await;
            over.now();
        })
    });
    (executor, stage, scripts, overs)
}

/// The contract leaves one thing open: if two scripts share a condition, the polled
/// script checks it, possibly at home.
fn may_end(case: &Case, over: Option<When>) -> bool {
    let asked = case.asks && over.is_some_and(|over| over.0 <= woken(case).0);
    asked || over == Some(case.due) || over == Some(woken(case))
}

// docs/contract.md#decided-shared-waits
#[test]
fn a_shared_wait_ends_in_its_run_for_the_last_that_polled_it_and_wakes_the_other() {
    for case in cases() {
        let (mut executor, stage, _scripts, [first, last]) = sharing(&case);
        run(&mut executor, &stage);
        if case.hides {
            // docs/contract.md#decided-hidden-waits
            assert_eq!(first.get(), Some(case.due), "{case}");
            assert_eq!(last.get(), Some(woken(&case)), "{case}");
        } else if case.asks {
            assert!(
                may_end(&case, first.get()) && may_end(&case, last.get()),
                "{case}"
            );
        } else {
            assert_eq!(last.get(), Some(case.due), "{case}");
            assert_eq!(first.get(), Some(woken(&case)), "{case}");
        }
    }
}

#[test]
fn a_shared_wait_outlives_each_of_its_scripts() {
    for case in cases() {
        for gone in 0..2 {
            let (mut executor, stage, scripts, overs) = sharing(&case);
            assert!(scripts[gone].stop());
            run(&mut executor, &stage);
            let left = overs[1 - gone].get();
            assert!(may_end(&case, left), "{case}: {left:?}");
        }
    }
}

#[test]
fn a_shared_wait_does_not_wait_for_a_script_that_is_paused() {
    for case in cases() {
        for paused in 0..2 {
            let (mut executor, stage, scripts, overs) = sharing(&case);
            assert!(scripts[paused].pause());
            run(&mut executor, &stage);
            let left = overs[1 - paused].get();
            assert!(may_end(&case, left), "{case}, script {paused}: {left:?}");
            assert!(scripts[paused].resume());
            stage.run_to(FRAMES + 3, &mut executor);
            assert!(overs[paused].get().is_some(), "{case}");
        }
    }
}
