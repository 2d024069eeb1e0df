//! New code for scripts that run: the registry is exchanged, and each journal brings the new code
//! to the place where the earlier code was.
//!
//! Each registry of a runtime is a *generation*. A script and its image in a save state know
//! whose code has recorded them: a script of an earlier generation never keeps its future, and
//! lines are compared within a generation only.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use framestep::task::CoroutineId;

use crate::ids::ScriptId;
use crate::journal::NamedWait;
use crate::replay::{Divergence, RestoreError, SaveError};
use crate::restore::{Policy, Restored};
use crate::runtime::{Runtime, RuntimeHandle};
use crate::save::SaveState;
use crate::script::aligned::Change;
use crate::script::shared::ends::PanickedScript;
use crate::script::{KeptImage, Registry, Shared};

/// What a reload has done with each script.
///
/// [`Display`](fmt::Display) prints a line with the numbers, and one for each reason why scripts
/// did not continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// The scripts that go on where they were, in the new code.
    pub continued: Vec<Continued>,
    /// The scripts that have restarted their chapters, and why.
    pub restarted: Vec<Divergence>,
    /// The scripts that restart their chapters after the waits of the earlier code, and why.
    pub waiting: Vec<Divergence>,
    /// The scripts of another [version](crate::DurableScript::VERSION): they have restarted their
    /// chapters with the state that [`migrate`](crate::DurableScript::migrate) has made.
    pub migrated: Vec<Divergence>,
    /// The scripts that were dropped, and why.
    pub dropped: Vec<Divergence>,
}

/// A script that goes on in the new code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Continued {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: String,
    /// The lines in which the earlier code waited, such as `src/boss.rs:41`. Several in a
    /// `select!`, none if the script has not begun.
    pub from: Vec<String>,
    /// The same in the new code.
    pub to: Vec<String>,
    /// What has changed in its code before that point.
    pub changes: Vec<Change>,
}

impl Continued {
    /// Whether it waits in other lines than before.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.from != self.to
    }
}

impl fmt::Display for Reloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moved = self.continued.iter().filter(|it| it.has_moved()).count();
        write!(f, "{} continued", self.continued.len())?;
        match moved {
            0 => {}
            _ if moved == self.continued.len() => f.write_str(" at moved lines")?,
            _ => write!(f, ", {moved} of them at moved lines")?,
        }
        let others = [
            ("restarted", &self.restarted),
            ("restart after their waits", &self.waiting),
            ("migrated", &self.migrated),
            ("dropped", &self.dropped),
        ];
        for (what, scripts) in others.iter().filter(|(_, scripts)| !scripts.is_empty()) {
            write!(f, ", {} {what}", scripts.len())?;
        }
        for (what, scripts) in others {
            write_reasons(f, what, scripts)?;
        }
        Ok(())
    }
}

/// Writes a line for each reason, with the first script that has it.
fn write_reasons(f: &mut fmt::Formatter<'_>, what: &str, scripts: &[Divergence]) -> fmt::Result {
    let mut reasons: BTreeMap<_, Vec<ScriptId>> = BTreeMap::new();
    for of in scripts {
        let reason = (&of.name, of.entry, &of.recorded, &of.found);
        reasons.entry(reason).or_default().push(of.script);
    }
    for ((name, entry, recorded, found), scripts) in reasons {
        write!(f, "\n{what}: `{name}` ({}", scripts[0])?;
        match scripts.len() - 1 {
            0 => f.write_str(")")?,
            others => write!(f, " and {others} more)")?,
        }
        match entry {
            Some(0) => write!(f, ": it was {recorded}, and {found}")?,
            Some(entry) => write!(
                f,
                ", at entry {entry}: the earlier code had {recorded}; the new code {found}"
            )?,
            None => write!(f, ": it had {recorded}, and {found}")?,
        }
    }
    Ok(())
}

impl Runtime {
    /// Exchanges the code of all scripts while they wait. Each one goes on at its await in the code
    /// of `registry`: with its deadlines, its order, its owner and its clock. Handles, hooks and
    /// earlier save states stay valid.
    ///
    /// The registry comes from a library that was built from the changed sources and loaded into
    /// this process. The package `framestep_live` watches, builds and loads it; any other loader
    /// works, too, as long as both sides share one copy of framestep, and the libraries are never
    /// unloaded: names, lines and the code of destructors are in them.
    ///
    /// As for a file of another build, calls may have moved, but only as a whole. A parameter that is
    /// new needs `#[serde(default)]`, as in a [described](SaveState::described) save. `policy` says
    /// what becomes of a script whose new code does not do what its journal says. Panics of
    /// such code are in the reason, and are not printed.
    ///
    /// From then on, the registry decides which code a script has, even if earlier code starts it:
    /// a `start` by the host, which was compiled with the earlier code, begins the script of the
    /// same name in the registry. If that cannot read the state, or there is none, the script
    /// panics where it begins.
    ///
    /// # Errors
    ///
    /// If a script does not fit and its policy is [`Policy::Fail`], or it cannot restart; or if the
    /// runtime cannot be saved. Then nothing has changed: the earlier registry is still in use.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// // The same script in the earlier code and in the new one.
    /// mod earlier {
    ///     use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn lamp() {
    ///         wait_seconds(1).await;
    ///         with(|world: &mut Vec<&'static str>| world.push("dim"));
    ///     }
    /// }
    /// mod new {
    ///     use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn lamp() {
    ///         wait_seconds(1).await;
    ///         with(|world: &mut Vec<&'static str>| world.push("bright"));
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), RestoreError> {
    /// let mut runtime = Runtime::new(Registry::new().script(earlier::lamp));
    /// let mut world: Vec<&'static str> = Vec::new();
    /// runtime.start(earlier::lamp());
    /// for _ in 0..3 {
    ///     runtime.run_frame_with(&mut world, 0.25);
    /// }
    ///
    /// let reloaded = runtime.reload(Registry::new().script(new::lamp), Policy::Restart)?;
    /// assert_eq!(reloaded.to_string(), "1 continued at moved lines");
    /// runtime.run_frame_with(&mut world, 0.25);
    /// assert_eq!(world, ["bright"]); // after one second in all
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hot reload")]
    #[track_caller]
    pub fn reload(&mut self, registry: Registry, policy: Policy) -> Result<Reloaded, RestoreError> {
        self.reload_with(registry, None, |_| policy)
    }

    /// Exchanges the code and goes back to a save state of this runtime, whichever code took it:
    /// the moment of `save`, with the new code. The host puts its world back beside it.
    ///
    /// # Errors
    ///
    /// As [`reload`](Self::reload).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn reload_at(
        &mut self,
        registry: Registry,
        save: &SaveState,
        policy: Policy,
    ) -> Result<Reloaded, RestoreError> {
        self.reload_with(registry, Some(save), |_| policy)
    }

    /// Exchanges the code, now or at a save state of this runtime, with a policy for each script
    /// that does not fit: `policy` is called with the reason. See
    /// [`restore_with`](Self::restore_with).
    ///
    /// # Errors
    ///
    /// As [`reload`](Self::reload).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn reload_with(
        &mut self,
        registry: Registry,
        save: Option<&SaveState>,
        mut policy: impl FnMut(&Divergence) -> Policy,
    ) -> Result<Reloaded, RestoreError> {
        let shared = self.shared();
        shared.door.assert_idle("reload");
        shared.check_replaceable()?;
        let now = match save {
            Some(_) => None,
            None => Some(shared.save_state().map_err(unsavable)?),
        };
        let save = save.or(now.as_ref()).expect("one of them is there");
        let save = shared.with_births(save);
        let save = &shared.with_described_states(&save);
        let exchange = Exchange::begin(shared, registry);
        let restored = shared.restore(save, &mut policy, true)?;
        exchange.keep();
        // The new code may say something else of a name.
        self.shared().door.forget_declared();
        Ok(shared.reloaded(save, restored))
    }

    /// Goes back to a save state of this runtime, as [`rollback`](Self::rollback) does, but with a
    /// policy for scripts that do not fit. Such scripts exist after a [`reload`](Self::reload): an
    /// earlier save state is of the earlier code.
    ///
    /// # Errors
    ///
    /// As [`rollback`](Self::rollback), if the policy is [`Policy::Fail`] or a script cannot
    /// restart. Then nothing has changed.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn rollback_with(
        &mut self,
        save: &SaveState,
        policy: Policy,
    ) -> Result<Restored, RestoreError> {
        let shared = self.shared();
        shared.door.assert_idle("rollback");
        shared.check_replaceable()?;
        let save = shared.with_births(save);
        shared.restore(&save, &mut |_| policy, true)
    }

    /// The names of the types that the host has lent, for `framestep_live`.
    #[doc(hidden)]
    pub fn lent_types(&self) -> Vec<&'static str> {
        self.shared().lent.borrow().clone()
    }

    /// The scripts that have panicked last, after so many others, for `framestep_live`.
    #[doc(hidden)]
    pub fn panicked_since(&self, count: u64) -> Vec<PanickedScript> {
        self.shared().ends.panicked_since(count)
    }

    /// How many handles there are that a restore would make void, for `framestep_live`.
    #[doc(hidden)]
    pub fn valid_handles(&self) -> usize {
        self.shared().handles.valid()
    }

    /// How often the code of the scripts has been exchanged.
    pub fn generation(&self) -> u32 {
        self.shared().generation.get()
    }
}

impl RuntimeHandle {
    /// The coroutine that runs a script now, as the executor, its snapshots and its traces name it. A
    /// restore, a rollback and a reload make others. `None` if there is no such script.
    pub fn coroutine(&self, script: ScriptId) -> Option<CoroutineId> {
        self.shared().scripts.get(script)?.coroutine_id()
    }
}

fn unsavable(error: SaveError) -> RestoreError {
    match error {
        SaveError::Verify(error) => error,
        error => RestoreError::Executor(error.to_string()),
    }
}

/// A registry that takes the place of another one. Unless it is kept, that one is back when this is
/// dropped.
struct Exchange<'a> {
    shared: &'a Rc<Shared>,
    before: Option<Rc<Registry>>,
}

impl<'a> Exchange<'a> {
    fn begin(shared: &'a Rc<Shared>, registry: Registry) -> Self {
        let before = shared.registry.replace(Rc::new(registry));
        shared.generation.set(shared.generation.get() + 1);
        Exchange {
            shared,
            before: Some(before),
        }
    }

    fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.shared.registry.replace(before);
            self.shared.generation.set(self.shared.generation.get() - 1);
        }
    }
}

impl Shared {
    /// What a restore has done with each script of a save state.
    fn reloaded(&self, save: &SaveState, restored: Restored) -> Reloaded {
        let Restored {
            restarted,
            waiting,
            dropped,
            mut passed,
        } = restored;
        let mut reloaded = Reloaded {
            waiting,
            dropped,
            ..Reloaded::default()
        };
        let sites = self.sites.sites();
        let places = |waits: &mut dyn Iterator<Item = NamedWait>| {
            let places = waits.map(|wait| sites.place(wait.site));
            places.collect::<Vec<_>>()
        };
        let mut migrates: Vec<ScriptId> = Vec::new();
        for image in &save.scripts {
            let Some(cell) = self.scripts.get(image.id) else {
                continue;
            };
            if image.version != cell.code.version {
                migrates.push(image.id);
            }
            let [restarted, waiting] = [&restarted, &reloaded.waiting]
                .map(|scripts| scripts.iter().any(|it| it.script == image.id));
            if restarted || waiting {
                continue;
            }
            let mut waits: Vec<_> = image.waits.iter().map(|wait| wait.named).collect();
            waits.sort_unstable_by_key(|wait| wait.number);
            let at = passed.iter().position(|passed| passed.script == image.id);
            reloaded.continued.push(Continued {
                changes: at.map_or(Vec::new(), |at| passed.swap_remove(at).changes),
                script: image.id,
                name: image.name.clone().into_owned(),
                from: places(&mut waits.into_iter()),
                to: places(&mut cell.awaited().into_iter()),
            });
        }
        let is_migrated = |it: &Divergence| migrates.contains(&it.script);
        (reloaded.migrated, reloaded.restarted) = restarted.into_iter().partition(is_migrated);
        reloaded
    }

    /// The same with states that have names of fields, as far as the code in use has made them and
    /// can describe them: the new code may have other fields, or others in their places.
    fn with_described_states(&self, save: &SaveState) -> SaveState {
        let (mut save, registry) = (save.clone(), self.registry());
        let sites = save.sites.clone();
        let generation = self.generation.get();
        let of_this_code = |image: &&mut KeptImage| image.generation == generation;
        for image in save.scripts.iter_mut().filter(of_this_code) {
            let described = registry.describe_state(&image.name, image.version, &image.state);
            if let Ok(state) = described {
                image.state = state;
            }
            image.marks = image.journal.marks(&sites);
        }
        save
    }
}
