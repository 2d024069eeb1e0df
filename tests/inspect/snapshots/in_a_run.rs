//! Snapshots that a coroutine takes in the middle of a run.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;

use framestep::Handle;
use framestep::inspect::{CoroutineInfo, Snapshot, State};
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{forever, poll_once, update};

use super::{says, state_of};

/// Waits, then takes a snapshot from inside.
async fn look(handle: Handle, wait: impl Future, seen: Rc<RefCell<Option<Snapshot>>>) {
    wait.await;
    *seen.borrow_mut() = handle.snapshot();
}

#[test]
fn coroutines_that_are_still_to_be_polled_are_ready() {
    let mut executor = unclamped();
    let seen = Rc::default();
    let every_frame = || async {
        loop {
            next_frame().await;
        }
    };
    let before = executor.start(every_frame()).id();
    let looks = executor.start(look(executor.handle(), next_frame(), Rc::clone(&seen)));
    let after = executor.start(every_frame()).id();
    let asks = executor.start(wait_until(|| false)).id();
    let due = executor.start(wait_seconds(0.25)).id();
    let in_record = executor
        .start(async { futures::join!(forever(), wait_frames(1)) })
        .id();
    let not_due = executor.start(wait_seconds(0.5)).id();
    let elsewhere = executor.start(end_of_frame()).id();
    let parent = executor.start(async { start(next_frame()).await }).id();
    let looks_id = looks.id();
    update(&mut executor, 0.25);
    let snapshot = seen.borrow_mut().take().unwrap();
    assert_eq!(says(&snapshot, before), "the next frame");
    assert_eq!(says(&snapshot, looks_id), "running");
    for id in [after, asks, due, in_record] {
        assert_eq!(says(&snapshot, id), "ready");
    }
    assert_eq!(says(&snapshot, not_due), "250ms, until 500ms");
    assert_eq!(says(&snapshot, elsewhere), "the next EndOfFrame");
    assert!(says(&snapshot, parent).starts_with("the end of"));
    assert_eq!(snapshot.time().phase, Some(Phase::Update));
}

#[test]
fn joiners_of_what_has_ended_are_ready() {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(None));
    let child = executor.start(next_frame());
    let (first, second) = (child.finished(), child.finished());
    let handle = executor.handle();
    let see = seen.clone();
    executor.start(async move {
        first.await;
        *see.borrow_mut() = handle.snapshot();
    });
    let last = executor.start(second).id();
    update(&mut executor, 0.25);
    let snapshot = seen.borrow_mut().take().unwrap();
    assert_eq!(says(&snapshot, last), "ready");
}

#[test]
fn joiners_of_one_that_was_stopped_in_this_poll_are_ready() {
    let mut executor = unclamped();
    let child = executor.start(forever());
    let child_id = child.id();
    let joiner = executor.start(child).id();
    let handle = executor.handle();
    let seen = executor.spawn(async move {
        stop(child_id);
        says(&handle.snapshot().unwrap(), joiner)
    });
    assert_eq!(executor.run_until(seen, 0.25).unwrap(), "ready");
}

#[test]
fn a_place_that_was_given_up_makes_no_coroutine_ready() {
    let mut executor = unclamped();
    let child = executor.start(forever());
    let child_id = child.id();
    executor.start(async move {
        next_frame().await;
        stop(child_id);
    });
    let seen = Rc::default();
    let look = look(executor.handle(), next_frame(), Rc::clone(&seen));
    executor.start(look);
    let id = executor.start(async move {
        let mut given_up = next_frame();
        assert!(poll_once(&mut given_up).await.is_pending());
        drop(child.await);
        drop(given_up);
        next_frame().await;
    });
    let id = id.id();
    update(&mut executor, 0.25);
    // The snapshot was taken before its turn in the run.
    let snapshot = seen.borrow_mut().take().unwrap();
    assert_eq!(says(&snapshot, id), "the next frame");
    assert_eq!(state_of(&executor, id), "the next frame");
}

#[test]
fn all_that_are_being_polled_are_running() {
    let executor = unclamped();
    let handle = executor.handle();
    let outer = executor.start(async move {
        let me = current();
        let inner = start(async move {
            let snapshot = handle.snapshot().unwrap();
            let running = snapshot.iter().filter(|c| c.state() == State::Running);
            (
                current(),
                running.map(CoroutineInfo::id).collect::<Vec<_>>(),
            )
        });
        let (inner, running) = inner.await.unwrap();
        assert_eq!(running, [me, inner]);
    });
    assert!(outer.now_or_never().unwrap().is_ok());
}
