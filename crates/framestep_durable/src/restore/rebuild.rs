//! Replacing what a runtime holds with the content of a save state.

use std::collections::{BTreeMap, HashSet};
use std::iter;
use std::mem;
use std::rc::Rc;

use framestep::durable::{ClockNames, DurableWait, EndOf, Progress, Reader, Shape};
use framestep::task::CoroutineId;
use framestep::{Coroutine, Owner};

use crate::bytes::Topic;
use crate::events::{
    Held, Listed, Listing, PermitWait, PermitsEntry, SignalEntry, SignalWait, StreamGuard,
    ValueEntry, Waiters,
};
use crate::ids::{ClockId, ScriptId};
use crate::replay::RestoreError;
use crate::restore::{Fate, Prepared};
use crate::runtime::Act;
use crate::save::{OwnerImage, SaveState};
use crate::script::aligned::Hold;
use crate::script::{
    Awaited, Driver, EndedScript, Guards, Join, NextWait, OwnerEnd, OwnerEntry, Pending,
    ScriptCell, Shared, Slot, SlotImage, StopRequest, Waits,
};

impl Shared {
    /// Replaces everything by what the save state says.
    ///
    /// Each part names others, so the order is that of the names: clocks; owners, which run on them;
    /// coroutines, which owners have; what was requested of owners; waits, which name all of these; the lists of
    /// events, in which the waits stand. Destructors of scripts that are dropped run in [`clear`](Self::clear), and
    /// change nothing; the hooks of the host wait until all is there.
    pub(crate) fn rebuild(
        self: &Rc<Self>,
        save: &SaveState,
        prepared: &[Prepared<'_>],
    ) -> Result<(), RestoreError> {
        // First, so that nothing old is in a list that is filled below.
        self.clear(prepared);
        self.make_clocks(&save.clock_parents)?;
        let clocks = self.door.name_clocks(&self.clocks.all());
        let mut image = Reader::new(&save.clocks);
        let guards = Guards::of_clocks(&save.guards, &self.clocks).ok_or(RestoreError::Damaged)?;
        let loaded = self.door.load_clocks(&clocks, &guards, &mut image);
        let guards = loaded.map_err(|_| RestoreError::Damaged)?;
        expect_end(&image)?;
        self.guards.load(&save.guards, guards);
        self.make_owners(&save.owners)?;
        // What is made from now on has the numbers that it had after the save: that is what makes a second
        // simulation of the same frames equal to the first.
        self.scripts.next.set(save.next_script);
        self.questions.next.set(save.next_request);
        self.owners.next.set(save.next_owner);
        self.guards.next.set(save.next_guard);
        // With the subscriptions in states that this restore has made.
        let last = self.events.restored_ticket.get().max(save.last_ticket);
        self.events.last_ticket.set(last);
        let ids = self.make_coroutines(prepared)?;
        self.load_ended(save);
        self.stops
            .asked
            .replace(save.asked.iter().copied().collect());
        self.load_stops(save);
        self.load_waits(save, prepared, &ids)?;
        // Nothing below can fail.
        self.load_events(save);
        self.ask_again();
        self.handles.may_claim.set(true);
        self.reached.go_to_run(save.runs);
        self.trail.replace_effects(&save.effects);
        self.handles
            .restores
            .set(self.handles.restores.get().wrapping_add(1));
        let by_id = |id| prepared.binary_search_by_key(&id, |script| script.cell.id);
        self.long_chapters.keep_reported(|id| by_id(id).is_ok());
        // Now the state is that of the save, complete. What becomes of scripts that do not fit it are changes
        // after it, each like one that the host makes.
        for Prepared { cell, fate, .. } in prepared {
            self.release(cell);
            if matches!(fate, Fate::Restarts | Fate::Dropped) {
                self.guards.end_all_of(cell.id);
            }
            let carried = cell.carried.take();
            let is_misread = self.events.misread.borrow().contains(&cell.id);
            self.events.keeps_misread.set(is_misread);
            self.events.drop_unreadable(cell.named(), &carried);
            match fate {
                Fate::Stays | Fate::GoesOn => {}
                // It had the waits of its save, so that their places in all lists were read, and gives them up.
                Fate::Restarts => {
                    cell.drop_waits();
                    self.events.drop_all_but(cell.id, &carried);
                    self.events.carry(cell.id, &carried);
                    self.scripts.wake(&mut iter::once(cell.id));
                }
                Fate::Dropped => {
                    self.act(cell.id, Act::Stop(None));
                }
            }
        }
        self.events.keeps_misread.set(false);
        for Prepared { cell, .. } in prepared {
            cell.begin_new_waits();
        }
        Ok(())
    }

    /// Gives up what the code of a script held at its save and does not hold now, and begins the waits that
    /// it has now besides.
    fn release(&self, cell: &ScriptCell) {
        let mut realigned = cell.realigned.borrow_mut();
        realigned.numbers.clear();
        let (released, has_new_waits) =
            (mem::take(&mut realigned.released), realigned.has_new_waits);
        drop(realigned);
        for hold in released {
            match hold {
                Hold::Guard(number) => self.guards.end(number),
                Hold::Permit(number) => self.events.return_permit((cell.id, number)),
                Hold::Stream(number) => {
                    self.events.drop_stream((cell.id, number));
                }
                Hold::Promise(number) => {
                    self.events.drop_promise((cell.id, number));
                }
            }
        }
        if has_new_waits {
            self.scripts.wake(&mut iter::once(cell.id));
        }
    }

    /// Drops all coroutines, and all scripts except those that continue. Joins do not notice.
    pub(crate) fn clear(self: &Rc<Self>, prepared: &[Prepared<'_>]) {
        // Taken out before anything is dropped: a driver that does not find its script here
        // records no end of it.
        let scripts = self.scripts.alive.take();
        let ended = self.ends.results.take();
        // A panic that a handle holds is that of a script that there is no more.
        for coroutine in ended.into_values().filter_map(|ended| ended.coroutine) {
            drop(coroutine.take_output());
        }
        let kept: HashSet<*const ScriptCell> =
            prepared.iter().map(|kept| Rc::as_ptr(&kept.cell)).collect();
        self.events.set_cleared(true);
        for cell in scripts.values() {
            let mut waits = mem::take(&mut cell.change().waits);
            if kept.contains(&Rc::as_ptr(cell)) {
                // The waits keep their numbers, and get their state back.
                for pending in waits.iter_mut() {
                    pending.slot = Slot::Replayed;
                    if let Some(shown) = &mut pending.shown {
                        shown.note = None;
                    }
                }
                cell.change().waits = waits;
            }
        }
        // The waits of all scripts are gone before the first coroutine is: a stop would resume its joiners.
        for cell in scripts.values() {
            let coroutine = cell.coroutine.take();
            if let Some(id) = cell.coroutine_id() {
                self.executor.stop(id);
            }
            drop(coroutine);
            if !kept.contains(&Rc::as_ptr(cell)) {
                cell.drop_silently();
            }
        }
        self.events.clear();
        self.stops.asked.take();
        self.stops.requests.take();
        self.owners.all.take();
        // After the scripts, which have left their guards alone.
        self.guards.clear();
        self.events.set_cleared(false);
    }

    /// Makes clocks with these parents, and drops the others. `load_clocks` puts the readings of all of them
    /// back.
    fn make_clocks(&self, parents: &[ClockId]) -> Result<(), RestoreError> {
        let same = self.clocks.keep(parents);
        for &parent in &parents[same..] {
            self.clocks.make(parent).ok_or(RestoreError::Damaged)?;
        }
        Ok(())
    }

    fn make_owners(&self, owners: &[OwnerImage]) -> Result<(), RestoreError> {
        for image in owners {
            let owner = self
                .make_owner(image.parent, image.clock)
                .ok_or(RestoreError::Damaged)?;
            let owner = match &image.name {
                Some(name) => owner.named(name.clone()),
                None => owner,
            };
            if image.is_paused {
                owner.pause();
            }
            if !image.is_active {
                owner.set_active(false);
            }
            let entry = OwnerEntry {
                owner: Rc::new(owner),
                parent: image.parent,
                clock: image.clock,
                name: image.name.clone(),
                is_paused: image.is_paused,
                is_active: image.is_active,
                is_heard: image.is_heard,
            };
            self.owners.all.borrow_mut().insert(image.id, entry);
        }
        Ok(())
    }

    /// Makes the coroutines of the scripts, in the order in which they were made.
    fn make_coroutines(
        self: &Rc<Self>,
        prepared: &[Prepared<'_>],
    ) -> Result<Vec<CoroutineId>, RestoreError> {
        let mut ids = Vec::with_capacity(prepared.len());
        for Prepared { cell, image, .. } in prepared {
            cell.birth.set(image.birth.of_save());
            // Each at once, so that whatever fails later, all of them can be cleared away.
            self.scripts
                .alive
                .borrow_mut()
                .insert(cell.id, Rc::clone(cell));
            let owner = match cell.owner {
                Some(owner) => Some(self.owners.get(owner).ok_or(RestoreError::Damaged)?),
                None => None,
            };
            let owner = owner.as_deref();
            if owner.is_some_and(|owner| !owner.is_active()) {
                return Err(RestoreError::Damaged);
            }
            let driver = Driver::new(Rc::clone(cell));
            let name = cell.name().into();
            let coroutine = self.door.insert(driver, cell.home, owner, name);
            ids.push(coroutine.id());
            cell.set_coroutine(coroutine);
        }
        Ok(ids)
    }

    fn load_ended(&self, save: &SaveState) {
        let ended = save.ended.iter().map(|image| {
            let ended = EndedScript {
                birth: image.birth.of_save(),
                result: image.result.clone(),
                order: image.order,
                coroutine: None,
            };
            (image.id, ended)
        });
        self.ends.results.replace(ended.collect());
        self.ends.count.set(save.ends);
    }

    /// Their deadlines are among the lists of the executor.
    fn load_stops(&self, save: &SaveState) {
        let stops = save.stops.iter().map(|image| {
            let owner = self.owners.get(image.owner);
            let request = StopRequest {
                birth: image.birth.of_save(),
                owner: image.owner,
                stop: owner.map(|owner| self.door.loaded_stop(&owner)),
                left: image.left,
                line: image.line.clone(),
            };
            (image.id, request)
        });
        self.stops.requests.replace(stops.collect());
    }

    /// Gives the scripts the waits of the save state, and puts them into the lists of the
    /// executor.
    fn load_waits(
        self: &Rc<Self>,
        save: &SaveState,
        prepared: &[Prepared<'_>],
        ids: &[CoroutineId],
    ) -> Result<(), RestoreError> {
        let clocks = self.door.name_clocks(&self.clocks.all());
        let mut image = Reader::new(&save.waits);
        for (
            Prepared {
                cell, image: of, ..
            },
            &id,
        ) in prepared.iter().zip(ids)
        {
            // A wait that was replayed is where it was. Of a script that does not fit its save, the
            // waits are dropped again.
            let mut known = mem::take(&mut cell.change().waits);
            let waits = of.waits.iter().map(|wait| {
                let number = cell.number_now(wait.named.number);
                let slot =
                    self.load_slot((cell.id, number), &wait.slot, id, &clocks, &mut image)?;
                let (site, mut shown) = match known.remove(number) {
                    Some(known) => (known.site, known.shown),
                    None => (self.sites.of(&Awaited::new("", None).call()), None),
                };
                if let Some(shown) = &mut shown {
                    shown.note = self.door.note_event(id, shown.event, slot.full_name());
                }
                Ok(Pending {
                    number,
                    site,
                    slot,
                    shown,
                })
            });
            let waits = waits.collect::<Result<Waits, RestoreError>>()?;
            let before = mem::replace(&mut cell.change().waits, waits);
            drop((known, before));
        }
        expect_end(&image)?;
        // All waits are registered, and in no list. The executor's lists name them by their place in this
        // order, which is that of the save: by script, then by number.
        let mut chapters: Vec<_> = prepared.iter().map(|script| script.cell.change()).collect();
        let mut waits: Vec<&DurableWait> = Vec::new();
        for (chapter, Prepared { cell, image, .. }) in chapters.iter_mut().zip(prepared) {
            let pending = chapter.waits.sorted();
            for wait in &image.waits {
                let number = cell.number_now(wait.named.number);
                let at = pending.binary_search_by_key(&number, |pending| pending.number);
                let at = at.map_err(|_| RestoreError::Damaged)?;
                pending[at].slot.each_wait(|wait| waits.push(wait));
            }
        }
        let mut lists = Reader::new(&save.lists);
        let owners = self.owners.all.borrow();
        let all: Vec<&Owner> = owners.values().map(|entry| &*entry.owner).collect();
        let mut stops = |number| {
            let id = ScriptId(number);
            let is_known = self.stops.requests.borrow().contains_key(&id);
            is_known.then(|| self.call_of_stop(id))
        };
        let loaded = self
            .door
            .load_lists(ids, &waits, &all, &clocks, &mut stops, &mut lists);
        loaded.map_err(|_| RestoreError::Damaged)?;
        expect_end(&lists)
    }

    fn load_slot(
        self: &Rc<Self>,
        (script, number): (ScriptId, u32),
        slot: &SlotImage,
        id: CoroutineId,
        clocks: &ClockNames,
        image: &mut Reader<'_>,
    ) -> Result<Slot, RestoreError> {
        let mut wait_for = |end_of: EndOf<'_>| {
            let wait = self.door.load_wait(id, end_of, clocks, image);
            wait.map_err(|_| RestoreError::Damaged)
        };
        Ok(match slot {
            SlotImage::Plain => Slot::Plain(wait_for(EndOf::Nothing)?),
            SlotImage::Join(joined) => {
                let cell = self.scripts.get(*joined);
                let end = if let Some(cell) = cell {
                    let coroutine = cell.coroutine.borrow();
                    let coroutine = coroutine.as_ref().map_or(EndOf::Nothing, EndOf::Coroutine);
                    wait_for(coroutine)?
                } else {
                    // It has ended, and has made its joiner ready.
                    wait_for(EndOf::Coroutine(&Coroutine::default()))?
                };
                Slot::Join(Box::new(Join {
                    script: *joined,
                    end,
                }))
            }
            SlotImage::OwnerEnd(owner) => {
                let awaited = self.owners.get(*owner);
                let end = wait_for(EndOf::Owner(awaited.as_deref()))?;
                let owner = *owner;
                Slot::OwnerEnd(Box::new(OwnerEnd { owner, end }))
            }
            SlotImage::Stop { ticket } => Slot::Stop(*ticket),
            SlotImage::Signal {
                topic,
                ticket,
                given,
            } => Slot::Signal(SignalWait {
                listing: Listing::new(&self.events, topic, *ticket),
                given: given.clone(),
            }),
            SlotImage::Next {
                topic,
                ticket,
                stream,
                is_own,
            } => Slot::Next(Box::new(NextWait {
                number,
                listing: Listing::new(&self.events, topic, *ticket),
                stream: *stream,
                guard: is_own.then(|| StreamGuard::new(&self.events, *stream)),
            })),
            SlotImage::Value {
                topic,
                ticket,
                is_new,
            } => Slot::Value {
                listing: Listing::new(&self.events, topic, *ticket),
                is_new: *is_new,
            },
            SlotImage::Permit {
                topic,
                ticket,
                wanted,
                granted,
            } => Slot::Permit(Box::new(PermitWait {
                listing: Listing::new(&self.events, topic, *ticket),
                script,
                wanted: *wanted,
                granted: *granted,
            })),
            SlotImage::Promise(number) => Slot::Promise(*number),
            SlotImage::Request(question) => Slot::Request(Box::new(question.clone())),
            SlotImage::Animate {
                has_end,
                length_ns,
                elapsed_ns,
            } => {
                let progress = Progress {
                    elapsed_ns: *elapsed_ns,
                    shown_ns: None,
                    length_ns: *length_ns,
                };
                of_shape(Shape::Animation(progress, *has_end), &mut wait_for)?
            }
            SlotImage::Tick { due_ns } => of_shape(Shape::Tick(*due_ns), &mut wait_for)?,
        })
    }

    /// Waits in a list, by the numbers that they have now.
    fn renumbered(&self, waits: &[Listed]) -> Vec<Listed> {
        let waits = waits.iter().map(|listed| {
            let cell = self.scripts.get(listed.script);
            let wait = cell.map_or(listed.wait, |cell| cell.number_now(listed.wait));
            Listed { wait, ..*listed }
        });
        waits.collect()
    }

    fn load_events(&self, save: &SaveState) {
        let events = &self.events;
        let mut signals: BTreeMap<Topic, SignalEntry> = BTreeMap::new();
        for (topic, waits) in &save.signals {
            let waits = self.renumbered(waits);
            let streams = Vec::new();
            signals.insert(topic.clone(), SignalEntry { waits, streams });
        }
        // In the order in which they began.
        let mut streams: Vec<_> = save.streams.iter().collect();
        streams.sort_unstable_by_key(|((_, number), _)| *number);
        for (id, stream) in streams {
            let entry = signals.entry(stream.topic.clone()).or_default();
            entry.streams.push(*id);
        }
        events.signals.replace(signals);
        events
            .streams
            .replace(save.streams.iter().cloned().collect());
        let values = save.values.iter().map(|(topic, value, waits)| {
            let value = value.as_ref();
            let value =
                value.and_then(|value| self.registry().value_of_save(topic.as_ref(), value));
            let entry = ValueEntry::restored(value, self.renumbered(waits));
            (topic.clone(), entry)
        });
        // The game may not have it any more.
        let is_used = |(_, entry): &(_, ValueEntry)| !entry.is_empty();
        events.values.replace(values.filter(is_used).collect());
        let permits = save.permits.iter().map(|image| {
            let entry = PermitsEntry {
                count: image.count,
                is_set: image.is_set,
                held: image.held.iter().map(|&(_, count)| count).sum(),
                waits: self.renumbered(&image.waits),
            };
            (image.topic.clone(), entry)
        });
        events.permits.replace(permits.collect());
        let held = save.permits.iter().flat_map(|image| {
            let held = image.held.iter();
            held.map(|&(permit, count)| {
                let topic = image.topic.clone();
                (permit, Held { topic, count })
            })
        });
        events.held.replace(held.collect());
        let promises = save.promises.iter().cloned();
        events.promises.replace(promises.collect());
    }
}

/// # Errors
///
/// If a part of a save state has more numbers than what it says.
fn expect_end(image: &Reader<'_>) -> Result<(), RestoreError> {
    if image.is_empty() {
        Ok(())
    } else {
        Err(RestoreError::Damaged)
    }
}

/// The state of a wait of framestep that consists of others, which `wait_for` loads.
fn of_shape(
    shape: Shape,
    wait_for: &mut dyn FnMut(EndOf<'_>) -> Result<DurableWait, RestoreError>,
) -> Result<Slot, RestoreError> {
    let wait = DurableWait::of_shape(shape, || wait_for(EndOf::Nothing))?;
    Ok(Slot::Plain(wait))
}
