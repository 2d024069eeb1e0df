//! Bounds on starts: docs/contract.md#rule-9-bounds

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};

use framestep::prelude::*;
use framestep::{Executor, Report};

use crate::support::timeline::unclamped;

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

/// Calls `f` inside `enter` of all the executors.
fn inside(executors: &[Executor], f: &mut dyn FnMut()) {
    match executors.split_first() {
        None => f(),
        Some((executor, rest)) => executor.enter(|| inside(rest, f)),
    }
}

fn hundred() -> Vec<Executor> {
    (0..100).map(|_| Executor::new()).collect()
}

#[test]
fn a_start_below_a_hundred_other_executors_begins_at_once() {
    let mut inner = unclamped();
    inside(&hundred(), &mut || {
        let five = inner.start(async { 5 });
        assert!(five.is_finished());
        let later = inner.run_until(async { start(next_frame()).await.is_ok() }, 0.25);
        assert!(later);
    });
}

#[test]
fn an_executor_that_runs_below_a_deep_start_of_another_starts_as_ever() {
    fn deep(left: u32, ended: Rc<Cell<Option<bool>>>) -> Boxed {
        Box::pin(async move {
            if left > 0 {
                start(deep(left - 1, ended)).await.unwrap();
                return;
            }
            let mut other = unclamped();
            let script = other.start(next_frame());
            other.run_frame(0.25);
            ended.set(Some(script.is_finished()));
        })
    }
    let executor = unclamped();
    let ended = Rc::new(Cell::new(None));
    executor.start(deep(99, ended.clone()));
    assert_eq!(ended.get(), Some(true));
}

#[test]
fn a_start_that_is_held_begins_in_a_run_inside_the_closure() {
    let executor = Rc::new(RefCell::new(unclamped()));
    let handle = executor.borrow().handle();
    let begun = handle.lend(&mut 5_u32, |handle| {
        handle.enter(|| {
            with(|_: &mut u32| {
                let mut executor = executor.borrow_mut();
                let script = executor.start(async {});
                assert!(!script.is_finished());
                assert!(executor.has_ready());
                // Any phase will do.
                executor.run_phase(Phase::EndOfFrame);
                script.is_finished()
            })
        })
    });
    assert_eq!(begun, Some(Some(true)));
}

/// Starts two of its kind, without a wait, `left` levels deep.
fn tree(left: u32, begun: Rc<Cell<u64>>) -> Boxed {
    Box::pin(async move {
        begun.set(begun.get() + 1);
        if left > 0 {
            start(tree(left - 1, begun.clone()));
            start(tree(left - 1, begun));
        }
    })
}

struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_tree_of_starts_takes_no_more_polls_than_a_run_has() {
    const LIMIT: u64 = 100; // for `max_polls_per_run` of 1, and one for each alive
    for by_host in [false, true] {
        let mut executor = Executor::builder().max_polls_per_run(1).build();
        let reports = Rc::new(Cell::new(0));
        let count = reports.clone();
        executor.on_report(move |report| {
            assert!(matches!(report, Report::Runaway { .. }), "{report}");
            count.set(count.get() + 1);
        });
        let told = Arc::new(Count(AtomicU32::new(0)));
        executor.on_wake(Waker::from(told.clone()));
        let begun = Rc::new(Cell::new(0));
        if by_host {
            executor.start(tree(60, begun.clone()));
            assert!(executor.has_ready());
            assert!(told.0.load(Ordering::Relaxed) > 0);
        } else {
            executor.spawn(tree(60, begun.clone()));
            executor.run_phase(Phase::Update);
        }
        assert!(
            (LIMIT..=LIMIT + 2).contains(&begun.get()),
            "{}",
            begun.get()
        );
        assert_eq!(reports.get(), 1);
    }
}

#[test]
fn the_starts_beyond_the_limit_begin_in_the_next_run_of_any_phase() {
    let mut executor = Executor::builder().max_polls_per_run(1).build();
    executor.on_report(|_| ());
    let begun = Rc::new(Cell::new(0));
    executor.spawn(tree(6, begun.clone())); // 127 in all
    executor.run_phase(Phase::Update);
    assert!(begun.get() < 127);
    executor.run_phase(Phase::Custom(7));
    assert_eq!(begun.get(), 127);
    assert!(executor.is_empty());
}

#[test]
fn each_start_by_the_host_has_a_limit_of_its_own() {
    let executor = Executor::builder().max_polls_per_run(1).build();
    executor.on_report(|report| panic!("{report}"));
    let begun = Rc::new(Cell::new(0));
    for _ in 0..10 {
        executor.start(tree(5, begun.clone()));
    }
    assert_eq!(begun.get(), 630);
}

#[test]
fn a_tree_of_starts_without_end_holds_up_no_frame() {
    let mut executor = Executor::builder().max_polls_per_run(1).build();
    executor.on_report(|_| ());
    let begun = Rc::new(Cell::new(0));
    executor.spawn(tree(u32::MAX, begun.clone()));
    // Each run begins the starts that the one before has deferred, and at most
    // 100 more.
    for (phase, most) in [
        (Phase::Update, 105),
        (Phase::LateUpdate, 105 + 105),
        (Phase::EndOfFrame, 105 + 105 + 210),
    ] {
        executor.run_phase(phase);
        assert!(begun.get() <= most, "{phase:?}: {}", begun.get());
    }
}
