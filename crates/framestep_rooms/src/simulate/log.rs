//! The log of the simulator.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::entry::{Entry, Topic};
use crate::saves::{SLOTS, Slot, of_bytes};

#[derive(Debug)]
pub(super) struct SimLog {
    /// All that was ever in the log and was not cut off, trimmed entries too.
    pub(super) all: Vec<Entry>,
    first: u64,
    /// The newest message ids.
    ids: VecDeque<(Arc<str>, u64)>,
    window: usize,
    /// What a server has taken that is cut off from the others: it is not in the log.
    taken_by_other: HashSet<Arc<str>>,
    slots: [(u64, Option<Arc<[u8]>>); SLOTS],
    revisions: u64,
}

impl SimLog {
    pub(super) fn new(window: u64) -> Self {
        SimLog {
            all: Vec::new(),
            first: 1,
            ids: VecDeque::new(),
            window: usize::try_from(window).unwrap_or(1),
            taken_by_other: HashSet::new(),
            slots: Default::default(),
            revisions: 0,
        }
    }

    /// Appends an entry. An id that was there lately is not appended again.
    pub(super) fn append(&mut self, topic: Topic, id: &str, body: &[u8]) -> u64 {
        if let Some((_, seq)) = self.ids.iter().find(|(it, _)| **it == *id) {
            return *seq;
        }
        let seq = self.all.len() as u64 + 1;
        self.all.push(Entry {
            seq,
            topic: Some(topic),
            body: body.into(),
        });
        self.ids.push_back((id.into(), seq));
        if self.ids.len() > self.window {
            self.ids.pop_front();
        }
        seq
    }

    /// What a server answers that does not know yet that it is cut off from the others: nothing, and 0
    /// for what it has taken before.
    pub(super) fn append_to_other(&mut self, id: &str) -> Option<u64> {
        (!self.taken_by_other.insert(id.into())).then_some(0)
    }

    /// The server that was cut off gives up what it has taken.
    pub(super) fn end_other(&mut self) {
        self.taken_by_other.clear();
    }

    /// Whether the last tick is entry `after`.
    pub(super) fn is_last(&self, after: Option<u64>) -> bool {
        let last = self.all.iter().rev().find(|entry| entry.is_tick());
        let last = last.map_or(0, |entry| entry.seq);
        after.is_none_or(|after| after == last)
    }

    /// Appends a tick, if the last one is entry `after`.
    pub(super) fn tick(&mut self, id: &str, after: Option<u64>, body: &[u8]) -> Option<u64> {
        if let Some((_, seq)) = self.ids.iter().find(|(it, _)| **it == *id) {
            return Some(*seq);
        }
        self.is_last(after)
            .then(|| self.append(Topic::Tick, id, body))
    }

    pub(super) fn read(&self, from: u64, most: u64) -> Vec<Entry> {
        let from = usize::try_from(from.max(self.first) - 1).unwrap_or(usize::MAX);
        let rest = self.all.get(from..).unwrap_or(&[]);
        rest.iter()
            .take(usize::try_from(most).unwrap_or(1))
            .cloned()
            .collect()
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn trim(&mut self, before: u64) {
        self.first = self.first.max(before).min(self.all.len() as u64 + 1);
    }

    /// Loses the last entries, but not the tick of the oldest save, nor all. Returns them.
    pub(super) fn cut(&mut self, entries: u64) -> Vec<Entry> {
        let oldest = crate::saves::oldest(&self.slots()).unwrap_or(0);
        let least = oldest.max(self.first);
        let length = (self.all.len() as u64).saturating_sub(entries).max(least);
        let length = usize::try_from(length).unwrap_or(0).min(self.all.len());
        let lost = self.all.split_off(length);
        self.ids.retain(|(_, seq)| *seq <= length as u64);
        lost
    }

    pub(super) fn saves(&self) -> impl Iterator<Item = Option<Arc<[u8]>>> {
        self.slots.iter().map(|(_, bytes)| bytes.clone())
    }

    pub(super) fn slots(&self) -> Vec<Slot> {
        let slot = |(revision, bytes): &(u64, Option<Arc<[u8]>>)| {
            let at = bytes
                .as_ref()
                .and_then(|bytes| of_bytes(bytes))
                .map(|(at, _)| at);
            (*revision, at)
        };
        self.slots.iter().map(slot).collect()
    }

    pub(super) fn store(
        &mut self,
        slot: usize,
        revision: u64,
        bytes: Arc<[u8]>,
        is_any: bool,
    ) -> bool {
        if self.slots[slot].0 != revision && !is_any {
            return false;
        }
        self.revisions += 1;
        self.slots[slot] = (self.revisions, Some(bytes));
        true
    }
}
