//! Handlers for the errors of coroutines that are never joined.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;
use framestep::{Executor, Report};

use crate::support::forever;
use crate::support::timeline::{Log, unclamped};

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
fn the_handler_is_called_in_the_same_run_before_what_is_queued() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor
        .start(fails())
        .on_error(move |error| say.say(error));
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.say("queued");
    });
    executor.run_frame(0.25);
    log.check(&["F1: failed", "F1: queued"]);
    assert!(executor.is_empty());
}

#[test]
fn an_error_that_was_returned_before_is_handled_at_once() {
    let executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let failed = executor.start(async { Err::<(), _>("failed") });
    failed.on_error(move |error| say.say(error));
    log.check(&["F0: failed"]);
    assert!(executor.is_empty());
}

#[test]
fn a_handler_that_is_not_called_is_dropped() {
    let mut executor = unclamped();
    let log = Log::new();
    let (returns, stops) = (log.on_drop("returned"), log.on_drop("stopped"));
    executor
        .start(async {
            next_frame().await;
            Ok::<(), ()>(())
        })
        .on_error(move |&()| drop(returns));
    executor.run_frame(0.25);
    log.check(&["returned"]);
    let stopped = executor.start(async {
        forever().await;
        Err::<(), ()>(())
    });
    let id = stopped.id();
    stopped.on_error(move |&()| drop(stops));
    assert!(executor.stop(id));
    executor.run_frame(0.25);
    log.check(&["stopped"]);
    assert!(executor.is_empty());
}

#[test]
fn the_handler_borrows_lent_state_and_spawns_on_the_coroutines_owner() {
    let mut executor = unclamped();
    let owner = executor.owner();
    owner.spawn(fails()).on_error(|&error| {
        with(|errors: &mut Vec<&str>| errors.push(error));
        spawn(forever());
    });
    let mut errors = Vec::<&str>::new();
    for _ in 0..2 {
        executor.lend(&mut errors, |executor| executor.run_frame(0.25));
    }
    assert_eq!(errors, ["failed"]);
    assert_eq!(executor.len(), 1);
    drop(owner);
    assert!(executor.is_empty());
}

#[test]
fn a_handler_inside_a_closure_that_borrows_is_called_after_it() {
    let mut executor = unclamped();
    executor.spawn(async {
        with(|errors: &mut Vec<&str>| {
            errors.push("in the closure");
            start(async { Err::<(), _>("started") })
                .on_error(|&error| with(|errors: &mut Vec<&str>| errors.push(error)));
        });
    });
    let mut errors = Vec::<&str>::new();
    executor.lend(&mut errors, |executor| executor.run_frame(0.25));
    assert_eq!(errors, ["in the closure", "started"]);
}

// docs/contract.md#decided-on-error
#[test]
fn panics_of_the_coroutine_and_of_the_handler_are_reported_by_name() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let panics = executor.start(async {
        next_frame().await;
        panic!("on purpose");
        #[expect(unreachable_code, reason = "it says what it could return")]
        Err::<(), ()>(())
    });
    panics.named("first").on_error(|&()| unreachable!());
    let fails = executor.start(fails());
    fails
        .named("second")
        .on_error(|error| panic!("the handler of {error}"));
    executor.run_frame(0.25);
    let reports = reports.borrow();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].contains("(first) panicked: on purpose"));
    assert!(reports[1].contains("(second (on_error)) panicked: the handler of failed"));
}

#[test]
fn the_handle_stops_the_coroutine() {
    let mut executor = unclamped();
    let log = Log::new();
    let dropped = log.on_drop("handler dropped");
    let guard = executor.start(fails()).on_error(move |_| drop(dropped));
    let guard = guard.stop_on_drop();
    assert_eq!(executor.len(), 1, "no coroutine is added");
    drop(guard);
    log.check(&["handler dropped"]);
    executor.run_frame(0.25);
    assert!(executor.is_empty());
}

#[test]
fn a_join_of_the_handle_returns_the_error_after_the_handler_had_it() {
    let mut executor = unclamped();
    let log = Log::new();
    let (say, handled) = (log.clone(), log.clone());
    let fails = executor.start(fails()).named("fails");
    let fails = fails.on_error(move |error| handled.say(format!("{error} in {}", current_name())));
    executor.start(async move {
        let result = fails.await.unwrap();
        say.say(format!("joined: {result:?}"));
    });
    executor.run_frame(0.25);
    log.check(&["F1: failed in fails", "F1: joined: Err(\"failed\")"]);
}

#[test]
fn several_handlers_are_called_in_order_and_a_panic_leaves_the_result() {
    let mut executor = unclamped();
    let (log, reports) = (Log::new(), reports_of(&executor));
    let (first, third) = (log.clone(), log.clone());
    let fails = executor
        .start(fails())
        .on_error(move |error| first.say(error))
        .on_error(|_| panic!("the second"))
        .on_error(move |error| third.say(error));
    executor.run_frame(0.25);
    log.check(&["F1: failed", "F1: failed"]);
    assert_eq!(fails.take().unwrap().unwrap(), Err("failed"));
    assert_eq!(reports.borrow().len(), 1);
}

#[test]
fn a_handler_of_an_error_from_before_is_called_after_the_closure_that_borrows() {
    for keeps in [false, true] {
        let mut executor = unclamped();
        let failed = executor.start(async { Err::<(), _>("failed") });
        let kept = Rc::new(RefCell::new(None));
        let keep = kept.clone();
        executor.spawn(async move {
            with(move |errors: &mut Vec<&str>| {
                let handle =
                    failed.on_error(|&error| with(|errors: &mut Vec<&str>| errors.push(error)));
                if keeps {
                    *keep.borrow_mut() = Some(handle);
                }
                errors.push("in the closure");
            });
        });
        let mut errors = Vec::<&str>::new();
        executor.lend(&mut errors, |executor| executor.run_frame(0.25));
        assert_eq!(errors, ["in the closure", "failed"]);
        if let Some(kept) = kept.take() {
            assert_eq!(kept.take().unwrap().unwrap(), Err("failed"));
        }
    }
}

#[test]
fn the_coroutine_has_not_ended_while_its_handler_is_called() {
    for before in [false, true] {
        let mut executor = unclamped();
        let log = Log::new();
        let (say, slot) = (log.clone(), Rc::new(RefCell::new(None)));
        let (handle, own) = (executor.handle(), slot.clone());
        let script = executor.start(async move {
            if !before {
                next_frame().await;
            }
            Err::<(), _>("failed")
        });
        let ended = script.finished();
        let id = script.id();
        let script = script.on_error(move |_| {
            assert!(handle.is_alive(id));
            if let Some(own) = own.borrow().as_ref() {
                let own: &Coroutine<Result<(), &str>> = own;
                assert!(!own.is_finished() && own.take().is_none());
            }
            // Joiners resume when the handler has returned.
            spawn(async move {
                ended.await;
                say.say("ended");
            });
        });
        slot.replace(Some(script));
        executor.run_frame(0.25);
        log.check(&["F1: ended"]);
        let script = slot.take().unwrap();
        assert!(script.is_finished());
        assert_eq!(script.take().unwrap().unwrap(), Err("failed"));
    }
}

#[test]
fn a_handler_may_drop_the_handle_and_the_executor() {
    for drops_executor in [false, true] {
        let executor = unclamped();
        let (log, slot) = (Log::new(), Rc::new(RefCell::new((None, None))));
        let (note, own) = (log.clone(), slot.clone());
        let token = log.on_drop("output dropped");
        let script = executor.start(async move { Err::<(), _>(token) });
        slot.borrow_mut().0 = Some(script.finished());
        let handler = move |_: &_| {
            drop(own.take());
            note.note("handled");
        };
        if drops_executor {
            slot.borrow_mut().1 = Some(executor);
        }
        drop(script.on_error(handler));
        log.check(&["handled", "output dropped"]);
    }
}

#[test]
fn an_error_that_a_handler_has_received_is_read() {
    let mut executor = unclamped();
    let log = Log::new();
    let note = log.clone();
    executor.on_unread(move |result: Result<(), &str>| note.note(format!("{result:?}")));
    executor.start(fails()).on_error(|_| ());
    executor.start(async { Ok(()) }).on_error(|_: &&str| ());
    executor.run_frame(0.25);
    log.check(&["Ok(())"]);
}

#[test]
fn on_an_executor_that_is_gone_nothing_happens() {
    let executor = unclamped();
    let failed = executor.start(async { Err::<(), _>("failed") });
    let asleep = executor.start(fails());
    let handle = executor.handle();
    drop(executor);
    failed.on_error(|error| assert_eq!(*error, "failed"));
    asleep.on_error(|_| unreachable!());
    handle.start(fails()).on_error(|_| unreachable!());
}

#[test]
fn no_report_is_made_of_an_error() {
    let mut executor = unclamped();
    executor.on_report(|report: &Report| panic!("{report}"));
    executor.start(fails()).on_error(|_| ());
    executor.run_frame(0.25);
    assert!(executor.is_empty());
}
