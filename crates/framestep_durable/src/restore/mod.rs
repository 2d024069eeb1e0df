//! Going back to a save state.
//!
//! 1. What was read from a file is built in another executor, to find damage.
//! 2. `replay`: the scripts whose journals have changed since get new futures, which replay the
//!    journals. The executor stays as it is meanwhile. If a script diverges, the runtime is
//!    unchanged.
//! 3. `rebuild`: all coroutines are dropped, and their scripts do not notice. Then clocks, owners
//!    and coroutines are made as they were, and the waits are registered again.
//! 4. The lists of the executor are filled.

pub(crate) mod changes;
pub(crate) mod dry_run;
pub(crate) mod folder;
pub(crate) mod rebuild;
pub(crate) mod reload;
pub(crate) mod sync;

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use framestep::Executor;
use framestep::durable::{Unsavable, Writer, phase_of};

use crate::bytes::{Bytes, Content};
use crate::ids::ScriptId;
use crate::places::table::Places;
use crate::replay::{Divergence, RestoreError, SiteNumbers};
use crate::runtime::Runtime;
use crate::save::SaveState;
use crate::script::aligned::Change;
use crate::script::{Code, Limits, Registry, ScriptCell, ScriptImage, Shared};

/// What becomes of a script that does not fit its save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The restore fails, and the runtime stays as it was.
    #[default]
    Fail,
    /// The script restarts its chapter, with the state of the chapter. What it has done
    /// [once](crate::with_once) is not done again; other effects of the chapter are. Events that a
    /// subscription in the state has not read are kept, if they are of the type that it has now.
    Restart,
    /// The script goes on waiting as its earlier code did, for the same deadlines and events. When
    /// the first of its waits ends, it restarts its chapter. So a guard who was asleep for another
    /// minute sleeps for that minute, and a shop stays closed until it opens.
    ///
    /// What only the earlier code knows is gone: an [`animate`](crate::animate) changes nothing, and
    /// the condition of a [`wait_until`](crate::wait_until) or a
    /// [`Value::wait_for`](crate::Watch::wait_for) counts as true when it would be checked next.
    ///
    /// Saved meanwhile, the script is restored in the same state, whatever the code is then, as
    /// long as its [version](crate::DurableScript::VERSION) is the same. A script without a pending
    /// wait restarts at once.
    RestartAfterWait,
    /// The script is dropped. A join returns that it was stopped.
    Drop,
}

/// What a restore has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The scripts that have restarted their chapters, and why.
    pub restarted: Vec<Divergence>,
    /// The scripts that restart their chapters after the waits of the save, and why.
    pub waiting: Vec<Divergence>,
    /// The scripts that were dropped, and why.
    pub dropped: Vec<Divergence>,
    /// The scripts whose code has changed, and that go on where they were.
    pub passed: Vec<Passed>,
}

/// A script whose code has changed, and that goes on where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: String,
    /// What has changed in its code before the point of the save.
    pub changes: Vec<Change>,
}

impl Passed {
    /// That of a script. `None` if nothing has changed before the point of the save.
    pub(crate) fn of(cell: &ScriptCell) -> Option<Self> {
        let changes = cell.realigned.borrow().changes.clone();
        (!changes.is_empty()).then(|| Passed {
            script: cell.id,
            name: cell.name().to_owned(),
            changes,
        })
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the script `{}` ({}) goes on", self.name, self.script)?;
        for (at, change) in self.changes.iter().enumerate() {
            f.write_str(if at == 0 { ": " } else { "; " })?;
            change.fmt(f)?;
        }
        Ok(())
    }
}

/// A script that is about to be restored.
pub(crate) struct Prepared<'a> {
    pub(crate) cell: Rc<ScriptCell>,
    pub(crate) image: &'a ScriptImage,
    pub(crate) fate: Fate,
}

/// The scripts that are about to be restored. If the restore ends early, even by a panic, the new
/// ones are dropped silently.
#[derive(Default)]
struct Preparing<'a> {
    scripts: Vec<Prepared<'a>>,
}

impl Drop for Preparing<'_> {
    fn drop(&mut self) {
        let new = self.scripts.iter().filter(|made| made.fate != Fate::Stays);
        new.for_each(|made| made.cell.drop_trial());
    }
}

/// What becomes of a script in a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
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
    /// Goes back to a save state. `policy` says what becomes of a script that does not fit.
    /// `compares_lines` also compares the lines of the code.
    pub(crate) fn restore(
        self: &Rc<Self>,
        save: &SaveState,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
    ) -> Result<Restored, RestoreError> {
        self.reached.note_reached();
        // Of other steps, the same frames are other times: the journals would be of another game.
        let settings = self.door.settings();
        if save.settings != settings {
            return Err(RestoreError::OtherSettings {
                saved: save.settings,
                now: settings,
            });
        }
        // Bytes from a file may say anything. A save state of this process was made by `save_state`, and is
        // consistent.
        if !save.is_taken {
            if let Some(error) = self.registry().unfit_values(save).next() {
                return Err(error);
            }
            self.try_rebuild(save)?;
        }
        // From here to `rebuild`, everything can fail, and nothing is replaced: new scripts stand beside those
        // that run, and `prepared` drops them again. The tickets that their states take count on from the
        // save, in a counter of their own.
        let mut restored = Restored::default();
        let mut prepared = Preparing::default();
        self.events.restored_ticket.set(save.last_ticket);
        self.events.misread.take();
        let clocks = self.clocks.of_save(&save.clock_parents);
        let clocks = clocks.ok_or(RestoreError::Damaged)?;
        self.prepare_all(save, policy, compares_lines, &mut restored, &mut prepared)?;
        // What the new scripts store and read is known from their replays.
        if !save.is_taken {
            if let Some(error) = save.misread_values(&self.sites.sites()) {
                return Err(error);
            }
        }
        clocks.keep();
        // From here on, nothing fails: what a file may say was tried above. All is replaced in one step. The
        // hooks of the host may use the runtime, so they are called before or after it, never in the middle.
        let late = self.door.dismiss_deferred();
        let act = || self.door.replace(|| self.rebuild(save, &prepared.scripts));
        let rebuilt = self.losses.hold(act);
        drop(late);
        debug_assert!(
            rebuilt.is_ok(),
            "damage is found before anything is replaced"
        );
        rebuilt?;
        // They are the scripts of the runtime now: `Preparing` must not drop them.
        prepared.scripts.clear();
        Ok(restored)
    }

    /// Builds what a save state says in another executor, with scripts that only stand there.
    /// Whether that succeeds depends on the save state and the settings alone. So damage is found
    /// while the runtime is as it was.
    pub(crate) fn try_rebuild(&self, save: &SaveState) -> Result<(), RestoreError> {
        if !save.has_consistent_numbers() {
            return Err(RestoreError::Damaged);
        }
        let [fixed_delta, max_delta] = save.settings;
        let builder = Executor::builder().max_delta(max_delta);
        let executor = builder.fixed_delta(fixed_delta).build();
        let registry = Registry::clone(&self.registry());
        let limits = Limits::default();
        let shared = Shared::new(executor.durable(), executor.handle(), registry, limits);
        shared.close_hooks();
        let stand_in = |image| {
            let cell = dropped(&shared, image).ok_or(RestoreError::Damaged)?;
            let fate = Fate::Stays;
            Ok(Prepared { cell, image, fate })
        };
        let prepared: Result<Vec<_>, _> =
            save.scripts.iter().map(|image| stand_in(image)).collect();
        let built = prepared.and_then(|prepared| shared.rebuild(save, &prepared));
        // The scripts refer to `shared`, and it to the scripts.
        shared.clear(&[]);
        built
    }

    /// Goes back to a save state from a file: all earlier handles become invalid.
    pub(crate) fn restore_file(
        self: &Rc<Self>,
        save: &SaveState,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
    ) -> Result<Restored, RestoreError> {
        self.check_replaceable()?;
        // Before the scripts are made, because a script is of the epoch in which it was made; and `unchanged`
        // keeps no script of an earlier one.
        let before = self.handles.epoch.get();
        self.handles.epoch.set(before.wrapping_add(1));
        let restore = || self.restore(save, policy, compares_lines);
        let restored = catch_unwind(AssertUnwindSafe(restore));
        if matches!(restored, Ok(Ok(_))) {
            self.long_chapters.keep_reported(|_| false);
            self.reached.begin_timeline();
        } else {
            self.handles.epoch.set(before);
        }
        // Of a policy, or of a state that is read.
        restored.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Goes back to a save state of this runtime.
    pub(crate) fn go_back(self: &Rc<Self>, save: &SaveState) -> Result<(), RestoreError> {
        self.check_replaceable()?;
        let save = self.with_births(save);
        self.restore(&save, &mut |_| Policy::Fail, true).map(drop)
    }

    /// The save state, where one from a file is of the scripts that have these numbers and names now:
    /// the handles of the host are theirs.
    pub(crate) fn with_births<'a>(&self, save: &'a SaveState) -> Cow<'a, SaveState> {
        let mut save = Cow::Borrowed(save);
        if !save.is_taken {
            let save = save.to_mut();
            for image in &mut save.scripts {
                let cell = self
                    .scripts
                    .get(image.id)
                    .filter(|cell| cell.name() == image.name);
                if let Some(cell) = cell {
                    image.birth = cell.birth.get();
                }
            }
            for image in &mut save.ended {
                image.birth = self.birth(image.id).unwrap_or_default();
            }
            for image in &mut save.stops {
                image.birth = self.birth(image.id).unwrap_or_default();
            }
        }
        save
    }

    /// Whether nothing but scripts would be lost with what is there.
    pub(crate) fn check_replaceable(&self) -> Result<(), RestoreError> {
        let checked = self.door.check(&self.scripts.coroutine_ids());
        let checked = if let Err(other @ Unsavable::OtherCoroutines(_)) = checked {
            Err(other)
        } else {
            let clocks = self.door.name_clocks(&self.clocks.all());
            let guards = self.guards.count();
            self.door
                .save_clocks(&clocks, guards, &mut Writer::default())
        };
        checked.map_err(|error| RestoreError::Executor(error.to_string()))
    }

    /// Makes all scripts of a save state.
    fn prepare_all<'a>(
        self: &Rc<Self>,
        save: &'a SaveState,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
        restored: &mut Restored,
        prepared: &mut Preparing<'a>,
    ) -> Result<(), RestoreError> {
        let numbers = SiteNumbers::of_save(self, &save.sites);
        prepared.scripts.reserve(save.scripts.len());
        for image in &save.scripts {
            let script = self.prepare(save, image, &numbers, policy, compares_lines, restored)?;
            prepared.scripts.push(script);
        }
        // A destructor in a replay may have ended, through the host, a script that was to stay.
        let has_ended = |script: &Prepared<'_>| {
            script.fate == Fate::Stays && script.cell.future().borrow().is_none()
        };
        while let Some(at) = prepared.scripts.iter().position(has_ended) {
            let image = prepared.scripts[at].image;
            let script = self.prepare(save, image, &numbers, policy, compares_lines, restored)?;
            prepared.scripts[at] = script;
        }
        Ok(())
    }

    /// Makes a script of a save state. One that has changed nothing since stays as it is.
    fn prepare<'a>(
        self: &Rc<Self>,
        save: &SaveState,
        image: &'a ScriptImage,
        numbers: &SiteNumbers,
        policy: &mut dyn FnMut(&Divergence) -> Policy,
        compares_lines: bool,
        restored: &mut Restored,
    ) -> Result<Prepared<'a>, RestoreError> {
        let prepared = |cell, fate| Prepared { cell, image, fate };
        // Its future stands at the same await, with the same journal behind it: a replay would only make it
        // again. This is what makes a rollback cheap.
        if let Some(cell) = self.unchanged(image) {
            return Ok(prepared(cell, Fate::Stays));
        }
        let error = match self.replay(image, Some(save.stored()), numbers, compares_lines) {
            Ok(cell) => {
                restored.passed.extend(Passed::of(&cell));
                return Ok(prepared(cell, Fate::GoesOn));
            }
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
            // No policy helps: what the save says of the script cannot be read at all.
            _ => return Err(error),
        };
        match policy(&divergence) {
            Policy::Fail => Err(error),
            Policy::RestartAfterWait if !image.waits.is_empty() => {
                let cell = self.begin_after_wait(image, numbers).ok_or(error)?;
                restored.waiting.push(divergence);
                Ok(prepared(cell, Fate::GoesOn))
            }
            Policy::Restart | Policy::RestartAfterWait => {
                let cell = self.begin_again(image).ok_or(error)?;
                restored.restarted.push(divergence);
                Ok(prepared(cell, Fate::Restarts))
            }
            // Others may join it, so it is there like the others, and is stopped once all are.
            Policy::Drop => {
                restored.dropped.push(divergence);
                let cell = dropped(self, image).ok_or(RestoreError::Damaged)?;
                Ok(prepared(cell, Fate::Dropped))
            }
        }
    }

    /// The script of an image, if it is alive and has recorded nothing since.
    fn unchanged(&self, image: &ScriptImage) -> Option<Rc<ScriptCell>> {
        let cell = self.scripts.get(image.id)?;
        let is_same = cell.journal().is(&image.journal)
            && cell.has_begun() == image.has_begun
            // Its future has begun waits that the save does not have, or will.
            && !image.has_new_waits
            && cell.generation() == self.generation.get()
            // Otherwise its handles are invalid.
            && cell.epoch() == self.handles.epoch.get()
            && cell.future().borrow().is_some();
        is_same.then_some(cell)
    }
}

/// A script that stands for another one: for one that is dropped, until the others are there, or
/// in a [trial](Shared::try_rebuild).
fn dropped(shared: &Rc<Shared>, image: &ScriptImage) -> Option<Rc<ScriptCell>> {
    let home = phase_of(image.home).ok()?;
    Some(ScriptCell::new(
        shared,
        image.id,
        Code {
            name: "dropped",
            version: 0,
            places: Places::NONE,
            mark: None,
        },
        home,
        image.owner,
        Bytes::EMPTY,
        Box::pin(std::future::pending()),
    ))
}

impl Registry {
    /// The values of a file that are not of their types.
    pub(crate) fn unfit_values(&self, save: &SaveState) -> impl Iterator<Item = RestoreError> {
        save.values.iter().filter_map(|(name, value, ..)| {
            let name = name.to_string();
            match (self.value(&name), value.as_ref()?) {
                (Some(Some(known)), value) => {
                    let why = known.compact(value).err()?;
                    let type_name = known.name.to_owned();
                    Some(RestoreError::OtherValue {
                        name,
                        type_name,
                        why,
                    })
                }
                (None, Content::Described(_)) => Some(RestoreError::UnknownValue { name }),
                (None, Content::Compact(_)) | (Some(None), _) => None,
            }
        })
    }
}

impl Runtime {
    /// Restores a save state from a file: everything becomes as it was. The current scripts are
    /// dropped, their destructors have no effects, and handles to them become invalid.
    ///
    /// If the host had a handle at the time of the save, it can get it back with
    /// [`handle`](crate::ScriptId::handle) before the next run. Results without a handle by then are
    /// dropped.
    ///
    /// # Errors
    ///
    /// If a script does not fit its journal, the file is damaged, or the runtime cannot be
    /// replaced. All this is found before the first script is dropped: nothing has changed then.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn restore(&mut self, save: &SaveState, policy: Policy) -> Result<Restored, RestoreError> {
        self.restore_with(save, |_| policy)
    }

    /// The same with a policy for each script that does not fit its save: `policy` is called
    /// with the reason.
    ///
    /// If the state of a script cannot be read, or the script is not in the registry, the
    /// divergence has no [`entry`](Divergence::entry). This script cannot restart, so
    /// `Policy::Restart` is an error.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore), if a policy is [`Policy::Fail`].
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn load(runtime: &mut Runtime, save: &SaveState) -> Result<(), RestoreError> {
    /// let restored = runtime.restore_with(save, |divergence| match &*divergence.name {
    ///     "main quest" => Policy::Fail,
    ///     _ if divergence.entry.is_none() => Policy::Drop,
    ///     _ => Policy::Restart,
    /// })?;
    /// for lost in restored.dropped {
    ///     eprintln!("{lost}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn restore_with(
        &mut self,
        save: &SaveState,
        mut policy: impl FnMut(&Divergence) -> Policy,
    ) -> Result<Restored, RestoreError> {
        self.shared().door.assert_idle("restore");
        let shared = self.shared();
        shared.restore_file(save, &mut policy, shared.is_of_this_build(save))
    }

    /// Goes back to a save state of this runtime. Scripts that have recorded nothing since keep
    /// their futures; the journals of the others are replayed with new futures. Later
    /// save states remain valid.
    ///
    /// [Handles](crate::ScriptHandle) of the host remain those of their scripts: of a script that is taken
    /// back, they do nothing, and those of a script that is there again are valid again. A save state
    /// that was read from bytes does not know which scripts it has: these are the present ones that
    /// have the same numbers and names.
    ///
    /// # Errors
    ///
    /// If a script does not fit its journal: it depends on what is not recorded. Or if the
    /// save state is from a file, as those of [`restore`](Self::restore). Then nothing has changed.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn rollback(&mut self, save: &SaveState) -> Result<(), RestoreError> {
        self.shared().door.assert_idle("rollback");
        self.shared().go_back(save)
    }
}
