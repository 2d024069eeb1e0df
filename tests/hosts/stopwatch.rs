//! `Builder::stopwatch`: budgets and slow polls on the time of the host's stopwatch.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::task::Budget;

use framestep_testkit::{Bomb, forever, panic_of};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Time that passes when a script says so.
#[derive(Clone, Default)]
struct Work(Rc<Cell<Duration>>);

impl Work {
    fn take(&self, milliseconds: u64) {
        self.0.set(self.0.get() + MS(milliseconds));
    }

    fn executor(&self) -> Executor {
        let read = self.0.clone();
        let builder = Executor::builder().slow_poll(0.008);
        builder.stopwatch(move || read.get()).build()
    }
}

fn hear(executor: &Executor) -> Rc<RefCell<Vec<(String, Duration)>>> {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let log = heard.clone();
    executor.on_report(move |report| {
        let Report::SlowPoll { name, took, .. } = report else {
            panic!("{report}");
        };
        log.borrow_mut().push((name.to_string(), *took));
    });
    heard
}

#[test]
fn slow_polls_are_measured_with_it() {
    let work = Work::default();
    let mut executor = work.executor();
    let heard = hear(&executor);
    for (name, milliseconds) in [("quick", 7), ("slow", 8), ("slower", 30)] {
        let work = work.clone();
        let script = executor.spawn(async move { work.take(milliseconds) });
        script.named(name);
    }
    executor.run_frame(0.25);
    let expected = [("slow".to_owned(), MS(8)), ("slower".to_owned(), MS(30))];
    assert_eq!(heard.take(), expected);
}

#[test]
fn a_budget_is_spent_by_it() {
    let work = Work::default();
    let mut executor = work.executor();
    let budget = Budget::new(0.006);
    let frames = Rc::new(RefCell::new(Vec::new()));
    let log = frames.clone();
    executor.start(async move {
        next_frame().await;
        for _ in 0..7 {
            budget.checkpoint().await;
            log.borrow_mut().push(time().frame);
            work.take(2);
        }
    });
    while !executor.is_empty() {
        executor.run_frame(0.25);
    }
    // The first step is of unknown length.
    assert_eq!(frames.take(), [2, 2, 2, 3, 3, 3, 4]);
}

#[test]
fn a_step_before_the_first_checkpoint_of_a_frame_counts() {
    let work = Work::default();
    let mut executor = work.executor();
    let steps = Rc::new(Cell::new(0));
    let (budget, count) = (Budget::new(0.001), steps.clone());
    executor.spawn(async move {
        loop {
            for _ in 0..3 {
                work.take(3);
                count.set(count.get() + 1);
                budget.checkpoint().await;
            }
            next_frame().await;
        }
    });
    for frame in 1..20 {
        executor.run_frame(0.25);
        let in_frame = steps.take();
        assert!(in_frame <= 1, "{in_frame} steps in frame {frame}");
    }
}

#[test]
fn a_job_whose_steps_are_short_goes_on_after_another_wait() {
    let work = Work::default();
    let mut executor = work.executor();
    let budget = Budget::new(0.004);
    let frames = Rc::new(RefCell::new(Vec::new()));
    let log = frames.clone();
    executor.spawn(async move {
        for _ in 0..3 {
            work.take(1);
            budget.checkpoint().await;
            log.borrow_mut().push(time().frame);
            next_frame().await;
        }
    });
    while !executor.is_empty() {
        executor.run_frame(0.25);
    }
    assert_eq!(frames.take(), [2, 3, 4]);
}

/// As on a target without a clock: a budget neither blocks a frame nor stands still.
#[test]
fn where_it_cannot_tell_the_time_a_job_makes_one_step_a_frame() {
    let broken = Rc::new(Cell::new(0));
    let reads = broken.clone();
    let builder = Executor::builder().slow_poll(0).stopwatch(move || {
        reads.set(reads.get() + 1);
        panic!("no clock here")
    });
    let mut executor = builder.build();
    let heard = hear(&executor);
    let log = Rc::new(RefCell::new(Vec::new()));
    for (job, budget) in [Budget::new(1), Budget::new(f32::INFINITY)]
        .into_iter()
        .enumerate()
    {
        let log = log.clone();
        executor.start(async move {
            for _ in 0..3 {
                next_frame().await;
                log.borrow_mut().push((job, time().frame));
                budget.checkpoint().await;
            }
        });
    }
    for _ in 0..8 {
        executor.run_frame(0.25);
    }
    executor.assert_empty();
    // A limited one waits a frame at each step, an unlimited one never waits.
    let mut log = log.take();
    log.sort_unstable();
    assert_eq!(log, [(0, 1), (0, 3), (0, 5), (1, 1), (1, 2), (1, 3)]);
    assert!(broken.get() > 0);
    assert!(heard.borrow().is_empty(), "nothing is known to be slow");
}

#[test]
fn it_may_call_back_into_the_executor() {
    let handle = Rc::new(RefCell::new(None::<framestep::Handle>));
    let (own, spawned) = (handle.clone(), Rc::new(Cell::new(0)));
    let count = spawned.clone();
    let builder = Executor::builder().slow_poll(1).stopwatch(move || {
        if let Some(handle) = &*own.borrow() {
            handle.snapshot();
            if spawned.get() < 3 {
                spawned.set(spawned.get() + 1);
                handle.spawn(async {});
            }
        }
        Duration::ZERO
    });
    let mut executor = builder.build();
    *handle.borrow_mut() = Some(executor.handle());
    let budget = Budget::new(1);
    executor.start(async move { budget.checkpoint().await });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(count.get(), 3);
    executor.assert_empty();
}

#[test]
fn one_that_goes_backwards_makes_nothing_slow() {
    let time = Cell::new(1_000);
    let builder = Executor::builder().slow_poll(0.001).stopwatch(move || {
        time.set(time.get() - 1);
        MS(time.get())
    });
    let executor = builder.build();
    let heard = hear(&executor);
    let budget = Budget::new(0.001);
    executor.start(async move {
        budget.checkpoint().await;
        budget.checkpoint().await;
    });
    assert!(heard.borrow().is_empty());
}

#[test]
fn a_builder_with_one_can_be_cloned_and_printed() {
    let work = Work::default();
    let read = work.0.clone();
    let builder = Executor::builder()
        .slow_poll(0)
        .stopwatch(move || read.get());
    assert!(format!("{builder:?}").contains("TimeSource"));
    let [first, second] = [builder.clone().build(), builder.build()];
    for executor in [&first, &second] {
        let (heard, work) = (hear(executor), work.clone());
        executor.start(async move { work.take(3) });
        assert_eq!(heard.borrow()[0].1, MS(3));
    }
    assert!(panic_of(|| Executor::builder().slow_poll(-1)).contains("slow_poll"));
}

#[test]
fn it_is_dropped_with_the_executor_though_it_owns_a_handle() {
    let (kept, slot) = (Rc::new(()), Rc::new(RefCell::new(None)));
    let owns = (kept.clone(), slot.clone());
    let builder = Executor::builder().slow_poll(0.008);
    let read = move || {
        let _ = &owns;
        Duration::ZERO
    };
    let executor = builder.stopwatch(read).build();
    slot.replace(Some(executor.start(forever())));
    drop(slot);
    drop(executor);
    assert_eq!(Rc::strong_count(&kept), 1);
}

#[test]
fn it_may_end_its_executor_while_it_is_read() {
    let slot = Rc::new(RefCell::new(None::<Executor>));
    let (ends, bomb, reads) = (slot.clone(), Bomb, Rc::new(Cell::new(0)));
    let count = reads.clone();
    let builder = Executor::builder().stopwatch(move || {
        let _ = &bomb;
        count.set(count.get() + 1);
        drop(ends.take());
        Duration::ZERO
    });
    let executor = builder.build();
    let handle = executor.handle();
    slot.replace(Some(executor));
    let budget = Budget::new(1);
    let job = handle.start(async move {
        loop {
            budget.checkpoint().await;
        }
    });
    assert!(job.is_finished());
    assert!(handle.time().is_none());
    assert_eq!(reads.get(), 1, "it is not read after the end");
}
