//! `RemoteHandle::call_async`: tasks of other runtimes get an answer from the executor's thread.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::task::{RemoteCall, RemoteHandle};
use waker_fn::waker_fn;

use framestep_testkit::timeline::{Log, in_quarters};

/// Requested on another thread.
fn requested<R: Send + 'static>(
    remote: RemoteHandle,
    f: impl FnOnce() -> R + Send + 'static,
) -> RemoteCall<R> {
    let request = move || remote.call_async(f);
    thread::spawn(request).join().unwrap()
}

fn counted() -> (Waker, Arc<AtomicUsize>) {
    let wakes = Arc::new(AtomicUsize::new(0));
    let count = wakes.clone();
    let waker = waker_fn(move || _ = count.fetch_add(1, Ordering::SeqCst));
    (waker, wakes)
}

fn polled<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// docs/contract.md#decided-call-async
#[test]
fn the_task_is_woken_when_the_call_has_been_made() {
    let mut executor = in_quarters();
    let (waker, wakes) = counted();
    let add = || {
        with(|world: &mut Vec<u32>| {
            world.push(3);
            world.len()
        })
    };
    let mut call = requested(executor.remote(), add);
    assert!(polled(&mut call, &waker).is_pending());
    let mut world: Vec<u32> = vec![1];
    executor.lend(&mut world, |executor| executor.run_phase(Phase::LateUpdate));
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    assert_eq!(polled(&mut call, &waker), Poll::Ready(Ok(2)));
    assert_eq!(world, [1, 3]);
    executor.assert_empty();
}

#[test]
fn a_task_of_tokio_gets_an_answer() {
    let mut executor = in_quarters();
    let remote = executor.remote();
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let first = remote.call_async(|| time().frame).await.unwrap();
            let second = remote.call_async(|| time().frame).await.unwrap();
            (first, second)
        })
    });
    while !server.is_finished() {
        executor.run_frame(0.25);
        thread::yield_now();
    }
    let (first, second) = server.join().unwrap();
    assert!(first < second, "{first}, {second}");
}

/// Two executors on one thread: the answer comes in a run of its executor, and the script that awaits
/// it continues in the next run of its home phase. docs/contract.md#decided-call-async
#[test]
fn a_script_of_another_executor_gets_an_answer() {
    let (mut asked, mut asking) = (in_quarters(), in_quarters());
    let (remote, log) = (asked.remote(), Log::new());
    let say = log.clone();
    asking.start(async move {
        let frame = remote.call_async(|| time().frame).await;
        say.say(format!("{frame:?}"));
    });
    asking.run_frame(0.25);
    asked.run_frame(0.25);
    asked.run_frame(0.25);
    assert_eq!(log.take(), [""; 0]);
    asking.run_frame(0.25);
    assert_eq!(log.take(), ["F2: Ok(1)"]);
}

#[test]
fn an_executor_that_is_gone_is_an_error_with_the_line_of_the_request() {
    for taken_over in [false, true] {
        let executor = in_quarters();
        let remote = executor.remote();
        let (waker, wakes) = counted();
        let line = line!() + 1;
        let mut call = remote.call_async(|| 7);
        assert!(polled(&mut call, &waker).is_pending());
        if taken_over {
            executor.spawn(async {});
        }
        drop(executor);
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        let Poll::Ready(Err(error)) = polled(&mut call, &waker) else {
            panic!("it has no result");
        };
        assert_eq!(
            (error.place().file(), error.place().line()),
            (file!(), line)
        );
        // A request that comes too late.
        let mut call = requested(remote, || 7);
        assert!(matches!(polled(&mut call, &waker), Poll::Ready(Err(_))));
    }
}

#[test]
fn a_panic_of_the_closure_is_reported_and_an_error_for_the_task() {
    let mut executor = in_quarters();
    let reports = Log::new();
    let say = reports.clone();
    executor.on_report(move |report| {
        if let Report::CoroutinePanicked { .. } = report {
            say.note(report);
        }
    });
    let mut call = requested(executor.remote(), || panic!("on purpose"));
    executor.run_frame(0.25);
    assert!(matches!(
        polled::<RemoteCall<()>>(&mut call, Waker::noop()),
        Poll::Ready(Err(_))
    ));
    let reports = reports.take();
    assert!(
        reports.len() == 1 && reports[0].contains("on purpose"),
        "{reports:?}"
    );
}

#[test]
fn a_call_is_made_though_its_result_is_dropped() {
    let mut executor = in_quarters();
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    drop(requested(executor.remote(), move || {
        count.fetch_add(1, Ordering::SeqCst)
    }));
    executor.run_frame(0.25);
    assert_eq!(made.load(Ordering::SeqCst), 1);
    executor.assert_empty();
}
