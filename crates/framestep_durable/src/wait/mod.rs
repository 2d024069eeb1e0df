//! The waits of durable scripts, one file a family. Those for scripts and owners are with the runtime.

mod animate;
mod changed;
mod changes_of;
mod condition;
mod interval;
mod permit;
mod promise;
mod removal;
mod request;
mod semaphore;
mod signal;
mod signal_for;
mod subscription;
mod value;

pub use animate::animate;
pub use changes_of::{ChangesOf, changes_of};
pub use condition::{wait_until, wait_while};
#[doc(no_inline)]
pub use framestep::wait::{
    Animate, Debounce, DebounceByKey, Elapsed, EveryFrames, Frames, InPhase, Interval, MissedTicks,
    NextFrame, NextTick, NextTicks, On, Sample, Throttle, Tick, Timeout, WaitFrames, WaitSeconds,
    WaitSecondsRealtime, WaitSteps, WaitUntil, WaitWhile, YieldNow, debounce, debounce_by_key,
    end_of_frame, every_frames, fixed_update, frames, in_phase, interval, next_frame, on_clock,
    sample, throttle, timeout, timeout_at, wait_frames, wait_seconds, wait_seconds_realtime,
    wait_steps, yield_now,
};
pub use interval::Schedule;
pub use promise::{Promise, Resolver, promise};
pub use request::{Ask, Request, RequestId, ask};
pub use semaphore::semaphore;
pub use signal::{signal, signal_with_limit};
pub use subscription::Unread;
pub use value::watch;
