//! Owners and clocks by number, so that files can name them.

use serde::{Deserialize, Serialize};

/// An owner of scripts, made with [`Runtime::owner`](crate::Host::owner). A plain value: it
/// can be part of the state of a script, or of the game's own save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OwnerId(pub(crate) u64);

/// A clock, made with [`Runtime::child_clock`](crate::Host::child_clock). A plain value,
/// like [`OwnerId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClockId(pub(crate) u32);

impl ClockId {
    /// The game clock.
    pub const GAME: ClockId = ClockId(0);
    /// Realtime.
    pub const REALTIME: ClockId = ClockId(1);
    /// The first clock of a runtime's own.
    pub(crate) const FIRST: u32 = 2;
}
