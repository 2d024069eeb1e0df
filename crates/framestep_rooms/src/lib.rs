//! Game servers whose rooms survive the loss of a machine, in the middle of a script's `.await`.
//!
//! A [`Room`] is a state and its durable scripts: a function of the inputs of its players, which are
//! in a [`log`]. A [`Server`] is a node; each runs its part of all rooms, and follows
//! others as a standby. A [`Client`] opens rooms, sends inputs and watches.
//!
//! The README shows how it works, what is promised, and what is not.

#![forbid(unsafe_code)]

mod body;
mod builds;
mod bulletin;
mod client;
mod doubles;
mod driver;
mod entry;
mod event;
mod live;
pub mod log;
mod member;
mod metered;
mod news;
mod operator;
mod probe;
mod reminders;
mod replay;
mod role;
mod room;
mod saves;
mod server;
mod shard;
#[cfg(any(test, feature = "simulate"))]
#[doc(hidden)]
pub mod simulate;

/// A number that nobody else has or can guess.
///
/// Ids of entries are made of it. A log stores an id once, and a player may choose those of its own
/// entries: with the id of another entry, it would keep that out of the log.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Its keys are random numbers of the operating system.
    std::hash::RandomState::new().build_hasher().finish()
}

pub use builds::prefer;
pub use client::{Client, ClientError, RoomClient, View, Watch};
pub use driver::ShardStatus;
pub use entry::{Entry, Player, Topic, is_name};
pub use event::{ServerEvent, ServerNote};
pub use operator::Operator;
pub use replay::{Replay, ReplayedFrame};
pub use room::{EffectKey, Effects, Format, Presence, Room};
pub use server::{Health, Server, ServerError};
pub use shard::{Refused, RoomStatus};

/// The code of the README is tested.
#[cfg(all(doctest, feature = "nats"))]
#[doc = include_str!("../README.md")]
mod readme {}

/// The code of the page in the guide is tested.
#[cfg(all(doctest, feature = "nats"))]
#[doc = include_str!("../../../docs/guide/rooms.md")]
mod guide {}

/// The page about NATS has no code, and is read with the other one.
#[cfg(all(doctest, feature = "nats"))]
#[doc = include_str!("../../../docs/guide/rooms-nats.md")]
mod trusted {}
