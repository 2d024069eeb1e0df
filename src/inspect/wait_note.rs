//! What a wait of another crate is for.

use std::fmt::Display;
use std::marker::PhantomData;
use std::panic::Location;

use crate::core::base::call;
use crate::core::scope;
use crate::core::view::View;

use super::events::{self, EventWait};
use super::observed::Line;
use super::source::SourceKind;

/// Says what the running coroutine waits for, in snapshots and traces, until it is dropped.
///
/// For futures that are not built on the waits of this crate: those of an engine, a network
/// library, a channel. To the executor they all wait for [a wake](crate::inspect::Wait::Wake). With
/// a note, they are shown as [`Wait::Other`](crate::inspect::Wait::Other), in its words.
///
/// Call [`begin`](Self::begin) in a poll that returns `Pending`, and keep the note in the
/// future: the wait ends with it.
///
/// # Examples
///
/// ```
/// use std::future::poll_fn;
/// use std::task::Poll;
///
/// use framestep::prelude::*;
/// use framestep::inspect::WaitNote;
///
/// async fn recv(channel: &str) -> u32 {
///     let mut note = None;
///     poll_fn(|_| {
///         // ..
///         note.get_or_insert_with(|| WaitNote::begin(format_args!("a packet on {channel}")));
///         Poll::Pending
///     })
///     .await
/// }
///
/// let executor = Executor::builder().inspect(true).build();
/// let player = executor.start(recv("moves"));
/// let snapshot = executor.snapshot();
/// let wait = snapshot.get(player.id()).unwrap().waits().next().unwrap();
/// assert_eq!(wait.to_string(), "a packet on moves");
/// ```
#[derive(Debug)]
#[must_use = "the note is over when it is dropped"]
pub struct WaitNote {
    /// `None` if nothing is noted.
    _wait: Option<EventWait>,
    /// The executor finds the wait on its own thread only.
    _not_send: PhantomData<*const ()>,
}

impl WaitNote {
    /// Notes that the running coroutine waits for `what`: a noun, such as "a packet".
    ///
    /// The text is written if the coroutine is observed
    /// ([`Builder::inspect`](crate::Builder::inspect), a trace), and in builds with debug
    /// assertions. Otherwise, and outside of a coroutine, the note is empty and costs next
    /// to nothing. So pass `format_args!` rather than `format!`.
    ///
    /// The caller is shown as the line of the `.await`.
    #[track_caller]
    pub fn begin(what: impl Display) -> Self {
        WaitNote {
            _wait: begin(&what, Location::caller()),
            _not_send: PhantomData,
        }
    }
}

fn begin(what: &dyn Display, line: Line) -> Option<EventWait> {
    let is_wanted = scope::with(|scope| {
        let script = scope.and_then(|scope| View::of(scope).1);
        script.is_some_and(|script| cfg!(debug_assertions) || script.is_observed())
    });
    if !is_wanted {
        return None;
    }
    // This is user code: nothing is borrowed.
    let what = call::out(|| what.to_string());
    let source = events::known_by_name(SourceKind::Other, what.into());
    EventWait::begin(Some(&source), line)
}
