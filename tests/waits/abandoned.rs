//! Waits that were dropped, or whose coroutine was stopped, while their place
//! in a phase's queue remained.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::{FutureExt, select_biased};

use framestep::prelude::*;
use framestep::wait::InPhase;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{forever, poll_once};

const RARE: Phase = Phase::Custom(7);

/// Waits for `RARE`, but cancels in every frame and begins again, `times` times.
async fn fickle(times: u32) {
    for _ in 0..times {
        select_biased! {
            () = in_phase(RARE).fuse() => return,
            () = next_frame().fuse() => {}
        }
    }
    in_phase(RARE).await;
}

#[test]
fn a_wait_that_was_begun_anew_counts_from_its_last_beginning() {
    let mut executor = unclamped();
    let log = Log::new();
    let script = |name: &'static str, times: u32| {
        let log = log.clone();
        executor.start(async move {
            fickle(times).await;
            log.note(name);
        });
    };
    script("gave up 3 times", 3);
    script("never gave up", 0);
    script("gave up once", 1);
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    executor.run_phase(RARE);
    assert_eq!(
        log.take(),
        ["never gave up", "gave up once", "gave up 3 times"]
    );
    executor.assert_empty();
}

#[test]
fn one_place_leads_to_one_resume_however_often_the_wait_was_dropped() {
    let mut executor = unclamped();
    let resumes = Rc::new(Cell::new(0));
    let counted = resumes.clone();
    executor.start(async move {
        fickle(1_000).await;
        loop {
            counted.set(counted.get() + 1);
            in_phase(RARE).await;
        }
    });
    for _ in 0..1_000 {
        executor.run_frame(0.25);
    }
    for runs in 1..=3 {
        executor.run_phase(RARE);
        assert_eq!(resumes.get(), runs);
    }
}

#[test]
fn what_takes_the_memory_of_a_stopped_coroutine_does_not_take_its_place() {
    let mut executor = unclamped();
    let log = Log::new();
    let script = |executor: &Executor, name: String| {
        let log = log.clone();
        executor.start(async move {
            next_frame().await;
            log.note(&name);
        })
    };
    let stopped: Vec<_> = (0..4)
        .map(|i| script(&executor, format!("stopped {i}")))
        .collect();
    script(&executor, "first".to_string());
    assert!(stopped.iter().all(Coroutine::stop));
    drop(stopped);
    for i in 0..4 {
        script(&executor, format!("later {i}"));
    }
    executor.run_frame(0.25);
    assert_eq!(
        log.take(),
        ["first", "later 0", "later 1", "later 2", "later 3"]
    );
}

#[test]
fn waits_stopped_in_a_phase_that_never_runs_do_not_pile_up() {
    let mut executor = unclamped();
    let kept = executor.start(async { in_phase(RARE).await });
    for _ in 0..100_000 {
        executor.start(async { in_phase(RARE).await }).stop();
    }
    executor.run_phase(RARE);
    assert!(kept.is_finished());
    assert!(!executor.has_ready());
}

#[test]
fn a_coroutine_that_gave_up_a_wait_in_this_frame_is_not_due_before_the_next() {
    let mut executor = unclamped();
    let log = Log::new();
    let inner = log.clone();
    executor.start(async move {
        in_phase(Phase::EarlyUpdate).await;
        // Begun and dropped: when the second begins, the first already has its
        // place.
        let mut first = next_frame();
        assert!(futures::poll!(&mut first).is_pending());
        in_phase(Phase::FixedUpdate).await;
        drop(first);
        next_frame().await;
        inner.note("resumed");
    });
    executor.begin_frame(0.25);
    executor.run_phase(Phase::EarlyUpdate);
    executor.run_phase(Phase::FixedUpdate);
    executor.run_phase(Phase::Update);
    assert_eq!(log.take(), Vec::<String>::new());
    executor.run_frame(0.25);
    assert_eq!(log.take(), ["resumed"]);
}

/// Waits for `RARE` that a coroutine has begun, and that other code drops.
fn begin_waits(executor: &Executor, count: usize) -> Rc<RefCell<Vec<InPhase>>> {
    let waits: Rc<RefCell<Vec<InPhase>>> = Rc::default();
    let fill = waits.clone();
    executor.start(async move {
        for _ in 0..count {
            let mut wait = in_phase(RARE);
            assert!(poll_once(&mut wait).await.is_pending());
            fill.borrow_mut().push(wait);
        }
        forever().await;
    });
    waits
}

#[test]
fn dropping_the_last_wait_of_many_may_drop_the_executor() {
    thread_local! {
        static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    }
    /// Panic payloads must be `Send`; this one finds the executor in a
    /// thread-local.
    struct DropsTheExecutor;
    impl Drop for DropsTheExecutor {
        fn drop(&mut self) {
            drop(EXECUTOR.take());
        }
    }
    for count in 60..120 {
        let mut executor = unclamped();
        let waits = begin_waits(&executor, count);
        drop(executor.start(async {
            select_biased! {
                () = in_phase(RARE).fuse() => unreachable!("nobody runs it"),
                () = next_frame().fuse() => std::panic::resume_unwind(Box::new(DropsTheExecutor)),
            }
        }));
        executor.run_frame(0.25);
        EXECUTOR.set(Some(executor));
        // At some point their stale places are swept, and everything that these
        // kept alive.
        waits.take();
        drop(EXECUTOR.take());
    }
}
