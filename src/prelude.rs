//! The names that gameplay scripts use, for `use framestep::prelude::*`.
//!
//! It includes `select!` and `join!`. Streams have their own `next()`; their
//! combinators need `use futures::StreamExt;`.
//!
//! # Beside the prelude of an engine
//!
//! Three names of this prelude are also in the preludes of engines:
//!
//! | name | engine | its meaning there | import |
//! |---|---|---|---|
//! | [`next_frame`] | macroquad 0.4 | the end of a frame of its main loop | `use framestep::next_frame;` |
//! | [`interval`](interval()) | Bevy 0.15 and later | a range of real numbers, for curves | `use framestep::interval;` |
//! | [`Signal`] | godot 0.5 | an event of Godot | `use framestep::sync::Signal as Event;` |
//!
//! Add the explicit import to a file that has both glob imports. It takes
//! precedence over them, in any order. Write the engine's function with its path,
//! such as `macroquad::window::next_frame()`.
//!
//! Without the explicit import, the compiler says that the name is ambiguous, at
//! the place where it is used. Depending on its version, that is an error or only a
//! warning. Rust 1.95 only warns if both glob imports are of other crates, as with
//! macroquad, and uses the import that comes first in the file. Do not ignore the
//! warning: a script that awaits macroquad's `next_frame` never resumes, because
//! nothing wakes it.
//!
//! [`Time`](crate::Time), [`Handle`](crate::Handle), [`Scene`](crate::scene::Scene),
//! [`State`](crate::inspect::State), [`Interval`](crate::wait::Interval), [`Ease`](crate::wait::Ease) and
//! [`Changed`](crate::sync::Changed) are not in this prelude, because they are in Bevy's.
//! Import them by name, and rename them in a file that uses both:
//! `use framestep::Time as FrameTime;`.
//!
//! The module `macroquad::experimental::coroutines` has a `Coroutine` and a
//! `wait_seconds`. It is not in macroquad's prelude. Import its functions by name.

pub use crate::combine::{join_all, on_error, race, try_join_all, when_each};
pub use crate::lend::{defer, defer_call, try_with, try_with_ref, with_deferred, with_ref};
pub use crate::sync::{
    Canceled, Changes, Permit, Promise, Resolver, Semaphore, Signal, Subscription, Watch, promise,
    semaphore, signal, signal_with_limit, watch,
};
pub use crate::task::{
    Budget, CoroutineId, Group, PauseGuard, Script, current, current_name, group, handle,
    is_stop_requested, offload, owner, owner_on, remote, script, stop_requested,
};
pub use crate::time::{Clock, ClockGuard, Seconds, clock, delta_seconds, realtime};
pub use crate::wait::{
    MissedTicks, animate, changes_of, debounce, debounce_by_key, every_frames, frames, in_phase,
    on_clock, sample, throttle, timeout_at, wait_seconds_realtime, wait_steps, yield_now,
};
pub use crate::{
    Coroutine, Executor, JoinError, Owner, Phase, end_of_frame, fixed_update, interval, join,
    next_frame, select, spawn, start, stop, time, timeout, wait_frames, wait_seconds, wait_until,
    wait_while, with,
};
