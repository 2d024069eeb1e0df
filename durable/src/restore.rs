//! Going back to a snapshot.
//!
//! 1. The scripts whose journals have changed since get new futures, which replay the
//!    journals. The executor stays as it is meanwhile. If a script diverges, the runtime is
//!    unchanged.
//! 2. All coroutines are dropped, and their scripts do not notice. Then clocks, owners
//!    and coroutines are made as they were, and the waits are registered again.
//! 3. The lists of the executor are filled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use framestep::durable::{DurableWait, Reader, Unsavable, Writer, phase_of};
use framestep::{Coroutine, CoroutineId, Owner};

use crate::cell::ScriptCell;
use crate::context;
use crate::driver::{Driver, message_of};
use crate::error::{Divergence, Found, RestoreError, SaveError};
use crate::handle::Act;
use crate::image::{NamedWait, OwnerImage, RequestImage, ScriptImage, SlotImage, Snapshot};
use crate::journal::Place;
use crate::owner::{ClockId, OwnerId};
use crate::shared::{ClockEntry, Ended, OwnerEntry, Shared, ValueEntry};
use crate::slot::{Animation, Awaited, Pending, Request, Slot};

/// What becomes of a script that does not fit its save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The restore fails, and the runtime stays as it was.
    #[default]
    Fail,
    /// The script restarts its chapter, with the state of the chapter.
    Restart,
    /// The script is dropped. A join returns that it was stopped.
    Drop,
}

/// What a restore has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The scripts that have restarted their chapters, and why.
    pub restarted: Vec<Divergence>,
    /// The scripts that were dropped, and why.
    pub dropped: Vec<Divergence>,
}

/// A script that is about to be restored.
struct Prepared<'a> {
    cell: Rc<ScriptCell>,
    image: &'a ScriptImage,
    fate: Fate,
}

/// What becomes of a script in a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It has changed nothing since.
    Stays,
    /// Its journal has been replayed.
    GoesOn,
    /// It restarts its chapter.
    Restarts,
    /// It is stopped once the others are there.
    Dropped,
}

impl Shared {
    /// Goes back to a snapshot. `policy` says what becomes of a script that does not fit.
    /// `compares_lines` also compares the lines of the code.
    pub(crate) fn restore(
        self: &Rc<Self>,
        snapshot: &Snapshot,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
    ) -> Result<Restored, RestoreError> {
        if !snapshot.scripts.is_sorted_by(|a, b| a.id < b.id) {
            return Err(RestoreError::Damaged);
        }
        let settings = self.door.settings();
        if snapshot.settings != settings {
            return Err(RestoreError::OtherSettings {
                saved: snapshot.settings,
                now: settings,
            });
        }
        let mut restored = Restored::default();
        let prepared = self.prepare_all(snapshot, policy, compares_lines, &mut restored)?;
        self.rebuild(snapshot, &prepared)?;
        Ok(restored)
    }

    /// Goes back to a snapshot from a file: all earlier handles become invalid.
    pub(crate) fn restore_file(
        self: &Rc<Self>,
        snapshot: &Snapshot,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
    ) -> Result<Restored, RestoreError> {
        self.check_replaceable()?;
        let before = self.epoch.get();
        self.epoch.set(before.wrapping_add(1));
        let restored = self.restore(snapshot, policy, compares_lines);
        if restored.is_err() {
            self.epoch.set(before);
        }
        restored
    }

    /// Whether nothing but scripts would be lost with what is there.
    pub(crate) fn check_replaceable(&self) -> Result<(), RestoreError> {
        let ids: Vec<CoroutineId> = {
            let scripts = self.scripts.borrow();
            let ids = scripts.values().filter_map(|cell| cell.coroutine_id());
            ids.collect()
        };
        let checked = match self.door.check(&ids) {
            Err(other @ Unsavable::OtherCoroutines) => Err(other),
            _ => self
                .door
                .save_clocks(&self.own_clocks(), &mut Writer::default()),
        };
        checked.map_err(|error| RestoreError::Executor(error.to_string()))
    }

    /// Makes all scripts of a snapshot.
    fn prepare_all<'a>(
        self: &Rc<Self>,
        snapshot: &'a Snapshot,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
        restored: &mut Restored,
    ) -> Result<Vec<Prepared<'a>>, RestoreError> {
        let files = FileTable::of(self, snapshot);
        let mut prepared = Vec::with_capacity(snapshot.scripts.len());
        for image in &snapshot.scripts {
            match self.prepare(image, &files, policy, compares_lines, restored) {
                Ok(script) => prepared.push(script),
                Err(error) => {
                    let made = prepared.iter().filter(|made| made.fate != Fate::Stays);
                    made.for_each(|made: &Prepared<'_>| self.drop_silently(&made.cell));
                    return Err(error);
                }
            }
        }
        Ok(prepared)
    }

    /// Replays the journals of a snapshot with new futures, and drops these.
    pub(crate) fn verify(self: &Rc<Self>, snapshot: &Snapshot) -> Result<(), SaveError> {
        let files = FileTable::of(self, snapshot);
        for image in &snapshot.scripts {
            let cell = self.replay(image, &files, true);
            self.drop_silently(&cell.map_err(SaveError::Verify)?);
        }
        Ok(())
    }

    /// Makes a script of a snapshot. One that has changed nothing since stays as it is.
    fn prepare<'a>(
        self: &Rc<Self>,
        image: &'a ScriptImage,
        files: &FileTable,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
        restored: &mut Restored,
    ) -> Result<Prepared<'a>, RestoreError> {
        let prepared = |cell, fate| Prepared { cell, image, fate };
        if let Some(cell) = self.unchanged(image) {
            return Ok(prepared(cell, Fate::Stays));
        }
        let error = match self.replay(image, files, compares_lines) {
            Ok(cell) => return Ok(prepared(cell, Fate::GoesOn)),
            Err(error) => error,
        };
        let divergence = match &error {
            RestoreError::Diverged(divergence) => divergence.clone(),
            RestoreError::UnknownScript { name } => Divergence {
                script: image.id,
                name: name.clone(),
                entry: None,
                recorded: "a script of this name".to_owned(),
                found: "no registry has one".to_owned(),
            },
            _ => return Err(error),
        };
        match policy(&divergence) {
            Policy::Fail => Err(error),
            Policy::Restart => {
                let cell = self.begin_again(image).ok_or(error)?;
                restored.restarted.push(divergence);
                Ok(prepared(cell, Fate::Restarts))
            }
            Policy::Drop => {
                restored.dropped.push(divergence);
                let cell = dropped(self, image).ok_or(RestoreError::Damaged)?;
                Ok(prepared(Rc::new(cell), Fate::Dropped))
            }
        }
    }

    /// The script of an image, if it is alive and has recorded nothing since.
    fn unchanged(&self, image: &ScriptImage) -> Option<Rc<ScriptCell>> {
        let cell = self.script(image.id)?;
        let is_same = cell.journal().is(&image.journal)
            && cell.has_begun() == image.has_begun
            // Otherwise its handles are invalid.
            && cell.epoch() == self.epoch.get()
            && cell.future().borrow().is_some();
        is_same.then_some(cell)
    }

    /// A script that restarts its chapter.
    fn begin_again(self: &Rc<Self>, image: &ScriptImage) -> Option<Rc<ScriptCell>> {
        let home = phase_of(image.home).ok()?;
        let (name, begin_again) = self.registry.find(&image.name)?;
        let future = begin_again(image.state.get())?;
        Some(Rc::new(ScriptCell::new(
            self,
            image.id,
            name,
            home,
            image.owner,
            image.state.clone(),
            future,
        )))
    }

    /// Makes a script and replays its journal.
    fn replay(
        self: &Rc<Self>,
        image: &ScriptImage,
        files: &FileTable,
        compares_lines: bool,
    ) -> Result<Rc<ScriptCell>, RestoreError> {
        let known = self.registry.find(&image.name);
        let (name, begin_again) = known.ok_or_else(|| RestoreError::UnknownScript {
            name: image.name.clone().into_owned(),
        })?;
        let home = phase_of(image.home).map_err(|_| RestoreError::Damaged)?;
        let journal = files.translate(&image.journal);
        let diverged = |found: Found| {
            RestoreError::Diverged(found.of(
                image.id,
                name,
                |place| self.say(place),
                |entry| journal.at(entry).map(|entry| (entry.0, entry.1)),
            ))
        };
        let future = begin_again(image.state.get()).ok_or_else(|| {
            let type_name = self.registry.type_name(name);
            diverged(Found::OtherState { type_name })
        })?;
        let cell = Rc::new(ScriptCell::restored(
            self,
            image.id,
            name,
            home,
            image.owner,
            image.state.clone(),
            journal.clone(),
            future,
        ));
        if image.has_begun {
            if let Err(found) = replay_journal(&cell, image, files, compares_lines) {
                self.drop_silently(&cell);
                return Err(diverged(found));
            }
        }
        Ok(cell)
    }

    /// Drops a script's future. Effects of its destructors are ignored.
    fn drop_silently(self: &Rc<Self>, cell: &Rc<ScriptCell>) {
        let was_silent = self.is_silent.replace(true);
        let entered = context::enter(cell);
        let future = cell.take_future();
        // A destructor that does an effect is left.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        drop(dropped);
        drop(entered);
        self.is_silent.set(was_silent);
    }

    /// Replaces everything by what the snapshot says.
    fn rebuild(
        self: &Rc<Self>,
        snapshot: &Snapshot,
        prepared: &[Prepared<'_>],
    ) -> Result<(), RestoreError> {
        self.clear(prepared);
        self.make_clocks(&snapshot.clock_parents)?;
        let clocks = self.own_clocks();
        let mut image = Reader::new(&snapshot.clocks);
        let loaded = self.door.load_clocks(&clocks, &mut image);
        loaded.map_err(|_| RestoreError::Damaged)?;
        self.make_owners(&snapshot.owners)?;
        self.next_script.set(snapshot.next_script);
        self.next_request.set(snapshot.next_request);
        self.next_owner.set(snapshot.next_owner);
        self.next_ticket.set(snapshot.next_ticket);
        self.taken.borrow_mut().clear();
        let ids = self.make_coroutines(prepared)?;
        self.load_ended(snapshot);
        self.load_waits(snapshot, prepared, &ids)?;
        self.load_signals(snapshot);
        self.may_claim.set(true);
        for Prepared { cell, fate, .. } in prepared {
            match fate {
                Fate::Stays | Fate::GoesOn => {}
                Fate::Restarts => {
                    let waits = cell.slots().take();
                    drop(waits);
                    self.wake(cell.id);
                }
                Fate::Dropped => {
                    self.act(cell.id, Act::Stop);
                }
            }
        }
        Ok(())
    }

    /// Drops all coroutines, and all scripts except those that continue. Joins do not notice.
    fn clear(self: &Rc<Self>, prepared: &[Prepared<'_>]) {
        let scripts = self.scripts.take();
        let kept: std::collections::HashSet<*const ScriptCell> =
            prepared.iter().map(|kept| Rc::as_ptr(&kept.cell)).collect();
        self.is_silent.set(true);
        for cell in scripts.values() {
            let slots = if kept.contains(&Rc::as_ptr(cell)) {
                // The waits keep their numbers, and get their state back.
                let mut slots = cell.slots().borrow_mut();
                for pending in slots.iter_mut() {
                    pending.slot = Slot::Replayed;
                    pending.note = None;
                }
                Vec::new()
            } else {
                cell.slots().take()
            };
            drop(slots);
        }
        for cell in scripts.values() {
            let coroutine = cell.coroutine.take();
            if let Some(id) = cell.coroutine_id() {
                self.executor.stop(id);
            }
            drop(coroutine);
            if !kept.contains(&Rc::as_ptr(cell)) {
                self.drop_silently(cell);
            }
        }
        self.ended.take();
        self.signals.take();
        self.owners.take();
        self.is_silent.set(false);
    }

    /// Makes clocks with these parents, and drops the others.
    fn make_clocks(&self, parents: &[ClockId]) -> Result<(), RestoreError> {
        let mut clocks = self.clocks.take();
        let same = clocks.iter().zip(parents);
        let same = same.take_while(|(clock, parent)| clock.parent == **parent);
        let same = same.count();
        clocks.truncate(same);
        self.clocks.replace(clocks);
        for &parent in &parents[same..] {
            let of = self.clock(parent).ok_or(RestoreError::Damaged)?;
            let clock = of.child();
            self.clocks.borrow_mut().push(ClockEntry { clock, parent });
        }
        Ok(())
    }

    fn make_owners(&self, owners: &[OwnerImage]) -> Result<(), RestoreError> {
        for image in owners {
            let owner = self
                .new_owner(image.parent, image.clock)
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
                owner,
                parent: image.parent,
                clock: image.clock,
                name: image.name.clone(),
                is_paused: image.is_paused,
                is_active: image.is_active,
            };
            self.owners.borrow_mut().insert(image.id, entry);
        }
        Ok(())
    }

    /// Makes an owner. `None` if there is no such parent or clock.
    pub(crate) fn new_owner(
        &self,
        parent: Option<OwnerId>,
        clock: Option<ClockId>,
    ) -> Option<Owner> {
        let clock = match clock {
            Some(clock) => Some(self.clock(clock)?),
            None => None,
        };
        let owners = self.owners.borrow();
        match (parent, clock) {
            (Some(parent), Some(clock)) => Some(owners.get(&parent)?.owner.child_on(&clock)),
            (Some(parent), None) => Some(owners.get(&parent)?.owner.child()),
            (None, Some(clock)) => self.executor.owner_on(&clock),
            (None, None) => self.executor.owner(),
        }
    }

    /// Makes the coroutines of the scripts, in the order in which they were made.
    fn make_coroutines(
        self: &Rc<Self>,
        prepared: &[Prepared<'_>],
    ) -> Result<Vec<CoroutineId>, RestoreError> {
        let mut ids = Vec::with_capacity(prepared.len());
        for Prepared { cell, .. } in prepared {
            // Each at once, so that whatever fails later, all of them can be cleared away.
            self.scripts.borrow_mut().insert(cell.id, Rc::clone(cell));
            let owners = self.owners.borrow();
            let owner = match cell.owner {
                Some(owner) => Some(owners.get(&owner).ok_or(RestoreError::Damaged)?),
                None => None,
            };
            let owner = owner.map(|entry| &entry.owner);
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

    fn load_ended(&self, snapshot: &Snapshot) {
        let ended = snapshot.ended.iter().map(|(id, result)| {
            let result = result.clone();
            let coroutine = None;
            (*id, Ended { result, coroutine })
        });
        self.ended.replace(ended.collect());
    }

    /// Gives the scripts the waits of the snapshot, and puts them into the lists of the
    /// executor.
    fn load_waits(
        &self,
        snapshot: &Snapshot,
        prepared: &[Prepared<'_>],
        ids: &[CoroutineId],
    ) -> Result<(), RestoreError> {
        let clocks = self.own_clocks();
        let mut image = Reader::new(&snapshot.waits);
        for (
            Prepared {
                cell, image: of, ..
            },
            &id,
        ) in prepared.iter().zip(ids)
        {
            let mut slots = Vec::with_capacity(of.waits.len());
            for wait in &of.waits {
                let known = cell.slots().borrow();
                let number = wait.named.number;
                let known = known.iter().find(|known| known.number == number);
                // Of a script that does not fit its save, the waits are dropped again.
                let awaited = known.map_or_else(|| Awaited::new("", None), |known| known.awaited);
                let event = awaited.event;
                slots.push(Pending {
                    number,
                    awaited,
                    slot: self.load_slot(&wait.slot, id, &clocks, &mut image)?,
                    note: event.and_then(|event| self.door.note_event(id, event)),
                });
            }
            let before = cell.slots().replace(slots);
            drop(before);
        }
        let slots: Vec<_> = prepared
            .iter()
            .map(|script| script.cell.slots().borrow())
            .collect();
        let mut waits: Vec<&DurableWait> = Vec::new();
        for slots in &slots {
            for pending in slots.iter() {
                pending.slot.each_wait(|wait| waits.push(wait));
            }
        }
        let mut lists = Reader::new(&snapshot.lists);
        let loaded = self.door.load_lists(ids, &waits, &clocks, &mut lists);
        loaded.map_err(|_| RestoreError::Damaged)
    }

    fn load_slot(
        &self,
        slot: &SlotImage,
        id: CoroutineId,
        clocks: &[framestep::Clock],
        image: &mut Reader<'_>,
    ) -> Result<Slot, RestoreError> {
        let mut wait = |joined: Option<&Coroutine<()>>| {
            let wait = self.door.load_wait(id, joined, clocks, image);
            wait.map_err(|_| RestoreError::Damaged)
        };
        Ok(match slot {
            SlotImage::Plain => Slot::Plain(wait(None)?),
            SlotImage::Join(joined) => {
                let cell = self.script(*joined);
                let wait = if let Some(cell) = cell {
                    wait(cell.coroutine.borrow().as_ref())?
                } else {
                    // It has ended, and has made its joiner ready.
                    wait(Some(&Coroutine::default()))?
                };
                Slot::Join(*joined, wait)
            }
            SlotImage::Signal { ticket, given } => Slot::Signal {
                ticket: *ticket,
                given: given.clone(),
            },
            SlotImage::Value { ticket, seen } => Slot::Value {
                ticket: *ticket,
                seen: *seen,
            },
            SlotImage::Request(RequestImage {
                id,
                name,
                content,
                answer,
            }) => Slot::Request(Box::new(Request {
                id: *id,
                name: name.clone(),
                content: content.clone(),
                answer: answer.clone(),
            })),
            SlotImage::Animate {
                has_end,
                length_ns,
                share,
            } => Slot::Animate(Box::new(Animation {
                next: wait(None)?,
                end: if *has_end { Some(wait(None)?) } else { None },
                length_ns: *length_ns,
                share: f32::from_bits(*share),
            })),
            SlotImage::Tick { due_ns } => Slot::Tick {
                wait: wait(None)?,
                due_ns: *due_ns,
            },
        })
    }

    fn load_signals(&self, snapshot: &Snapshot) {
        self.signals
            .replace(snapshot.signals.iter().cloned().collect());
        let values = snapshot.values.iter().map(|(name, value, changes, waits)| {
            let entry = ValueEntry {
                value: value.clone(),
                changes: *changes,
                waits: waits.clone(),
            };
            (name.clone(), entry)
        });
        self.values.replace(values.collect());
    }
}

/// Replays the journal of a new script. Returns an error if the script does not fit it.
fn replay_journal(
    cell: &Rc<ScriptCell>,
    image: &ScriptImage,
    files: &FileTable,
    compares_lines: bool,
) -> Result<(), Found> {
    cell.begin_replay(compares_lines);
    let _entered = context::enter(cell);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut future = cell.future().borrow_mut();
            let future = future.as_mut().expect("it has been made");
            future.as_mut().poll(&mut cx)
        }));
        match polled {
            Err(payload) => {
                let entry = cell.replayed();
                let message = message_of(&*payload);
                let panicked = Found::Panicked { entry, message };
                return Err(cell.divergence().unwrap_or(panicked));
            }
            Ok(Poll::Ready(end)) => {
                drop(end);
                let entry = cell.replayed();
                return Err(cell.divergence().unwrap_or(Found::Returned { entry }));
            }
            Ok(Poll::Pending) if cell.goes_on()? => {}
            Ok(Poll::Pending) => break,
        }
    }
    let saved = image.waits.iter().map(|wait| NamedWait {
        place: files.place(wait.named.place),
        ..wait.named.clone()
    });
    let mut saved: Vec<_> = saved.collect();
    saved.sort_unstable_by_key(|wait| wait.number);
    let now = cell.awaited();
    let fits = |(saved, now): (&NamedWait, &NamedWait)| saved.is_like(now, compares_lines);
    if saved.len() != now.len() || !saved.iter().zip(&now).all(fits) {
        let entry = cell.replayed();
        return Err(Found::OtherWaits { entry, saved, now });
    }
    cell.end_replay();
    Ok(())
}

/// A script that stands for one that is dropped, until the others are there.
fn dropped(shared: &Rc<Shared>, image: &ScriptImage) -> Option<ScriptCell> {
    let home = phase_of(image.home).ok()?;
    Some(ScriptCell::new(
        shared,
        image.id,
        "dropped",
        home,
        image.owner,
        image.state.clone(),
        Box::pin(std::future::pending()),
    ))
}

/// Translates the files that the journals of a snapshot name into those of the runtime.
struct FileTable {
    /// `None` if they are the same.
    numbers: Option<Vec<u32>>,
}

impl FileTable {
    fn of(shared: &Shared, snapshot: &Snapshot) -> Self {
        let is_same = shared.has_files(&snapshot.files);
        let numbers = || snapshot.files.iter().map(|file| shared.file_number(file));
        FileTable {
            numbers: (!is_same).then(|| numbers().collect()),
        }
    }

    /// A journal of its own with the same entries.
    fn translate(&self, journal: &crate::journal::Journal) -> crate::journal::Journal {
        match &self.numbers {
            None => journal.fork(),
            Some(_) => journal.map_places(|place| self.place(place)),
        }
    }

    /// The same place.
    fn place(&self, place: Place) -> Place {
        let Some(numbers) = &self.numbers else {
            return place;
        };
        let file = numbers.get(place.file as usize).copied();
        Place {
            file: file.unwrap_or(u32::MAX),
            line: place.line,
        }
    }
}
