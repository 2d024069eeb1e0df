//! Taking a save state: a look at the executor's lists and the scripts' slots.

pub(crate) mod described;
pub(crate) mod diff;
pub(crate) mod file;
pub(crate) mod image;
pub(crate) mod look;
pub(crate) mod send;

pub(crate) use self::file::stops_of;
pub(crate) use self::image::{OwnerImage, SaveState, SemaphoreImage, StopImage};

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use framestep::Owner;
use framestep::durable::{DurableWait, Unsavable, Writer};
use serde::Serialize;

use crate::bytes;
use crate::bytes::{Content, Topic};
use crate::events::Listed;
use crate::ids::{Owned, ScriptId};
use crate::journal::{Marks, NamedWait, said_at, waits};
use crate::places::Tables;
use crate::replay::{SaveError, SiteNumbers};
use crate::runtime::Runtime;
use crate::save::file::{Summed, World, checksum_of};
use crate::script::shared::scratch::Numbers;
use crate::script::{EndedImage, Pending, ScriptCell, Shared, Unrecorded};

/// Why a script cannot be saved in the chapter in which something that is not recorded has resumed it.
const RESUMED: &str = "it has gone on because of what is not recorded, such as a future of another crate, and a load could \
                       not tell when. It can be saved again in its next chapter. Let the host await that and `ask` for \
                       the result, or begin a chapter after it";

impl Shared {
    /// Takes a save state.
    pub(crate) fn save_state(&self) -> Result<SaveState, SaveError> {
        self.settle_stops();
        let guards = self.guards.save(&self.clocks);
        let mut numbers = Numbers::default();
        self.save_numbers(guards.len(), &mut numbers)?;
        let scripts = self.scripts.alive.borrow();
        Ok(SaveState {
            build: self.registry().build().to_owned(),
            settings: self.door.settings(),
            sites: self.sites.sites(),
            tables: Tables::default(),
            marks: Marks::default(),
            stored_marks: Marks::default(),
            clocks: numbers.clocks.into_numbers(),
            clock_parents: self.clocks.parents(),
            guards,
            owners: self.save_owners(),
            scripts: scripts.values().map(|cell| cell.image()).collect(),
            asked: self.save_asked(),
            stops: self.save_stops(),
            waits: numbers.waits.into_numbers(),
            lists: numbers.lists.into_numbers(),
            ended: self.save_ended(),
            ends: self.ends.count.get(),
            signals: self.save_signals(),
            streams: save_owned(&self.events.streams),
            values: self.save_values(),
            permits: self.save_permits(),
            promises: save_owned(&self.events.promises),
            next_script: self.scripts.next.get(),
            next_request: self.questions.next.get(),
            next_owner: self.owners.next.get(),
            next_guard: self.guards.next.get(),
            last_ticket: self.events.last_ticket.get(),
            runs: self.reached.runs_in_frame(),
            effects: self.trail.effects(),
            is_described: false,
            is_taken: true,
        })
    }

    /// The checksum of a save state taken now, with the game's own state.
    #[track_caller]
    pub(crate) fn checksum(&self, world: &World<'_>) -> Result<u64, SaveError> {
        self.settle_stops();
        let guards = self.guards.save(&self.clocks);
        let mut numbers = self.scratch.numbers.take();
        numbers.clear();
        let saved = self.save_numbers(guards.len(), &mut numbers);
        if let Err(error) = saved {
            self.scratch.numbers.set(numbers);
            return Err(error);
        }
        let sites = self.sites.sites();
        for cell in self.scripts.alive.borrow().values() {
            numbers.scripts.push(cell.image_hash(&sites));
        }
        let summed = Summed {
            settings: &self.door.settings(),
            guards: &guards,
            clock_parents: &self.clocks.parents(),
            owners: &self.save_owners(),
            asked: &self.save_asked(),
            stops: &stops_of(&self.save_stops()),
            ended: &self.save_ended(),
            signals: &self.save_signals(),
            streams: &save_owned(&self.events.streams),
            values: &self.save_values(),
            permits: &self.save_permits(),
            promises: &save_owned(&self.events.promises),
        };
        let next = [
            self.scripts.next.get(),
            self.questions.next.get(),
            self.owners.next.get(),
            self.guards.next.get(),
            self.events.last_ticket.get(),
        ];
        let [clocks, waits, lists] =
            [&numbers.clocks, &numbers.waits, &numbers.lists].map(Writer::numbers);
        let all = [&numbers.scripts[..], clocks, waits, lists, &next];
        // Nothing is borrowed: the world may use the runtime.
        let mut buffer = self.scratch.take();
        let checksum = checksum_of(all, &summed, world, &mut buffer);
        self.scratch.put(buffer);
        self.scratch.numbers.set(numbers);
        Ok(checksum)
    }

    /// The scripts that have been requested to stop.
    fn save_asked(&self) -> Vec<ScriptId> {
        self.stops.asked.borrow().iter().copied().collect()
    }

    /// The requests to stop with a time that are not over.
    fn save_stops(&self) -> Vec<StopImage> {
        let stops = self.stops.requests.borrow();
        let stops = stops.iter().map(|(&id, request)| StopImage {
            id,
            birth: request.birth,
            owner: request.owner,
            left: request.left,
            line: request.line.clone(),
        });
        stops.collect()
    }

    /// Writes the clocks, the waits and the lists of the executor. `guards` is how many guards are
    /// saved.
    fn save_numbers(&self, guards: usize, out: &mut Numbers) -> Result<(), SaveError> {
        let ids = self.scripts.coroutine_ids();
        let checked = self.door.check(&ids);
        let scripts = self.scripts.alive.borrow();
        let refused = |error| {
            let scripts: Vec<&Rc<ScriptCell>> = scripts.values().collect();
            self.refused(&scripts, error)
        };
        checked.map_err(refused)?;
        let mut unrecorded = scripts
            .values()
            .filter_map(|cell| self.depends_on_unrecorded(cell));
        if let Some(error) = unrecorded.next() {
            return Err(error);
        }
        let clocks = self.door.name_clocks(&self.clocks.all());
        // Those of the executor are nineteen.
        out.clocks.reserve(20);
        self.door.save_clocks(&clocks, guards, &mut out.clocks)?;
        let mut chapters = Vec::with_capacity(scripts.len());
        for cell in scripts.values() {
            cell.sort_waits();
            chapters.push(cell.chapter());
        }
        let mut waits: Vec<&DurableWait> = Vec::with_capacity(scripts.len());
        for chapter in &chapters {
            for pending in chapter.waits.as_sorted() {
                pending.slot.each_wait(|wait| waits.push(wait));
            }
        }
        // Enough for most waits: of eight numbers, and of up to four more that its kind has.
        out.waits.reserve(12 * waits.len());
        for wait in &waits {
            self.door.save_wait(wait, &clocks, &mut out.waits)?;
        }
        // A wait is in one list, with five numbers, and most scripts have four. A phase has eight.
        out.lists.reserve(64 + 5 * waits.len() + 4 * ids.len());
        let owners = self.owners.all.borrow();
        let all: Vec<&Owner> = owners.values().map(|entry| &*entry.owner).collect();
        let saved = self
            .door
            .save_lists(&ids, &waits, &all, &clocks, &mut out.lists);
        saved.map_err(refused)
    }

    /// Why the executor cannot be saved, with the script whose wait is the reason.
    fn refused(&self, scripts: &[&Rc<ScriptCell>], error: Unsavable) -> SaveError {
        let (Unsavable::ForeignWakers(Some(of)) | Unsavable::OtherWait(of)) = &error else {
            return error.into();
        };
        let script = scripts.iter().find(|cell| cell.coroutine_id() == Some(*of));
        match (script, &error) {
            (None, _) => error.into(),
            (Some(cell), Unsavable::OtherWait(_)) => self.not_recorded(cell, None),
            (Some(cell), _) => {
                let of = |wait: &Pending| NamedWait {
                    number: wait.number,
                    site: wait.site.id,
                };
                // Which of them has the other waker, no wait knows.
                let named: Vec<NamedWait> = cell.change().waits.sorted().iter().map(of).collect();
                let awaited = waits(&named, &self.sites.sites());
                SaveError::Executor(format!(
                    "the script `{}`, which awaits {awaited}: {error}",
                    cell.name()
                ))
            }
        }
    }

    /// Why a script cannot be saved that depends on what is not recorded.
    fn depends_on_unrecorded(&self, cell: &ScriptCell) -> Option<SaveError> {
        Some(match cell.unrecorded()? {
            Unrecorded::Awaited => self.not_recorded(cell, None),
            Unrecorded::Resumed(entries) => self.not_recorded(cell, Some(entries)),
        })
    }

    /// The error about what a script awaits, or what has resumed it after so many entries.
    fn not_recorded(&self, cell: &ScriptCell, resumed: Option<u32>) -> SaveError {
        let journal = cell.journal();
        let entries = resumed.unwrap_or_else(|| journal.entries());
        let last = entries.checked_sub(1).and_then(|last| journal.at(last));
        let coroutine = cell.coroutine_id();
        let why = match coroutine {
            Some(id) if resumed.is_none() => Unsavable::OtherWait(id).to_string(),
            _ => RESUMED.to_owned(),
        };
        SaveError::NotRecorded {
            script: cell.id,
            name: cell.name().to_owned(),
            after: last.map(|(kind, site)| said_at(kind, site, &self.sites.sites())),
            why,
            is_over: resumed.is_some(),
        }
    }

    fn save_owners(&self) -> Vec<OwnerImage> {
        let owners = self.owners.all.borrow();
        // One that is being deactivated is still active: some of its scripts are alive.
        let mut in_use = BTreeSet::new();
        if owners.values().any(|entry| !entry.is_active) {
            for cell in self.scripts.alive.borrow().values() {
                let mut at = cell.owner;
                while let Some(id) = at.filter(|&id| in_use.insert(id)) {
                    at = owners.get(&id).and_then(|entry| entry.parent);
                }
            }
        }
        let owners = owners.iter().map(|(&id, entry)| OwnerImage {
            id,
            parent: entry.parent,
            clock: entry.clock,
            name: entry.name.clone(),
            is_paused: entry.is_paused,
            is_active: entry.is_active || in_use.contains(&id),
            is_heard: entry.is_heard,
        });
        owners.collect()
    }

    fn save_ended(&self) -> Vec<EndedImage> {
        let ended = self.ends.results.borrow();
        let ended = ended.iter().map(|(&id, ended)| EndedImage {
            id,
            birth: ended.birth,
            result: ended.result.clone(),
            order: ended.order,
        });
        ended.collect()
    }

    fn save_signals(&self) -> Vec<(Topic, Vec<Listed>)> {
        let signals = self.events.signals.borrow();
        let awaited = signals.iter().filter(|(_, entry)| !entry.waits.is_empty());
        let signals = awaited.map(|(topic, entry)| (topic.clone(), entry.waits.clone()));
        signals.collect()
    }

    fn save_values(&self) -> Vec<(Topic, Option<Content>, Vec<Listed>)> {
        let values = self.events.values.borrow();
        let values = values.iter().map(|(topic, entry)| {
            let value = entry.value.clone().map(Content::Compact);
            (topic.clone(), value, entry.waits.clone())
        });
        values.collect()
    }

    fn save_permits(&self) -> Vec<SemaphoreImage> {
        let permits = self.events.permits.borrow();
        if permits.is_empty() {
            return Vec::new();
        }
        let mut held: BTreeMap<Topic, Vec<(Owned, u64)>> = BTreeMap::new();
        for (permit, of) in self.events.held.borrow().iter() {
            let of_topic = held.entry(of.topic.clone()).or_default();
            of_topic.push((*permit, of.count));
        }
        let permits = permits.iter().map(|(topic, entry)| SemaphoreImage {
            topic: topic.clone(),
            count: entry.count,
            is_set: entry.is_set,
            held: held.remove(topic).unwrap_or_default(),
            waits: entry.waits.clone(),
        });
        permits.collect()
    }

    /// Takes a save state, replays its journals with new futures, and drops these.
    pub(crate) fn verified(self: &Rc<Self>) -> Result<SaveState, SaveError> {
        let save = self.save_state().map_err(|error| self.explain(error))?;
        let numbers = SiteNumbers::same();
        for image in &save.scripts {
            let cell = self.replay(image, Some(save.stored()), &numbers, true);
            cell.map_err(SaveError::Verify)?.drop_trial();
        }
        Ok(save)
    }

    /// Replays the script that cannot be saved, to find the line of the wait. Returns what that
    /// finds, or else the error.
    pub(crate) fn explain(self: &Rc<Self>, error: SaveError) -> SaveError {
        // Where it is over, a replay waits for it again, or comes from another time: that says less.
        let SaveError::NotRecorded {
            script,
            is_over: false,
            ..
        } = &error
        else {
            return error;
        };
        let Some(cell) = self.scripts.get(*script) else {
            return error;
        };
        let image = cell.image();
        let numbers = SiteNumbers::same();
        match self.replay(&image, None, &numbers, true) {
            Ok(cell) => {
                cell.drop_trial();
                error
            }
            Err(found) => SaveError::Verify(found),
        }
    }
}

fn save_owned<E: Clone>(of: &RefCell<BTreeMap<Owned, E>>) -> Vec<(Owned, E)> {
    let of = of.borrow();
    of.iter().map(|(id, entry)| (*id, entry.clone())).collect()
}

impl Runtime {
    /// Takes a save state, between two runs.
    ///
    /// # Errors
    ///
    /// If something cannot be saved.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    #[doc(alias = "snapshot")]
    pub fn save_state(&self) -> Result<SaveState, SaveError> {
        self.shared().door.assert_idle("save_state");
        self.shared().save_state()
    }

    /// The [checksum](SaveState::checksum) of a save state taken now. It takes none, so it costs less:
    /// for servers and netcode that compare each frame.
    ///
    /// # Errors
    ///
    /// As [`save_state`](Self::save_state).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn checksum(&self) -> Result<u64, SaveError> {
        self.shared().door.assert_idle("checksum");
        self.shared().checksum(&World::none())
    }

    /// The same with the game's own state, as [`SaveState::checksum_with`].
    ///
    /// # Errors
    ///
    /// As [`save_state`](Self::save_state).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script; if the `Serialize` of `world` fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[derive(Serialize, Deserialize)]
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// # fn main() -> Result<(), SaveError> {
    /// let mut world = World { gold: 7 };
    /// let mut runtime = Runtime::new(Registry::new());
    /// runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// let checksum = runtime.checksum_with(&world)?;
    /// assert_eq!(checksum, runtime.save_state()?.checksum_with(&world));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn checksum_with<W: Serialize>(&self, world: &W) -> Result<u64, SaveError> {
        self.shared().door.assert_idle("checksum_with");
        let write = |to: &mut Vec<u8>| bytes::try_write(world, to);
        self.shared().checksum(&World::of::<W>(&write))
    }

    /// Takes a save state for a file. In debug builds, it is [verified](Self::verify) at once,
    /// so a script that cannot be restored is found when it is saved.
    ///
    /// # Errors
    ///
    /// If something cannot be saved. In debug builds, the same if something could not be
    /// restored.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn save(&self) -> Result<SaveState, SaveError> {
        self.shared().door.assert_idle("save");
        if cfg!(debug_assertions) {
            return self.shared().verified();
        }
        self.shared().save_state()
    }

    /// Checks that a save state taken now can be restored: replays each journal with a new
    /// future. Nothing changes.
    ///
    /// # Errors
    ///
    /// If it could not.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn verify(&self) -> Result<(), SaveError> {
        self.shared().door.assert_idle("verify");
        self.shared().verified().map(drop)
    }
}
