//! What a runtime and its scripts share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::panic::Location;
use std::rc::Rc;

use framestep::durable::Door;
use framestep::task::CoroutineId;
use framestep::time::Clock;
use framestep::{Coroutine, Handle, Owner, Phase};

use crate::bytes::Bytes;
use crate::cell::{Birth, ScriptCell, ScriptId};
use crate::driver::Driver;
use crate::events::Events;
use crate::guard::Guard;
use crate::hand_over;
use crate::handle::{JoinError, Place};
use crate::long::LongChapters;
use crate::loss::Losses;
use crate::owner::{ClockId, OwnerId};
use crate::questions::Questions;
use crate::registry::Registry;
use crate::resimulated::Reached;
use crate::save::Numbers;
use crate::script::{Begun, Code};
use crate::site::SiteTable;
use crate::stop::StopRequest;
use crate::sync::Trail;

/// The state of a runtime beside its executor.
pub(crate) struct Shared {
    pub(crate) door: Door,
    pub(crate) executor: Handle,
    /// The scripts by name: those of the latest reload.
    pub(crate) registry: RefCell<Rc<Registry>>,
    /// How often the registry has been exchanged.
    pub(crate) generation: Cell<u32>,
    /// The scripts that are alive, in the order in which they were made.
    pub(crate) scripts: RefCell<BTreeMap<ScriptId, Rc<ScriptCell>>>,
    /// The results of scripts that have ended, as long as there are handles or there may be.
    pub(crate) ended: RefCell<BTreeMap<ScriptId, Ended>>,
    /// The scripts that have been requested to stop.
    pub(crate) asked: RefCell<BTreeSet<ScriptId>>,
    /// The requests to stop with a time that are not over.
    pub(crate) stops: RefCell<BTreeMap<ScriptId, StopRequest>>,
    /// Where these were made, for reports.
    pub(crate) stop_places: RefCell<HashMap<ScriptId, &'static Location<'static>>>,
    /// Where `stop_within` was called, while that stops scripts.
    pub(crate) stop_line: RefCell<Option<String>>,
    /// How many scripts have ended.
    pub(crate) ends: Cell<u64>,
    /// Where the scripts that have panicked last were.
    panicked: RefCell<VecDeque<(CoroutineId, String)>>,
    /// How many handles of each script there are.
    handles: RefCell<HashMap<Handled, usize>>,
    /// Whether the host can still ask for handles that it had at the save: after a restore,
    /// before the next run.
    pub(crate) may_claim: Cell<bool>,
    /// How often there has been a restore or a rollback.
    pub(crate) restores: Cell<u32>,
    pub(crate) next_script: Cell<u64>,
    pub(crate) next_request: Cell<u64>,
    pub(crate) next_owner: Cell<u64>,
    pub(crate) owners: RefCell<BTreeMap<OwnerId, OwnerEntry>>,
    pub(crate) clocks: RefCell<Vec<ClockEntry>>,
    pub(crate) events: Events,
    /// The guards of clocks that scripts have taken, by number.
    pub(crate) guards: RefCell<BTreeMap<u64, Guard>>,
    pub(crate) next_guard: Cell<u64>,
    /// The sites that journals name.
    pub(crate) sites: SiteTable,
    /// Whether all scripts are being dropped because the runtime is restored. What their
    /// destructors start through the host does not begin.
    pub(crate) is_cleared: Cell<bool>,
    pub(crate) questions: Questions,
    pub(crate) long_chapters: LongChapters,
    /// The most events that a subscription stores, unless its signal says otherwise.
    pub(crate) event_limit: u64,
    pub(crate) losses: Losses,
    /// The names of the types that the host has lent.
    pub(crate) lent: RefCell<Vec<&'static str>>,
    pub(crate) trail: Trail,
    pub(crate) reached: Reached,
    /// How often a restore has invalidated all handles.
    pub(crate) epoch: Cell<u32>,
    /// Memory for a value that is being written: empty.
    scratch: Cell<Vec<u8>>,
    /// Memory for the numbers of a checksum.
    pub(crate) numbers: Cell<Numbers>,
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
            events: 1_024,
        }
    }
}

/// Of how many scripts it is known where they have panicked.
const PANICS: usize = 16;

/// Whose handles are counted together. A restore begins another epoch, in which the earlier handles
/// are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handled {
    pub(crate) epoch: u32,
    pub(crate) id: ScriptId,
    /// `None` of handles that replays have made, whose scripts come back with the one that is
    /// replayed.
    pub(crate) birth: Option<Birth>,
}

/// A script that has ended.
pub(crate) struct Ended {
    pub(crate) birth: Birth,
    pub(crate) result: Result<Bytes, JoinError>,
    /// A number that is larger than that of each script that has ended before. 0 of a request to
    /// stop.
    pub(crate) order: u64,
    /// Its coroutine, which keeps its panic until it is joined.
    pub(crate) coroutine: Option<Coroutine<()>>,
}

pub(crate) struct OwnerEntry {
    /// Shared with the calls that stop its scripts: their destructors may use all owners.
    pub(crate) owner: Rc<Owner>,
    pub(crate) parent: Option<OwnerId>,
    pub(crate) clock: Option<ClockId>,
    pub(crate) name: Option<String>,
    /// Whether a call of `pause` is in effect.
    pub(crate) is_paused: bool,
    /// Whether it is active, apart from the owners above it.
    pub(crate) is_active: bool,
    /// Whether a script of it, or of an owner below it, has read the latest request to stop.
    pub(crate) is_heard: bool,
}

pub(crate) struct ClockEntry {
    pub(crate) clock: Clock,
    pub(crate) parent: ClockId,
}

/// An owner and those below it.
pub(crate) fn with_those_below(
    owners: &BTreeMap<OwnerId, OwnerEntry>,
    top: OwnerId,
) -> BTreeSet<OwnerId> {
    let mut below = BTreeSet::from([top]);
    // An owner is made after the one above it.
    for (&id, entry) in owners.range(top..) {
        if entry.parent.is_some_and(|parent| below.contains(&parent)) {
            below.insert(id);
        }
    }
    below
}

/// How a script is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Making {
    pub(crate) owner: Option<OwnerId>,
    pub(crate) home: Option<Phase>,
    /// Whether it is polled at once.
    pub(crate) starts: bool,
}

impl Shared {
    pub(crate) fn new(
        door: Door,
        executor: Handle,
        registry: Registry,
        limits: Limits,
    ) -> Rc<Self> {
        Rc::new(Shared {
            door,
            executor,
            registry: RefCell::new(Rc::new(registry)),
            generation: Cell::new(0),
            scripts: RefCell::default(),
            ended: RefCell::default(),
            ends: Cell::new(0),
            panicked: RefCell::default(),
            asked: RefCell::default(),
            stops: RefCell::default(),
            stop_places: RefCell::default(),
            stop_line: RefCell::default(),
            handles: RefCell::default(),
            may_claim: Cell::new(false),
            restores: Cell::new(0),
            next_script: Cell::new(1),
            next_request: Cell::new(1),
            next_owner: Cell::new(1),
            owners: RefCell::default(),
            clocks: RefCell::default(),
            events: Events::default(),
            guards: RefCell::default(),
            next_guard: Cell::new(1),
            sites: SiteTable::default(),
            is_cleared: Cell::new(false),
            questions: Questions::default(),
            long_chapters: LongChapters::new(limits.entries),
            event_limit: limits.events,
            losses: Losses::default(),
            lent: RefCell::default(),
            trail: Trail::default(),
            reached: Reached::default(),
            epoch: Cell::new(0),
            scratch: Cell::default(),
            numbers: Cell::default(),
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

    /// The first chapter of a script, which `chapter` makes.
    ///
    /// # Panics
    ///
    /// If the script is not in the registry, or does not serialise.
    #[track_caller]
    pub(crate) fn begin(self: &Rc<Self>, code: Code, chapter: &mut dyn FnMut() -> Begun) -> Begun {
        if self.generation.get() > 0 {
            return hand_over::for_new(self, || self.begin_by_name(code, chapter()));
        }
        self.registry().expect(code.name);
        hand_over::for_new(self, chapter)
    }

    /// Makes a script from its first chapter. `by` is the script that makes it, if there is one.
    #[track_caller]
    pub(crate) fn make(
        self: &Rc<Self>,
        code: Code,
        begun: Begun,
        making: Making,
        birth: Birth,
        by: Option<&Rc<ScriptCell>>,
    ) -> ScriptId {
        let id = ScriptId(self.next_script.get());
        self.next_script.set(id.0 + 1);
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
        self.carry(id, &begun.carried);
        self.inherit_request(&cell, by);
        self.adopt(&Rc::new(cell), making, by.is_some());
        id
    }

    /// Adds a new script to the executor.
    #[track_caller]
    fn adopt(self: &Rc<Self>, cell: &Rc<ScriptCell>, making: Making, is_by_script: bool) {
        let id = cell.id;
        self.scripts.borrow_mut().insert(id, Rc::clone(cell));
        let driver = Driver::new(Rc::clone(cell));
        let owners = self.owners.borrow();
        let owner = cell
            .owner
            .map(|owner| owners.get(&owner).map(|entry| entry.owner.handle()));
        drop(owners);
        let name = cell.name();
        let coroutine = match owner {
            // Its owner has been dropped, and refuses it.
            Some(None) => {
                drop(driver);
                return;
            }
            _ if self.is_cleared.get() => {
                drop(driver);
                return;
            }
            Some(Some(owner)) => match (making.starts, is_by_script, making.home) {
                (true, ..) => owner.script(name).in_phase(cell.home).start(driver),
                (false, _, Some(home)) => owner.script(name).in_phase(home).spawn(driver),
                // It inherits its home, and begins in the run under way.
                (false, ..) => owner.script(name).spawn(driver),
            },
            None if is_by_script => match (making.starts, making.home) {
                (true, None) => framestep::task::script(name).start(driver),
                (true, Some(home)) => framestep::task::script(name).in_phase(home).start(driver),
                (false, None) => framestep::task::script(name).spawn(driver),
                (false, Some(home)) => framestep::task::script(name).in_phase(home).spawn(driver),
            },
            None => match (making.starts, making.home) {
                (true, None) => self.executor.script(name).start(driver),
                (true, Some(home)) => self.executor.script(name).in_phase(home).start(driver),
                (false, None) => self.executor.script(name).spawn(driver),
                (false, Some(home)) => self.executor.script(name).in_phase(home).spawn(driver),
            },
        };
        if self.scripts.borrow().contains_key(&id) {
            cell.set_coroutine(coroutine);
        } else if let Some(ended) = self.ended.borrow_mut().get_mut(&id) {
            ended.coroutine = Some(coroutine);
        }
    }

    /// An empty buffer, for a value that is written or read. User code may take another one.
    #[inline]
    pub(crate) fn take_scratch(&self) -> Vec<u8> {
        self.scratch.take()
    }

    /// Keeps the memory of a buffer for the next value.
    #[inline]
    pub(crate) fn put_scratch(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.scratch.set(buffer);
    }

    pub(crate) fn script(&self, id: ScriptId) -> Option<Rc<ScriptCell>> {
        self.scripts.borrow().get(&id).cloned()
    }

    /// Whether this is the script that the runtime has, and not one from before a restore.
    pub(crate) fn is_known(&self, cell: &Rc<ScriptCell>) -> bool {
        let scripts = self.scripts.borrow();
        let known = scripts.get(&cell.id);
        known.is_some_and(|known| Rc::ptr_eq(known, cell))
    }

    /// Records how a script has ended.
    pub(crate) fn end(&self, cell: &ScriptCell, result: Result<Bytes, JoinError>) {
        if self.scripts.borrow_mut().remove(&cell.id).is_none() {
            return;
        }
        self.asked.borrow_mut().remove(&cell.id);
        // The executor checks for a handle only after this.
        let coroutine = cell.coroutine.take();
        cell.drop_waits();
        self.drop_all_of(cell.id);
        // Of each script, whatever handles the host has: equal runs have equal saves.
        self.ends.set(self.ends.get() + 1);
        let ended = Ended {
            birth: cell.birth.get(),
            result,
            order: self.ends.get(),
            coroutine,
        };
        self.ended.borrow_mut().insert(cell.id, ended);
        if !self.is_held(cell.id, cell.birth.get()) {
            let unneeded = self.ended.borrow_mut().remove(&cell.id);
            drop(unneeded);
        }
    }

    /// Notes where a script is that has panicked.
    #[cold]
    pub(crate) fn note_panic(&self, cell: &ScriptCell) {
        let site = cell.chapter().journal.last_site();
        if let (Some(id), Some(site)) = (cell.coroutine_id(), site) {
            let mut panicked = self.panicked.borrow_mut();
            if panicked.len() == PANICS {
                panicked.pop_front();
            }
            panicked.push_back((id, self.sites.sites().place(site)));
        }
    }

    /// Where a script was that has panicked.
    pub(crate) fn panicked_after(&self, id: CoroutineId) -> Option<String> {
        let panicked = self.panicked.borrow();
        let found = panicked.iter().rev().find(|(of, _)| *of == id);
        found.map(|(_, place)| place.clone())
    }

    /// The result of a script that has ended. If it has panicked, the panic counts as joined.
    pub(crate) fn join(&self, id: ScriptId) -> Option<Result<Bytes, JoinError>> {
        self.settle_stops();
        let (result, coroutine) = {
            let mut ended = self.ended.borrow_mut();
            let ended = ended.get_mut(&id)?;
            (ended.result.clone(), ended.coroutine.take())
        };
        if let Some(coroutine) = coroutine {
            // The destructor of the payload may use the runtime.
            drop(coroutine.take_output());
        }
        Some(result)
    }

    /// The place of a script among those that have ended. `None` if it has not.
    pub(crate) fn end_order(&self, id: ScriptId) -> Option<u64> {
        let order = self.ended.borrow().get(&id).map(|ended| ended.order);
        order.or_else(|| self.script(id).is_none().then_some(0))
    }

    /// Whether there are handles of a script.
    pub(crate) fn is_held(&self, id: ScriptId, birth: Birth) -> bool {
        let epoch = self.epoch.get();
        let handles = self.handles.borrow();
        let has = |birth| handles.contains_key(&Handled { epoch, id, birth });
        has(Some(birth)) || has(None)
    }

    /// Which script has a number, if it is alive or its result is kept; or which request to stop.
    pub(crate) fn birth(&self, id: ScriptId) -> Option<Birth> {
        if let Some(cell) = self.scripts.borrow().get(&id) {
            return Some(cell.birth.get());
        }
        if let Some(request) = self.stops.borrow().get(&id) {
            return Some(request.birth);
        }
        self.ended.borrow().get(&id).map(|ended| ended.birth)
    }

    /// Whether handles are of today's script of their number, and not of one that a restore or a
    /// rollback has taken back.
    pub(crate) fn is_valid(&self, of: Handled) -> bool {
        let is_it = |birth| self.birth(of.id) == Some(birth);
        of.epoch == self.epoch.get() && of.birth.is_none_or(is_it)
    }

    /// Counts a handle.
    pub(crate) fn add_handle(&self, of: Handled) {
        *self.handles.borrow_mut().entry(of).or_default() += 1;
    }

    /// Uncounts a handle. If it `counts`, then without handles, a script is detached, and its
    /// result is dropped.
    pub(crate) fn drop_handle(&self, of: Handled, counts: bool) {
        let mut handles = self.handles.borrow_mut();
        let Some(count) = handles.get_mut(&of) else {
            return;
        };
        *count -= 1;
        if *count > 0 {
            return;
        }
        handles.remove(&of);
        drop(handles);
        if counts && self.is_valid(of) {
            let birth = self.birth(of.id);
            if birth.is_some_and(|birth| !self.is_held(of.id, birth)) {
                self.detach(of.id);
            }
        }
    }

    fn detach(&self, id: ScriptId) {
        let ended = self.ended.borrow_mut().remove(&id);
        drop(ended);
        let coroutine = self.script(id).and_then(|cell| cell.coroutine.take());
        drop(coroutine);
    }

    /// Notes that a run begins: detaches the scripts whose handles the host has not asked for
    /// since the restore.
    ///
    /// # Panics
    ///
    /// As the run, before anything changes.
    #[track_caller]
    pub(crate) fn begin_run(&self, call: &str) {
        if !self.may_claim.get() {
            return;
        }
        self.door.assert_idle(call);
        self.may_claim.set(false);
        // A payload of a panic that is dropped may use the runtime.
        let unclaimed = {
            let mut ended = self.ended.borrow_mut();
            let (held, unclaimed) = std::mem::take(&mut *ended)
                .into_iter()
                .partition::<BTreeMap<_, _>, _>(|(id, ended)| self.is_held(*id, ended.birth));
            *ended = held;
            unclaimed
        };
        drop(unclaimed);
        let scripts: Vec<_> = self.scripts.borrow().values().cloned().collect();
        let is_held = |cell: &ScriptCell| self.is_held(cell.id, cell.birth.get());
        for cell in scripts.into_iter().filter(|cell| !is_held(cell)) {
            let coroutine = cell.coroutine.take();
            drop(coroutine);
        }
    }

    /// Wakes scripts, in order. The caller must have changed everything that they wait for:
    /// this may call the host's waker, which may take a save state.
    pub(crate) fn wake_all(&self, ids: impl IntoIterator<Item = ScriptId>) {
        let coroutine = |id| self.script(id).and_then(|cell| cell.coroutine_id());
        let coroutines: Vec<_> = ids.into_iter().filter_map(coroutine).collect();
        self.door.wake_all(&coroutines);
    }

    /// A clock by its number.
    pub(crate) fn clock(&self, id: ClockId) -> Option<Clock> {
        match id {
            ClockId::GAME => self.executor.clock(),
            ClockId::REALTIME => self.executor.realtime(),
            ClockId(number) => {
                let clocks = self.clocks.borrow();
                let at = (number - ClockId::FIRST) as usize;
                clocks.get(at).map(|entry| entry.clock.clone())
            }
        }
    }
}

impl Shared {
    /// A clock by its number.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub(crate) fn expect_clock(&self, id: ClockId) -> Clock {
        match self.clock(id) {
            Some(clock) => clock,
            None => panic!("the runtime has no clock {id:?}: it was made by another runtime"),
        }
    }

    /// Pauses or resumes an owner. Returns whether that changes anything.
    pub(crate) fn pause_owner(&self, id: OwnerId, paused: bool) -> bool {
        let handle = {
            let mut owners = self.owners.borrow_mut();
            let Some(entry) = owners.get_mut(&id) else {
                return false;
            };
            entry.is_paused = paused;
            entry.owner.handle()
        };
        if paused {
            handle.pause()
        } else {
            handle.resume()
        }
    }

    /// Stops the scripts of an owner. The call is at `place`.
    pub(crate) fn stop_all(&self, id: OwnerId, place: Place) {
        if let Some(owner) = self.owner(id) {
            self.door.stop_all(&owner, place);
        }
    }

    /// Activates an owner, or deactivates it and stops its scripts. The call is at `place`.
    pub(crate) fn set_owner_active(&self, id: OwnerId, active: bool, place: Place) {
        if let Some(entry) = self.owners.borrow_mut().get_mut(&id) {
            entry.is_active = active;
        }
        if let Some(owner) = self.owner(id) {
            self.door.set_active(&owner, active, place);
        }
    }

    /// Drops an owner and those below it. The call is at `place`. Returns `false` if there is no such
    /// owner.
    pub(crate) fn drop_owner(&self, id: OwnerId, place: Place) -> bool {
        let Some(owner) = self.owner(id) else {
            return false;
        };
        // It accepts no more scripts, and is there until the last one has ended: hooks and
        // destructors may take a save state, or make an owner below it.
        self.door.set_active(&owner, false, place);
        let dropped = {
            let mut owners = self.owners.borrow_mut();
            let below = with_those_below(&owners, id);
            // The last one first: then none of them has owners below it.
            let dropped = below.iter().rev().filter_map(|id| owners.remove(id));
            dropped.collect::<Vec<_>>()
        };
        drop(dropped);
        true
    }

    pub(crate) fn owner(&self, id: OwnerId) -> Option<Rc<Owner>> {
        let owners = self.owners.borrow();
        owners.get(&id).map(|entry| Rc::clone(&entry.owner))
    }
}
