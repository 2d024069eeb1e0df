//! Reports that cannot be printed, because standard error is closed: the run
//! that reports continues.
//!
//! Each test runs itself again in a separate process with standard error
//! closed.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::Read;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::task::{Poll, Waker};

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::watched::{check_all_dropped, check_no_faults, watched};
use framestep_testkit::{count_frames, forever};

/// Set in the process without standard error.
const MUTE: &str = "FRAMESTEP_TEST_MUTE";

/// Does `act` in a process without standard error; it must not fail.
#[track_caller]
fn without_stderr(name: &str, act: fn()) {
    if std::env::var_os(MUTE).is_some() {
        // Until the other process has closed its end of the pipe.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        return act();
    }
    let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&*test, "--exact", "--nocapture"]);
    command.env(MUTE, "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {text}", output.status);
    assert!(text.contains("1 passed"), "{text}");
}

/// Standard error is closed: printing to it panics.
#[track_caller]
fn check_that_printing_panics() {
    let printed = std::panic::catch_unwind(|| eprintln!("to nobody"));
    assert!(printed.is_err(), "standard error is open");
}

#[test]
fn a_process_without_standard_error_is_really_without_it() {
    without_stderr(
        "a_process_without_standard_error_is_really_without_it",
        check_that_printing_panics,
    );
}

// docs/contract.md#decided-reports
#[test]
fn a_bad_dt_is_survived() {
    without_stderr("a_bad_dt_is_survived", || {
        let mut executor = Executor::new();
        let frames = Rc::new(Cell::new(0));
        executor.start(watched(count_frames(frames.clone())));
        for (dt, frame) in [f32::NAN, -1.0, f32::INFINITY, 1_000.0]
            .into_iter()
            .zip(1..)
        {
            executor.run_frame(dt);
            assert_eq!(frames.get(), frame);
        }
        check_no_faults();
    });
}

/// Two that wake each other as often as they are polled.
fn wakes_in_a_circle(executor: &Executor) {
    let wakers: Rc<[Cell<Option<Waker>>; 2]> = Rc::default();
    for at in 0..2 {
        let wakers = wakers.clone();
        executor.start(watched(poll_fn(move |cx| {
            wakers[at].set(Some(cx.waker().clone()));
            if let Some(other) = wakers[1 - at].take() {
                other.wake();
            }
            Poll::<()>::Pending
        })));
    }
}

#[test]
fn a_run_that_reports_greed_in_the_middle_of_it_continues() {
    without_stderr(
        "a_run_that_reports_greed_in_the_middle_of_it_continues",
        || {
            let mut executor = Executor::builder().max_polls_per_run(10).build();
            let frames = Rc::new(Cell::new(0));
            let ended = Rc::new(RefCell::new(0));
            for at in 0..6 {
                // Around those that are reported.
                if at == 3 {
                    wakes_in_a_circle(&executor);
                }
                executor.start(watched(count_frames(frames.clone())));
                let end = ended.clone();
                executor.start(watched(async move {
                    next_frame().await;
                    *end.borrow_mut() += 1;
                }));
            }
            for frame in 1..=3 {
                executor.run_frame(0.25);
                assert_eq!(frames.get(), 6 * frame);
                assert_eq!(*ended.borrow(), 6);
            }
            drop(executor);
            check_all_dropped();
        },
    );
}

#[test]
fn endless_spawns_are_reported_to_nobody() {
    fn endless() -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async {
            spawn(watched(endless()));
        })
    }
    without_stderr("endless_spawns_are_reported_to_nobody", || {
        let mut executor = Executor::builder().max_polls_per_run(1).build();
        executor.spawn(watched(endless()));
        let frames = Rc::new(Cell::new(0));
        executor.start(watched(count_frames(frames.clone())));
        for frame in 1..=3 {
            executor.run_frame(0.25);
            assert_eq!(frames.get(), frame);
        }
        drop(executor);
        check_all_dropped();
    });
}

#[test]
fn a_coroutine_that_panics_is_reported_to_nobody() {
    without_stderr("a_coroutine_that_panics_is_reported_to_nobody", || {
        let mut executor = Executor::new();
        let frames = Rc::new(Cell::new(0));
        executor.start(watched(count_frames(frames.clone())));
        // Detached, and with a handle; in a first poll, and in a run.
        executor.start(watched(async { panic!("to nobody") }));
        executor.start(watched(async {
            next_frame().await;
            panic!("to nobody")
        }));
        let kept = executor.start(watched(async {
            next_frame().await;
            panic!("to nobody")
        }));
        executor.start(watched(forever()));
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        assert!(kept.is_finished());
        assert_eq!((frames.get(), executor.len()), (2, 2));
        drop(executor);
        check_no_faults();
    });
}
