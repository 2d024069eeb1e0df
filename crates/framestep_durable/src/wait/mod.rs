//! The waits of durable scripts, one file a family. Those for scripts and owners are with the runtime.

mod animate;
mod changed;
mod changes_of;
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
pub use changes_of::changes_of;
#[doc(no_inline)]
pub use framestep::wait::{
    Animate, ChangesOf, Debounce, DebounceByKey, Elapsed, EveryFrames, Frames, InPhase, Interval,
    MissedTicks, NextFrame, NextTick, NextTicks, On, Sample, Throttle, Tick, Timeout, WaitFrames,
    WaitSeconds, WaitSecondsRealtime, WaitSteps, WaitUntil, WaitWhile, YieldNow, debounce,
    debounce_by_key, end_of_frame, every_frames, fixed_update, frames, in_phase, interval,
    next_frame, on_clock, sample, throttle, timeout, timeout_at, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps, wait_until, wait_while, yield_now,
};
pub use interval::Schedule;
pub use promise::{PromiseId, promise};
pub use request::{Ask, Request, RequestId, ask};
pub use semaphore::semaphore;
pub use signal::{signal, signal_with_limit};
pub use subscription::Unread;
pub use value::watch;
