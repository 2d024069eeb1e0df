//! The names that gameplay scripts use, for `use framestep::prelude::*`.
//!
//! `select!` and `join!` are here too. Subscriptions have a `next()` of their own; the
//! combinators of streams, as for [`frames`], come with `use futures::StreamExt;`.
//!
//! # Beside the prelude of an engine
//!
//! Two names of this prelude also stand in the preludes of engines:
//!
//! | name | engine | there it is | import |
//! |---|---|---|---|
//! | [`next_frame`] | macroquad 0.4 | the end of a frame of its main loop | `use framestep::next_frame;` |
//! | [`interval`] | Bevy 0.15 and later | an interval of real numbers, for curves | `use framestep::interval;` |
//!
//! Add the explicit import to a file that has both glob imports: it takes precedence
//! over them, in any order. The name of the engine is then written with its path, such
//! as `macroquad::window::next_frame()`.
//!
//! Without the explicit import, the compiler says that the name is ambiguous, where it
//! is used. Depending on the version of the compiler that is an error, or only a
//! warning: Rust 1.95, where both glob imports are of other crates, warns and uses the
//! import that is written first. Do not ignore that warning: a script that awaits the
//! `next_frame` of macroquad never resumes, because nothing wakes it.
//!
//! [`Time`](crate::Time), [`Handle`](crate::Handle), [`Scene`](crate::Scene),
//! [`State`](crate::State), [`Interval`](crate::Interval) and [`Changed`](crate::Changed)
//! are not in this prelude, because they stand in that of Bevy. Import them one by one,
//! with another name where both are used: `use framestep::Time as FrameTime;`.
//!
//! The module `macroquad::experimental::coroutines`, which is not in the prelude of
//! macroquad, has a `Coroutine` and a `wait_seconds`. Import its functions by name.

pub use crate::{
    Budget, Clock, Coroutine, CoroutineId, Executor, JoinError, MissedTicks, Owner, Phase, Seconds,
    Signal, Watch, animate, clock, current, delta_seconds, end_of_frame, fixed_update, frames,
    handle, in_phase, interval, join, join_all, next_frame, owner, owner_on, race, realtime,
    select, spawn, spawn_in, start, stop, time, timeout, try_with, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps, wait_until, wait_while, with, with_ref, with_soon,
};
