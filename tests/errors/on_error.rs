//! Handlers for the errors of scripts: docs/contract.md#decided-on-error

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

/// Returns an error in the next frame.
async fn fails() -> Result<(), &'static str> {
    next_frame().await;
    Err("failed")
}

/// The reports of an executor, as text.
fn reports_of(executor: &Executor) -> Rc<RefCell<Vec<String>>> {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = reports.clone();
    executor.on_report(move |report| log.borrow_mut().push(report.to_string()));
    reports
}

#[test]
fn the_handler_is_called_in_the_poll_that_returns_the_error() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, joined, queued) = (log.clone(), log.clone(), log.clone());
    let script = executor.start(on_error(fails(), move |error| say.say(error)));
    executor.start(async move {
        script.await.unwrap();
        joined.say("joined");
    });
    executor.start(async move {
        next_frame().await;
        queued.say("queued");
    });
    executor.run_frame(0.25);
    log.check(&["F1: failed", "F1: joined", "F1: queued"]);
    executor.assert_empty();
}

#[test]
fn what_the_handler_returns_is_the_output() {
    let mut executor = unclamped();
    let number = |result: Result<u32, &'static str>| async move {
        next_frame().await;
        result
    };
    let mut output = |result| executor.run_until(on_error(number(result), |_| 0), 0.25);
    assert_eq!([output(Ok(7)), output(Err("none"))], [7, 0]);
}

#[test]
fn it_handles_errors_within_a_script() {
    let mut executor = unclamped();
    let text = async {
        on_error(fails(), |_| ()).await;
        let outer = on_error(async { Err::<Result<_, _>, _>("inner") }, Err);
        on_error(outer, |error| format!("outer {error}")).await
    };
    assert_eq!(executor.run_until(text, 0.25), "outer inner");
}

#[test]
fn a_handler_that_is_not_called_is_dropped() {
    let mut executor = unclamped();
    let log = Log::new();
    let (returns, stops) = (log.on_drop("returned"), log.on_drop("stopped"));
    let returned = async {
        next_frame().await;
        Ok::<(), ()>(())
    };
    let kept = executor.start(on_error(returned, move |()| drop(returns)));
    executor.run_frame(0.25);
    log.check(&["returned"]);
    let stopped = executor.start(on_error(fails(), move |_| drop(stops)));
    assert_eq!(executor.len(), 1, "no coroutine is added");
    drop(stopped.stop_on_drop());
    log.check(&["stopped"]);
    executor.run_frame(0.25);
    assert!(executor.is_empty() && kept.is_finished());
}

#[test]
fn the_handler_borrows_lent_state_and_spawns_on_the_owner_of_the_script() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.spawn(on_error(fails(), |error| {
        with(|errors: &mut Vec<&str>| errors.push(error));
        spawn(forever());
    }));
    let mut errors = Vec::<&str>::new();
    for _ in 0..2 {
        executor.lend(&mut errors, |executor| executor.run_frame(0.25));
    }
    assert_eq!(errors, ["failed"]);
    assert_eq!(executor.len(), 1);
    drop(owner);
    executor.assert_empty();
}

#[test]
fn a_panic_of_the_handler_is_one_of_the_script() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    executor
        .start(on_error(fails(), |error| panic!("the handler of {error}")))
        .named("detached");
    let joined = executor.start(on_error(fails(), |_| panic!("on purpose")));
    executor.run_frame(0.25);
    assert!(joined.take_output().unwrap().unwrap_err().is_panic());
    let reports = reports.borrow();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].contains("(detached) panicked: the handler of failed"));
}

#[test]
fn the_coroutine_has_the_name_of_the_script() {
    let executor = unclamped();
    let name = "errors::on_error::fails";
    let asks = on_error(async { Err(()) }, |()| current_name());
    let asked = executor.start(asks).take_output().unwrap().unwrap();
    assert_eq!(
        asked,
        "errors::on_error::the_coroutine_has_the_name_of_the_script"
    );
    let script = executor.start(on_error(fails(), |_| ()));
    let snapshot = executor.snapshot();
    assert_eq!(snapshot.get(script.id()).unwrap().name(), name);

    let (handle, reports) = (executor.handle(), reports_of(&executor));
    let owner = executor.owner();
    owner.set_active(false);
    owner.start(on_error(fails(), |_| ()));
    drop(executor);
    assert!(reports.borrow()[0].contains(name), "{reports:?}");
    let refused = handle.start(on_error(fails(), |_| ()));
    assert!(refused.is_finished());
}

#[test]
fn the_hook_for_unobserved_errors_does_not_receive_it() {
    let mut executor = unclamped();
    let log = Log::new();
    let note = log.clone();
    executor.on_unobserved(move |result: Result<(), &str>, _| note.note(format!("{result:?}")));
    executor.start(on_error(fails(), |_| ()));
    executor.start(fails());
    executor.run_frame(0.25);
    log.check(&["Err(\"failed\")"]);
}

#[test]
fn no_report_is_made_of_an_error() {
    let mut executor = unclamped();
    executor.on_report(|report: &Report| panic!("{report}"));
    executor.start(on_error(fails(), |_| ()));
    executor.run_frame(0.25);
    executor.assert_empty();
}
