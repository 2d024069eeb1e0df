//! Bounds on starts: docs/contract.md#rule-9-bounds

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{by, update};

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
fn a_start_below_a_hundred_calls_of_other_executors_begins_in_the_next_run() {
    let mut inner = unclamped();
    let (runaways, told) = (Rc::new(Cell::new(0)), Arc::new(Count(AtomicU32::new(0))));
    let count = runaways.clone();
    inner.on_report(move |report| {
        assert!(matches!(report, Report::Runaway { .. }), "{report}");
        count.set(count.get() + 1);
    });
    inner.on_wake(by(Waker::from(told.clone())));
    inside(&hundred()[1..], &mut || {
        assert!(inner.start(async {}).is_finished());
    });
    assert_eq!((runaways.get(), told.0.load(Ordering::Relaxed)), (0, 0));
    inside(&hundred(), &mut || {
        let deep = inner.start(async {});
        assert!(!deep.is_finished() && inner.has_ready());
        // Any phase will do, wherever it runs.
        inner.run_phase(Phase::EndOfFrame);
        assert!(deep.is_finished() && !inner.has_ready());
        drop(inner.start(async {}));
    });
    assert!(inner.has_ready());
    assert_eq!(told.0.load(Ordering::Relaxed), 2, "the host hears of both");
    assert_eq!(runaways.get(), 2);
    inner.run_phase(Phase::Update);
    assert!(inner.is_empty());
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
        executor.on_wake(by(Waker::from(told.clone())));
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
    executor.assert_empty();
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
fn a_run_in_a_destructor_takes_no_polls_from_the_start_around_it() {
    /// Runs a frame when it is dropped.
    struct RunsAFrame(Rc<RefCell<Executor>>);
    impl Drop for RunsAFrame {
        fn drop(&mut self) {
            self.0.borrow_mut().run_frame(0.25);
        }
    }
    fn endless() -> Boxed {
        Box::pin(async {
            spawn(endless());
        })
    }
    let executor = Executor::builder().max_polls_per_run(1).build();
    let reports = Rc::new(Cell::new(0));
    let count = reports.clone();
    executor.on_report(move |_| count.set(count.get() + 1));
    executor.spawn(endless());
    let handle = executor.handle();
    let executor = Rc::new(RefCell::new(executor));
    let runs = RunsAFrame(executor);
    let started = handle.lend(&mut (), |handle| {
        handle.enter(|| {
            with(|(): &mut ()| {
                drop(start(async move {
                    let _runs = runs;
                    stop(current());
                    next_frame().await;
                }));
                start(async {})
            })
        })
    });
    assert_eq!(reports.get(), 1, "of the run");
    assert!(started.flatten().is_some_and(|second| second.is_finished()));
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
    fn nest(depth: u32) -> Boxed {
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
