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
        known.expect(declared)?;
        Ok(known.entry(key).map(|entry| Rc::clone(&entry.state)))
    }

    /// Adds a state, unless the name has one by now, or stands for something else. The caller drops those that are
    /// unused.
    pub(crate) fn add(&self, declared: &Declared, key: Option<&Rc<str>>, entry: Entry) -> Added {
        let mut names = self.names.borrow_mut();
        let known = names
            .entry((declared.kind, declared.name))
            .or_insert_with(|| Known {
                declared: *declared,
                alone: None,
                keyed: BTreeMap::new(),
                sweep_at: FEW_KEYS,
            });
        if let Err(other) = known.expect(declared) {
            return Added {
                state: Err(other),
                unused: vec![entry],
            };
        }
        let is_due = key.is_some() && known.keyed.len() >= known.sweep_at;
        let mut unused = if is_due { known.sweep() } else { Vec::new() };
        let state = match known.entry(key.map(|key| &**key)) {
            Some(there) => {
                let state = Rc::clone(&there.state);
                unused.push(entry);
                state
            }
            None => {
                let state = Rc::clone(&entry.state);
                match key {
                    Some(key) => drop(known.keyed.insert(Rc::clone(key), entry)),
                    None => known.alone = Some(entry),
                }
                state
            }
        };
        Added {
            state: Ok(state),
            unused,
        }
    }

    /// Takes all of them out, for the caller to end and drop.
    pub(crate) fn take(&self) -> Vec<Entry> {
        let names = self.names.take().into_values();
        names
            .flat_map(|known| known.alone.into_iter().chain(known.keyed.into_values()))
            .collect()
    }
}

/// What there is after a state was [added](Sources::add).
pub(crate) struct Added {
    /// The state of the name, or what other code says of the name.
    pub(crate) state: Result<Rc<dyn Any>, Declared>,
    pub(crate) unused: Vec<Entry>,
}

impl Known {
    /// # Errors
    ///
    /// If other code says something else of the name: what it says.
    fn expect(&self, declared: &Declared) -> Result<(), Declared> {
        let of = |declared: &Declared| (declared.state, declared.number);
        if of(&self.declared) == of(declared) {
            Ok(())
        } else {
            Err(self.declared)
        }
    }

    fn entry(&self, key: Option<&str>) -> Option<&Entry> {
        match key {
            None => self.alone.as_ref(),
            Some(key) => self.keyed.get(key),
        }
    }

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
