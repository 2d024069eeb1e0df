//! x
mod client;
mod doubles;
mod driver;
mod entry;
mod hash;
pub mod log;
mod member;
mod probe;
mod role;
mod room;
mod saves;
mod server;
mod shard;
#[cfg(any(test, feature = "simulate"))]
#[doc(hidden)]
pub mod simulate;

pub use client::{Client, RoomClient, View, Watch};
pub use driver::ShardStatus;
pub use entry::{Entry, Player, Topic, is_name};
pub use role::Note;
pub use room::{EffectKey, Effects, Format, Room};
pub use server::{Fault, Server, ServerNote};
pub use shard::{Refused, RoomStatus};
