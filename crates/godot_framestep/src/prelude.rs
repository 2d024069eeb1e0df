//! For `use godot_framestep::prelude::*;`, beside `use godot::prelude::*;`.
//!
//! No name is in both: [`framestep::sync::Signal`] is left out, because Godot has a
//! `Signal`.

pub use crate::{
    ForGodot, FramestepHost, FramestepScript, NodeScripts, SignalWaits, called, scripts, tree,
};
pub use framestep::combine::{join_all, race};
pub use framestep::lend::{defer, defer_call, try_with, with_deferred, with_ref};
pub use framestep::sync::Watch;
pub use framestep::task::{Budget, current, handle, owner, script};
pub use framestep::time::{Clock, Seconds, delta_seconds};
pub use framestep::wait::{
    MissedTicks, animate, frames, in_phase, wait_seconds_realtime, wait_steps,
};
pub use framestep::{
    Coroutine, Executor, JoinError, Owner, Phase, end_of_frame, fixed_update, interval, join,
    next_frame, select, spawn, start, stop, time, timeout, wait_frames, wait_seconds, wait_until,
    wait_while, with,
};
