//! For `use godot_framestep::prelude::*;`, beside `use godot::prelude::*;`.
//!
//! No name is in both: [`framestep::Signal`] is left out, because Godot has a
//! `Signal`.

pub use crate::{
    ForGodot, FramestepHost, FramestepScript, NodeScripts, SignalWaits, called, scripts, tree,
};
pub use framestep::{
    Budget, Clock, Coroutine, Executor, JoinError, MissedTicks, Owner, Phase, Seconds, Watch,
    animate, current, defer, defer_call, delta_seconds, end_of_frame, fixed_update, frames, handle,
    in_phase, interval, join, join_all, next_frame, owner, race, select, spawn, spawn_in, start,
    stop, time, timeout, try_with, wait_frames, wait_seconds, wait_seconds_realtime, wait_steps,
    wait_until, wait_while, with, with_ref, with_soon,
};
