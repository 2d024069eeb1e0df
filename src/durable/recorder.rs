//! What a durable script is to the waits of the crate that it polls.

use std::task::{Context, Poll};

use crate::inspect::Line;
use crate::time::Time;

use super::wait::{DurableWait, FrameWait};

/// What records the waits of a coroutine, and what it reads.
///
/// A wait that is polled for the first time moves into the recorder, which can save it without a poll.
/// In the future stays a shell, which knows it by a *ticket*.
///
/// `call` is the function that has made a wait, as a journal names it, and `at` the line of the `.await`.
/// Except in the functions that say so, user code may be called.
pub trait Recorder {
    /// A wait for the next frame at home has begun, in a poll by a run. Returns its ticket. Calls no user
    /// code.
    fn begin_frame(&self, call: &'static str, at: Line, wait: FrameWait) -> u64;

    /// Another wait has begun so. Returns its ticket. Calls no user code.
    fn keep(&self, call: &'static str, at: Line, wait: DurableWait) -> u64;

    /// Whether the wait resumes the coroutine. Then it is over. Calls no user code.
    fn take_resumed(&self, ticket: u64) -> bool;

    /// A wait that gives nothing is polled for the first time in a replay. Returns its ticket, and whether the
    /// journal says that it is over. `None` if [`begin`](Self::begin) has to look: nothing has changed.
    fn begin_replayed(&self, call: &'static str, at: Line) -> Option<(u64, bool)>;

    /// Whether the journal says that such a wait is over. `None` if [`poll`](Self::poll) has to look.
    fn end_replayed(&self, ticket: u64) -> Option<bool>;

    /// A wait is polled for the first time. It has not begun.
    fn begin(
        &self,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        wait: DurableWait,
        gives: Gives,
    ) -> Begun;

    /// A wait that has begun is polled. A condition holds if `holds` says so.
    fn poll(
        &self,
        ticket: u64,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        gives: Gives,
        holds: &mut dyn FnMut() -> bool,
    ) -> Poll<Given>;

    /// A wait is dropped, or made as new.
    fn forget(&self, ticket: u64);

    /// The coroutine reads a time. `None` if `read` returns that: outside of an executor.
    fn time(&self, call: &'static str, at: Line, read: Reads<'_, Time>) -> Option<Time>;

    /// The same of the length of the frame or the step, in seconds.
    fn delta_seconds(&self, call: &'static str, at: Line, read: Reads<'_, f32>) -> Option<f32>;

    /// The same of the number of the frame.
    fn frame(&self, call: &'static str, at: Line, read: Reads<'_, u64>) -> Option<u64>;

    /// Panics because the coroutine calls what cannot be recorded. Returns if it is in a closure, such as
    /// that of a `with`, which a restored script does not call again.
    fn refuse(&self, call: &'static str, at: Line);

    /// The same of a call on a signal, a watch or a semaphore that no runtime knows.
    fn refuse_source(&self, call: &'static str, at: Line);
}

/// Reads something of the executor that runs the coroutine.
pub type Reads<'a, T> = &'a mut dyn FnMut() -> Option<T>;

/// What the end of a wait gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Nothing,
    /// The time at the end.
    Time,
}

/// What it has given.
pub type Given = Option<Time>;

/// How a wait begins that is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begun {
    /// It is pending, and has this ticket.
    Pending(u64),
    /// It is over, as in a replay.
    Over(Given),
}
