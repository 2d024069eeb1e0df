//! The executor as one task of many on a `LocalSet`: it sleeps until it is due.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use framestep::Executor;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, sleep_until};

/// The shortest time between two frames. Requests that arrive within it share the next
/// frame, so there are at most 100 frames a second, however many requests arrive.
pub(crate) const PACE: Duration = Duration::from_millis(10);

/// How many frames the driver has run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames(Rc<Cell<u64>>);

impl Frames {
    pub(crate) fn count(&self) -> u64 {
        self.0.get()
    }

    fn add_one(&self) {
        self.0.set(self.0.get() + 1);
    }
}

/// An executor that may sleep for long: its game clock follows, however long that was.
pub(crate) fn executor() -> Executor {
    Executor::builder().max_delta(f32::INFINITY).build()
}

/// Runs frames with `world` lent until `stop` is ready, then returns the executor.
///
/// Scripts may await sockets, timers and channels of tokio. tokio counts those against
/// the budget of the polling task, which is this one: after 128 of them in a frame, all
/// others would be pending until the next frame. So the frames run without a budget. The
/// pace leaves time for the other tasks.
pub(crate) async fn drive<W: 'static>(
    mut executor: Executor,
    world: &mut W,
    frames: Frames,
    stop: impl Future<Output = ()>,
) -> Executor {
    unconstrained(async {
        let mut stop = pin!(stop);
        let mut last = Instant::now();
        while due(&executor, last, stop.as_mut()).await {
            let now = Instant::now();
            executor.lend(world, |executor| executor.run_frame(now - last));
            frames.add_one();
            last = now;
        }
    })
    .await;
    executor
}

/// Waits until the next frame has something to do; the last one began at `last`. Returns
/// `false` if `stop` is ready.
async fn due(
    executor: &Executor,
    last: Instant,
    mut stop: impl Future<Output = ()> + Unpin,
) -> bool {
    let mut timer = pin!(sleep_until(last));
    poll_fn(|cx| {
        if pin!(&mut stop).poll(cx).is_ready() {
            return Poll::Ready(false);
        }
        // Set before `idle_until`, so that the waker is called for anything that becomes
        // due later.
        let waker = cx.waker().clone();
        executor.on_wake(move || waker.wake_by_ref());
        let Some(left) = executor.idle_until() else {
            return Poll::Pending;
        };
        timer.as_mut().reset(last + left.max(PACE));
        timer.as_mut().poll(cx).map(|()| true)
    })
    .await
}
