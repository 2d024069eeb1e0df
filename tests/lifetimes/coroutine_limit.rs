//! A limit on the number of coroutines that are alive.
//! docs/contract.md#decided-max-coroutines

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::{Report, SpawnError};
use framestep::prelude::*;

use framestep_testkit::timeline::Log;
use framestep_testkit::{forever, panic_of};

/// An executor for at most `limit` coroutines, and the names of those that it refuses.
fn limited(limit: usize) -> (Executor, Rc<RefCell<Vec<String>>>) {
    let executor = Executor::builder().max_coroutines(limit).build();
    let refused = Rc::new(RefCell::new(Vec::new()));
    let list = refused.clone();
    executor.on_report(move |report| {
        let Report::Refused { name, reason, .. } = report else {
            panic!("{report}");
        };
        assert_eq!(*reason, SpawnError::TooMany(limit));
        list.borrow_mut().push(name.to_string());
    });
    (executor, refused)
}

#[test]
fn one_too_many_is_refused_and_reported_and_the_others_go_on() {
    let (mut executor, refused) = limited(2);
    let log = Log::new();
    let first = executor.start(wait_frames(1));
    let second = executor.spawn(async {});
    for way in ["spawn", "start"] {
        let dropped = log.on_drop(way);
        let script = executor.script(way);
        let future = async move {
            let _dropped = dropped;
            forever().await;
        };
        let coroutine = match way {
            "spawn" => script.spawn(future),
            _ => script.start(future),
        };
        assert!(coroutine.take_output().unwrap().unwrap_err().is_stopped());
    }
    log.check(&["spawn", "start"]);
    assert_eq!(*refused.borrow(), ["spawn", "start"]);
    executor.run_frames(2, 0.25);
    assert!(first.is_finished() && second.is_finished());
    // There is room again.
    let third = executor.start(forever());
    assert!(!third.is_finished());
    assert_eq!(executor.len(), 1);
}

#[test]
fn the_report_names_the_script_the_line_the_limit_and_the_setting() {
    let executor = Executor::builder().max_coroutines(1).build();
    let text = Rc::new(RefCell::new(String::new()));
    let hook = text.clone();
    executor.on_report(move |report| *hook.borrow_mut() = report.to_string());
    let _first = executor.start(forever());
    let line = line!() + 1;
    drop(executor.script("mod").spawn(forever()));
    let text = text.borrow();
    for part in [
        "coroutine `mod`, made at ",
        &format!("coroutine_limit.rs:{line}:"),
        "1 coroutines are alive, the limit that `Builder::max_coroutines` sets",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn an_owner_stays_active_and_refuses_for_its_own_reasons_first() {
    let executor = Executor::builder().max_coroutines(1).build();
    let reasons = Rc::new(RefCell::new(Vec::new()));
    let list = reasons.clone();
    executor.on_report(move |report| {
        let Report::Refused { reason, .. } = report else {
            panic!("{report}");
        };
        list.borrow_mut().push(*reason);
    });
    let owner = executor.owner();
    owner.start(forever());
    owner.start(forever());
    assert!(owner.is_active());
    owner.set_active(false);
    let _other = executor.start(forever());
    owner.start(forever());
    assert_eq!(
        *reasons.borrow(),
        [SpawnError::TooMany(1), SpawnError::OwnerInactive]
    );
}

#[test]
fn a_spawn_from_another_thread_counts_when_it_is_taken() {
    let (mut executor, refused) = limited(1);
    let remote = executor.remote();
    let count = Rc::new(Cell::new(0));
    let first = executor.start(wait_frames(2));
    assert!(remote.spawn(forever));
    // Taken between two runs, by the spawn. Its destructor is user code, so a run drops it.
    drop(executor.spawn(async {}));
    assert_eq!(refused.borrow().len(), 1);
    executor.run_frame(0.25);
    assert_eq!(refused.borrow().len(), 2);
    count.set(executor.len());
    assert_eq!(count.get(), 1);
    executor.run_frames(2, 0.25);
    assert!(first.is_finished());
    assert!(remote.spawn(forever));
    executor.run_frame(0.25);
    assert_eq!((executor.len(), refused.borrow().len()), (1, 2));
}

#[test]
fn a_limit_of_none_is_a_mistake() {
    let text = panic_of(|| Executor::builder().max_coroutines(0));
    assert!(
        text.contains("`max_coroutines` must be at least 1"),
        "{text}"
    );
}
