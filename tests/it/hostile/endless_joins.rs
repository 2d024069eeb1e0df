//! A loop around a join that is always ready ends its poll, and is reported.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::prelude::*;
use framestep::{Executor, Report};

use crate::support::timeline::unclamped;
use crate::support::{count_frames, update};

/// Notes the reports of endless joins, and allows refusals.
fn reports_of(executor: &Executor) -> Rc<RefCell<Vec<String>>> {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| match report {
        Report::EndlessJoins { .. } => list.borrow_mut().push(report.to_string()),
        Report::Refused { .. } => {}
        other => panic!("{other}"),
    });
    reports
}

// docs/contract.md#decided-endless-joins
#[test]
fn a_loop_around_an_end_continues_in_the_next_run_and_is_reported_by_name() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let (rounds, frames) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(0)));
    let ended = executor.start(async {}).finished();
    let count = rounds.clone();
    executor.script("retry").spawn(async move {
        loop {
            ended.clone().await;
            count.set(count.get() + 1);
        }
    });
    executor.start(count_frames(frames.clone()));
    for frame in 1..=2 {
        executor.run_frame(0.25);
        assert_eq!(frames.get(), frame);
        assert!(rounds.get() >= frame * 900_000, "{}", rounds.get());
    }
    assert_eq!(
        *reports.borrow(),
        [1, 2].map(|frame| format!(
            "frame {frame}, Update: coroutine 1v1 (retry) joined ended coroutines 1048576 times \
             without a wait; it continues in the next run"
        ))
    );
}

#[test]
fn so_does_a_loop_that_starts_on_an_inactive_owner_until_it_is_active() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let owner = executor.owner();
    owner.set_active(false);
    let scripts = owner.handle();
    let retry = executor.script("retry").start(async move {
        while scripts.start(async {}).await.is_err() {}
        time().frame
    });
    assert_eq!(reports.borrow().len(), 1, "{reports:?}");
    executor.run_frame(0.25);
    assert_eq!(reports.borrow().len(), 2);
    owner.set_active(true);
    assert_eq!(executor.run_until(retry, 0.25).unwrap(), 2);
}

#[test]
fn many_joins_with_waits_between_them_or_by_many_coroutines_are_not_reported() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let ended = executor.start(async {}).finished();
    for _ in 0..4 {
        let ended = ended.clone();
        executor.start(async move {
            loop {
                for _ in 0..400_000 {
                    ended.clone().await;
                }
                next_frame().await;
            }
        });
    }
    for _ in 0..3 {
        executor.run_frame(0.25);
    }
    assert!(reports.borrow().is_empty(), "{reports:?}");
    assert_eq!(executor.len(), 4);
}

#[test]
fn a_loop_of_starts_and_joins_is_reported_by_name() {
    for spawns in [false, true] {
        let mut executor = Executor::builder().max_polls_per_run(10).build();
        let reports = Rc::new(RefCell::new(Vec::new()));
        let list = reports.clone();
        executor.on_report(move |report| list.borrow_mut().push(report.clone()));
        let patrol = executor.spawn(async move {
            loop {
                if spawns {
                    let _ = spawn(async {}).named("step").await;
                } else {
                    let _ = start(async {}).await;
                }
            }
        });
        let id = patrol.named("patrol").id();
        update(&mut executor, 0.25);
        let reports = reports.borrow();
        let [Report::Runaway { id: of, name, .. }] = &reports[..] else {
            panic!("{reports:?}");
        };
        if !spawns || name.as_deref() == Some("patrol") {
            assert_eq!(*of, Some(id));
            assert_eq!(name.as_deref(), Some("patrol"));
        } else {
            assert_eq!(name.as_deref(), Some("step"));
        }
    }
}

#[test]
fn starts_by_the_host_outside_of_a_run_have_no_phase() {
    fn nest(depth: u32) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            if depth > 0 {
                start(nest(depth - 1));
            }
        })
    }
    let executor = Executor::new();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| list.borrow_mut().push(report.clone()));
    drop(executor.start(nest(150)));
    let reports = reports.borrow();
    let [
        Report::Runaway {
            phase: None,
            frame: 0,
            name: Some(_),
            ..
        },
    ] = &reports[..]
    else {
        panic!("{reports:?}");
    };
}
