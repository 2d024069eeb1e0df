//! What was granted to a wait that is kept, but not polled any more.
//! docs/contract.md#decided-untaken-grants

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::timeline::Log;

/// An executor that looks for grants every ten frames, and what it reports.
fn with_reports(inspect: bool) -> (Executor, Rc<RefCell<Vec<String>>>) {
    let executor = Executor::builder()
        .untaken_grant(10)
        .inspect(inspect)
        .build();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| {
        assert!(matches!(report, Report::GrantUntaken { .. }), "{report}");
        list.borrow_mut().push(report.to_string());
    });
    (executor, reports)
}

#[test]
fn a_permit_that_is_granted_to_a_wait_which_nobody_polls_is_reported_once() {
    for is_observed in [false, true] {
        let (mut executor, reports) = with_reports(is_observed);
        let tokens = Semaphore::new(1).named("tokens");
        let token = tokens.try_acquire();
        let mut acquire = tokens.acquire();
        let goblin = executor
            .start(async move {
                select! {
                    _token = &mut acquire => {}
                    () = wait_frames(2) => {}
                }
                wait_frames(100).await;
            })
            .named("goblin");
        let other = executor.start(tokens.acquire());
        executor.run_frames(3, 0.25);
        drop(token);
        executor.run_frames(50, 0.25);
        let texts = reports.take();
        let [text] = &texts[..] else {
            panic!("{texts:?}");
        };
        for part in [
            "frame 20: coroutine 0v1 (goblin) was granted a permit of `tokens` 17 frames ago",
            "it keeps the wait, but polls it no more",
            "`Builder::untaken_grant`",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!other.is_finished());
        goblin.stop();
        executor.run_frame(0.25);
        assert!(other.is_finished(), "the next one gets it");
    }
}

#[test]
fn an_event_for_one_that_nobody_takes_is_reported_with_its_line() {
    let (mut executor, reports) = with_reports(false);
    let jobs = Signal::new().named("jobs");
    let line = line!() + 5;
    let job = jobs.wait();
    executor
        .start(async move {
            let mut first = Box::pin(async move {
                job.await;
            });
            let _ = timeout(1, &mut first).await;
            wait_frames(100).await;
        })
        .named("worker");
    let other = executor.start(jobs.wait());
    executor.run_frames(5, 0.25);
    assert_eq!(jobs.emit_one("dig"), None);
    executor.run_frames(50, 0.25);
    let texts = reports.take();
    let [text] = &texts[..] else {
        panic!("{texts:?}");
    };
    let place = format!("polled at tests/events/untaken_grants.rs:{line}:");
    for part in ["0v1 (worker) was granted an event of `jobs` ", &place] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!other.is_finished());
}

#[test]
fn a_grant_that_is_taken_in_time_or_waits_for_a_pause_or_a_step_is_not_reported() {
    let (mut executor, reports) = with_reports(false);
    let tokens = Semaphore::new(1);
    let log = Log::new();
    let turn = |name: &'static str| {
        let (tokens, log) = (tokens.clone(), log.clone());
        async move {
            let _token = tokens.acquire().await;
            log.note(name);
            wait_frames(5).await;
        }
    };
    drop(executor.start(turn("first")));
    drop(executor.start(turn("second")));
    let paused = executor.start(turn("paused"));
    drop(
        executor
            .script("")
            .in_phase(Phase::FixedUpdate)
            .start(turn("stepped")),
    );
    paused.pause();
    executor.clock().pause();
    executor.run_frames(50, 0.25);
    paused.resume();
    executor.run_frames(50, 0.25);
    log.check(&["first", "second", "paused"]);
    assert_eq!(*reports.borrow(), [""; 0]);
}
