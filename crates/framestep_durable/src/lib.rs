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
//! const KNOCK: Signal<String> = Signal::new("knock");
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
//! # let mut runtime = Runtime::new(Registry::new().with::<Evening>());
//! # let mut world = World { guest: String::new(), gold: 4 };
//! # let evening = runtime.start(evening(1));
//! # runtime.run_frame_with(&mut world, 0.1);
//! # runtime.emit(&KNOCK, "Anna".into());
//! # runtime.run_frame_with(&mut world, 0.1);
//! # runtime.emit(&KNOCK, "Ben".into());
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
mod after_wait;
mod bytes;
mod cell;
mod clock;
mod content;
mod context;
mod defer;
mod diff;
mod driver;
mod dry_run;
mod effect;
mod effects;
mod error;
mod events;
mod file;
mod folder;
mod group;
mod guard;
mod hand_over;
mod handle;
mod hash;
mod host;
mod image;
mod journal;
mod kept;
mod key;
mod locals;
mod long;
mod look;
mod loss;
mod once;
mod outside;
mod owner;
pub mod prelude;
mod questions;
mod quiet;
mod rebuild;
mod registry;
mod reload;
mod replay;
mod resimulated;
mod restore;
mod runtime;
mod save;
mod script;
mod send;
mod shared;
mod shift;
mod site;
mod slot;
mod stop;
mod stop_lines;
mod sync;
mod topic;
mod tree;
mod typed;
mod wait;

pub use cell::ScriptId;
pub use clock::{clock, realtime};
pub use context::unrecorded;
pub use defer::{Defer, DeferCall, defer, defer_call};
pub use diff::Difference;
pub use dry_run::{DryRun, Incompatibility, RepeatedEffect};
pub use effect::{
    current, current_name, delta_seconds, effect, spawn, spawn_in, spawn_on, start, start_in,
    start_on, time, with, with_once, with_ref,
};
pub use error::{Divergence, RestoreError, SaveError};
pub use folder::{FileCheck, FolderCheck};
#[doc(no_inline)]
pub use framestep::sync::Canceled;
#[doc(inline)]
pub use framestep_durable_macros::{chapter, durable};
pub use group::{Group, JoinGroup, TryJoinGroup, group};
pub use guard::ClockGuard;
pub use handle::{Handle, JoinError, join, pause, request_stop, resume, stop};
pub use hash::StableHash;
pub use host::Host;
pub use image::SaveState;
pub use locals::ChangesNoLocal;
pub use long::LongChapter;
pub use loss::Loss;
pub use owner::{ClockId, OwnerId};
pub use registry::Registry;
pub use reload::{Continued, Reloaded};
pub use resimulated::{effect_once_per_frame, is_resimulated};
pub use restore::{Policy, Restored};
pub use runtime::{Runtime, RuntimeBuilder};
pub use script::{Chapter, DurableScript, OldState};
pub use send::SendSave;
pub use stop::{StopWithin, is_stop_requested};
pub use topic::{EventName, Keyed};
pub use wait::{
    Acquire, Animate, Ask, Changed, ChangesOf, Debounce, Elapsed, Ended, EveryFrames, Interval,
    MissedTicks, NextEvent, NextTick, NextTicks, On, Permit, Promise, Request, RequestId, Resolver,
    Semaphore, Signal, StopRequested, Subscription, Throttle, Tick, Timeout, Value, ValueChanges,
    Wait, WaitSeconds, WaitSignal, WaitSignalFor, WaitUntil, WaitValue, WhenEach, YieldNow,
    animate, ask, changes_of, debounce, end_of_frame, every_frames, fixed_update, in_phase,
    interval, next_frame, on_clock, promise, stop_requested, throttle, timeout, timeout_at,
    wait_frames, wait_seconds, wait_seconds_realtime, wait_steps, wait_until, wait_while,
    when_each, yield_now,
};
