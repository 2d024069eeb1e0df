//! Making scripts.

use std::panic::Location;
use std::rc::Rc;

use framestep::durable::unrecorded;
use framestep::{Owner, Phase};

use crate::bytes::Content;
use crate::events::carried::as_known;
use crate::ids::{Birth, ClockId, OwnerId, ScriptId};
use crate::script::{Begun, Code, Driver, OwnerEntry, ScriptCell, Shared, context, hand_over};

/// How a script is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making {
    pub(crate) owner: Option<OwnerId>,
    pub(crate) home: Option<Phase>,
    /// Whether it is polled at once.
    pub(crate) starts: bool,
}

impl Making {
    /// Of a script that is polled at once.
    pub(crate) const STARTS: Making = Making {
        starts: true,
        ..Making::SPAWNS
    };
    /// Of one that the next run polls.
    pub(crate) const SPAWNS: Making = Making {
        owner: None,
        home: None,
        starts: false,
    };

    pub(crate) fn on(mut self, owner: OwnerId) -> Self {
        self.owner = Some(owner);
        self
    }

    pub(crate) fn in_phase(mut self, home: Phase) -> Self {
        self.home = Some(home);
        self
    }
}

impl Shared {
    /// The first chapter of a script, which `chapter` makes.
    ///
    /// # Panics
    ///
    /// If the script is not in the registry, or does not serialise.
    #[track_caller]
    pub(crate) fn begin(self: &Rc<Self>, code: Code, chapter: &mut dyn FnMut() -> Begun) -> Begun {
        if self.generation.get() > 0 {
            return hand_over::for_new(&self.events, || self.begin_by_name(code, chapter()));
        }
        self.registry().expect(code.name);
        hand_over::for_new(&self.events, chapter)
    }

    /// Makes a script with a new number from its first chapter. `by` is the script that makes it, if there is one.
    #[track_caller]
    pub(crate) fn make(
        self: &Rc<Self>,
        (id, birth): (ScriptId, Birth),
        code: Code,
        begun: Begun,
        making: Making,
        by: Option<&Rc<ScriptCell>>,
    ) {
        let inherited = by.and_then(|by| by.owner);
        let owner = making.owner.or(inherited);
        let home = making.home.or(by.map(|by| by.home));
        let cell = ScriptCell::new(
            self,
            id,
            self.code_by_name(code),
            home.unwrap_or(Phase::Update),
            owner,
            begun.state,
            begun.future,
        );
        if let Some(by) = by {
            cell.change().history = by.history();
        }
        cell.birth.set(birth);
        self.events.carry(id, &begun.carried);
        self.inherit_request(&cell, by);
        self.adopt(&cell, making, by.is_some());
    }

    /// Adds a new script to the executor.
    #[track_caller]
    fn adopt(self: &Rc<Self>, cell: &Rc<ScriptCell>, making: Making, is_by_script: bool) {
        let id = cell.id;
        self.scripts.alive.borrow_mut().insert(id, Rc::clone(cell));
        let driver = Driver::new(Rc::clone(cell));
        let owners = self.owners.all.borrow();
        let owner = cell
            .owner
            .map(|owner| owners.get(&owner).map(|entry| entry.owner.handle()));
        drop(owners);
        let name = cell.name();
        // An owner that has been dropped refuses it, and one of another runtime is not known here.
        let is_refused = matches!(owner, Some(None));
        if is_refused || self.events.is_cleared() {
            if is_refused {
                self.door.report_refused(name, Location::caller());
            }
            drop(driver);
            return;
        }
        let owner = owner.flatten();
        let home = match making.home {
            None if making.starts && owner.is_some() => Some(cell.home),
            // One that is spawned inherits its home, and begins in the run under way.
            home => home,
        };
        let mut script = match owner {
            Some(owner) => owner.script(name),
            // Recorded by the caller.
            None if is_by_script => unrecorded(|| framestep::task::script(name)),
            None => self.executor.script(name),
        };
        if let Some(home) = home {
            script = script.in_phase(home);
        }
        let coroutine = if making.starts {
            script.start(driver)
        } else {
            script.spawn(driver)
        };
        if self.scripts.alive.borrow().contains_key(&id) {
            cell.set_coroutine(coroutine);
        } else if let Some(ended) = self.ends.results.borrow_mut().get_mut(&id) {
            ended.coroutine = Some(coroutine);
        }
    }

    /// Makes an owner for the executor. `None` if there is no such parent or clock.
    pub(crate) fn make_owner(
        &self,
        parent: Option<OwnerId>,
        clock: Option<ClockId>,
    ) -> Option<Owner> {
        let clock = match clock {
            Some(clock) => Some(self.clocks.get(clock)?),
            None => None,
        };
        self.owners.make(parent, clock)
    }

    /// Makes an owner, and adds it. `None` if there is no such parent or clock.
    pub(crate) fn add_owner(
        &self,
        parent: Option<OwnerId>,
        clock: Option<ClockId>,
    ) -> Option<OwnerId> {
        let owner = self.make_owner(parent, clock)?;
        let id = self.owners.next_id();
        // Scripts of a child count on the clock of the parent.
        let entry = OwnerEntry {
            owner: Rc::new(owner),
            parent,
            clock,
            name: None,
            is_paused: false,
            is_active: true,
            is_heard: false,
        };
        self.owners.all.borrow_mut().insert(id, entry);
        Some(id)
    }

    /// The code of a script by its name, if the registry has it: the caller may be code of an
    /// earlier generation.
    pub(crate) fn code_by_name(&self, caller: Code) -> Code {
        if self.generation.get() == 0 {
            return caller;
        }
        let known = self.registry().find(caller.name);
        known.map_or(caller, |known| known.code)
    }

    /// Begins a script in the code of the registry, whose state the caller has made.
    pub(crate) fn begin_by_name(&self, caller: Code, begun: Begun) -> Begun {
        let Begun { state, carried, .. } = begun;
        let known = self.registry().find(caller.name);
        let begun = known
            .as_ref()
            .and_then(|known| known.begin_again(caller.version, &Content::Compact(state.clone())));
        if let Some(begun) = begun {
            let carried = as_known(begun.carried, &carried);
            return Begun { carried, ..begun };
        }
        let name = caller.name;
        // Which code starts it is not known: that of before, or the latest one.
        let why = match known {
            None => format!(
                "the script `{name}` is not in the registry of the latest code: add it with \
                 `Registry::script`. If the latest code does not have it any more, build and start the game \
                 again"
            ),
            Some(_) => format!(
                "the script `{name}` was started by code from before the latest reload, and its \
                 parameters are others in the latest code: build and start the game again"
            ),
        };
        Begun {
            state,
            future: Box::pin(async move { panic!("{why}") }),
            carried: Vec::new(),
        }
    }

    /// Asks a new script to stop if the one that makes it was asked, and is on the same owner or
    /// above it.
    pub(crate) fn inherit_request(&self, new: &ScriptCell, by: Option<&Rc<ScriptCell>>) {
        if self.stops.asked.borrow().is_empty() {
            return;
        }
        let Some(by) = by.cloned().or_else(context::current) else {
            return;
        };
        let is_within = match (new.owner, by.owner) {
            (Some(new), Some(by)) => self.owners.is_within(new, by),
            (new, by) => new == by,
        };
        let is_of_this = std::ptr::eq(&raw const **by.shared(), self);
        if is_of_this && is_within && self.stops.is_asked(by.id) {
            self.stops.asked.borrow_mut().insert(new.id);
        }
    }
}
