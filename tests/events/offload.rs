//! `offload`: a job on another thread, and its result.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use framestep::prelude::*;
use framestep::task::{Job, Offload, OffloadError};
use futures::FutureExt;

use framestep_testkit::timeline::Timeline;

/// A pool whose jobs the test calls.
#[derive(Clone, Default)]
struct Jobs(Rc<RefCell<VecDeque<Job>>>);

impl Jobs {
    fn push(&self, job: Job) {
        self.0.borrow_mut().push_back(job);
    }

    fn take(&self, index: usize) -> Job {
        self.0.borrow_mut().remove(index).expect("a job")
    }

    /// Calls a job on a thread, and waits for the end of the thread.
    fn run(&self, index: usize) {
        let job = self.take(index);
        thread::spawn(job).join().expect("a job never unwinds");
    }

    fn len(&self) -> usize {
        self.0.borrow().len()
    }
}

fn builder() -> (Jobs, framestep::Builder) {
    let jobs = Jobs::default();
    let pool = jobs.clone();
    let builder = Executor::builder().max_delta(f32::INFINITY);
    (jobs, builder.offload(move |job| pool.push(job)))
}

fn executor() -> (Jobs, Executor) {
    let (jobs, builder) = builder();
    (jobs, builder.build())
}

type Log = Rc<RefCell<Vec<u32>>>;

/// Starts scripts that log the results of a job each, in the order in which they continue.
fn log_of(
    executor: &Executor,
    numbers: impl IntoIterator<Item = u32>,
) -> (Vec<Coroutine<()>>, Log) {
    let log = Log::default();
    let scripts = numbers.into_iter().map(|number| {
        let log = log.clone();
        executor.start(async move {
            let number = offload(move || number).await.unwrap();
            log.borrow_mut().push(number);
        })
    });
    (scripts.collect(), log)
}

/// docs/contract.md#decided-offload
#[test]
fn a_result_arrives_when_a_run_begins_and_the_script_continues_at_home() {
    let (jobs, builder) = builder();
    let mut timeline = Timeline::with_executor(builder.build(), 0.25);
    let pool = jobs.clone();
    timeline.row("early", |mark| async move {
        assert_eq!(offload(|| 7).await.unwrap(), 7);
        mark.hit();
    });
    timeline.row("late", |mark| async move {
        assert_eq!(offload(|| 8).await.unwrap(), 8);
        mark.hit();
    });
    timeline.row("pool", |mark| async move {
        wait_frames(2).await;
        pool.run(0);
        mark.hit();
        in_phase(Phase::EarlyUpdate).await;
        pool.run(0);
    });
    timeline.check(
        "
        frame 0 1 2 3
        early - - - *
        late  - - - *
        pool  - - *
        ",
    );
}

#[test]
fn a_job_is_sent_at_the_call_and_its_result_may_be_there_when_it_is_awaited() {
    let (jobs, mut executor) = executor();
    let script = executor.start(async {
        let job = offload(|| 7);
        wait_frames(2).await;
        job.await.unwrap() + u32::try_from(time().frame).unwrap()
    });
    assert_eq!(jobs.len(), 1);
    jobs.run(0);
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), 9);
}

/// docs/contract.md#decided-offload
#[test]
fn results_arrive_as_their_jobs_end() {
    let (jobs, mut executor) = executor();
    let (_scripts, log) = log_of(&executor, 1..=4);
    for index in [2, 0, 1] {
        jobs.run(index);
    }
    executor.run_frame(0.25);
    jobs.run(0);
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [3, 1, 4, 2]);
}

/// docs/contract.md#decided-offload
#[test]
fn in_order_each_result_waits_for_those_of_the_earlier_calls() {
    let (jobs, builder) = builder();
    let mut executor = builder.offload_in_order(true).build();
    let (scripts, log) = log_of(&executor, 1..=4);
    jobs.run(2);
    jobs.run(1);
    executor.run_frame(0.25);
    assert!(log.borrow().is_empty());
    jobs.run(0);
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [1, 2, 3]);
    jobs.run(0);
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [1, 2, 3, 4]);
    assert!(scripts.iter().all(Coroutine::is_finished));
}

#[test]
fn in_order_a_call_that_nothing_waits_for_any_more_holds_nobody_up() {
    let (jobs, builder) = builder();
    let mut executor = builder.offload_in_order(true).build();
    let (scripts, log) = log_of(&executor, 1..=3);
    jobs.run(1);
    scripts[0].stop();
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [2]);
    jobs.run(1);
    drop(jobs.take(0));
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [2, 3]);
}

#[test]
fn in_order_a_job_that_its_pool_has_dropped_holds_nobody_up() {
    let (jobs, builder) = builder();
    let mut executor = builder.offload_in_order(true).build();
    let failed = executor.start(async { offload(|| 1).await });
    let (_scripts, log) = log_of(&executor, [2]);
    jobs.run(1);
    drop(jobs.take(0));
    executor.run_frame(0.25);
    assert!(
        failed
            .take_output()
            .unwrap()
            .unwrap()
            .unwrap_err()
            .is_dropped()
    );
    assert_eq!(*log.borrow(), [2]);
}

#[test]
fn a_panic_of_a_job_is_an_error_that_names_the_line_of_the_call() {
    let (jobs, mut executor) = executor();
    let line = line!() + 1;
    let script = executor.start(async { offload(|| -> u32 { panic!("no such map") }).await });
    jobs.run(0);
    executor.run_frame(0.25);
    let error = script.take_output().unwrap().unwrap().unwrap_err();
    assert!(error.is_panic() && !error.is_dropped());
    assert_eq!(error.place().line(), line);
    assert_eq!(
        error.to_string(),
        format!(
            "the job that was offloaded at {} panicked: no such map",
            error.place()
        )
    );
    let payload = error.into_panic();
    assert_eq!(*payload.downcast::<&str>().unwrap(), "no such map");
}

#[test]
fn a_payload_that_panics_when_it_is_dropped_ends_nothing() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let (jobs, mut executor) = executor();
    let kept = executor.start(async { offload(|| -> u32 { std::panic::panic_any(Bomb) }).await });
    let gone = executor.start(async { offload(|| Bomb).await.map(drop) });
    let begun = executor.start(async { offload(|| Bomb).await.map(drop) });
    jobs.run(0);
    gone.stop();
    jobs.run(0);
    jobs.run(0);
    executor.run_frame(0.25);
    let error = kept.take_output().unwrap().unwrap().unwrap_err();
    assert!(error.to_string().ends_with("panicked"));
    drop(error);
    assert!(begun.take_output().unwrap().unwrap_err().is_panic());
}

#[test]
fn a_job_that_the_pool_drops_is_an_error() {
    let mut executor = Executor::builder().offload(drop).build();
    let error = executor
        .run_until(async { offload(|| 7).await }, 0.25)
        .unwrap_err();
    assert!(error.is_dropped() && error.source().is_none());
    assert_eq!(
        error.to_string(),
        format!(
            "the job that was offloaded at {} was dropped by its pool, which did not call it",
            error.place()
        )
    );
    assert_eq!(executor.time().frame, 1);
}

#[test]
fn a_panic_of_the_pool_is_one_of_the_script() {
    let (_, builder) = builder();
    let mut executor = builder
        .offload(|_| panic!("the pool is full"))
        .offload_in_order(true)
        .build();
    let script = executor.start(async { offload(|| 7).await });
    let error = script.take_output().unwrap().unwrap_err();
    assert!(error.to_string().contains("the pool is full"));
    executor.run_frame(0.25);
}

#[test]
fn a_pool_that_calls_each_job_at_once_fixes_the_frame() {
    let mut executor = Executor::builder().offload(|job| job()).build();
    let frames = executor.run_until(
        async {
            let mut frames = Vec::new();
            for _ in 0..3 {
                // A job that is called here may do what the script may.
                let inner = offload(|| start(async { time().frame }).take_output().unwrap());
                frames.push((inner.await.unwrap().unwrap(), time().frame));
            }
            frames
        },
        0.25,
    );
    assert_eq!(frames, [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_job_that_has_not_begun_when_its_script_ends_is_not_called() {
    let (jobs, executor) = executor();
    let called = Arc::new(AtomicUsize::new(0));
    let in_job = called.clone();
    let script = executor.start(async move {
        let job = offload(move || in_job.fetch_add(1, Ordering::Relaxed));
        job.await.map(drop)
    });
    script.stop();
    jobs.run(0);
    assert_eq!(called.load(Ordering::Relaxed), 0);
    assert_eq!(Arc::strong_count(&called), 1);
}

#[test]
fn what_a_job_returns_is_dropped_if_its_script_or_its_executor_has_ended() {
    for in_order in [false, true] {
        for ended_first in [false, true] {
            let (jobs, builder) = builder();
            let executor = builder.offload_in_order(in_order).build();
            let value = Arc::new(());
            let returned = value.clone();
            let script = executor.start(async move { offload(move || returned).await.map(drop) });
            if ended_first {
                drop(executor);
                jobs.run(0);
            } else {
                jobs.run(0);
                drop(executor);
            }
            assert!(script.is_finished());
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }
}

#[test]
fn a_result_reaches_another_executor_after_its_own_has_ended() {
    for in_order in [false, true] {
        for ended_first in [false, true] {
            let (jobs, builder) = builder();
            let first = builder.offload_in_order(in_order).build();
            let (blocks, job) = first.enter(|| (offload(|| 1), offload(|| 2)));
            let mut second = Executor::new();
            let script = second.start(async { job.await.unwrap() });
            if ended_first {
                drop(first);
                jobs.run(1);
            } else {
                jobs.run(1);
                drop(first);
            }
            second.run_frame(0.25);
            assert_eq!(script.take_output().unwrap().unwrap(), 2);
            drop(blocks);
        }
    }
}

#[test]
fn a_call_while_the_executor_ends_is_an_error() {
    struct AtTheEnd(Rc<Cell<bool>>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            let job = offload(|| 7).now_or_never();
            self.0.set(job.is_some_and(|result| result.is_err()));
        }
    }
    let failed = Rc::new(Cell::new(false));
    let at_the_end = AtTheEnd(failed.clone());
    let executor = Executor::builder().offload(drop).build();
    executor.spawn(async move {
        let _at_the_end = at_the_end;
        next_frame().await;
    });
    drop(executor);
    assert!(failed.get());
}

#[test]
fn the_pool_may_own_a_handle_and_end_the_executor() {
    let executor = Rc::new(RefCell::new(None));
    let owned = executor.clone();
    let pool = move |job: Job| {
        drop(owned.take());
        job();
    };
    executor.replace(Some(Executor::builder().offload(pool).build()));
    let handle = executor.borrow().as_ref().unwrap().handle();
    let job = handle.start(async { offload(|| 7).await });
    // Its script runs to its next wait, and has none: the result is there.
    assert_eq!(job.take_output().unwrap().unwrap().unwrap(), 7);
    assert!(handle.start(async {}).take_output().unwrap().is_err());
}

#[test]
fn a_paused_script_gets_its_result_when_it_is_resumed() {
    let (jobs, builder) = builder();
    let mut executor = builder.offload_in_order(true).build();
    let (scripts, log) = log_of(&executor, 1..=2);
    scripts[0].pause();
    jobs.run(0);
    jobs.run(0);
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [2]);
    scripts[0].resume();
    executor.run_frame(0.25);
    assert_eq!(*log.borrow(), [2, 1]);
}

#[test]
fn a_result_wakes_a_host_that_sleeps() {
    let (jobs, mut executor) = executor();
    let (script, _) = log_of(&executor, [7]);
    executor.run_frame(0.25);
    assert!(!executor.has_ready());
    let woken = Arc::new(AtomicUsize::new(0));
    let notes = woken.clone();
    executor.on_wake(move || {
        notes.fetch_add(1, Ordering::Relaxed);
    });
    jobs.run(0);
    assert_eq!(woken.load(Ordering::Relaxed), 1);
    executor.run_frame(0.25);
    assert!(script[0].is_finished());
}

#[test]
fn without_a_pool_a_job_has_a_thread_of_its_own() {
    let mut executor = Executor::new();
    let here = thread::current().id();
    let there = executor.run_until(async { offload(|| thread::current().id()).await }, 0.25);
    assert_ne!(there.unwrap(), here);
}

#[test]
fn the_future_is_like_any_other() {
    fn is_send<T: Send + Sync>() {}
    is_send::<OffloadError>();
    is_send::<Offload<u32>>();
    let (jobs, mut executor) = executor();
    let script = executor.start(async {
        let mut job = offload(|| 7);
        assert!(timeout(0.25, &mut job).await.is_err());
        let result = (&mut job).await.unwrap();
        let again = catch_unwind(AssertUnwindSafe(|| (&mut job).now_or_never()));
        (result, again.is_err())
    });
    executor.run_frame(0.25);
    jobs.run(0);
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), (7, true));

    let outside = catch_unwind(|| drop(offload(|| 7)));
    let message = *outside.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`offload`"), "{message}");
}
