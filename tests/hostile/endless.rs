//! Scripts that start others without end: each run takes a bounded number of polls, and a
//! limit on coroutines bounds their memory. docs/contract.md#decided-budget-of-a-run,
//! docs/contract.md#decided-max-coroutines

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene, SceneContext};

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

/// How many polls a run may have, beside those of the coroutines that are alive.
const POLLS: u64 = 1_000;

/// How many coroutines may be alive.
const ALIVE: usize = 500;

/// Polls a script has had, in all executors of the test.
type Polls = Rc<Cell<u64>>;

fn limited() -> (Executor, Rc<RefCell<Vec<Report>>>) {
    let executor = Executor::builder()
        .max_polls_per_run(10)
        .max_coroutines(ALIVE)
        .build();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let list = reports.clone();
    executor.on_report(move |report| {
        let known = matches!(report, Report::Runaway { .. } | Report::Refused { .. });
        assert!(known, "{report}");
        let mut list = list.borrow_mut();
        if list.len() < 10_000 {
            list.push(report.clone());
        }
    });
    (executor, reports)
}

/// Starts one of its kind, and ends.
fn starts_itself(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        start(starts_itself(polls));
    })
}

/// Starts one of its kind, and waits for its end.
fn joins_itself(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        let _ = start(joins_itself(polls)).await;
    })
}

/// Starts two of its kind, and lives on.
fn doubles(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        start(doubles(polls.clone()));
        start(doubles(polls));
        next_frame().await;
    })
}

/// Spawns two of its kind in each frame, and lives on.
fn spawns_each_frame(polls: Polls) -> Boxed {
    Box::pin(async move {
        loop {
            polls.set(polls.get() + 1);
            spawn(spawns_each_frame(polls.clone()));
            spawn(spawns_each_frame(polls.clone()));
            next_frame().await;
        }
    })
}

/// Starts one of its kind in its destructor.
struct StartsWhenDropped(Polls);

impl Drop for StartsWhenDropped {
    fn drop(&mut self) {
        start(drops_one(self.0.clone()));
    }
}

fn drops_one(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        drop(StartsWhenDropped(polls));
    })
}

/// Starts one of its kind in a closure that borrows state.
fn starts_in_a_closure(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        with(|_: &mut u32| drop(start(starts_in_a_closure(polls))));
    })
}

/// Starts one of its kind in a closure that the end of the script calls.
fn starts_deferred(polls: Polls) -> Boxed {
    Box::pin(async move {
        polls.set(polls.get() + 1);
        let _guard = defer(move |_: &mut u32| drop(start(starts_deferred(polls))));
    })
}

type Kind = (&'static str, fn(Polls) -> Boxed);

const KINDS: [Kind; 7] = [
    ("starts itself", starts_itself),
    ("joins itself", joins_itself),
    ("doubles", doubles),
    ("spawns each frame", spawns_each_frame),
    ("in a destructor", drops_one),
    ("in a closure", starts_in_a_closure),
    ("deferred", starts_deferred),
];

#[test]
fn scripts_that_start_others_for_ever_take_bounded_time_in_each_run() {
    for (kind, script) in KINDS {
        let (mut executor, reports) = limited();
        let (polls, neighbour) = (Polls::default(), Rc::new(Cell::new(0)));
        let frames = neighbour.clone();
        executor.start(async move {
            loop {
                next_frame().await;
                frames.set(frames.get() + 1);
            }
        });
        executor.lend(&mut 0_u32, |executor| {
            executor.start(script(polls.clone()));
        });
        for _ in 0..5 {
            let before = polls.get();
            executor.run_frame_with(&mut 0_u32, 0.001);
            // Each of the four phases that run may have as many.
            let most = 4 * (POLLS + ALIVE as u64);
            let taken = polls.get() - before;
            assert!(taken <= most, "{kind}: {taken} polls in a frame");
            assert!(executor.len() <= ALIVE, "{kind}: {}", executor.len());
        }
        assert_eq!(neighbour.get(), 5, "{kind}: the other scripts go on");
        assert!(polls.get() > 5, "{kind}");
        let reports = reports.borrow();
        let last = reports
            .last()
            .unwrap_or_else(|| panic!("{kind}: no report"));
        let names = [
            "`Builder::max_polls_per_run`",
            "at most 100 deep",
            "`Builder::max_coroutines`",
        ];
        let text = last.to_string();
        assert!(
            names.iter().any(|name| text.contains(name)),
            "{kind}: {text}"
        );
    }
}

/// A behaviour whose callbacks each start a script that starts another.
struct Flood(Polls);

impl Flood {
    fn start(&self, context: &SceneContext<'_, Self>) {
        let polls = self.0.clone();
        context.start(doubles(polls));
    }
}

impl Behaviour for Flood {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        Flood::start(self, context);
    }

    fn fixed_update(&mut self, context: &SceneContext<'_, Self>) {
        Flood::start(self, context);
    }

    fn update(&mut self, context: &SceneContext<'_, Self>) {
        Flood::start(self, context);
    }

    fn late_update(&mut self, context: &SceneContext<'_, Self>) {
        Flood::start(self, context);
    }
}

#[test]
fn floods_from_every_callback_of_a_behaviour_and_every_hook_are_bounded() {
    let (executor, reports) = limited();
    let polls = Polls::default();
    let (handle, of_hook) = (executor.handle(), polls.clone());
    executor.on_report(move |report| {
        // Each report starts one more, whose refusal is not reported to the hook under way.
        handle.start(doubles(of_hook.clone()));
        reports.borrow_mut().push(report.clone());
    });
    let (handle, of_trace) = (executor.handle(), polls.clone());
    executor.on_trace(move |_| drop(handle.spawn(starts_itself(of_trace.clone()))));
    let mut scene = Scene::with_executor(executor);
    scene.add(Flood(polls.clone()));
    for _ in 0..3 {
        let before = polls.get();
        scene.run_frame(0.1);
        assert!(scene.executor().len() <= ALIVE);
        let taken = polls.get() - before;
        assert!(taken < 100_000, "{taken} polls in a frame");
    }
}
