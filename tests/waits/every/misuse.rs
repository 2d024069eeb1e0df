//! Waits that are dropped, stopped, polled in the wrong place, and printed.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use futures::{FutureExt, future};

use framestep::prelude::*;

use super::{FRAMES, run, start};
use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::waits::{Arg, Begun, Boxed, Case, Given, Row, WAITS, cases};
use framestep_testkit::{
    Stage, count_frames, forever, panic_text, place_of_panic, poll_once, result_of,
};

#[test]
fn each_leaves_nothing_behind_when_it_is_dropped() {
    for case in cases() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &case, |wait| async move {
            let mut wait = wait;
            assert!(poll_once(&mut wait).await.is_pending());
            drop(wait);
            forever().await;
        });
        let before = executor.len();
        run(&mut executor, &stage);
        assert!(before <= 3 && over.get().is_none() && script.stop());
        assert!(executor.is_empty() && !executor.has_ready(), "{case}");
        assert_eq!(executor.next_deadline(), None, "{case}");
    }
}

#[test]
fn each_leaves_nothing_behind_when_its_script_is_stopped() {
    for case in cases() {
        let (mut executor, stage) = Stage::new();
        let (script, over) = start(&executor, &stage, &case, |wait| wait);
        assert!(script.stop());
        run(&mut executor, &stage);
        assert!(over.get().is_none(), "{case}");
        assert!(executor.is_empty() && !executor.has_ready(), "{case}");
        assert_eq!(executor.next_deadline(), None, "{case}");
    }
}

/// Begins a wait in a script that continues, and returns it.
fn begun(executor: &framestep::Executor, stage: &Stage, case: &Case) -> Boxed {
    let begun: Rc<RefCell<Option<Boxed>>> = Rc::default();
    let (give, given, case) = (begun.clone(), stage.given.clone(), *case);
    executor.start(async move {
        let mut wait = case.make(&given);
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
        forever().await;
    });
    begun.take().expect("it was begun")
}

#[test]
fn polled_outside_of_a_script_each_of_the_crates_own_says_so() {
    for case in cases() {
        let (executor, stage) = Stage::new();
        let fresh = case.make(&stage.given);
        let begun = begun(&executor, &stage, &case);
        for wait in [fresh, begun] {
            let polled = catch_unwind(AssertUnwindSafe(|| wait.now_or_never()));
            match polled {
                Ok(polled) => assert!(case.rule.goes_anywhere() && polled.is_none(), "{case}"),
                Err(payload) => {
                    let text = panic_text(&*payload);
                    assert!(text.contains("was polled outside"), "{case}: {text}");
                }
            }
        }
    }
}

#[test]
fn begun_in_one_executor_and_polled_in_another_each_of_the_crates_own_says_so() {
    for case in cases() {
        let (executor, stage) = Stage::new();
        let mut wait = begun(&executor, &stage, &case);
        let (other, _) = Stage::new();
        let polled = other.start(async move {
            let polled = catch_unwind(AssertUnwindSafe(|| (&mut wait).now_or_never()));
            match polled {
                Ok(polled) => polled.map_or_else(String::new, |()| "ready".into()),
                Err(payload) => panic_text(&*payload),
            }
        });
        let text = polled
            .take_output()
            .expect("it ends at once")
            .expect(case.call);
        if case.rule.goes_anywhere() {
            assert_eq!(text, "", "{case}");
        } else {
            assert!(
                text.contains("was polled in another") || text.contains("of another executor"),
                "{case}: {text}"
            );
        }
    }
}

// docs/contract.md#decided-after-the-end
#[test]
fn polled_again_after_its_end_each_panics_and_does_no_harm() {
    for case in cases() {
        let (mut executor, stage) = Stage::new();
        let frames = Rc::new(Cell::new(0));
        executor.start(count_frames(frames.clone()));
        let (_, over) = start(&executor, &stage, &case, move |wait| async move {
            let mut wait = wait;
            (&mut wait).await;
            let polled = catch_unwind(AssertUnwindSafe(|| (&mut wait).now_or_never()));
            // A stream has another item, and the outcome of a coroutine can be read
            // again.
            assert_eq!(polled.is_ok(), case.repeats, "{case}");
        });
        run(&mut executor, &stage);
        assert_eq!(over.get(), Some(case.due), "{case}");
        assert_eq!(frames.get(), FRAMES, "{case}");
        assert_eq!(executor.len(), 1, "{case}");
        assert_eq!(executor.next_deadline(), None, "{case}");
    }
}

/// Runs `check`, which begins a wait and calls `in_phase` on it, in a separate script,
/// and checks that nothing else is affected.
fn panics_and_disturbs_nothing(call: &str, begun: Begun, given: impl FnOnce(Given) -> Given) {
    let (mut executor, stage) = Stage::new();
    let frames = Rc::new(Cell::new(0));
    let bystander = executor.start(count_frames(frames.clone()));
    let (handle, given) = (executor.handle(), given(stage.given.clone()));
    let script = executor.start(async move {
        let mut beside = wait_seconds(0.5);
        assert!(poll_once(&mut beside).await.is_pending());
        begun(given, |name, line| {
            assert_eq!(place_of_panic(name), format!("{}:{line}", Row::FILE));
        })
        .await;
        assert_eq!(handle.time().expect("it is there"), time());
        future::join(beside, next_frame()).await;
        time().frame
    });
    run(&mut executor, &stage);
    let continued = script.take_output().expect("it has ended");
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
    for case in cases() {
        let Some(begun) = case.begun else { continue };
        panics_and_disturbs_nothing(case.call, begun, |given| case.given(&given));
        checked += 1;
    }
    // The same of waits that would never end.
    for row in WAITS {
        let Some(begun) = row.begun else { continue };
        panics_and_disturbs_nothing(row.call, begun, |given| {
            let given = given.with(Arg::Count(u64::MAX));
            given.with(Arg::Length(f64::INFINITY))
        });
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
    script.take_output().unwrap().unwrap();
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
    for case in cases() {
        let (executor, stage) = Stage::new();
        let fresh = format!("{:?}", case.make(&stage.given));
        assert!(fresh.starts_with(case.of), "{case}: {fresh}");
        let begun = format!("{:?}", begun(&executor, &stage, &case));
        assert!(begun.starts_with(case.of), "{case}: {begun}");
    }
}
