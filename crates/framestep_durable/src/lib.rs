//! Scripts of framestep that can be saved in the middle of an `.await`, loaded elsewhere, and
//! rolled back.
//!
//! A durable script is a function of its inputs. A *journal* records what its waits and
//! effects returned. To restore the script, the runtime calls it again and replays the
//! journal: waits that had ended are ready at once, and effects return what they returned
//! before, without being done again. Pending waits continue with the same start, the same
//! deadline, and the same place in the order.
//!
//! ```
//! use framestep_durable::prelude::*;
//!
//! struct World {
//!     guest: String,
//!     gold: u32,
//! }
//!
//! const KNOCK: Signal<String> = signal("knock");
//!
//! #[durable]
//! async fn evening(number: u32) -> Chapter<u32> {
//!     select! {
//!         who = KNOCK.wait() => with(move |world: &mut World| world.guest = who),
//!         _ = wait_seconds(60) => {}
//!     }
//!     let is_rich = with(|world: &mut World| {
//!         world.gold += 3;
//!         world.gold > 9
//!     });
//!     if is_rich {
//!         return Chapter::Done(number);
//!     }
//!     Chapter::Next(evening(number + 1))
//! }
//! # let mut runtime = Runtime::new(Registry::new().script(evening));
//! # let mut world = World { guest: String::new(), gold: 4 };
//! # let evening = runtime.start(evening(1));
//! # runtime.run_frame_with(&mut world, 0.1);
//! # runtime.named(&KNOCK).emit("Anna".into());
//! # runtime.run_frame_with(&mut world, 0.1);
//! # runtime.named(&KNOCK).emit("Ben".into());
//! # runtime.run_frame_with(&mut world, 0.1);
//! # assert_eq!((world.guest.as_str(), world.gold), ("Ben", 10));
//! # assert_eq!(runtime.take(evening), Some(Ok(2)));
//! ```
//!
//! [`durable`] makes a script of an `async fn`. [`DurableScript`] is the trait that it implements.
//! The host has a [`Runtime`], which is driven like an executor, and a [`Registry`] of its
//! scripts. [`Runtime::save`] returns a [`SaveState`] for a file, and [`Runtime::restore`]
//! loads one. [`Runtime::save_state`] and [`Runtime::rollback`] do the same in memory, many
//! times a second.

#![forbid(unsafe_code)]

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The code of the chapters in the guide is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/saving.md")]
#[doc = include_str!("../../../docs/guide/porting.md")]
#[doc = include_str!("../../../docs/guide/saves-and-patches.md")]
mod guide {}

#[doc(hidden)]
pub mod __private;
mod bytes;
mod events;
mod ids;
mod journal;
mod places;
pub mod prelude;
mod replay;
mod restore;
mod runtime;
mod save;
mod script;
mod wait;

pub use bytes::hash::StableHash;
pub use events::loss::Loss;
#[doc(no_inline)]
pub use framestep::combine::WhenEach;
#[doc(no_inline)]
pub use framestep::lend::{Defer, DeferCall, defer, with_deferred};
#[doc(no_inline)]
pub use framestep::sync::{
    Acquire, Canceled, Changed, Changes, Closed, Key, OrClosed, Permit, Promise, Semaphore, Signal,
    Subscription, WaitSignal, WaitSignalFor, WaitWatch, Watch,
};
#[doc(alias = "CancellationToken")]
#[doc(no_inline)]
pub use framestep::task::{
    Ended, StopRequested, StopWithin, current_name, is_stop_requested, join, stop_requested,
};
#[doc(no_inline)]
pub use framestep::time::{Clock, ClockGuard, clock, delta_seconds, realtime, time};
#[doc(inline)]
pub use framestep_durable_macros::{chapter, durable};
pub use ids::{ClockId, OwnerId, ScriptId};
pub use journal::long::LongChapter;
pub use replay::divergence::Divergence;
pub use replay::error::{RestoreError, SaveError};
pub use restore::changes::{ScriptChange, StatementChange};
pub use restore::dry_run::{DryRun, Incompatibility, RepeatedEffect};
pub use restore::folder::{FileCheck, FolderCheck};
pub use restore::reload::{Continued, Reloaded};
pub use restore::{Passed, Policy, Restored};
pub use runtime::by_number::{pause, request_stop, resume, stop};
#[doc(alias = "nursery")]
#[doc(alias = "JoinSet")]
pub use runtime::group::Group;
pub use runtime::group::group;
pub use runtime::handle::ScriptHandle;
pub use runtime::host::RuntimeHandle;
pub use runtime::owner::{owner, owner_on};
pub use runtime::resimulated::{effect_once_per_frame, is_resimulated};
pub use runtime::start::{spawn, spawn_in, start, start_in};
#[doc(alias = "as_completed")]
#[doc(alias = "JoinSet")]
pub use runtime::when_each::when_each;
pub use runtime::{Runtime, RuntimeBuilder};
pub use save::diff::Difference;
#[doc(alias = "Snapshot")]
pub use save::image::SaveState;
pub use save::send::SendSave;
pub use script::aligned::changes::{Change, ChangeKind};
pub use script::context::unrecorded;
pub use script::defer::defer_call;
pub use script::effect::{current, effect, with, with_once, with_ref};
pub use script::join_error::JoinError;
pub use script::labels::{Labelled, labelled, place};
pub use script::locals::ChangesNoLocal;
pub use script::recorded::Recorded;
pub use script::registry::Registry;
pub use script::script_fn::ScriptFn;
pub use script::{Chapter, DurableScript, OldState};
#[doc(alias = "offload")]
#[doc(alias = "spawn_blocking")]
pub use wait::ask;
#[doc(alias = "EveryValueChanged")]
pub use wait::changes_of;
#[doc(alias = "Debounce")]
#[doc(alias = "debounceTime")]
pub use wait::debounce;
#[doc(alias = "groupBy")]
pub use wait::debounce_by_key;
#[doc(alias = "IntervalFrame")]
pub use wait::every_frames;
#[doc(alias = "EveryUpdate")]
pub use wait::frames;
#[doc(alias = "ignoreTimeScale")]
pub use wait::on_clock;
#[doc(alias = "oneshot")]
pub use wait::promise;
#[doc(alias = "throttleLatest")]
#[doc(alias = "ThrottleLast")]
pub use wait::sample;
#[doc(alias = "ThrottleFirst")]
pub use wait::throttle;
pub use wait::{
    Animate, Ask, ChangesOf, Debounce, DebounceByKey, Elapsed, EveryFrames, Frames, InPhase,
    Interval, MissedTicks, NextFrame, NextTick, NextTicks, On, PromiseId, Request, RequestId,
    Sample, Schedule, Throttle, Tick, Timeout, Unread, WaitFrames, WaitSeconds,
    WaitSecondsRealtime, WaitSteps, WaitUntil, WaitWhile, YieldNow, animate, end_of_frame,
    fixed_update, in_phase, interval, next_frame, semaphore, signal, signal_with_limit, timeout,
    timeout_at, wait_frames, wait_seconds, wait_seconds_realtime, wait_steps, wait_until,
    wait_while, watch, yield_now,
};
