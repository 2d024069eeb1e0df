//! The waits of durable scripts, one file a family. Those for scripts and owners are with the runtime.

pub(crate) mod animate;
pub(crate) mod changed;
pub(crate) mod changes_of;
pub(crate) mod condition;
pub(crate) mod every_frames;
pub(crate) mod interval;
pub(crate) mod on;
pub(crate) mod pace;
pub(crate) mod permit;
pub(crate) mod promise;
pub(crate) mod request;
pub(crate) mod semaphore;
pub(crate) mod signal;
pub(crate) mod signal_for;
pub(crate) mod stop_requested;
pub(crate) mod subscription;
pub(crate) mod timed;
pub(crate) mod timeout;
pub(crate) mod value;
pub(crate) mod value_changes;
pub(crate) mod yield_now;

pub(crate) use self::stop_requested::reads_request;

pub use animate::{Animate, animate};
pub use changed::{Changed, WaitValue};
pub use changes_of::{ChangesOf, changes_of};
pub use condition::{WaitUntil, wait_until, wait_while};
pub use every_frames::{EveryFrames, every_frames};
pub use interval::{Interval, MissedTicks, NextTick, NextTicks, Tick, interval};
pub use on::{On, on_clock};
pub use pace::{Debounce, Throttle, debounce, throttle};
pub use permit::{Acquire, Permit};
pub use promise::{Promise, Resolver, promise};
pub use request::{Ask, Request, RequestId, ask};
pub use semaphore::Semaphore;
pub use signal::{Signal, WaitSignal};
pub use signal_for::WaitSignalFor;
pub use stop_requested::{StopRequested, stop_requested};
pub use subscription::{NextEvent, Subscription};
pub use timed::{
    Wait, WaitSeconds, end_of_frame, fixed_update, in_phase, next_frame, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps,
};
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
pub use value::Value;
pub use value_changes::ValueChanges;
pub use yield_now::{YieldNow, yield_now};
