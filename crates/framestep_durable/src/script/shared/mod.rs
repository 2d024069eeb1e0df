//! What a runtime and its scripts share: the parts, and nothing that is done with several of them.

pub(crate) mod clocks;
pub(crate) mod effects;
pub(crate) mod ends;
pub(crate) mod guards;
pub(crate) mod handles;
pub(crate) mod owners;
pub(crate) mod reached;
pub(crate) mod scratch;
pub(crate) mod scripts;
pub(crate) mod stops;
pub(crate) mod trail;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use framestep::Handle;
use framestep::durable::Door;

use crate::events::{DEFAULT_LIMIT, Events, Losses, Questions};
use crate::journal::SiteTable;
use crate::journal::long::LongChapters;
use crate::script::shared::ends::Ends;
use crate::script::shared::handles::Handles;
use crate::script::shared::reached::Reached;
use crate::script::shared::scratch::Scratch;
use crate::script::shared::scripts::Scripts;
use crate::script::shared::stops::Stops;
use crate::script::shared::trail::Trail;
use crate::script::{Clocks, Guards, Owners, Registry};

/// The state of a runtime beside its executor.
pub(crate) struct Shared {
    pub(crate) door: Door,
    pub(crate) executor: Handle,
    /// The scripts by name: those of the latest reload.
    pub(crate) registry: RefCell<Rc<Registry>>,
    /// How often the registry has been exchanged.
    pub(crate) generation: Cell<u32>,
    pub(crate) scripts: Rc<Scripts>,
    pub(crate) ends: Ends,
    pub(crate) handles: Handles,
    pub(crate) stops: Stops,
    pub(crate) owners: Owners,
    pub(crate) clocks: Clocks,
    pub(crate) guards: Guards,
    pub(crate) events: Rc<Events>,
    pub(crate) questions: Questions,
    /// The sites that journals name.
    pub(crate) sites: SiteTable,
    pub(crate) long_chapters: LongChapters,
    pub(crate) losses: Rc<Losses>,
    /// The names of the types that the host has lent.
    pub(crate) lent: RefCell<Vec<&'static str>>,
    pub(crate) trail: Trail,
    pub(crate) reached: Reached,
    pub(crate) scratch: Scratch,
}

/// The limits of a runtime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The most entries of a chapter.
    pub(crate) entries: u32,
    /// The most events that a subscription stores, unless its signal says otherwise.
    pub(crate) events: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            entries: u32::MAX,
            events: DEFAULT_LIMIT,
        }
    }
}

impl Shared {
    /// The runtime is being dropped: its hooks hear nothing more.
    pub(crate) fn close_hooks(&self) {
        self.losses.hook.close();
        self.long_chapters.hook.close();
    }

    /// # Panics
    ///
    /// If the runtime has been dropped.
    #[track_caller]
    pub(crate) fn expect_alive(&self, call: &str) {
        assert!(
            self.executor.enter(|| ()).is_some(),
            "`{call}` was called on a handle of a runtime that has been dropped: drop the handle with the runtime"
        );
    }

    pub(crate) fn new(
        door: Door,
        executor: Handle,
        registry: Registry,
        limits: Limits,
    ) -> Rc<Self> {
        let scripts = Scripts::new(door.clone());
        let losses = Rc::new(Losses::new(door.clone()));
        Rc::new(Shared {
            registry: RefCell::new(Rc::new(registry)),
            generation: Cell::default(),
            ends: Ends::default(),
            handles: Handles::default(),
            stops: Stops::default(),
            owners: Owners::new(door.clone(), executor.clone()),
            clocks: Clocks::new(executor.clone()),
            guards: Guards::default(),
            events: Events::new(Rc::clone(&scripts) as _, Rc::clone(&losses), limits.events),
            questions: Questions::default(),
            sites: SiteTable::default(),
            long_chapters: LongChapters::new(limits.entries),
            lent: RefCell::default(),
            trail: Trail::default(),
            reached: Reached::new(door.clone(), executor.clone()),
            scratch: Scratch::default(),
            scripts,
            losses,
            door,
            executor,
        })
    }

    /// The scripts by name. They may be exchanged while user code uses them.
    pub(crate) fn registry(&self) -> Rc<Registry> {
        Rc::clone(&self.registry.borrow())
    }

    /// Notes the name of a type that the host lends.
    pub(crate) fn note_lent(&self, name: &'static str) {
        let mut lent = self.lent.borrow_mut();
        if !lent.iter().any(|known| std::ptr::eq(*known, name)) {
            lent.push(name);
        }
    }
}
