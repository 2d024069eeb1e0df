//! The entries of the log that a client knows: an input names one, so that late copies of it do not count.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// How old the place may be that an input names. Rooms remember players for ten minutes.
const RECENT: Duration = Duration::from_secs(60);

/// An entry of the log of a shard, and when it was heard of.
#[derive(Clone, Copy)]
struct Place {
    entry: u64,
    at: Instant,
    /// The other clock stands still while a machine sleeps.
    at_clock: SystemTime,
}

impl Place {
    fn of(entry: u64) -> Self {
        Place {
            entry,
            at: Instant::now(),
            at_clock: SystemTime::now(),
        }
    }

    /// If one of the clocks is wrong, another place is asked for, and nothing else happens.
    fn is_recent(&self) -> bool {
        let by_clock = self.at_clock.elapsed();
        self.at.elapsed() < RECENT && by_clock.is_ok_and(|age| age < RECENT)
    }
}

/// The last entry of each shard that a client has heard of.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<HashMap<u32, Place>>>);

impl Places {
    fn with<T>(&self, f: impl FnOnce(&mut HashMap<u32, Place>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last entry, if it was heard of lately.
    pub(super) fn recent(&self, shard: u32) -> Option<u64> {
        let place = self.with(|places| places.get(&shard).copied());
        place.filter(Place::is_recent).map(|place| place.entry)
    }

    /// The log has this entry. Answers may come in any order, so an earlier one changes nothing.
    pub(super) fn hear(&self, shard: u32, entry: u64) {
        self.with(|places| {
            let place = places.entry(shard).or_insert_with(|| Place::of(entry));
            if entry >= place.entry || !place.is_recent() {
                *place = Place::of(entry);
            }
        });
    }

    /// The next one is asked for.
    pub(super) fn forget(&self, shard: u32) {
        self.with(|places| places.remove(&shard));
    }

    /// The log has this entry, and has lost what was after it.
    pub(super) fn begin_at(&self, shard: u32, entry: u64) {
        self.with(|places| places.insert(shard, Place::of(entry)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn the_latest_entry_is_known_until_it_is_a_minute_old() {
        let places = Places::default();
        assert_eq!(places.recent(7), None);
        places.hear(7, 40);
        places.hear(7, 38);
        assert_eq!((places.recent(7), places.recent(8)), (Some(40), None));
        advance(Duration::from_secs(59)).await;
        places.hear(7, 39);
        assert_eq!(places.recent(7), Some(40));
        advance(Duration::from_secs(1)).await;
        assert_eq!(places.recent(7), None);
        // The log may have lost the other one.
        places.hear(7, 39);
        assert_eq!(places.recent(7), Some(39));
        places.begin_at(7, 12);
        assert_eq!(places.recent(7), Some(12));
        places.forget(7);
        assert_eq!(places.recent(7), None);
    }
}
