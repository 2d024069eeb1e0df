//! Waits that are dropped, stopped, polled where they do not belong, and
//! printed.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use futures::{FutureExt, future};

use framestep::prelude::*;

use super::table::{Boxed, Kind, Stage, table};
use super::{FRAMES, run, start};
use crate::support::{count_frames, forever, panic_text, poll_once};

#[test]
fn each_leaves_nothing_behind_when_it_is_dropped() {
    for row in table() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &row, |wait| async move {
            let mut wait = wait;
            assert!(poll_once(&mut wait).await.is_pending());
            drop(wait);
            forever().await;
        });
        let before = executor.len();
        run(&mut executor, &stage);
        assert!(before <= 2 && over.get().is_none() && script.stop());
        assert!(executor.is_empty() && !executor.has_ready(), "{}", row.call);
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
    }
}

#[test]
fn each_leaves_nothing_behind_when_its_script_is_stopped() {
    for row in table() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &row, |wait| wait);
        assert!(script.stop());
        run(&mut executor, &stage);
        assert!(over.get().is_none(), "{}", row.call);
        assert!(executor.is_empty() && !executor.has_ready(), "{}", row.call);
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
    }
}

/// Begins a wait in a script that continues, and returns it.
fn begun(executor: &framestep::Executor, stage: &Stage, make: fn(&Stage) -> Boxed) -> Boxed {
    let given: Rc<RefCell<Option<Boxed>>> = Rc::default();
    let (give, stage) = (given.clone(), stage.clone());
    executor.start(async move {
        let mut wait = make(&stage);
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
        forever().await;
    });
    given.take().expect("it was begun")
}

/// Those that may be awaited anywhere: a script or the host ends them.
fn goes_anywhere(kind: Kind) -> bool {
    matches!(kind, Kind::Foreign | Kind::Join)
}

#[test]
fn polled_outside_of_a_script_each_of_the_crates_own_says_so() {
    for row in table() {
        let (executor, stage) = Stage::new();
        let fresh = (row.make)(&stage);
        let begun = begun(&executor, &stage, row.make);
        for wait in [fresh, begun] {
            let polled = catch_unwind(AssertUnwindSafe(|| wait.now_or_never()));
            match polled {
                Ok(polled) => assert!(goes_anywhere(row.kind) && polled.is_none(), "{}", row.call),
                Err(payload) => {
                    let text = panic_text(&*payload);
                    assert!(text.contains("was polled outside"), "{}: {text}", row.call);
                }
            }
        }
    }
}

#[test]
fn begun_in_one_executor_and_polled_in_another_each_of_the_crates_own_says_so() {
    for row in table() {
        let (executor, stage) = Stage::new();
        let mut wait = begun(&executor, &stage, row.make);
        let (other, _) = Stage::new();
        let polled = other.start(async move {
            let polled = catch_unwind(AssertUnwindSafe(|| (&mut wait).now_or_never()));
            match polled {
                Ok(polled) => polled.map_or_else(String::new, |()| "ready".into()),
                Err(payload) => panic_text(&*payload),
            }
        });
        let text = polled.take().expect("it ends at once").expect(row.call);
        if goes_anywhere(row.kind) {
            assert_eq!(text, "", "{}", row.call);
        } else {
            assert!(
                text.contains("was polled in another") || text.contains("of another executor"),
                "{}: {text}",
                row.call
            );
        }
    }
}

// docs/contract.md#decided-after-the-end
#[test]
fn polled_again_after_its_end_each_panics_and_does_no_harm() {
    for row in table() {
        let (mut executor, stage) = Stage::new();
        let frames = Rc::new(Cell::new(0));
        executor.start(count_frames(frames.clone()));
        let (_, over) = start(&executor, &stage, &row, move |wait| async move {
            let mut wait = wait;
            (&mut wait).await;
            let polled = catch_unwind(AssertUnwindSafe(|| (&mut wait).now_or_never()));
            // A stream has another item, and how a coroutine has ended can be read again.
            let others = ["Interval", "Frames", "Subscription", "Changes", "Finished"];
            assert_eq!(polled.is_ok(), others.contains(&row.of), "{}", row.call);
        });
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(row.due), "{}", row.call);
        assert_eq!(frames.get(), FRAMES, "{}", row.call);
        assert_eq!(executor.len(), 1, "{}", row.call);
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
    }
}

#[test]
fn in_phase_on_one_that_has_begun_panics_where_it_is_called() {
    let mut checked = 0;
    for row in table() {
        let Some(check) = row.begun else { continue };
        let (mut executor, stage) = Stage::new();
        let frames = Rc::new(Cell::new(0));
        let bystander = executor.start(count_frames(frames.clone()));
        let (handle, on) = (executor.handle(), stage.clone());
        let script = executor.start(async move {
            let mut beside = wait_seconds(0.5);
            assert!(poll_once(&mut beside).await.is_pending());
            check(on).await;
            assert_eq!(handle.time().expect("it is there"), time());
            future::join(beside, next_frame()).await;
            time().frame
        });
        run(&mut executor, &stage);
        let continued = script.take().expect("it has ended");
        assert_eq!(continued.expect(row.call), 2, "{}", row.call);
        assert_eq!(frames.get(), FRAMES, "{}", row.call);
        assert!(bystander.stop());
        // The wait went with the panic, and its timer with it.
        assert!(executor.is_empty() && !executor.has_ready());
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
        checked += 1;
    }
    assert!(checked > 10);
}

#[test]
fn each_prints_as_its_type_begun_or_not() {
    for row in table() {
        let (executor, stage) = Stage::new();
        let fresh = format!("{:?}", (row.make)(&stage));
        assert!(fresh.starts_with(row.of), "{}: {fresh}", row.call);
        let begun = format!("{:?}", begun(&executor, &stage, row.make));
        assert!(begun.starts_with(row.of), "{}: {begun}", row.call);
    }
}
