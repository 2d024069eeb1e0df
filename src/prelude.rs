//! The names that gameplay scripts use, for `use framestep::prelude::*`.
//!
//! It includes `select!` and `join!`. A subscription has its own `next()`; other
//! combinators of streams, as for [`frames`], need `use futures::StreamExt;`.
//!
//! # Beside the prelude of an engine
//!
//! Three names of this prelude are also in the preludes of engines:
//!
//! | name | engine | its meaning there | import |
//! |---|---|---|---|
//! | [`next_frame`] | macroquad 0.4 | the end of a frame of its main loop | `use framestep::next_frame;` |
//! | [`interval`](interval()) | Bevy 0.15 and later | a range of real numbers, for curves | `use framestep::interval;` |
//! | [`Signal`] | godot 0.5 | an event of Godot | `use framestep::Signal as Event;` |
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
//! [`Time`](crate::Time), [`Handle`](crate::Handle), [`Scene`](crate::Scene),
//! [`State`](crate::State), [`Interval`](crate::Interval) and
//! [`Changed`](crate::Changed) are not in this prelude, because they are in Bevy's.
//! Import them by name, and rename them in a file that uses both:
//! `use framestep::Time as FrameTime;`.
//!
//! The module `macroquad::experimental::coroutines` has a `Coroutine` and a
//! `wait_seconds`. It is not in macroquad's prelude. Import its functions by name.

pub use crate::{
    Budget, Canceled, Changes, Clock, ClockGuard, Coroutine, CoroutineId, Executor, Group,
    JoinError, MissedTicks, Owner, OwnerGuard, Permit, Permits, Phase, Promise, Resolver, Script,
    Seconds, Signal, Subscription, Watch, animate, changes_of, clock, current, current_name,
    debounce, defer, defer_call, delta_seconds, end_of_frame, every_frames, fixed_update, frames,
    group, handle, in_phase, interval, is_stop_asked, join, join_all, named, next_frame, on,
    on_error, owner, owner_on, promise, race, realtime, remote, select, spawn, spawn_in, start,
    start_in, stop, stop_asked, throttle, time, timeout, timeout_at, try_join_all, try_with,
    try_with_ref, wait_frames, wait_seconds, wait_seconds_realtime, wait_steps, wait_until,
    wait_while, when_each, with, with_ref, with_soon, yield_now,
};
