//! Waits that move from one script to another, and waits that scripts share.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;

use framestep::Executor;
use framestep::prelude::*;

use super::table::{Boxed, Stage, When, table};
use super::{FRAMES, Over, Row, run, start};
use crate::support::{forever, poll_once};

/// What happens to a script that has given its wait away.
#[derive(Clone, Copy, Debug)]
enum Before {
    Continues,
    Ends,
    IsStopped,
    IsPaused,
}

/// Begins a wait in a script, and awaits it in another one.
fn moved(row: &Row, before: Before) -> Option<When> {
    let (mut executor, stage) = Stage::new();
    let given: Rc<RefCell<Option<Boxed>>> = Rc::default();
    let give = given.clone();
    let (first, _) = start(&executor, &stage, row, move |wait| async move {
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
    for row in table() {
        for before in [
            Before::Continues,
            Before::Ends,
            Before::IsStopped,
            Before::IsPaused,
        ] {
            let over = moved(&row, before);
            assert_eq!(over, Some(row.due), "{}, {before:?}", row.call);
        }
    }
}

/// The first run of Update that a wake in `due` reaches.
fn woken(row: &Row) -> When {
    let When(frame, phase) = row.due;
    let place = |one| super::table::PHASES.iter().position(|&phase| phase == one);
    if place(phase) <= place(Phase::Update) {
        When(frame, Phase::Update)
    } else {
        When(frame + 1, Phase::Update)
    }
}

/// Two scripts that share a wait.
fn sharing(row: &Row) -> (Executor, Stage, [Coroutine<()>; 2], [Over; 2]) {
    let (executor, stage) = Stage::new();
    let shared = (row.make)(&stage).shared();
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
fn may_end(row: &Row, over: Option<When>) -> bool {
    let asked = row.asks && over.is_some_and(|over| over.0 <= woken(row).0);
    asked || over == Some(row.due) || over == Some(woken(row))
}

// docs/contract.md#decided-shared-waits
#[test]
fn a_shared_wait_ends_in_its_run_for_the_last_that_polled_it_and_wakes_the_other() {
    for row in table() {
        let (mut executor, stage, _scripts, [first, last]) = sharing(&row);
        run(&mut executor, &stage);
        if row.asks {
            assert!(
                may_end(&row, first.get()) && may_end(&row, last.get()),
                "{}",
                row.call
            );
        } else {
            assert_eq!(last.get(), Some(row.due), "{}", row.call);
            assert_eq!(first.get(), Some(woken(&row)), "{}", row.call);
        }
    }
}

#[test]
fn a_shared_wait_outlives_each_of_its_scripts() {
    for row in table() {
        for gone in 0..2 {
            let (mut executor, stage, scripts, overs) = sharing(&row);
            assert!(scripts[gone].stop());
            run(&mut executor, &stage);
            let left = overs[1 - gone].get();
            assert!(may_end(&row, left), "{}: {left:?}", row.call);
        }
    }
}

#[test]
fn a_shared_wait_does_not_wait_for_a_script_that_is_paused() {
    for row in table() {
        for paused in 0..2 {
            let (mut executor, stage, scripts, overs) = sharing(&row);
            assert!(scripts[paused].pause());
            run(&mut executor, &stage);
            let left = overs[1 - paused].get();
            assert!(
                may_end(&row, left),
                "{}, script {paused}: {left:?}",
                row.call
            );
            assert!(scripts[paused].resume());
            while executor.time().frame < FRAMES + 3 {
                stage.frame(&mut executor, |_| ());
            }
            assert!(overs[paused].get().is_some(), "{}", row.call);
        }
    }
}
