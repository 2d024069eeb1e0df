//! An executor as one task of many on a tokio `LocalSet`. It sleeps until it is due:
//! `on_wake` wakes it when its neighbours make something due.
//!
//! tokio's clock is paused, so that nothing really sleeps.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use framestep::prelude::*;
use framestep::sync::Signal;
use framestep::{Executor, Handle};

use framestep_testkit::by;

/// Events, with their time in milliseconds since the test began.
#[derive(Clone)]
struct Times(Rc<RefCell<Vec<(&'static str, u128)>>>, Instant);

impl Times {
    fn note(&self, what: &'static str) {
        self.0
            .borrow_mut()
            .push((what, self.1.elapsed().as_millis()));
    }
}

/// The task of the executor: runs a frame when something is ready or due, and sleeps
/// in between, however long.
async fn host(mut executor: Executor, frames: Rc<RefCell<u32>>) {
    let mut last = Instant::now();
    loop {
        executor.run_frame(last.elapsed());
        last = Instant::now();
        *frames.borrow_mut() += 1;
        let mut timer = Box::pin(sleep(Duration::ZERO));
        poll_fn(|cx| {
            // Before the check: the host is notified of anything that becomes due
            // after it.
            executor.on_wake(by(cx.waker().clone()));
            if executor.has_ready() {
                // At the usual pace.
                timer.as_mut().reset(last + Duration::from_millis(10));
                return timer.poll_unpin(cx);
            }
            match executor.next_deadline() {
                Some(left) => {
                    timer.as_mut().reset(last + left);
                    timer.poll_unpin(cx)
                }
                None => Poll::Pending,
            }
        })
        .await;
    }
}

/// Runs `neighbour` beside the host for a minute of tokio's time.
fn beside<F: Future<Output = ()> + 'static>(
    neighbour: impl FnOnce(Handle, Times) -> F,
) -> (Vec<(&'static str, u128)>, u32) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let frames = Rc::new(RefCell::new(0));
    let local = LocalSet::new();
    let times = local.block_on(&runtime, async {
        let executor = Executor::builder().max_delta(f32::INFINITY).build();
        let times = Times(Rc::default(), Instant::now());
        let neighbour = neighbour(executor.handle(), times.clone());
        spawn_local(host(executor, frames.clone()));
        spawn_local(neighbour);
        sleep(Duration::from_secs(60)).await;
        times.0.take()
    });
    let frames = *frames.borrow();
    (times, frames)
}

async fn said_after(seconds: f64, what: &'static str, times: Times) {
    wait_seconds(seconds).await;
    times.note(what);
}

#[test]
fn a_script_begun_by_a_neighbour_ends_on_time() {
    let (times, frames) = beside(|handle, times| async move {
        handle.spawn(said_after(10.0, "long", times.clone()));
        sleep(Duration::from_millis(1_500)).await;
        // The host sleeps until 10 s; this one is due before.
        handle.spawn(said_after(0.5, "short", times.clone()));
        sleep(Duration::from_secs(20)).await;
        // Now it sleeps indefinitely. A start counts from the time of the last frame,
        // so this waits for a frame first.
        handle.start(async move {
            next_frame().await;
            let began = Instant::now();
            said_after(0.25, "last", times).await;
            assert_eq!(began.elapsed(), Duration::from_millis(250));
        });
    });
    // A requested frame comes at once, or 10 ms after the latest.
    assert_eq!(
        times,
        [("short", 2_000), ("long", 10_010), ("last", 21_750)]
    );
    assert!(frames < 12, "{frames}");
}

#[test]
fn whatever_else_a_neighbour_does_is_heard_at_once() {
    let (times, frames) = beside(|handle, times| async move {
        let (signal, owner) = (Rc::new(Signal::<()>::new()), handle.owner().unwrap());
        let blocked = handle.spawn(std::future::pending::<()>());
        let (heard, say) = (signal.clone(), times.clone());
        handle.spawn(async move {
            heard.wait().await;
            say.note("signal");
        });
        let (finished, say) = (blocked.finished(), times.clone());
        handle.spawn(async move {
            finished.await;
            say.note("join");
        });
        owner.pause();
        let say = times.clone();
        owner.spawn(async move { say.note("resumed") });
        sleep(Duration::from_secs(1)).await;
        signal.emit(());
        sleep(Duration::from_secs(1)).await;
        blocked.stop();
        sleep(Duration::from_secs(1)).await;
        owner.resume();
        sleep(Duration::from_secs(1)).await;
        let (remote, say) = (handle.clone(), times);
        remote.enter(|| start(async move { said_after(0.0, "entered", say).await }));
    });
    let expected = [
        ("signal", 1_000),
        ("join", 2_000),
        ("resumed", 3_000),
        ("entered", 4_000),
    ];
    assert_eq!(times, expected);
    assert!(frames < 12, "{frames}");
}
