//! How many handles of scripts there are, and which are valid.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::bytes::StableHash;
use crate::ids::{Birth, Handled, ScriptId};

/// The handles of the scripts of a runtime.
#[derive(Default)]
pub(crate) struct Handles {
    counts: RefCell<HashMap<Handled, usize, BuildHasherDefault<OfNumbers>>>,
    /// Whether the host can still ask for handles that it had at the save: after a restore,
    /// before the next run.
    pub(crate) may_claim: Cell<bool>,
    /// How often there has been a restore or a rollback.
    pub(crate) restores: Cell<u32>,
    /// How often a restore has invalidated all handles.
    pub(crate) epoch: Cell<u32>,
}

/// The hash of a key of a few numbers, which are those of the runtime: nobody chooses them to collide. Each start and each
/// end of a script looks its handles up.
#[derive(Default)]
struct OfNumbers(StableHash);

impl Hasher for OfNumbers {
    fn write(&mut self, bytes: &[u8]) {
        self.0.add_bytes(bytes);
    }

    fn write_u32(&mut self, number: u32) {
        self.0.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0.add(number);
    }

    // The discriminant of an enum.
    fn write_isize(&mut self, number: isize) {
        self.0.add(number.unsigned_abs() as u64);
    }

    fn finish(&self) -> u64 {
        self.0.state()
    }
}

impl Handles {
    /// Uncounts a handle. Returns whether it was the last one.
    pub(crate) fn remove(&self, of: Handled) -> bool {
        let mut counts = self.counts.borrow_mut();
        let Some(count) = counts.get_mut(&of) else {
            return false;
        };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            counts.remove(&of);
        }
        is_last
    }

    /// Whether there are handles of a script.
    pub(crate) fn is_held(&self, id: ScriptId, birth: Birth) -> bool {
        let epoch = self.epoch.get();
        let handles = self.counts.borrow();
        let has = |birth| handles.contains_key(&Handled { epoch, id, birth });
        has(Some(birth)) || has(None)
    }

    /// How many scripts have handles that are valid.
    pub(crate) fn valid(&self) -> usize {
        let epoch = self.epoch.get();
        let handles = self.counts.borrow();
        handles.keys().filter(|of| of.epoch == epoch).count()
    }

    /// Counts a handle.
    pub(crate) fn add(&self, of: Handled) {
        *self.counts.borrow_mut().entry(of).or_default() += 1;
    }
}
