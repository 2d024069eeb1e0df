//! Everything that a durable script and its host need. The names are those of framestep's
//! prelude.

pub use framestep::combine::{join_all, on_error, race, try_join_all};
pub use framestep::time::Seconds;
pub use framestep::{Phase, join, select};
pub use serde::de::DeserializeOwned;
pub use serde::{Deserialize, Serialize};

pub use crate::{
    Canceled, Changes, Chapter, Clock, ClockGuard, ClockId, DurableScript, Group, Interval,
    JoinError, MissedTicks, OwnerId, Permit, Policy, Promise, PromiseId, Registry, Request,
    RequestId, RestoreError, Runtime, SaveError, SaveState, Schedule, ScriptHandle, ScriptId,
    Semaphore, Signal, Subscription, Unread, Watch, animate, ask, changes_of, chapter, clock,
    current, current_name, debounce, debounce_by_key, defer, defer_call, delta_seconds, durable,
    effect, effect_once_per_frame, end_of_frame, every_frames, fixed_update, frames, group,
    in_phase, interval, is_resimulated, is_stop_requested, labelled, next_frame, on_clock, owner,
    owner_on, pause, promise, realtime, request_stop, resume, sample, semaphore, signal,
    signal_with_limit, spawn, spawn_in, start, start_in, stop, stop_requested, throttle, time,
    timeout, timeout_at, wait_frames, wait_seconds, wait_seconds_realtime, wait_steps, wait_until,
    wait_while, watch, when_each, with, with_deferred, with_once, with_ref, yield_now,
};
