//! The waits of durable scripts, one file a family. Those for scripts and owners are with the runtime.

mod animate;
mod changed;
mod changes_of;
mod condition;
mod interval;
mod length;
mod on;
mod permit;
mod promise;
mod request;
mod semaphore;
mod signal;
mod signal_for;
mod stop_requested;
mod subscription;
mod value;

pub(crate) use animate::poll_animation;
pub use animate::{Animate, animate};
pub use changes_of::{ChangesOf, changes_of};
pub use condition::{wait_until, wait_while};
#[doc(no_inline)]
pub use framestep::wait::{
    Debounce, Elapsed, EveryFrames, InPhase, NextFrame, Throttle, Timeout, WaitFrames, WaitSeconds,
    WaitSecondsRealtime, WaitSteps, WaitUntil, WaitWhile, YieldNow, debounce, end_of_frame,
    every_frames, fixed_update, in_phase, next_frame, throttle, timeout, timeout_at, wait_frames,
    wait_seconds, wait_seconds_realtime, wait_steps, yield_now,
};
pub use interval::{Interval, MissedTicks, NextTick, NextTicks, Tick, interval};
pub use on::{On, on_clock};
pub use promise::{Promise, Resolver, promise};
pub use request::{Ask, Request, RequestId, ask};
pub use semaphore::semaphore;
pub use signal::{signal, signal_with_limit};
pub(crate) use stop_requested::reads_request;
pub use stop_requested::{StopRequested, stop_requested};
pub use subscription::Unread;
pub use value::watch;
