//! Taking a save state: a look at the executor's lists and the scripts' slots.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use framestep::Owner;
use framestep::durable::{DurableWait, Unsavable, Writer, phase_number};
use framestep::task::CoroutineId;
use framestep::time::Clock;

use crate::cell::{Chapter, ScriptCell, ScriptId};
use crate::content::Content;
use crate::error::{SaveError, said_at};
use crate::events::{Listed, Owned};
use crate::file::{Summed, World, checksum_of, stops_of};
use crate::image::{
    EndedImage, OwnerImage, RequestImage, SaveState, ScriptImage, SemaphoreImage, SlotImage,
    StopImage, WaitImage,
};
use crate::owner::ClockId;
use crate::shared::Shared;
use crate::slot::Slot;
use crate::topic::Topic;

/// The numbers of an executor in a save state.
#[derive(Default)]
pub(crate) struct Numbers {
    clocks: Writer,
    waits: Writer,
    lists: Writer,
    /// The hashes of the scripts, in a checksum.
    scripts: Vec<u64>,
}

impl Numbers {
    fn clear(&mut self) {
        self.clocks.clear();
        self.waits.clear();
        self.lists.clear();
        self.scripts.clear();
    }
}

impl Shared {
    pub(crate) fn own_clocks(&self) -> Vec<Clock> {
        let clocks = self.clocks.borrow();
        clocks.iter().map(|entry| entry.clock.clone()).collect()
    }

    /// The coroutines of the scripts.
    pub(crate) fn coroutine_ids(&self) -> Vec<CoroutineId> {
        let scripts = self.scripts.borrow();
        let mut ids = Vec::with_capacity(scripts.len());
        ids.extend(scripts.values().filter_map(|cell| cell.coroutine_id()));
        ids
    }

    /// Takes a save state.
    pub(crate) fn save_state(&self) -> Result<SaveState, SaveError> {
        self.settle_stops();
        let guards = self.save_guards();
        let mut numbers = Numbers::default();
        self.save_numbers(guards.len(), &mut numbers)?;
        let scripts = self.scripts.borrow();
        Ok(SaveState {
            build: self.registry().build().to_owned(),
            settings: self.door.settings(),
            sites: self.sites.sites(),
            clocks: numbers.clocks.into_numbers(),
            clock_parents: self.clock_parents(),
            guards,
            owners: self.save_owners(),
            scripts: scripts.values().map(|cell| cell.image()).collect(),
            asked: self.save_asked(),
            stops: self.save_stops(),
            waits: numbers.waits.into_numbers(),
            lists: numbers.lists.into_numbers(),
            ended: self.save_ended(),
            ends: self.ends.get(),
            signals: self.save_signals(),
            streams: save_owned(&self.events.streams),
            values: self.save_values(),
            permits: self.save_permits(),
            promises: save_owned(&self.events.promises),
            next_script: self.next_script.get(),
            next_request: self.next_request.get(),
            next_owner: self.next_owner.get(),
            next_guard: self.next_guard.get(),
            last_ticket: self.events.last_ticket.get(),
            runs: self.runs_in_frame(),
            effects: self.trail.effects(),
            is_described: false,
            is_taken: true,
        })
    }

    /// The checksum of a save state taken now, with the game's own state.
    #[track_caller]
    pub(crate) fn checksum(&self, world: &World<'_>) -> Result<u64, SaveError> {
        self.settle_stops();
        let guards = self.save_guards();
        let mut numbers = self.numbers.take();
        numbers.clear();
        let saved = self.save_numbers(guards.len(), &mut numbers);
        if let Err(error) = saved {
            self.numbers.set(numbers);
            return Err(error);
        }
        let sites = self.sites.sites();
        for cell in self.scripts.borrow().values() {
            numbers.scripts.push(cell.image_hash(&sites));
        }
        let summed = Summed {
            settings: &self.door.settings(),
            guards: &guards,
            clock_parents: &self.clock_parents(),
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
            self.next_script.get(),
            self.next_request.get(),
            self.next_owner.get(),
            self.next_guard.get(),
            self.events.last_ticket.get(),
        ];
        let [clocks, waits, lists] =
            [&numbers.clocks, &numbers.waits, &numbers.lists].map(Writer::numbers);
        let all = [&numbers.scripts[..], clocks, waits, lists, &next];
        // Nothing is borrowed: the world may use the runtime.
        let mut buffer = self.take_scratch();
        let checksum = checksum_of(all, &summed, world, &mut buffer);
        self.put_scratch(buffer);
        self.numbers.set(numbers);
        Ok(checksum)
    }

    /// The scripts that have been requested to stop.
    fn save_asked(&self) -> Vec<ScriptId> {
        self.asked.borrow().iter().copied().collect()
    }

    /// The requests to stop with a time that are not over.
    fn save_stops(&self) -> Vec<StopImage> {
        let stops = self.stops.borrow();
        let stops = stops.iter().map(|(&id, request)| StopImage {
            id,
            birth: request.birth,
            owner: request.owner,
            left: request.left,
            line: request.line.clone(),
        });
        stops.collect()
    }

    fn clock_parents(&self) -> Vec<ClockId> {
        let clocks = self.clocks.borrow();
        clocks.iter().map(|entry| entry.parent).collect()
    }

    /// Writes the clocks, the waits and the lists of the executor. `guards` is how many guards are
    /// saved.
    fn save_numbers(&self, guards: usize, out: &mut Numbers) -> Result<(), SaveError> {
        let ids = self.coroutine_ids();
        let checked = self.door.check(&ids);
        let scripts = self.scripts.borrow();
        let refused = |error| {
            let scripts: Vec<&Rc<ScriptCell>> = scripts.values().collect();
            self.refused(&scripts, error)
        };
        checked.map_err(refused)?;
        let clocks = self.door.name_clocks(&self.own_clocks());
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
        let owners = self.owners.borrow();
        let all: Vec<&Owner> = owners.values().map(|entry| &*entry.owner).collect();
        let saved = self
            .door
            .save_lists(&ids, &waits, &all, &clocks, &mut out.lists);
        saved.map_err(refused)
    }

    /// Why the executor cannot be saved, with the script whose wait is the reason.
    fn refused(&self, scripts: &[&Rc<ScriptCell>], error: Unsavable) -> SaveError {
        let (Unsavable::ForeignWakers(Some(of)) | Unsavable::OtherWait(of)) = error else {
            return error.into();
        };
        let script = scripts.iter().find(|cell| cell.coroutine_id() == Some(of));
        match (script, error) {
            (None, _) => error.into(),
            (Some(cell), Unsavable::OtherWait(_)) => SaveError::NotRecorded {
                script: cell.id,
                name: cell.name().to_owned(),
                after: self.last_entry(cell),
                why: error.to_string(),
            },
            (Some(cell), _) => {
                SaveError::Executor(format!("the script `{}`: {error}", cell.name()))
            }
        }
    }

    /// Says what a script has recorded last.
    fn last_entry(&self, cell: &ScriptCell) -> Option<String> {
        let journal = cell.journal();
        let (kind, site) = journal.at(journal.entries().checked_sub(1)?)?;
        Some(said_at(kind, site, &self.sites.sites()))
    }

    fn save_owners(&self) -> Vec<OwnerImage> {
        let owners = self.owners.borrow();
        // One that is being deactivated is still active: some of its scripts are alive.
        let mut in_use = BTreeSet::new();
        if owners.values().any(|entry| !entry.is_active) {
            for cell in self.scripts.borrow().values() {
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
        let ended = self.ended.borrow();
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
}

fn save_owned<E: Clone>(of: &RefCell<BTreeMap<Owned, E>>) -> Vec<(Owned, E)> {
    let of = of.borrow();
    of.iter().map(|(id, entry)| (*id, entry.clone())).collect()
}

/// The image of a script with this chapter.
pub(crate) fn image_of(cell: &ScriptCell, chapter: &mut Chapter) -> ScriptImage {
    let waits = chapter.waits.sorted().iter().map(|pending| WaitImage {
        named: pending.named(),
        slot: save_slot(&pending.slot),
    });
    let waits = waits.collect();
    ScriptImage {
        id: cell.id,
        birth: cell.birth.get(),
        name: cell.name().into(),
        version: cell.code.version,
        generation: cell.generation(),
        home: phase_number(cell.home),
        owner: cell.owner,
        state: Content::Compact(chapter.state.clone()),
        journal: chapter.journal.clone(),
        stop_lines: chapter.stop_lines.clone(),
        once: chapter.once.clone(),
        history: chapter.history,
        has_begun: chapter.has_begun,
        restarts_after_wait: chapter.restarts_after_wait,
        waits,
    }
}

fn save_slot(slot: &Slot) -> SlotImage {
    match slot {
        Slot::Plain(_) => SlotImage::Plain,
        Slot::Join(join) => SlotImage::Join(join.script),
        Slot::OwnerEnd(awaited) => SlotImage::OwnerEnd(awaited.owner),
        Slot::Stop(ticket) => SlotImage::Stop { ticket: *ticket },
        Slot::Signal(wait) => SlotImage::Signal {
            topic: wait.listing.topic.clone(),
            ticket: wait.listing.ticket,
            given: wait.given.clone(),
        },
        Slot::Next(wait) => SlotImage::Next {
            topic: wait.listing.topic.clone(),
            ticket: wait.listing.ticket,
            stream: wait.stream,
            is_own: wait.guard.is_some(),
        },
        Slot::Value { listing, is_new } => SlotImage::Value {
            topic: listing.topic.clone(),
            ticket: listing.ticket,
            is_new: *is_new,
        },
        Slot::Permit(wait) => SlotImage::Permit {
            topic: wait.listing.topic.clone(),
            ticket: wait.listing.ticket,
            wanted: wait.wanted,
            granted: wait.granted,
        },
        Slot::Promise(number) => SlotImage::Promise(*number),
        Slot::Request(request) => SlotImage::Request(RequestImage {
            id: request.id,
            stamp: request.stamp,
            name: request.name.clone(),
            content: request.content.clone(),
            answer: request.answer.clone(),
        }),
        Slot::Animate(animation) => SlotImage::Animate {
            has_end: animation.end.is_some(),
            length_ns: animation.length_ns,
            share: animation.share.to_bits(),
        },
        Slot::Tick(tick) => SlotImage::Tick {
            due_ns: tick.due_ns,
        },
        // Outside of polls and replays, a slot has its state.
        Slot::Replayed | Slot::Typed(_) | Slot::Polled | Slot::Outside(_) => {
            unreachable!("the script is being polled")
        }
    }
}
