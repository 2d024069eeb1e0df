//! `yield_now`: lets other scripts go first, in the same run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::DurableWait;

use crate::script::Numbered;

/// Lets the other scripts that are due in this run go first, and continues later in the same run.
/// See [`framestep::wait::yield_now`].
///
/// **It is not [`next_frame`](crate::next_frame):** the script continues in the same frame. Between
/// two runs, a script is in the middle of a `yield_now` only if it has been paused, if it was
/// started outside of a run, or if it has yielded more often than a run allows. It is saved there
/// like any other wait.
///
/// # Resumes
///
/// Later in the current run, after everything that was ready at the time of the call. Outside a run,
/// as in a script that the host starts: in the next run of the home phase.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. The script may be polled once more.
///
/// # Panics
///
/// When polled: outside of an executor, or inside a [`with`](crate::with()).
///
/// # Examples
///
/// Two scripts that take turns within one frame:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn plays(name: String) {
///     for _ in 0..2 {
///         let name = name.clone();
///         with(move |moves: &mut Vec<String>| moves.push(name));
///         yield_now().await;
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Plays>());
/// runtime.spawn(plays("white".into())).detach();
/// runtime.spawn(plays("black".into())).detach();
/// let mut moves: Vec<String> = Vec::new();
/// runtime.run_frame_with(&mut moves, 0.25);
/// assert_eq!(moves, ["white", "black", "white", "black"]);
/// ```
///
/// # Source
///
/// `tokio::task::yield_now`.
pub fn yield_now() -> YieldNow {
    YieldNow {
        numbered: Numbered::default(),
    }
}

/// The future of [`yield_now`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct YieldNow {
    numbered: Numbered,
}

impl Future for YieldNow {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut begin = |_: Option<&_>| DurableWait::yield_now();
        self.numbered
            .poll_plain("yield_now()", cx, || None, &mut begin)
    }
}

impl fmt::Debug for YieldNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("YieldNow").finish_non_exhaustive()
    }
}
