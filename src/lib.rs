//! An async executor for frame-stepped coroutines.

mod clock;
mod context;
mod core;
mod error;
mod executor;
mod inbox;
mod key;
mod phase;
mod prefetch;
pub mod prelude;
mod queue;
mod records;
mod report;
mod script;
mod seconds;
mod shared;
mod since;
mod task;
mod ticket;
mod time;
mod timers;
mod unwind;
mod wait;
mod waker;
mod wheel;

pub use error::{JoinError, Outcome};
pub use executor::{Builder, Executor, Handle, Remote};
pub use key::CoroutineId;
pub use phase::Phase;
pub use report::Report;
pub use script::{current, delta_seconds, spawn, spawn_in, start, stop, time};
pub use seconds::Seconds;
pub use task::{Coroutine, Finished, join};
pub use time::Time;
pub use wait::{
    InPhase, NextFrame, WaitFrames, WaitSeconds, WaitSecondsRealtime, WaitUntil, WaitWhile,
    end_of_frame, fixed_update, in_phase, next_frame, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_until, wait_while,
};
