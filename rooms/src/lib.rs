//! x
mod doubles;
mod entry;
mod hash;
pub mod log;
mod member;
mod role;
mod room;
mod saves;
mod shard;
#[cfg(any(test, feature = "simulate"))]
#[doc(hidden)]
pub mod simulate;
pub use entry::*;
pub use role::Note;
pub use room::{EffectKey, Effects, Format, Room};
pub use shard::{Refused, RoomStatus};
