//! What policies would do to the scripts of a save that do not fit this code, before one is chosen.

use std::fmt;
use std::rc::Rc;

use crate::ids::ScriptId;
use crate::journal::{Entry, Kind, NamedWait, said_at, waits};
use crate::replay::{RestoreError, SiteNumbers};
use crate::restore::Passed;
use crate::runtime::Runtime;
use crate::save::SaveState;
use crate::script::{KeptImage, Registry, ScriptImage, Shared, SlotImage};

/// What each [`Policy`](crate::Policy) would do to the scripts of a save that do not fit this code:
/// made by [`Registry::dry_run`](crate::Registry::dry_run). It prints as a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DryRun {
    /// How many scripts the save has.
    pub count: usize,
    /// The scripts that do not fit, in the order in which they were made.
    pub incompatibilities: Vec<Incompatibility>,
    /// The scripts that fit although their code has changed, and would go on where they were.
    pub passed: Vec<Passed>,
    /// What else is wrong: no policy helps there.
    pub errors: Vec<RestoreError>,
}

impl DryRun {
    /// Whether everything fits: a restore with `Policy::Fail` succeeds in a runtime with the settings
    /// of the save.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.incompatibilities.is_empty() && self.errors.is_empty()
    }
}

/// A script that does not fit its save, and what policies would do to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incompatibility {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: String,
    /// Why it does not fit.
    pub error: RestoreError,
    /// Whether it can restart: it has a state, which this code can read or migrate.
    pub can_restart: bool,
    /// The effects of its chapter that it would do again if it restarted, with their lines. What only
    /// reads, such as `with_ref`, is not listed.
    pub again: Vec<RepeatedEffect>,
    /// The labels of what its chapter has done [once](crate::with_once), and would not do again.
    pub once: Vec<String>,
    /// The scripts that its chapter has started and that are alive, with their names: they continue
    /// beside those that the chapter would start again.
    pub children: Vec<(ScriptId, String)>,
    /// What it waits for, with the lines: `Policy::RestartAfterWait` waits for the first of these.
    pub awaits: Vec<String>,
    /// The scripts that join it, with their names: if it is dropped, the join returns
    /// [`JoinError::Stopped`](crate::JoinError::Stopped).
    pub joined_by: Vec<(ScriptId, String)>,
}

/// An effect that a chapter would do again if it restarted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedEffect {
    /// The call, with its line: "a `with` at src/quest.rs:12".
    pub what: String,
    /// How often the chapter has done it.
    pub times: u32,
}

/// Effects that change nothing.
const READS: [&str; 4] = ["with_ref", "get", "time()", "delta_seconds()"];

impl Shared {
    /// Whether a save is of a build with the same name, in which lines must match.
    pub(crate) fn is_of_this_build(&self, save: &SaveState) -> bool {
        let registry = self.registry();
        !registry.build().is_empty() && save.build == registry.build()
    }

    /// Tries each script of a save state.
    pub(crate) fn dry_run(self: &Rc<Self>, save: &SaveState) -> DryRun {
        let numbers = SiteNumbers::of_save(self, &save.sites);
        let compares_lines = self.is_of_this_build(save);
        // Damaged ones are an error below.
        let _clocks = self.clocks.of_save(&save.clock_parents);
        let mut passed = Vec::new();
        let incompatibilities = save.scripts.iter().filter_map(|image| {
            let error = match self.replay(image, Some(save.stored()), &numbers, compares_lines) {
                Ok(cell) => {
                    passed.extend(Passed::of(&cell));
                    cell.drop_trial();
                    return None;
                }
                Err(error) => error,
            };
            let begun = self.begin_again(image);
            let can_restart = begun.is_some();
            if let Some(cell) = begun {
                cell.drop_trial();
            }
            Some(incompatibility(save, image, error, can_restart))
        });
        let incompatibilities: Vec<_> = incompatibilities.collect();
        let mut errors: Vec<RestoreError> = self.registry().unfit_values(save).collect();
        if !save.is_taken {
            if errors.is_empty() {
                errors.extend(save.misread_values(&self.sites.sites()));
            }
            errors.extend(self.try_rebuild(save).err());
        }
        DryRun {
            count: save.scripts.len(),
            incompatibilities,
            passed,
            errors,
        }
    }
}

fn incompatibility(
    save: &SaveState,
    image: &ScriptImage,
    error: RestoreError,
    can_restart: bool,
) -> Incompatibility {
    let mut incompatibility = Incompatibility {
        script: image.id,
        name: image.name.to_string(),
        error,
        can_restart,
        again: Vec::new(),
        once: Vec::new(),
        children: Vec::new(),
        awaits: Vec::new(),
        joined_by: Vec::new(),
    };
    let journal = &image.journal;
    journal.each(|entry| incompatibility.add(&entry, save));
    let mut awaited: Vec<NamedWait> = image.waits.iter().map(|wait| wait.named).collect();
    awaited.sort_unstable_by_key(|wait| wait.number);
    let said = awaited.iter().map(|wait| waits(&[*wait], &save.sites));
    incompatibility.awaits = said.collect();
    let joins = |other: &&KeptImage| {
        let mut slots = other.waits.iter().map(|wait| &wait.slot);
        slots.any(|slot| matches!(slot, SlotImage::Join(id) if *id == image.id))
    };
    let joined_by = save.scripts.iter().filter(joins);
    incompatibility.joined_by = joined_by.map(|image| named(image)).collect();
    incompatibility
}

fn named(image: &ScriptImage) -> (ScriptId, String) {
    (image.id, image.name.to_string())
}

impl Incompatibility {
    /// Adds what an entry of the chapter has done.
    fn add(&mut self, entry: &Entry<'_>, save: &SaveState) {
        let (Kind::Effect | Kind::Panicked, Some(site)) = (entry.kind, save.sites.get(entry.site))
        else {
            return;
        };
        if READS.contains(&&*site.call) {
            return;
        }
        if &*site.call == "with_once" && entry.kind == Kind::Effect {
            if let Some(label) = crate::bytes::read::<String>(entry.value) {
                if !self.once.contains(&label) {
                    self.once.push(label);
                }
            }
            return;
        }
        if let ("start" | "spawn", Some(id)) = (&*site.call, crate::bytes::read(entry.value)) {
            let child = save.scripts.iter().find(|image| image.id == ScriptId(id));
            self.children.extend(child.map(|image| named(image)));
        }
        let what = said_at(entry.kind, entry.site, &save.sites);
        match self.again.iter_mut().find(|done| done.what == what) {
            Some(done) => done.times += 1,
            None => self.again.push(RepeatedEffect { what, times: 1 }),
        }
    }
}

impl fmt::Display for RepeatedEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match self.times {
            1 => Ok(()),
            times => write!(f, ", {times} times"),
        }
    }
}

/// The error in one line, and a line for each thing that a policy would do.
impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scripts = |scripts: &[(ScriptId, String)]| -> Vec<String> {
            let scripts = scripts.iter();
            scripts
                .map(|(id, name)| format!("`{name}` ({id})"))
                .collect()
        };
        match &self.error {
            RestoreError::Diverged(divergence) => writeln!(f, "{divergence}")?,
            error => writeln!(f, "the script `{}` ({}): {error}", self.name, self.script)?,
        }
        if self.can_restart {
            f.write_str("    Restart does again:")?;
            list(f, self.again.iter())?;
            if !self.once.is_empty() {
                f.write_str("    Restart does not do again what it has done once:")?;
                list(f, self.once.iter().map(|label| format!("{label:?}")))?;
            }
            if !self.children.is_empty() {
                f.write_str("    Beside the scripts that it starts again, these continue:")?;
                list(f, scripts(&self.children).iter())?;
            }
            if !self.awaits.is_empty() {
                f.write_str("    RestartAfterWait waits for the first of:")?;
                list(f, self.awaits.iter())?;
            }
        } else {
            f.write_str("    Restart is not possible: there is no state to restart with\n")?;
        }
        if self.joined_by.is_empty() {
            return f.write_str("    Drop drops it; no script joins it\n");
        }
        f.write_str("    Drop drops it, and stops the join of:")?;
        list(f, scripts(&self.joined_by).iter())
    }
}

/// Writes items in one line.
fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    let mut is_first = true;
    for item in items {
        f.write_str(if is_first { " " } else { "; " })?;
        item.fmt(f)?;
        is_first = false;
    }
    f.write_str(if is_first { " nothing\n" } else { "\n" })
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in &self.errors {
            writeln!(f, "{error}")?;
        }
        for incompatibility in &self.incompatibilities {
            incompatibility.fmt(f)?;
        }
        for passed in &self.passed {
            writeln!(f, "{passed}")?;
        }
        let fit = self.count - self.incompatibilities.len();
        writeln!(f, "{fit} of {} scripts fit", self.count)
    }
}

impl Registry {
    /// What does not fit this code in a save state, with lines: each script is replayed, without a
    /// runtime and without effects. [`dry_run`](Self::dry_run) also says what policies would do.
    #[must_use]
    pub fn check(&self, save: &SaveState) -> Vec<RestoreError> {
        let dry_run = self.dry_run(save);
        let incompatibilities = dry_run
            .incompatibilities
            .into_iter()
            .map(|incompatibility| incompatibility.error);
        incompatibilities.chain(dry_run.errors).collect()
    }

    /// Tries the scripts of a save state, without a runtime and without effects, and says what each
    /// [`Policy`](crate::Policy) would do to those that do not fit: which effects would be done again,
    /// which would not, and which children would continue beside new ones.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// mod before {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn quest() {
    ///         with(|gold: &mut u32| *gold += 100);
    ///         wait_seconds(60).await;
    ///     }
    /// }
    ///
    /// mod after {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn quest() {
    ///         wait_seconds(1).await;
    ///         with(|gold: &mut u32| *gold += 100);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut runtime = Runtime::new(Registry::new().script(before::quest));
    /// runtime.lend(&mut 0_u32, |runtime| runtime.start(before::quest()).detach());
    /// let save = runtime.save()?;
    ///
    /// let dry_run = Registry::new().script(after::quest).dry_run(&save);
    /// assert!(!dry_run.is_compatible());
    /// let report = dry_run.to_string();
    /// assert!(report.contains("Restart does again: a `with` at "));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn dry_run(&self, save: &SaveState) -> DryRun {
        Runtime::new(self.clone()).shared().dry_run(save)
    }
}
