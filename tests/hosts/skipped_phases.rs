//! Phases that the host does not run although coroutines wait for them.
//! docs/contract.md#decided-skipped-phases

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::{Builder, Executor};

use framestep_testkit::timeline::Log;

type Reports = Rc<RefCell<Vec<Report>>>;

/// An executor that looks at its phases every ten frames, and what it reports.
fn with_reports(builder: Builder) -> (Executor, Reports) {
    let executor = builder.skipped_phase(10).build();
    let reports = Reports::default();
    let list = reports.clone();
    executor.on_report(move |report| list.borrow_mut().push(report.clone()));
    (executor, reports)
}

fn run_only(executor: &mut Executor, phase: Phase, frames: u64) {
    for _ in 0..frames {
        executor.begin_frame(0.25);
        executor.run_phase(phase);
    }
}

fn skipped(reports: &Reports) -> Vec<(Phase, u64, u64, usize, String)> {
    let skipped = |report: &Report| match report {
        Report::PhaseSkipped {
            phase,
            frame,
            frames,
            waiting,
            name,
            ..
        } => (*phase, *frame, *frames, *waiting, name.to_string()),
        report => panic!("{report}"),
    };
    reports
        .borrow_mut()
        .drain(..)
        .map(|r| skipped(&r))
        .collect()
}

#[test]
fn a_phase_that_is_not_run_is_reported_once_with_those_that_wait_for_it() {
    let (mut executor, reports) = with_reports(Executor::builder());
    executor.start(end_of_frame()).named("camera");
    executor.start(async {
        select! {
            () = end_of_frame() => {}
            () = end_of_frame() => {}
        }
    });
    executor
        .script("")
        .in_phase(Phase::EndOfFrame)
        .spawn(async {});
    run_only(&mut executor, Phase::Update, 20);
    assert_eq!(skipped(&reports), [], "frame 20 is not over");
    run_only(&mut executor, Phase::Update, 1);
    let (phase, frame, frames, waiting, _) = skipped(&reports).pop().expect("a report");
    assert_eq!(
        (phase, frame, frames, waiting),
        (Phase::EndOfFrame, 20, 20, 3)
    );
    run_only(&mut executor, Phase::Update, 100);
    assert_eq!(skipped(&reports), []);
    // Once it has been run, it may be reported again.
    executor.run_phase(Phase::EndOfFrame);
    executor.assert_empty();
    executor.start(end_of_frame()).named("camera");
    run_only(&mut executor, Phase::Update, 30);
    assert_eq!(
        skipped(&reports),
        [(Phase::EndOfFrame, 140, 19, 1, "camera".to_owned())]
    );
}

#[test]
fn the_report_says_where_an_observed_coroutine_waits_and_what_to_do() {
    let (mut executor, reports) = with_reports(Executor::builder().inspect(true));
    let line = line!() + 2;
    executor
        .spawn(async { in_phase(Phase::Custom(7)).await })
        .named("door");
    run_only(&mut executor, Phase::Update, 40);
    let text = reports.borrow()[0].to_string();
    for part in [
        "frame 20: Custom(7) has not been run for 19 frames",
        "0v1 (door) waits for it, at ",
        &format!("skipped_phases.rs:{line}:"),
        "run it in each frame with `run_phase`",
        "`Builder::skipped_phase`",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_host_that_sleeps_is_not_kept_awake_by_a_phase_that_it_does_not_run() {
    let (mut executor, _reports) = with_reports(Executor::builder());
    executor.start(end_of_frame());
    executor.start(wait_seconds(1).in_phase(Phase::LateUpdate));
    executor.start(wait_seconds(60));
    run_only(&mut executor, Phase::Update, 1);
    assert_eq!(executor.idle_until(), Some(Duration::ZERO));
    run_only(&mut executor, Phase::Update, 24);
    let left = Duration::from_millis(60_000 - 25 * 250);
    assert_eq!(executor.idle_until(), Some(left));
    // Nothing is lost: the phases resume them when they are run.
    executor.run_phase(Phase::LateUpdate);
    executor.run_phase(Phase::EndOfFrame);
    assert_eq!(executor.len(), 1);
}

#[test]
fn a_skipped_phase_that_is_run_again_counts_again() {
    let (mut executor, _reports) = with_reports(Executor::builder());
    executor.start(async {
        loop {
            end_of_frame().await;
        }
    });
    run_only(&mut executor, Phase::Update, 30);
    assert!(!executor.has_ready());
    executor.run_phase(Phase::EndOfFrame);
    assert!(executor.has_ready());
}

#[test]
fn fixed_steps_that_are_not_due_are_not_missed() {
    let paused = |executor: &mut Executor| assert!(executor.clock().pause());
    let slow = |executor: &mut Executor| executor.clock().set_scale(0.0001);
    for set in [paused as fn(&mut Executor), slow] {
        let (mut executor, reports) = with_reports(Executor::builder().fixed_delta(1));
        executor.start(fixed_update());
        executor.start(next_frame());
        set(&mut executor);
        executor.run_frames(100, 0.25);
        assert_eq!(skipped(&reports), []);
    }
    // Steps are due, but the host begins none.
    let (mut executor, reports) = with_reports(Executor::builder().fixed_delta(1));
    executor.start(fixed_update());
    run_only(&mut executor, Phase::Update, 40);
    let (phase, ..) = skipped(&reports).pop().expect("a report");
    assert_eq!(phase, Phase::FixedUpdate);
}

#[test]
fn a_custom_phase_that_the_host_knows_may_be_run_seldom() {
    const TURN: Phase = Phase::Custom(1);
    let (mut executor, reports) = with_reports(Executor::builder());
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        for turn in 0..3 {
            in_phase(TURN).await;
            say.note(turn);
        }
    });
    executor.run_phase(TURN);
    run_only(&mut executor, Phase::Update, 100);
    assert_eq!(skipped(&reports), []);
    assert_eq!(
        executor.idle_until(),
        None,
        "no frame would resume the script"
    );
    executor.run_phase(TURN);
    log.check(&["0", "1"]);
}

#[test]
fn paused_scripts_waits_that_are_over_and_timers_that_are_not_due_do_not_count() {
    let (mut executor, reports) = with_reports(Executor::builder());
    let paused = executor.start(end_of_frame());
    paused.pause();
    executor.start(wait_seconds(1000).in_phase(Phase::LateUpdate));
    executor.start(async {
        timeout(1, in_phase(Phase::Custom(3))).await.ok();
    });
    run_only(&mut executor, Phase::Update, 100);
    assert_eq!(skipped(&reports), []);
}

#[test]
fn without_a_limit_nothing_is_reported_and_the_wait_counts() {
    let mut executor = Executor::builder().skipped_phase(u64::MAX).build();
    executor.on_report(|report| panic!("{report}"));
    executor.start(end_of_frame());
    run_only(&mut executor, Phase::Update, 1_000);
    assert_eq!(executor.idle_until(), Some(Duration::ZERO));
}
