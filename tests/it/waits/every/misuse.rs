//! Waits that are dropped, stopped, polled in the wrong place, and printed.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use futures::{FutureExt, future};

use framestep::prelude::*;

use super::table::{Boxed, Check, Kind, Stage, endless, table};
use super::{FRAMES, run, start};
use crate::support::timeline::{Log, unclamped};
use crate::support::{count_frames, forever, panic_text, place_of_panic, poll_once, result_of};

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

/// Waits that may be awaited anywhere: a script or the host ends them.
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
            // A stream has another item, and the outcome of a coroutine can be read
            // again.
            let others = [
                "Interval",
                "NextTick",
                "Frames",
                "Subscription",
                "Changes",
                "NextItem",
                "Finished",
            ];
            assert_eq!(polled.is_ok(), others.contains(&row.of), "{}", row.call);
        });
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(row.due), "{}", row.call);
        assert_eq!(frames.get(), FRAMES, "{}", row.call);
        assert_eq!(executor.len(), 1, "{}", row.call);
        assert_eq!(executor.next_deadline(), None, "{}", row.call);
    }
}

/// Runs `check`, which begins a wait and calls `in_phase` on it, in a separate script,
/// and checks that nothing else is affected.
fn panics_and_disturbs_nothing(call: &str, check: fn(Stage) -> Check) {
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
    assert_eq!(continued.expect(call), 2, "{call}");
    assert_eq!(frames.get(), FRAMES, "{call}");
    assert!(bystander.stop());
    // The panic dropped the wait and its timer.
    assert!(executor.is_empty() && !executor.has_ready());
    assert_eq!(executor.next_deadline(), None, "{call}");
}

// docs/contract.md#decided-moved-waits
#[test]
fn in_phase_on_one_that_has_begun_panics_where_it_is_called() {
    let mut checked = 0;
    for row in table().into_iter().chain(endless()) {
        let Some(check) = row.begun else { continue };
        panics_and_disturbs_nothing(row.call, check);
        checked += 1;
    }
    assert!(checked > 15);
}

#[test]
fn an_interval_whose_first_tick_was_awaited_has_begun() {
    let mut executor = unclamped();
    let script = executor.start(async {
        for period in [0.5, f64::INFINITY] {
            let mut begun = interval(period);
            assert!(poll_once(&mut begun.tick()).await.is_pending());
            let place = place_of_panic(|| begun.in_phase(Phase::LateUpdate));
            assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
        }
        let mut ticked = interval(0.5);
        ticked.tick().await;
        let place = place_of_panic(|| ticked.in_phase(Phase::LateUpdate));
        assert_eq!(place, format!("{}:{}", file!(), line!() - 1));
        next_frame().await;
    });
    executor.run_frames(4, 0.25);
    script.take().unwrap().unwrap();
}

#[test]
fn a_script_that_does_not_catch_the_panic_of_in_phase_ends_and_no_other_one_does() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("another");
    });
    let broken = executor.start(async {
        let mut wait = wait_seconds(9);
        assert!(poll_once(&mut wait).await.is_pending());
        wait.in_phase(Phase::LateUpdate).await;
    });
    assert!(broken.is_finished());
    executor.run_frame(0.25);
    log.check(&["F1: another"]);
    assert!(result_of(&executor, broken).unwrap_err().is_panic());
    assert_eq!(executor.next_deadline(), None);
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
