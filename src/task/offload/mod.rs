//! Work that another thread does for a script, and its result.

mod error;
pub(crate) mod pool;
mod work;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::scope;
use crate::task::script::executor;
use crate::wait::polled_again;

pub use error::OffloadError;
pub use pool::Job;
use work::{Slot, Work};

/// Calls `job` on another thread, and returns a future of its result.
///
/// **The job is sent at this call**, not at the first poll, to the pool of
/// [`Builder::offload`](crate::Builder::offload). Without one, each job gets a thread of its own. The
/// script goes on, and awaits the future when it needs the result. To split a short job over frames
/// instead, use a [`Budget`](crate::task::Budget).
///
/// The job runs outside of the executor: it borrows no lent state, and what it captures and returns is
/// `Send`. So the script first clones what the job needs out of the world, and then writes the result
/// back, with [`with`](crate::with()).
///
/// # Resumes
///
/// Like a wake by another thread. The result arrives when a run begins, or when the host [makes
/// calls](crate::Handle::make_calls). The script continues in the next run of its home phase, which
/// may be the run that begins; without a wait if the result has arrived before it is awaited. The frame
/// depends on the threads, and so does the order of several results, unless the host asks for [the order
/// of the calls](crate::Builder::offload_in_order).
///
/// # Output
///
/// What the job returns.
///
/// # Errors
///
/// An [`OffloadError`] if the job panicked, if the pool dropped it, or if no thread could be started.
///
/// # Cancel safety
///
/// Dropping the future drops the result, as the end of the script does. A job that has not begun by
/// then is not called. A job that has begun cannot be interrupted.
///
/// # Panics
///
/// - When called: outside an executor and outside [`Executor::enter`](crate::Executor::enter), or if the
///   pool panics.
/// - When polled again after it was ready.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::task::OffloadError;
///
/// struct Map {
///     heights: Vec<u32>,
///     highest: Option<u32>,
/// }
///
/// async fn find_highest() -> Result<(), OffloadError> {
///     let heights = with_ref(|map: &Map| map.heights.clone());
///     let highest = offload(move || heights.into_iter().max()).await?;
///     with(|map: &mut Map| map.highest = highest);
///     Ok(())
/// }
///
/// let mut map = Map { heights: vec![3, 9, 4], highest: None };
/// let mut executor = Executor::new();
/// executor.lend(&mut map, |executor| executor.run_until(find_highest(), 0.25)).unwrap();
/// assert_eq!(map.highest, Some(9));
/// ```
///
/// # Source
///
/// `UniTask.RunOnThreadPool`; `tokio::task::spawn_blocking`, except that a job that has not begun is
/// canceled with its future.
#[track_caller]
pub fn offload<T, F>(job: F) -> Offload<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let core = executor("offload");
    let slot = Slot::new();
    let ticket = core.pool.ticket(&core);
    let offload = Offload {
        slot: slot.clone(),
        executor: core.id,
        number: ticket.number(),
        place: Location::caller(),
        is_done: false,
    };
    let work = Work::new(job, slot, ticket);
    // A panic of the pool drops the future.
    core.pool.send(Box::new(move || work.run()), &|error| {
        offload.slot.fail(error);
    });
    offload
}

/// The future of [`offload`].
#[must_use = "dropping the future of an offloaded job drops its result: await it"]
pub struct Offload<T> {
    slot: Arc<Slot<T>>,
    /// The executor that keeps its place.
    executor: u32,
    /// Its place among the calls, if their order counts.
    number: Option<u64>,
    place: &'static Location<'static>,
    is_done: bool,
}

impl<T> Future for Offload<T> {
    type Output = Result<T, OffloadError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_done {
            polled_again("offload()");
        }
        let polled = self.slot.poll(cx);
        self.is_done = polled.is_ready();
        polled.map_err(|failure| OffloadError::new(failure, self.place))
    }
}

impl<T> FusedFuture for Offload<T> {
    fn is_terminated(&self) -> bool {
        self.is_done
    }
}

impl<T> Drop for Offload<T> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        self.slot.abandon();
        // Those behind it need not wait for its job.
        if let Some(number) = self.number {
            scope::with_executor(self.executor, |core| pool::leave(core, number));
        }
    }
}

impl<T> fmt::Debug for Offload<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offload")
            .field("place", &self.place)
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}
