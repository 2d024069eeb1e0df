//! What a gameplay script needs, for `use framestep::prelude::*`.
//!
//! Not [`Time`](crate::Time) or [`Handle`](crate::Handle), names that engines have too.
//! A name that two preludes have is an error where it is used. In a file that also
//! imports the prelude of macroquad, which has a `next_frame`, or that of Bevy, which
//! has an `interval` for curves, name this one: `use framestep::next_frame;`.

pub use crate::{
    Budget, Clock, Coroutine, Executor, JoinError, MissedTicks, Owner, Phase, Seconds, Signal,
    Watch, animate, current, delta_seconds, end_of_frame, fixed_update, frames, handle, in_phase,
    interval, join, join_all, next_frame, owner, race, select, spawn, spawn_in, start, stop, time,
    timeout, try_with, wait_frames, wait_seconds, wait_seconds_realtime, wait_steps, wait_until,
    wait_while, with, with_ref, with_soon,
};
