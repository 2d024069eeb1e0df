//! The signals, watches and semaphores that code finds by name in an executor. A part: it calls no user
//! code.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

use crate::core::base::cell::Guarded;
use crate::inspect::{Line, SourceKind};

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
    pub(crate) place: Line,
}

/// The state of a name, and the line that has declared the name first.
pub(crate) type FoundState = (Rc<dyn Any>, Line);

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
    /// What the code says of the names whose states a runtime has.
    of_runtime: Guarded<BTreeMap<(SourceKind, &'static str), Declared>>,
    /// Declarations that were like those, by their lines.
    alike: OnceCell<Box<Alike>>,
    /// The lines of watches of which the host has heard that another line declares them, too.
    told: Guarded<Vec<Line>>,
}

/// So many declarations have places of their own, if their lines do not fall on the same one.
const PLACES: usize = 64;

type Alike = [Cell<Option<Said>>; PLACES];

/// What makes a declaration the same one: a line may declare several.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Said {
    line: *const Location<'static>,
    name: *const str,
    state: TypeId,
    number: usize,
}

impl Said {
    fn of(declared: &Declared) -> Self {
        Said {
            line: declared.place,
            name: declared.name,
            state: declared.state,
            number: declared.number,
        }
    }

    fn place(&self) -> usize {
        // A location has three words.
        self.line.addr() / size_of::<Location<'_>>() % PLACES
    }
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
    ) -> Result<Option<FoundState>, Declared> {
        let names = self.names.borrow();
        let Some(known) = names.get(&(declared.kind, declared.name)) else {
            return Ok(None);
        };
        known.declared.expect(declared)?;
        let state = |entry: &Entry| (Rc::clone(&entry.state), known.declared.place);
        Ok(known.entry(key).map(state))
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
        if let Err(other) = known.declared.expect(declared) {
            return Added {
                state: Err(other),
                unused: vec![entry],
            };
        }
        let is_due = key.is_some() && known.keyed.len() >= known.sweep_at;
        let mut unused = if is_due { known.sweep() } else { Vec::new() };
        let state = if let Some(there) = known.entry(key.map(|key| &**key)) {
            let state = Rc::clone(&there.state);
            unused.push(entry);
            state
        } else {
            let state = Rc::clone(&entry.state);
            match key {
                Some(key) => drop(known.keyed.insert(Rc::clone(key), entry)),
                None => known.alone = Some(entry),
            }
            state
        };
        Added {
            state: Ok(state),
            unused,
        }
    }

    /// Notes what code says of a name whose state a runtime has. Returns the line that has said so first, as far as it is
    /// looked up.
    ///
    /// # Errors
    ///
    /// If other code says something else of the name: what it says.
    #[inline]
    pub(crate) fn declare(&self, declared: &Declared) -> Result<Line, Declared> {
        let said = Said::of(declared);
        match self.alike.get() {
            Some(alike) if alike[said.place()].get() == Some(said) => Ok(declared.place),
            _ => self.compare(declared, said),
        }
    }

    #[cold]
    #[inline(never)]
    fn compare(&self, declared: &Declared, said: Said) -> Result<Line, Declared> {
        let mut names = self.of_runtime.borrow_mut();
        let name = (declared.kind, declared.name);
        let known = names.entry(name).or_insert(*declared);
        known.expect(declared)?;
        let alike = self
            .alike
            .get_or_init(|| Box::new([const { Cell::new(None) }; PLACES]));
        alike[said.place()].set(Some(said));
        Ok(known.place)
    }

    /// Whether the host has yet to hear that a line declares a name which another line has declared before.
    #[cold]
    pub(crate) fn is_untold(&self, line: Line) -> bool {
        let mut told = self.told.borrow_mut();
        let is_untold = !told.contains(&line);
        if is_untold {
            told.push(line);
        }
        is_untold
    }

    /// Forgets what code has said of the names of a runtime: other code takes its place.
    pub(crate) fn forget_declared(&self) {
        self.of_runtime.take();
        self.told.take();
        for place in self.alike.get().into_iter().flat_map(|alike| alike.iter()) {
            place.set(None);
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

impl Declared {
    /// # Errors
    ///
    /// If other code says something else of the name: what this one says.
    fn expect(&self, other: &Declared) -> Result<(), Declared> {
        let of = |declared: &Declared| (declared.state, declared.number);
        if of(self) == of(other) {
            Ok(())
        } else {
            Err(*self)
        }
    }
}

impl Known {
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
