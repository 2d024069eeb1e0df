//! What a script holds by entries of its journal: guards of clocks, permits, subscriptions and promises.

use std::collections::BTreeSet;
use std::fmt;

use crate::bytes::Bytes;
use crate::ids::ScriptId;

/// Something that a script holds, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    Guard(u64),
    Permit(u64),
    Stream(u64),
    Promise(u64),
}

/// What scripts hold at a save.
pub(crate) trait Holders {
    fn is_held(&self, script: ScriptId, hold: Hold) -> bool;
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hold::Guard(_) => "the guard of a clock",
            Hold::Permit(_) => "permits",
            Hold::Stream(_) => "a subscription",
            Hold::Promise(_) => "a promise",
        })
    }
}

impl Hold {
    /// What a call has made that has returned this value. `None` if it makes nothing, or has made nothing.
    fn of(call: &str, value: &Bytes) -> Option<Self> {
        let number = || value.read::<u64>();
        match call {
            "pause_guard" | "scaled" => number().map(Hold::Guard),
            "permits.acquire()" => number().map(Hold::Permit),
            "try_acquire" => value.read::<Option<u64>>().flatten().map(Hold::Permit),
            "subscribe" => number().map(Hold::Stream),
            "promise" => {
                let key = value.read::<(ScriptId, u64, u64)>();
                key.map(|(_, number, _)| Hold::Promise(number))
            }
            _ => None,
        }
    }

    /// Whether a script that holds it without the save cannot go on. A promise that was resolved is over
    /// although the script has it, and a subscription may have been given away.
    pub(super) fn is_compared(self) -> bool {
        matches!(self, Hold::Guard(_) | Hold::Permit(_)) && self != Hold::Permit(0)
    }
}

/// What a replay has taken and dropped of it.
#[derive(Default)]
pub(super) struct Holds {
    held: BTreeSet<Hold>,
    released: BTreeSet<Hold>,
}

impl Holds {
    pub(super) fn take(&mut self, call: &str, value: &Bytes) {
        self.held.extend(Hold::of(call, value));
    }

    /// The entry of a statement that is gone. Returns whether something is released.
    pub(super) fn skip(&mut self, call: &str, value: &Bytes) -> bool {
        let hold = Hold::of(call, value);
        self.released.extend(hold);
        hold.is_some()
    }

    /// The script has dropped it.
    pub(super) fn drop(&mut self, hold: Hold) {
        self.held.remove(&hold);
        self.released.insert(hold);
    }

    pub(super) fn held(&self) -> impl Iterator<Item = Hold> {
        self.held.iter().copied()
    }

    pub(super) fn released(&self) -> impl Iterator<Item = Hold> {
        self.released.iter().copied()
    }
}
