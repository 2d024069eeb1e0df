//! Requests to stop, which scripts read and carry out themselves.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::base::key::TaskKey;
use crate::core::life::end;
use crate::core::life::end::requests::{self, Then};
use crate::core::owners::{Asks, NextEnd, OwnerKey};
use crate::core::registration::another_script;
use crate::core::scope::recording::{self, Ticket};
use crate::core::task::Task;
use crate::core::{Core, scope};
use crate::durable::RuntimeEnd;
use crate::inspect::Line;
use crate::time::{Nanos, Seconds};
use crate::wait::{polled, polled_again};

use super::Ended;

/// Waits until the calling coroutine is requested to stop: alone, with
/// [`Coroutine::request_stop`](crate::Coroutine::request_stop), or with its owner, with
/// [`Owner::request_stop`](crate::Owner::request_stop) or
/// [`stop_within`](crate::Owner::stop_within).
///
/// A script awaits it beside its other waits, to end in its own way: to finish a swing, or to
/// fade out. It is not stopped by the request itself.
///
/// # Resumes
///
/// At once, without a wait, if the coroutine has been asked. Otherwise like a
/// [`Signal`](crate::sync::Signal): in the home phase of the coroutine, later in this run or in the
/// next one.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. The request remains.
///
/// # Panics
///
/// When polled: outside an [`Executor`](crate::Executor), or again after it was ready.
///
/// # Examples
///
/// Music that fades out:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn music() -> f32 {
///     select! {
///         () = stop_requested() => {}
///         () = wait_seconds(60) => {}
///     }
///     let mut volume = 1.0;
///     while volume > 0.0 {
///         next_frame().await;
///         volume -= delta_seconds();
///     }
///     volume
/// }
///
/// let mut executor = Executor::new();
/// let level = executor.owner();
/// let music = level.start(music());
/// executor.run_frame(0.25);
/// level.request_stop();
/// assert_eq!(executor.run_until(music, 0.25).unwrap(), 0.0);
/// assert_eq!(executor.time().frame, 6);
/// ```
///
/// # Source
///
/// `CancellationToken::cancelled` of tokio-util; `CancellationToken` of .NET.
pub fn stop_requested() -> StopRequested {
    StopRequested { stage: Stage::New }
}

/// Whether the calling coroutine has been requested to stop: see [`stop_requested`]. `false` outside
/// of coroutines.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// async fn swings() -> u32 {
///     let mut count = 0;
///     while !is_stop_requested() {
///         wait_seconds(0.5).await; // a swing is never cut short
///         count += 1;
///     }
///     count
/// }
///
/// let mut executor = Executor::new();
/// let hero = executor.owner();
/// let swings = hero.start(swings());
/// executor.run_frames(3, 0.25);
/// hero.request_stop();
/// assert_eq!(executor.run_until(swings, 0.25).unwrap(), 2);
/// ```
#[track_caller]
pub fn is_stop_requested() -> bool {
    let call = "is_stop_requested";
    let is_asked = scope::with(|scope| match scope.filter(|scope| !scope.is_recorded()) {
        Some(scope) => Some(reads_request(scope)),
        None => recording::is_stop_requested(call, Location::caller()),
    });
    match is_asked {
        Some(is_asked) => is_asked,
        None => crate::task::coroutine::outside(call),
    }
}

/// Whether the coroutine that is being polled has been requested to stop. If so, it has read the
/// request.
fn reads_request(scope: &scope::Scope<'_>) -> bool {
    let core = scope.core();
    scope.current().is_some_and(|task| {
        let by_owner = reads_request_of_owner(core, task);
        by_owner || core.colds.of(task, |cold| cold.is_asked) == Some(true)
    })
}

fn reads_request_of_owner(core: &Core, task: Task<'_>) -> bool {
    let mut owners = core.owners.borrow_mut();
    let asked = task.member().filter(|&member| owners.is_asked(member));
    if let Some(member) = asked {
        owners.note_heard(member);
    }
    asked.is_some()
}

/// The future of [`stop_requested`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct StopRequested {
    stage: Stage,
}

enum Stage {
    New,
    Waiting(Wait),
    /// In a durable script, which keeps the wait.
    Recorded(Ticket),
    Done,
}

/// A place in the list of the coroutine's owner. It is left when this is dropped.
struct Wait {
    asks: Rc<Asks>,
    task: TaskKey,
    place: usize,
}

impl Wait {
    fn new(asks: Rc<Asks>, task: TaskKey) -> Self {
        let place = asks.add(task);
        Wait { asks, task, place }
    }

    /// Whether the wait is that of a coroutine. It may have moved to another one.
    fn is_of(&self, task: TaskKey, asks: &Rc<Asks>) -> bool {
        self.task == task && Rc::ptr_eq(&self.asks, asks)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let waiting = self.asks.remove(self.place);
        drop(waiting);
    }
}

impl Future for StopRequested {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Stage::Done = self.stage {
            polled_again("stop_requested()");
        }
        if recording::is_recording() {
            return self.poll_recorded(Location::caller());
        }
        let own = polled("stop_requested()", |scope| {
            let task = scope.current()?;
            let asks = scope.core().owners.borrow_mut().asks_of(task.member());
            Some((task.task_key(), asks))
        });
        let is_asked = || polled("stop_requested()", reads_request);
        if !is_asked() {
            if let Some((task, asks)) = own {
                match &self.stage {
                    Stage::Waiting(wait) if wait.is_of(task, &asks) => {}
                    Stage::Recorded(_) => another_script("stop_requested()", Location::caller()),
                    // It comes from another coroutine, whose list it leaves first.
                    _ => {
                        self.stage = Stage::New;
                        self.stage = Stage::Waiting(Wait::new(asks, task));
                    }
                }
                if let Stage::Waiting(wait) = &self.stage {
                    wait.asks.wait(wait.place, cx);
                }
            }
            // The clone of the waker is user code, which may ask.
            if !is_asked() {
                return Poll::Pending;
            }
        }
        self.stage = Stage::Done;
        Poll::Ready(())
    }
}

impl StopRequested {
    #[cold]
    #[inline(never)]
    fn poll_recorded(&mut self, line: Line) -> Poll<()> {
        let mut ticket = match mem::replace(&mut self.stage, Stage::Done) {
            Stage::New | Stage::Done => None,
            Stage::Recorded(ticket) => Some(ticket),
            Stage::Waiting(_) => another_script("stop_requested()", line),
        };
        let polled = recording::poll_stop(&mut ticket, "stop_requested()", line);
        if let Some(ticket) = ticket {
            self.stage = Stage::Recorded(ticket);
        }
        polled.unwrap_or(Poll::Pending)
    }
}

impl FusedFuture for StopRequested {
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}

impl fmt::Debug for StopRequested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopRequested")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}

/// The nanoseconds of the length of a `stop_within`. `None` if it is infinite.
///
/// # Panics
///
/// If it is NaN.
#[track_caller]
pub fn expect_length_ns(seconds: impl Seconds) -> Option<u64> {
    match seconds.length_ns() {
        Nanos::Finite(ns) => Some(ns),
        Nanos::Negative => Some(0),
        Nanos::Overflow | Nanos::Infinite => None,
        Nanos::NotANumber => panic!(
            "`stop_within` at {} got a length of NaN: give it a number of seconds (with infinity, it \
             only requests the stop)",
            Location::caller()
        ),
    }
}

/// Asks the scripts of an owner to stop, and stops those that are left after `seconds`.
#[track_caller]
pub(super) fn stop_within(executor: u32, owner: OwnerKey, seconds: impl Seconds) -> StopWithin {
    let length_ns = expect_length_ns(seconds);
    let left = Rc::new(Cell::new(0));
    let then = Then::Stop {
        place: Location::caller(),
        left: left.clone(),
    };
    let end = scope::with_executor(executor, |core| {
        let end = requests::add(core, owner, length_ns, then);
        end::request_stop(core, owner);
        core.host.notify();
        end
    });
    StopWithin {
        ended: Ended::of_end(executor, owner, end.unwrap_or(NextEnd::COME)),
        left,
    }
}

/// The future of [`Owner::stop_within`](crate::Owner::stop_within). Dropping it changes
/// nothing: the scripts are stopped all the same.
pub struct StopWithin {
    ended: Ended,
    /// How many scripts were left when the time was over. A runtime says so itself.
    left: Rc<Cell<usize>>,
}

impl StopWithin {
    pub(crate) fn of_runtime(end: Box<dyn RuntimeEnd>) -> Self {
        StopWithin {
            ended: Ended::of_runtime(end),
            left: Rc::default(),
        }
    }

    pub(crate) fn into_runtime(self) -> Option<Box<dyn RuntimeEnd>> {
        self.ended.into_runtime()
    }
}

impl Future for StopWithin {
    type Output = usize;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        self.ended.expect_from_outside("stop_within()");
        let stopped = self.ended.poll_stopped(cx, "Owner::stop_within()");
        stopped.map(|stopped| stopped.unwrap_or_else(|| self.left.get()))
    }
}

impl FusedFuture for StopWithin {
    fn is_terminated(&self) -> bool {
        self.ended.is_terminated()
    }
}

impl fmt::Debug for StopWithin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopWithin")
            .field("done", &self.is_terminated())
            .finish_non_exhaustive()
    }
}
