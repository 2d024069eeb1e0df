//! When rooms have ended: what was made for an earlier room of a name is not for a later one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The entries in which rooms have ended, or were refused.
///
/// A log forgets message ids after a while. So a copy of the entry that has opened a room may come when the room
/// is over, and would open it again. Each opening names an entry of the log that its sender knew: it counts only
/// if no room of the name has ended after that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Endings {
    /// Of the last rooms that have ended.
    entries: BTreeMap<Arc<str>, u64>,
    /// The last entry of the others.
    forgotten: u64,
    /// The frame of the last ending.
    frame: u64,
}

/// How many are remembered, while there are rooms.
const REMEMBERED: usize = 256;

/// For how many seconds, once there is no room. A client asks for an entry right before it opens a room, so of
/// those under way none names an earlier one.
const QUIET: u64 = 5;

impl Endings {
    /// Those of a shard without rooms, in which nothing has ended after this entry.
    pub(super) fn before(entry: u64) -> Self {
        Endings {
            forgotten: entry,
            ..Endings::default()
        }
    }

    /// A room has ended.
    pub(super) fn add(&mut self, room: &Arc<str>, entry: u64, frame: u64) {
        self.frame = frame;
        self.entries.insert(room.clone(), entry);
        if self.entries.len() > REMEMBERED {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| **entry);
            if let Some((room, entry)) = oldest.map(|(room, entry)| (room.clone(), *entry)) {
                self.entries.remove(&room);
                self.forgotten = self.forgotten.max(entry);
            }
        }
    }

    /// The last entry in which a room of this name may have ended.
    pub(super) fn last(&self, room: &str) -> u64 {
        let known = self.entries.get(room).copied();
        known.unwrap_or(0).max(self.forgotten)
    }

    /// There is no room after this frame. Once that is so for a while, the last entry is enough: any build
    /// can go on with it.
    pub(super) fn forget(&mut self, frame: u64, ticks_per_second: u32) {
        if frame > self.frame + QUIET * u64::from(ticks_per_second) {
            let last = self.entries.values().max().copied();
            *self = Endings::before(last.unwrap_or(0).max(self.forgotten));
        }
    }

    /// The last entry of all, if that is all there is to know.
    pub(super) fn only_last(&self) -> Option<u64> {
        self.entries.is_empty().then_some(self.forgotten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_last_rooms_the_entry_is_known_and_of_the_others_the_last_one() {
        let mut endings = Endings::default();
        for number in 0..300_u64 {
            endings.add(&format!("room-{number}").into(), 1_000 + number, number);
        }
        endings.add(&"room-100".into(), 2_000, 300);
        assert_eq!(
            (endings.last("room-299"), endings.last("room-100")),
            (1_299, 2_000)
        );
        assert_eq!(
            (endings.last("room-0"), endings.last("another")),
            (1_043, 1_043)
        );
        assert_eq!(endings.only_last(), None);
    }

    #[test]
    fn without_rooms_the_last_entry_is_left_after_five_seconds() {
        let mut endings = Endings::before(40);
        endings.add(&"a".into(), 50, 100);
        endings.forget(150, 10);
        assert_eq!((endings.only_last(), endings.last("b")), (None, 40));
        endings.forget(151, 10);
        assert_eq!((endings.only_last(), endings.last("b")), (Some(50), 50));
        assert_eq!(endings, Endings::before(50));
    }
}
