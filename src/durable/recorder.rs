//! What a durable script is to the waits of the crate that it polls.

use std::any::Any;
use std::task::{Context, Poll};

use crate::inspect::Line;
use crate::time::{Clock, ClockGuard, Time};

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
        asks: Asks<'_>,
    ) -> Begun;

    /// A wait that has begun is polled.
    fn poll(
        &self,
        ticket: u64,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        gives: Gives,
        asks: Asks<'_>,
    ) -> Poll<Given>;

    /// A poll of the coroutine gives its waker away, or calls it if `is_called`. No wait that is recorded does. Calls no
    /// user code.
    fn uses_waker(&self, is_called: bool);

    /// A wait is dropped, or made as new.
    fn forget(&self, ticket: u64);

    /// The wait for a request to stop is polled, for the first time without a ticket.
    fn poll_stop(&self, ticket: Option<u64>, call: &'static str, at: Line) -> Begun;

    /// Whether the coroutine has been requested to stop.
    fn is_stop_requested(&self, call: &'static str, at: Line) -> bool;

    /// The coroutine drops a guard with a closure. Calls it, unless the coroutine does nothing now, as in a replay.
    fn deferred(&self, f: &mut dyn FnMut());

    /// When the tick of a pending wait is due, in the own time of the coroutine. `None` if that is not known: the wait
    /// has no tick, or is replayed.
    fn tick_due(&self, ticket: u64) -> Option<i128>;

    /// The coroutine reads a time. `None` if `read` returns that: outside of an executor.
    fn time(&self, call: &'static str, at: Line, read: Reads<'_, Time>) -> Option<Time>;

    /// The same of the length of the frame or the step, in seconds.
    fn delta_seconds(&self, call: &'static str, at: Line, read: Reads<'_, f32>) -> Option<f32>;

    /// The same of the number of the frame.
    fn frame(&self, call: &'static str, at: Line, read: Reads<'_, u64>) -> Option<u64>;

    /// The coroutine reads a clock, or changes it: `act` does, unless that has been done before. Returns 0 if it must not
    /// be done and has no result.
    fn number(&self, call: &'static str, at: Line, act: &mut dyn FnMut() -> u64) -> u64;

    /// The coroutine takes a guard of a clock: `take` does, unless that has been done before. What this returns is dropped
    /// with the guard, and ends it.
    fn guard(
        &self,
        call: &'static str,
        at: Line,
        clock: &Clock,
        take: &mut dyn FnMut() -> ClockGuard,
    ) -> Box<dyn Any>;

    /// The recorder, for those who have made it.
    fn as_any(&self) -> &dyn Any;

    /// The name of the coroutine.
    fn name(&self) -> &'static str;

    /// The clocks of the executor that the coroutine belongs to: the game clock, and realtime.
    fn clocks(&self) -> [Clock; 2];

    /// Why the coroutine must not call what cannot be recorded. `None` in a closure, such as that of a `with`, which a
    /// restored script does not call again.
    fn refuse(&self, call: &'static str, at: Line, on: CalledOn) -> Option<String>;
}

/// What is called and cannot be recorded.
#[derive(Clone, Copy, Debug)]
pub enum CalledOn {
    /// Framestep, or what is for its hosts.
    Framestep,
    /// A signal, a watch or a semaphore that no runtime knows.
    Source,
}

/// Reads something of the executor that runs the coroutine.
pub type Reads<'a, T> = &'a mut dyn FnMut() -> Option<T>;

/// Calls the coroutine that waits: of a condition, to ask whether it holds; of an animation, with how far it is.
pub type Asks<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// How far an animation is. Of a condition, nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How much of it has passed. At the end, [`END`](Self::END).
    pub elapsed_ns: u64,
    /// How much had passed at the latest call. `None` at the first one.
    pub shown_ns: Option<u64>,
    /// Its length. Zero if it never ends.
    pub length_ns: u64,
}

impl Progress {
    /// What has passed of an animation that is over.
    pub const END: u64 = u64::MAX;

    /// What had passed of it at the latest call, and what has passed now, if its length were another one.
    pub(crate) fn of_length(self, length_ns: u64) -> (Option<u64>, u64) {
        let of_length = |ns: u64| {
            if ns == Self::END || self.length_ns == length_ns || self.length_ns == 0 {
                return ns;
            }
            let ns = u128::from(ns) * u128::from(length_ns) / u128::from(self.length_ns);
            u64::try_from(ns).unwrap_or(u64::MAX - 1)
        };
        (self.shown_ns.map(of_length), of_length(self.elapsed_ns))
    }
}

/// What the end of a wait gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Nothing,
    /// The time at the end.
    Time,
    /// When the tick was due, and how late it is.
    Tick,
}

/// What it has given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    Nothing,
    Time(Time),
    Tick(Ticked),
}

/// A tick of an interval, in the own time of the coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticked {
    /// When it was due.
    pub due_ns: i128,
    /// When it came.
    pub now_ns: i128,
}

/// How a wait begins that is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begun {
    /// It is pending, and has this ticket.
    Pending(u64),
    /// It is over, as in a replay.
    Over(Given),
}
