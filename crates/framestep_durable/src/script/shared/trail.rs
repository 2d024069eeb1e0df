//! What scripts do, in order, and what their effects do to the states that the host lends: kept only to find
//! a difference.

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use framestep::durable::{borrow, borrow_mut, unrecorded};

use crate::bytes::tree::Tree;
use crate::bytes::{Bytes, StableHash};
use crate::ids::{NamedScript, ScriptId};
use crate::journal::{Kind, SiteId, SiteTable, Sites, said_at};
use crate::script::Effects;
use crate::script::shared::effects::Hashing;

/// How a state that the host lends is copied, put back and compared. The functions are called
/// inside the executor.
#[derive(Clone, Copy)]
pub(crate) struct Lent {
    pub(crate) summed: Summed,
    /// `None` if it is not lent.
    pub(crate) copy: fn() -> Option<Box<dyn Any>>,
    pub(crate) put_back: fn(&dyn Any),
    /// Replaces it by what is read of its bytes, or says why not. `None` if that is not tested.
    pub(crate) read_back: Option<fn() -> Result<(), String>>,
}

/// How a state that the host lends is hashed. The function is called inside the executor.
#[derive(Clone, Copy)]
pub(crate) struct Summed {
    pub(crate) type_name: &'static str,
    /// `None` if it is not lent.
    checksum: fn() -> Option<u64>,
}

impl Summed {
    pub(crate) fn of<W: Serialize + 'static>() -> Self {
        Summed {
            type_name: type_name::<W>(),
            checksum: || {
                let bytes = |world: &W| postcard::to_stdvec(world);
                let bytes = borrow(bytes).ok()?;
                let bytes = bytes.unwrap_or_else(|error| {
                    panic!(
                        "a lent `{}` cannot be serialised for a checksum: {error}",
                        type_name::<W>()
                    )
                });
                let mut hash = StableHash::new();
                hash.add_bytes(&bytes);
                Some(hash.finish())
            },
        }
    }
}

impl fmt::Debug for Summed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

/// The states that are lent, as one hash.
fn hash_of(summed: &[Summed]) -> u64 {
    let mut hash = StableHash::new();
    for summed in summed {
        match (summed.checksum)() {
            Some(checksum) => hash.add(checksum),
            None => hash.add(0),
        }
    }
    hash.finish()
}

impl Lent {
    pub(crate) fn of<W: Clone + Serialize + 'static>() -> Self {
        Lent {
            summed: Summed::of::<W>(),
            copy: || {
                let copy = |world: &W| -> Box<dyn Any> { Box::new(world.clone()) };
                borrow(copy).ok()
            },
            put_back: |copy| {
                if let Some(copy) = copy.downcast_ref::<W>() {
                    unrecorded(|| framestep::with(|world: &mut W| world.clone_from(copy)));
                }
            },
            read_back: None,
        }
    }

    /// The same for a state that is also written and read back.
    pub(crate) fn through_bytes<W>() -> Self
    where
        W: Clone + Serialize + DeserializeOwned + 'static,
    {
        Lent {
            read_back: Some(|| borrow_mut(read_back::<W>).unwrap_or(Ok(()))),
            ..Lent::of::<W>()
        }
    }
}

/// Replaces a world by what is read of its bytes.
fn read_back<W: Serialize + DeserializeOwned>(world: &mut W) -> Result<(), String> {
    let refused = |what: &str, why: &dyn fmt::Display| {
        let name = type_name::<W>();
        format!("a world of type `{name}` cannot be {what}: {why}")
    };
    let written = postcard::to_stdvec(world).map_err(|why| refused("written", &why))?;
    let read: W = postcard::from_bytes(&written).map_err(|why| refused("read back", &why))?;
    let again = postcard::to_stdvec(&read).map_err(|why| refused("written again", &why))?;
    if again != written {
        let name = type_name::<W>();
        let trees = (Tree::of(world), Tree::of(&read));
        let differs = match &trees {
            (Ok(before), Ok(after)) => before.difference(after),
            _ => None,
        };
        let differs = differs.unwrap_or_else(|| "it has other bytes".to_owned());
        return Err(format!(
            "a world of type `{name}` is another one after it was written and read back: {differs}. A \
             `HashMap` or a `HashSet` has another order in each process: use a `BTreeMap` or an \
             `IndexMap`. Else its `Serialize` and its `Deserialize` do not fit"
        ));
    }
    *world = read;
    Ok(())
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summed.fmt(f)
    }
}

pub(crate) fn checksums(lent: &[Lent]) -> Vec<Option<u64>> {
    lent.iter().map(|lent| (lent.summed.checksum)()).collect()
}

/// What scripts do, in order: kept only to find a difference.
#[derive(Default)]
pub(crate) struct Trail {
    /// Whether any of it is kept.
    is_kept: Cell<bool>,
    /// Whether the events of a run are.
    keeps_events: Cell<bool>,
    lent: RefCell<Vec<Lent>>,
    events: RefCell<Vec<Event>>,
    /// The states that are hashed around each effect. Empty if none are.
    hashed: RefCell<Vec<Summed>>,
    hashing: RefCell<Hashing>,
}

/// A script records an entry, or is about to do the effect of one.
#[derive(PartialEq)]
pub(crate) struct Event {
    pub(crate) script: ScriptId,
    /// The name of the script, which may have ended when something is said about it.
    pub(crate) name: &'static str,
    /// The number of the entry, from 1.
    pub(crate) entry: u32,
    pub(crate) kind: Kind,
    pub(crate) site: SiteId,
    /// `None` before an effect.
    pub(crate) value: Option<Bytes>,
    /// The checksums of the lent states.
    worlds: Vec<Option<u64>>,
}

impl Trail {
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.get()
    }

    /// Hashes these states before and after each effect from now on.
    pub(crate) fn hash_effects(&self, summed: Vec<Summed>) {
        self.is_kept.set(!summed.is_empty());
        self.hashed.replace(summed);
    }

    /// The latest effects, if they are hashed.
    pub(crate) fn effects(&self) -> Effects {
        self.hashing.borrow().effects()
    }

    /// Goes back to the effects of a save state.
    pub(crate) fn replace_effects(&self, effects: &Effects) {
        if !self.hashed.borrow().is_empty() {
            self.hashing.borrow_mut().replace(effects.clone());
        }
    }

    /// Notes an entry, or, without a value, that its effect is about to be done.
    #[cold]
    pub(crate) fn note(
        &self,
        script: NamedScript,
        sites: &SiteTable,
        entry: u32,
        kind: Kind,
        site: SiteId,
        value: Option<&[u8]>,
    ) {
        if matches!(kind, Kind::Effect | Kind::Panicked) {
            self.hash(script, sites, entry, kind, site, value.is_none());
        }
        if !self.keeps_events.get() {
            return;
        }
        let worlds = checksums(&self.lent.borrow());
        self.events.borrow_mut().push(Event {
            script: script.id,
            name: script.name,
            entry,
            kind,
            site,
            value: value.map(Bytes::new),
            worlds,
        });
    }

    /// Hashes the lent states before or after an effect.
    fn hash(
        &self,
        script: NamedScript,
        sites: &SiteTable,
        entry: u32,
        kind: Kind,
        site: SiteId,
        begins: bool,
    ) {
        // The `Serialize` of the host is called, so nothing is borrowed.
        let summed = self.hashed.borrow().clone();
        if summed.is_empty() {
            return;
        }
        let hash = hash_of(&summed);
        let mut hashing = self.hashing.borrow_mut();
        if begins {
            hashing.begin(script.id, entry, hash);
        } else {
            hashing.end(script, &sites.sites(), entry, kind, site, hash);
        }
    }

    /// What is done in a run.
    pub(crate) fn of(&self, lent: &[Lent], run: &mut dyn FnMut()) -> Vec<Event> {
        /// A run may panic.
        struct Kept<'a>(&'a Trail);
        impl Drop for Kept<'_> {
            fn drop(&mut self) {
                self.0.keeps_events.set(false);
                let is_kept = !self.0.hashed.borrow().is_empty();
                self.0.is_kept.set(is_kept);
            }
        }
        self.lent.replace(lent.to_vec());
        self.events.take();
        self.keeps_events.set(true);
        self.is_kept.set(true);
        let kept = Kept(self);
        run();
        drop(kept);
        self.events.take()
    }
}

impl Event {
    /// The script, the entry and the call.
    pub(crate) fn text(&self, sites: &Sites) -> String {
        let (script, name, entry) = (self.script, self.name, self.entry);
        let text = said_at(self.kind, self.site, sites);
        format!("script `{name}` ({script}), entry {entry}: {text}")
    }
}
