//! The recorder's memory: a ring of records, and the state before the first of them.

use std::collections::VecDeque;

use crate::fold;
use crate::record::{Kind, NONE, Record};
use crate::state::State;
use crate::tables::{Swept, Tables};
use crate::text;

/// What a full recorder has dropped. It drops the oldest events first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Dropped {
    /// How many frames are not complete any more.
    pub frames: u64,
    /// How many events were dropped.
    pub events: u64,
}

impl std::fmt::Display for Dropped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let events = text::counted(self.events, "event");
        match self.frames {
            0 => write!(f, "{events} dropped"),
            frames => write!(
                f,
                "{} dropped ({events})",
                text::counted(frames, "older frame")
            ),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Tape {
    most_frames: usize,
    most_events: usize,
    pub(crate) records: VecDeque<Record>,
    /// The numbers of the records that begin a frame. Records are numbered from 0, and
    /// dropped ones count.
    frames: VecDeque<u64>,
    pub(crate) base: State,
    pub(crate) dropped: Dropped,
    pub(crate) tables: Tables,
    pub(crate) hash: u64,
    /// How many scripts and names there had been at the last sweep.
    swept: u64,
    swept_names: usize,
}

impl Tape {
    pub(crate) fn new(most_frames: usize, most_events: usize) -> Self {
        Tape {
            most_frames,
            most_events,
            records: VecDeque::new(),
            frames: VecDeque::new(),
            base: State::default(),
            dropped: Dropped::default(),
            tables: Tables::new(),
            hash: 0,
            swept: 0,
            swept_names: 0,
        }
    }

    pub(crate) fn set_limits(&mut self, most_frames: Option<usize>, most_events: Option<usize>) {
        self.most_frames = most_frames.unwrap_or(self.most_frames).max(1);
        self.most_events = most_events.unwrap_or(self.most_events).max(16);
        self.drop_old_frames();
        while self.records.len() > self.most_events {
            self.drop_record();
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        self.hash = self.mixed(&record);
        if record.kind == Kind::FrameBegan {
            self.frames
                .push_back(self.dropped.events + self.records.len() as u64);
            self.drop_old_frames();
        }
        if self.records.len() >= self.most_events {
            self.drop_record();
        } else if self.records.len() == self.records.capacity() {
            self.grow();
        }
        self.records.push_back(record);
    }

    /// Records a value, unless that is known already.
    pub(crate) fn push_value(&mut self, record: Record) {
        let mut last = self.records.iter().rev().take(64);
        let is_value = |known: &&Record| {
            matches!(known.kind, Kind::Valued | Kind::Emitted) && known.other == record.other
        };
        if last.find(is_value).map(|known| known.place) != Some(record.place) {
            self.push(record);
        }
    }

    /// Grows like a `Vec`, but never past the limit.
    #[cold]
    fn grow(&mut self) {
        let length = self.records.len();
        let more = length.max(1_024).min(self.most_events - length);
        self.records.reserve_exact(more);
    }

    fn drop_old_frames(&mut self) {
        while self.frames.len() > self.most_frames {
            let first = self.frames[1];
            while self.dropped.events < first {
                self.drop_record();
            }
        }
    }

    fn drop_record(&mut self) {
        let Some(record) = self.records.pop_front() else {
            return;
        };
        self.base.apply(&record);
        self.dropped.events += 1;
        if record.kind == Kind::FrameBegan {
            self.frames.pop_front();
            self.dropped.frames += 1;
        }
    }

    /// The hash of the run after one more record. It contains no number that depends on
    /// how much is kept.
    #[inline]
    fn mixed(&self, record: &Record) -> u64 {
        let Tables {
            names,
            places,
            scripts,
            ..
        } = &self.tables;
        let serial = |script: u32| scripts[script as usize].serial;
        let mut hash = fold::mix(
            self.hash,
            u64::from(record.phase) << 16 | u64::from(record.detail) << 8 | record.kind as u64,
        );
        if record.kind == Kind::FrameBegan {
            return fold::mix(fold::mix(hash, record.frame()), record.value);
        }
        hash = fold::mix(hash, serial(record.script));
        if record.place() != NONE {
            hash = fold::mix(hash, places.hash(record.place));
        }
        let [name, owner] = record.names();
        if let Some(other) = record.other_script() {
            hash = fold::mix(hash, serial(other));
        } else if name == NONE {
            hash = fold::mix(hash, u64::from(record.other));
        }
        if name != NONE {
            hash = fold::mix(hash, names.hash(name));
        }
        if owner != NONE {
            hash = fold::mix(hash, names.hash(owner));
        }
        if record.value_is_free() || record.other_script().is_some() {
            return hash;
        }
        fold::mix(hash, record.value)
    }

    /// Frees scripts and names that nothing refers to any more. The cost is linear in the
    /// number of records, so it waits for enough new scripts. Returns the freed scripts.
    pub(crate) fn sweep(&mut self, is_needed: impl Fn(u32) -> bool) -> Swept {
        let new = self.tables.born() - self.swept;
        let names = self.tables.names.used();
        let enough = 1_024 + self.records.len() / 16;
        if new < enough as u64 && names < self.swept_names + enough {
            return Swept::default();
        }
        self.swept = self.tables.born();
        let mut scripts = vec![false; self.tables.scripts.len()];
        let mut names = vec![false; self.tables.names.texts().len()];
        let mut mark = |record: &Record| {
            scripts[record.script as usize] = true;
            if let Some(other) = record.other_script() {
                scripts[other as usize] = true;
            }
            for name in record.names() {
                names[name as usize] = true;
            }
        };
        self.records.iter().for_each(&mut mark);
        for live in self.base.live.iter().filter(|live| live.is_alive) {
            live.waits.iter().for_each(|open| mark(&open.record));
        }
        for (number, live) in self.base.live.iter().enumerate() {
            scripts[number] |= live.is_alive;
            if let Some((_, by)) = live.paused {
                scripts[by as usize] = true;
            }
        }
        self.base.mark(&mut scripts, &mut names);
        // A parent that was freed itself is not shown.
        for number in 1..scripts.len() {
            scripts[number] |= is_needed(index(number));
            let parent = self.tables.scripts[number].parent as usize;
            if scripts[number] && !scripts[parent] {
                self.tables.scripts[number].parent = NONE;
            }
        }
        let swept = self.tables.sweep(&scripts, names);
        self.swept_names = self.tables.names.used();
        swept
    }

    /// How much memory it takes, except for the maps of ids.
    pub(crate) fn bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.frames.capacity() * 8
            + self.base.live.capacity() * size_of::<crate::state::Live>()
            + self.tables.bytes()
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than four billion scripts")
}
