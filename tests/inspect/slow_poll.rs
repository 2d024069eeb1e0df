//! Reports of slow polls. The limits are zero or infinite: no test depends on the
//! speed of the machine.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::{forever, panic_of, update};

/// An executor that reports every poll, and the reports as text without the time.
fn reporting() -> (Executor, Rc<RefCell<Vec<String>>>) {
    let executor = Executor::builder().slow_poll(0).build();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = reports.clone();
    executor.on_report(move |report| {
        let Report::SlowPoll {
            name, frame, phase, ..
        } = report
        else {
            panic!("{report}");
        };
        let phase = phase.map_or_else(|| "host".to_owned(), |phase| phase.to_string());
        log.borrow_mut().push(format!("F{frame}.{phase}: {name}"));
    });
    (executor, reports)
}

#[test]
fn each_poll_is_reported_with_name_frame_and_phase() {
    let (mut executor, reports) = reporting();
    executor.start(async { end_of_frame().await }).named("bell");
    executor.spawn(async {
        wait_seconds(0.25).await;
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    let own = "inspect::slow_poll::each_poll_is_reported_with_name_frame_and_phase";
    assert_eq!(
        *reports.borrow(),
        [
            // It had no name yet.
            format!("F0.host: {own}"),
            format!("F1.Update: {own}"),
            "F1.EndOfFrame: bell".to_owned(),
            format!("F2.Update: {own}"),
        ]
    );
}

#[test]
fn the_report_names_the_id_and_says_what_is_wrong() {
    let executor = Executor::builder().slow_poll(0).build();
    let texts = Rc::new(RefCell::new(Vec::new()));
    let log = texts.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
    let id = executor.start(forever()).id();
    let text = texts.borrow_mut().pop().unwrap();
    assert!(
        text.starts_with(&format!("frame 0: coroutine {id} (")),
        "{text}"
    );
    assert!(
        text.ends_with("in one poll, which blocked the frame"),
        "{text}"
    );
}

#[test]
fn one_that_is_started_in_a_poll_is_reported_before_that() {
    let (mut executor, reports) = reporting();
    let outer = executor.spawn(async {
        let inner = spawn(next_frame());
        inner.named("inner");
        next_frame().await;
    });
    outer.named("outer");
    update(&mut executor, 0.25);
    assert_eq!(*reports.borrow(), ["F1.Update: outer", "F1.Update: inner"]);
}

#[test]
fn nothing_is_reported_below_the_limit_or_without_one() {
    for builder in [
        Executor::builder(),
        Executor::builder().slow_poll(f64::INFINITY),
        Executor::builder().slow_poll(1_000_000),
        Executor::builder().slow_poll(0).slow_poll(f32::INFINITY),
    ] {
        let mut executor = builder.build();
        executor.on_report(|report| panic!("{report}"));
        executor.run_until(wait_frames(5), 0.25);
        assert_eq!(executor.time().frame, 5);
    }
}

#[test]
fn the_hook_may_stop_the_one_that_is_reported_and_start_others() {
    let executor = Executor::builder().slow_poll(0).build();
    let handle = executor.handle();
    let fresh = Rc::new(RefCell::new(Vec::new()));
    let keep = fresh.clone();
    executor.on_report(move |report| {
        if let Report::SlowPoll { id, .. } = report {
            assert!(handle.stop(*id));
            keep.borrow_mut().push(handle.start(next_frame()));
        }
    });
    let stopped = executor.start(forever());
    assert!(stopped.is_finished());
    let mut executor = executor;
    let fresh = fresh.borrow_mut().pop().unwrap();
    executor.on_report(|_| ());
    executor.run_until(fresh, 0.25).unwrap();
    assert_eq!(executor.time().frame, 1);
}

#[test]
fn a_poll_that_panics_is_not_reported_and_the_next_one_is() {
    let (mut executor, reports) = reporting();
    executor
        .spawn(async { panic!("on purpose") })
        .named("panics");
    executor.spawn(async {}).named("other");
    update(&mut executor, 0.25);
    assert_eq!(*reports.borrow(), ["F1.Update: other"]);
}

#[test]
fn a_limit_that_is_no_length_is_refused() {
    for limit in [f64::NAN, -1.0] {
        let text = panic_of(|| Executor::builder().slow_poll(limit));
        assert!(text.contains("slow_poll"), "{text}");
    }
}
