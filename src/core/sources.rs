//! The signals, watches and semaphores that code finds by name in an executor. A part: it calls no user
//! code.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

use crate::core::base::cell::Guarded;
use crate::inspect::SourceKind;

/// What the code says of a name.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) kind: SourceKind,
    pub(crate) name: &'static str,
    pub(crate) state: TypeId,
    /// The limit of a signal, the count of a semaphore.
    pub(crate) number: usize,
    /// What it is, for messages.
    pub(crate) what: fn(usize) -> String,
    pub(crate) place: &'static Location<'static>,
}

/// The state behind a name.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) state: Rc<dyn Any>,
    /// Whether it is used by nothing but the table, and as a new one would be.
    pub(crate) is_unused: fn(&Rc<dyn Any>) -> bool,
    /// Ends it, with the executor. Calls user code.
    pub(crate) end: fn(&Rc<dyn Any>),
}

#[derive(Default)]
pub(crate) struct Sources {
    names: Guarded<BTreeMap<(SourceKind, &'static str), Known>>,
}

/// A name, and what there is of it.
struct Known {
    declared: Declared,
    alone: Option<Entry>,
    /// By the text of the key.
    keyed: BTreeMap<Rc<str>, Entry>,
    /// How many keys are left over from the last sweep, or may be until the next.
    sweep_at: usize,
}

/// So many keys are not swept.
const FEW_KEYS: usize = 32;

impl Sources {
    /// The state of a name, if there is one.
    ///
    /// # Errors
    ///
    /// If other code says something else of the name: what it says.
    pub(crate) fn get(
        &self,
        declared: &Declared,
        key: Option<&str>,
    ) -> Result<Option<Rc<dyn Any>>, Declared> {
        let names = self.names.borrow();
        let Some(known) = names.get(&(declared.kind, declared.name)) else {
            return Ok(None);
        };
        if (known.declared.state, known.declared.number) != (declared.state, declared.number) {
            return Err(known.declared);
        }
        let entry = match key {
            None => known.alone.as_ref(),
            Some(key) => known.keyed.get(key),
        };
        Ok(entry.map(|entry| entry.state.clone()))
    }

    /// Adds a state, unless the name has one by now. Returns those that are unused: the caller drops
    /// them.
    pub(crate) fn add(
        &self,
        declared: &Declared,
        key: Option<&Rc<str>>,
        entry: Entry,
    ) -> Vec<Entry> {
        let mut names = self.names.borrow_mut();
        let known = names
            .entry((declared.kind, declared.name))
            .or_insert_with(|| Known {
                declared: *declared,
                alone: None,
                keyed: BTreeMap::new(),
                sweep_at: FEW_KEYS,
            });
        let Some(key) = key else {
            if known.alone.is_some() {
                return vec![entry];
            }
            known.alone = Some(entry);
            return Vec::new();
        };
        let mut unused = if known.keyed.len() >= known.sweep_at {
            known.sweep()
        } else {
            Vec::new()
        };
        if known.keyed.contains_key(key) {
            unused.push(entry);
        } else {
            known.keyed.insert(key.clone(), entry);
        }
        unused
    }

    /// Takes all of them out, for the caller to end and drop.
    pub(crate) fn take(&self) -> Vec<Entry> {
        let names = self.names.take().into_values();
        names
            .flat_map(|known| known.alone.into_iter().chain(known.keyed.into_values()))
            .collect()
    }
}

impl Known {
    /// Takes out the keys that nothing uses. A sweep is due once there are twice as many as the last
    /// one left, so that it costs each new key a constant time.
    fn sweep(&mut self) -> Vec<Entry> {
        let mut unused = Vec::new();
        self.keyed.retain(|_, entry| {
            let is_unused = (entry.is_unused)(&entry.state);
            if is_unused {
                unused.push(entry.clone());
            }
            !is_unused
        });
        self.sweep_at = FEW_KEYS.max(self.keyed.len() * 2);
        unused
    }
}
