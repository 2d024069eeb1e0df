//! `yield_now`: lets other coroutines go first, in the same run.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::FusedFuture;

use crate::core::Core;
use crate::core::registration::{Registration, another_script};
use crate::core::scope::Scope;
use crate::core::scope::recording::{self, Recorded};
use crate::core::wake::{self, Turn};
use crate::durable::DurableWait;
use crate::inspect::Line;
use crate::time::PhaseIndex;

use super::phase_wait::PhaseWait;
use super::{polled, polled_again};

/// Lets the other coroutines that are due in this run go first, and continues later in
/// the same run.
///
/// **It is not [`next_frame`](crate::next_frame):** the script continues in the same
/// frame. It is for scripts that work in turns within one frame, or that react to what
/// others do in this run. For a long job, use [`Budget`](crate::task::Budget), which leaves
/// time for the frame.
///
/// # Resumes
///
/// Later in the current run, after everything that was ready at the time of the call,
/// once for each call. Outside a run, as in a coroutine that the host
/// [starts](crate::Executor::start): in the next run of the home phase.
///
/// A script that yields in a loop cannot block the frame. After 1,000 calls in one run
/// (see [`max_polls_per_run`](crate::Builder::max_polls_per_run)), it continues in the
/// next run of the same phase, and the executor [reports](crate::inspect::Report::PollLimitReached) it.
///
/// A coroutine that wakes itself in another way, such as by the `yield_now` of another
/// crate, resumes in the next run of its home phase.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. The coroutine may be polled once more.
///
/// # Panics
///
/// When polled: outside an [`Executor`](crate::Executor).
///
/// # Examples
///
/// Two scripts that take turns within one frame:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn plays(name: &'static str) {
///     for _ in 0..2 {
///         with(|moves: &mut Vec<&str>| moves.push(name));
///         yield_now().await;
///     }
/// }
///
/// let mut executor = Executor::new();
/// executor.spawn(plays("white"));
/// executor.spawn(plays("black"));
/// let mut moves: Vec<&str> = Vec::new();
/// executor.run_frame_with(&mut moves, 0.25);
/// assert_eq!(moves, ["white", "black", "white", "black"]);
/// ```
///
/// # Source
///
/// `tokio::task::yield_now`.
pub fn yield_now() -> YieldNow {
    YieldNow { stage: Stage::New }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow {
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    New,
    /// It has yielded in a run.
    InRun(Turn),
    /// It has yielded outside a run.
    Outside(PhaseWait),
    /// In a durable script, which keeps the wait.
    Recorded(Shell),
    Done,
}

impl YieldNow {
    /// One that has yielded in a run before the executor was saved. Its turn comes when its
    /// coroutine is polled.
    pub(crate) fn restored(core: &Core) -> Self {
        let stage = Stage::InRun(Turn::of_earlier_run(core));
        YieldNow { stage }
    }

    /// The wait for a run, if it has yielded outside of one.
    pub(crate) fn outside(&self) -> Option<&PhaseWait> {
        match &self.stage {
            Stage::Outside(wait) => Some(wait),
            Stage::New | Stage::InRun(_) | Stage::Recorded(_) | Stage::Done => None,
        }
    }

    /// Begins: takes a turn in the run under way, if there is one.
    fn begin(&mut self, scope: &Scope<'_>) {
        self.stage = match wake::yield_turn(scope.core(), scope) {
            Some(turn) => Stage::InRun(turn),
            None => Stage::Outside(PhaseWait::next_run(PhaseIndex::HOME)),
        };
    }

    /// Whether the turn of a wait in a run has come, in a poll after the first.
    fn has_turn(turn: &Turn, scope: &Scope<'_>) -> bool {
        let has_turn = wake::has_turn(scope.core(), turn);
        if !has_turn {
            wake::yield_again(scope.core(), scope);
        }
        has_turn
    }
}

impl Future for YieldNow {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Stage::Done = self.stage {
            polled_again("yield_now()");
        }
        if matches!(self.stage, Stage::New | Stage::Recorded(_)) && recording::is_recording() {
            return self.poll_recorded(cx, Location::caller());
        }
        let is_ready = match &mut self.stage {
            Stage::New => {
                polled("yield_now()", |scope| self.begin(scope));
                false
            }
            Stage::Recorded(_) => another_script("yield_now()", Location::caller()),
            Stage::InRun(turn) => polled("yield_now()", |scope| Self::has_turn(turn, scope)),
            Stage::Outside(_) | Stage::Done => false,
        };
        let is_ready = match &mut self.stage {
            Stage::Outside(wait) => wait.poll(cx, "yield_now()").is_ready(),
            _ => is_ready,
        };
        if is_ready {
            self.stage = Stage::Done;
            return Poll::Ready(());
        }
        let lends = polled("yield_now()", |scope| scope.lends(cx));
        if !lends && matches!(self.stage, Stage::InRun(_)) {
            // A combinator polls this again only if its task waker is called. It may do
            // so in this poll: then this is not ready yet.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// The shell of a yield that a recorder has.
#[derive(Debug)]
struct Shell(PhaseWait);

impl Recorded for Shell {
    fn registration_mut(&mut self) -> &mut Registration {
        self.0.registration_mut()
    }

    fn take(&mut self) -> DurableWait {
        DurableWait::yield_now()
    }
}

impl YieldNow {
    #[cold]
    #[inline(never)]
    fn poll_recorded(&mut self, cx: &Context<'_>, line: Line) -> Poll<()> {
        if let Stage::New = self.stage {
            self.stage = Stage::Recorded(Shell(PhaseWait::next_run(PhaseIndex::HOME)));
        }
        let Stage::Recorded(shell) = &mut self.stage else {
            return Poll::Pending;
        };
        let is_over = recording::poll_other(shell, cx, "yield_now()", line);
        let is_over = is_over.is_some_and(|polled| polled.is_ready());
        if is_over {
            self.stage = Stage::Done;
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl FusedFuture for YieldNow {
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }
}
