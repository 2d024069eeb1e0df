//! The keys and ids that save states name: plain numbers.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use framestep::sync::Key;
use serde::{Deserialize, Serialize};

/// An id can be the key of a signal, a watch or a semaphore. Its text is its number.
macro_rules! keys {
    ($($id:ty,)*) => {
        $(impl Key for $id {
            fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
                self.0.write(text)
            }
        })*
    };
}

keys!(ScriptId, OwnerId, ClockId,);

/// The number of a script, which no other script of the runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScriptId(pub(crate) u64);

impl ScriptId {
    /// The id of a number: scripts are numbered from 1, in the order in which they were made.
    #[must_use]
    pub const fn from_raw(number: u64) -> Self {
        ScriptId(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ScriptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A script, as messages name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedScript {
    pub(crate) id: ScriptId,
    pub(crate) name: &'static str,
}

/// Tells a script from all others that the process has made, also from those that have its number in
/// other timelines, which a rollback separates. Save states in memory have it, files do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Birth(usize);

impl Birth {
    /// That of a script that is made now.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Birth(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// That of a script of a save state: another one if the state is from a file.
    pub(crate) fn of_save(self) -> Self {
        if self == Birth::default() {
            Birth::new()
        } else {
            self
        }
    }
}

/// An owner of scripts, made with [`owner()`](crate::owner()), by scripts and by the host. A plain value: it can be part
/// of the state of a script, or of the game's own save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OwnerId(pub(crate) u64);

/// A clock, made with [`ClockId::child`]. A plain value, like [`OwnerId`].
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

/// The numbers of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RequestKey {
    pub(crate) number: u64,
    /// Differs between questions of the same number, in timelines that a rollback separates.
    pub(crate) stamp: u64,
}

/// The number of a subscription, a permit or a promise: that of the script that has it, and one
/// that nothing else of the runtime has.
pub(crate) type Owned = (ScriptId, u64);

/// Whose handles are counted together. A restore begins another epoch, in which the earlier handles
/// are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handled {
    pub(crate) epoch: u32,
    pub(crate) id: ScriptId,
    /// `None` of handles that replays have made, whose scripts come back with the one that is
    /// replayed.
    pub(crate) birth: Option<Birth>,
}
