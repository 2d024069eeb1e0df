//! The scripts of a runtime that are alive.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use framestep::durable::Door;
use framestep::task::CoroutineId;

use crate::events::{Listed, ListedWait, Waiters};
use crate::ids::{Owned, ScriptId};
use crate::script::ScriptCell;

/// The scripts by number, in the order in which they were made.
pub(crate) struct Scripts {
    door: Door,
    pub(crate) alive: RefCell<BTreeMap<ScriptId, Rc<ScriptCell>>>,
    /// The number of the next one.
    pub(crate) next: Cell<u64>,
}

impl Scripts {
    pub(crate) fn new(door: Door) -> Rc<Self> {
        Rc::new(Scripts {
            door,
            alive: RefCell::default(),
            next: Cell::new(1),
        })
    }

    /// The number of a new script.
    pub(crate) fn next_id(&self) -> ScriptId {
        let id = ScriptId(self.next.get());
        self.next.set(id.0 + 1);
        id
    }

    pub(crate) fn get(&self, id: ScriptId) -> Option<Rc<ScriptCell>> {
        self.alive.borrow().get(&id).cloned()
    }

    /// Whether this is the script that the runtime has, and not one from before a restore.
    pub(crate) fn is_known(&self, cell: &Rc<ScriptCell>) -> bool {
        let scripts = self.alive.borrow();
        let known = scripts.get(&cell.id);
        known.is_some_and(|known| Rc::ptr_eq(known, cell))
    }

    /// The coroutines of the scripts.
    pub(crate) fn coroutine_ids(&self) -> Vec<CoroutineId> {
        let scripts = self.alive.borrow();
        let mut ids = Vec::with_capacity(scripts.len());
        ids.extend(scripts.values().filter_map(|cell| cell.coroutine_id()));
        ids
    }
}

impl Waiters for Scripts {
    fn with_wait(&self, listed: &Listed, f: &mut dyn FnMut(ListedWait<'_>)) -> bool {
        let Some(cell) = self.get(listed.script) else {
            return false;
        };
        let ticket = cell.chapter().waits.ticket(listed.wait);
        let is_it = ticket == Some(listed.ticket);
        if is_it {
            cell.with_slot(listed.wait, |slot| slot.listed_wait().map(f));
        }
        is_it
    }

    fn awaits_promise(&self, (script, number): Owned) -> bool {
        self.get(script)
            .is_some_and(|cell| cell.chapter().waits.is_for_promise(number))
    }

    fn name(&self, script: ScriptId) -> &'static str {
        self.get(script).map_or("", |cell| cell.name())
    }

    fn wake(&self, scripts: &mut dyn Iterator<Item = ScriptId>) {
        let coroutine = |id| self.get(id).and_then(|cell| cell.coroutine_id());
        let coroutines: Vec<_> = scripts.filter_map(coroutine).collect();
        self.door.wake_all(&coroutines);
    }
}
