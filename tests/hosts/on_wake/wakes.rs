//! Wakes of coroutines, and whether they wake the host.

use std::cell::Cell;
use std::task::{RawWaker, RawWakerVTable, Waker};

use framestep::prelude::*;

use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::{by, receiver};

use super::Host;

#[test]
fn it_is_called_for_wakes_from_outside() {
    let mut host = Host::new(unclamped());
    let log = Log::new();
    let sender = receiver(&host.executor, &log, async {});
    host.executor.run_frame(0.25);
    assert_eq!(host.take_calls(), 0, "nothing has come");
    sender.unbounded_send("from the host").unwrap();
    assert!(host.take_calls() > 0);
    host.executor.run_frame(0.25);
    let thread = std::thread::spawn(move || sender.unbounded_send("from a thread").unwrap());
    thread.join().unwrap();
    assert!(host.take_calls() > 0);
    host.executor.run_frame(0.25);
    log.check(&["F2: from the host", "F3: from a thread", "F3: closed"]);
}

#[test]
fn it_is_not_called_for_what_happens_within_the_run() {
    let mut host = Host::new(unclamped());
    let log = Log::new();
    let sender = receiver(&host.executor, &log, next_frame());
    host.executor.start(async move {
        next_frame().await;
        sender.unbounded_send("message").unwrap();
        wait_seconds(0.25).await;
    });
    assert!(host.take_calls() > 0, "a start is news");
    for _ in 0..3 {
        host.executor.run_frame(0.25);
    }
    log.check(&["F1: message", "F2: closed"]);
    assert_eq!(host.take_calls(), 0);
}

#[test]
fn has_ready_returns_whether_a_wake_or_a_spawn_is_waiting_for_a_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let sender = receiver(&executor, &log, async {});
    assert!(!executor.has_ready());
    sender.unbounded_send("message").unwrap();
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    assert!(!executor.has_ready());
    executor.spawn(async {});
    assert!(executor.has_ready());
    executor.run_frame(0.25);
    assert!(!executor.has_ready());
}

#[test]
fn a_host_waker_may_set_another_when_it_is_cloned_called_or_dropped() {
    thread_local! {
        static EXECUTOR: std::cell::OnceCell<framestep::Executor> =
            const { std::cell::OnceCell::new() };
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    fn set_another() {
        CALLS.set(CALLS.get() + 1);
        // Not while the thread ends: then the executor may be gone.
        let _ = EXECUTOR.try_with(|executor| {
            if let Some(executor) = executor.get() {
                executor.on_wake(|| ());
            }
        });
    }

    fn clone(_: *const ()) -> RawWaker {
        set_another();
        RawWaker::new(std::ptr::null(), &HOSTILE)
    }
    fn call(_: *const ()) {
        set_another();
    }
    static HOSTILE: RawWakerVTable = RawWakerVTable::new(clone, call, call, call);

    EXECUTOR.with(|executor| {
        let executor = executor.get_or_init(framestep::Executor::new);
        // SAFETY: the functions of the table use no data and may be called anywhere.
        let hostile = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &HOSTILE)) };
        executor.on_wake(by(hostile));
        let before = CALLS.get();
        executor.remote().spawn(|| async {});
        assert!(CALLS.get() > before, "it was told");
        assert!(executor.has_ready());
    });
}
