//! What can go wrong when scripts are saved and restored.

use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use framestep::durable::Unsavable;

use crate::cell::ScriptId;
use crate::image::NamedWait;
use crate::journal::{Journal, Kind};
use crate::site::{SiteId, Sites};

/// Why a runtime cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The executor is not in a state that can be saved.
    Executor(String),
    /// A script waits for something that is not recorded.
    NotRecorded {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: String,
        /// What it has done last that is recorded, with the line. `None` if there is nothing.
        after: Option<String>,
        /// What it waits for.
        why: String,
    },
    /// A script could not be restored from this save. In debug builds, each save is tried.
    Verify(RestoreError),
    /// A state, a value or a world cannot be [described](crate::SaveState::described).
    NotDescribed {
        /// What it is: "the state of the script `shop`".
        what: String,
        /// Why not.
        why: String,
    },
    /// The game's own state cannot be written, and the save is not described.
    World {
        /// Its type.
        type_name: &'static str,
        /// Why.
        why: String,
    },
}

impl From<Unsavable> for SaveError {
    fn from(error: Unsavable) -> Self {
        SaveError::Executor(error.to_string())
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Executor(why) => write!(f, "the runtime cannot be saved: {why}"),
            SaveError::NotRecorded {
                script,
                name,
                after,
                why,
            } => {
                write!(f, "the script `{name}` ({script}) cannot be saved")?;
                if let Some(after) = after {
                    write!(f, ", after {after}")?;
                }
                write!(f, ": {why}")
            }
            SaveError::NotDescribed { what, why } => {
                write!(f, "{what} cannot be described: {why}")
            }
            SaveError::World { type_name, why } => {
                write!(
                    f,
                    "a world of type `{type_name}` cannot be saved: {why}. It must serialise without a \
                     self-describing format, or be in a file of a `SaveState::described`"
                )
            }
            SaveError::Verify(error) => {
                f.write_str("what was saved could not be restored: ")?;
                match error {
                    // Without the advice about files.
                    RestoreError::Diverged(divergence) => divergence.fmt(f),
                    error => error.fmt(f),
                }
            }
        }
    }
}

impl Error for SaveError {}

/// Why a runtime cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are not a save of this crate.
    NotASave,
    /// The save was written by another version of the format.
    Version {
        /// The version of the file.
        found: u32,
        /// The version of this crate.
        expected: u32,
    },
    /// The save was truncated or changed.
    Damaged,
    /// The executor of the runtime is not in a state that can be replaced.
    Executor(String),
    /// The runtime has other settings than the one that was saved: the length of its fixed
    /// steps, and that of its longest frame.
    OtherSettings {
        /// Those of the save.
        saved: [Duration; 2],
        /// Those of the runtime.
        now: [Duration; 2],
    },
    /// The file has a world beside the save state.
    HasWorld,
    /// The file has no world beside the save state.
    NoWorld,
    /// The world in the file is of another type, or its type has changed.
    OtherWorld {
        /// The type that was to be read.
        type_name: String,
        /// What does not fit.
        why: String,
    },
    /// A value in the file is of another type, or its type has changed.
    OtherValue {
        /// Its name.
        name: String,
        /// The type that was to be read.
        type_name: String,
        /// What does not fit.
        why: String,
    },
    /// The save has a described value that the registry does not know.
    UnknownValue {
        /// Its name.
        name: String,
    },
    /// The save has a script that is not in the registry.
    UnknownScript {
        /// Its name.
        name: String,
    },
    /// A script does not do what it did when it was saved.
    Diverged(Divergence),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::NotASave => f.write_str("this is not a save of durable scripts"),
            RestoreError::Version { found, expected } => write!(
                f,
                "the save has version {found} of the format, and this build reads version \
                 {expected}"
            ),
            RestoreError::Executor(why) => write!(f, "the runtime cannot be restored: {why}"),
            RestoreError::Damaged => f.write_str("the save is damaged: it was truncated or changed"),
            RestoreError::OtherSettings { saved, now } => write!(
                f,
                "the save is from a runtime with a `fixed_delta` of {:?} and a `max_delta` of \
                 {:?}, and this one has {:?} and {:?}: make the runtime with those of the save \
                 (`Runtime::with`)",
                saved[0], saved[1], now[0], now[1]
            ),
            RestoreError::HasWorld => f.write_str(
                "the file has a world beside the save state: read it with `SaveState::from_bytes_with`",
            ),
            RestoreError::NoWorld => f.write_str(
                "the file has no world beside the save state: read it with `SaveState::from_bytes`",
            ),
            RestoreError::OtherWorld { type_name, why } => {
                write!(f, "the world in the file is not a `{type_name}`: {why}")
            }
            RestoreError::OtherValue {
                name,
                type_name,
                why,
            } => write!(f, "the value `{name}` in the save is not a `{type_name}`: {why}"),
            RestoreError::UnknownValue { name } => write!(
                f,
                "the save has a value named `{name}`, which the registry does not know: add it with \
                 `Registry::with_value`, or forget it with `Registry::without_value`"
            ),
            RestoreError::UnknownScript { name } => write!(
                f,
                "the save has a script named `{name}`, which the registry does not know: add it \
                 with `Registry::with`; if it was renamed, give it its earlier `NAME`; or let \
                 `Policy::Drop` drop it"
            ),
            RestoreError::Diverged(divergence) => {
                divergence.fmt(f)?;
                f.write_str(if divergence.entry.is_some() {
                    ". `Policy::Restart` restarts its chapter, `Policy::Drop` drops it"
                } else {
                    ". `Policy::Drop` drops it, and `Policy::Restart` would need that state, too"
                })
            }
        }
    }
}

impl Error for RestoreError {}

/// A script that does not do what it did when it was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: String,
    /// The number of the journal entry, from 1. 0 if the save is of another version of the script,
    /// and `None` if its state cannot be read or it is not in the registry. If `migrate` has no state
    /// for a save of another version, [`DryRun`](crate::DryRun) says that it cannot restart.
    pub entry: Option<u32>,
    /// What the save says, with the line.
    pub recorded: String,
    /// What the script does instead, with the line.
    pub found: String,
}

impl Divergence {
    /// Whether the code that is there now has panicked.
    #[must_use]
    pub fn has_panicked(&self) -> bool {
        self.found.starts_with(PANICS)
    }
}

/// How the text about a panic begins.
const PANICS: &str = "panics: ";

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence {
            script,
            name,
            recorded,
            found,
            ..
        } = self;
        write!(f, "the script `{name}` ({script}) does not fit its save")?;
        match self.entry {
            Some(0) => write!(f, ": the save has {recorded}; now it {found}"),
            Some(entry) => write!(
                f,
                ", at entry {entry}: the save has {recorded}; now it {found}. Either its code has \
                 changed since, or it depends on what is not recorded"
            ),
            None => write!(f, ": the save has {recorded}, and {found}"),
        }
    }
}

/// Why pending waits are not those of the save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherWaits {
    /// Other calls, or for something else.
    Calls,
    /// The number of a wait in the save, and now.
    Number(u32, u32),
    /// They are in other lines, or not as far from the calls before them as they were.
    Place,
}

impl OtherWaits {
    /// What is said after the waits of the present code.
    fn why(self) -> String {
        match self {
            OtherWaits::Calls => String::new(),
            OtherWaits::Number(saved, now) => as_another_wait(saved, now),
            OtherWaits::Place => format!(", {MOVED}"),
        }
    }
}

/// Why a call is not the one that was recorded, although it is the same for the same thing.
const MOVED: &str = "which does not follow what is before it as it did: lines between the two have \
                     been added or removed";

/// Why an effect is not the one that was recorded, although it is the same call in the same line.
const EARLIER: &str = ", without the wait before it";

/// The same for a wait whose number is another one.
fn as_another_wait(saved: u32, now: u32) -> String {
    let [saved, now] = [saved, now].map(|number| number + 1);
    format!(
        ", as wait number {now} of its chapter instead of {saved}: before it, a wait has been added or \
         removed, such as that of a `timeout`"
    )
}

/// A divergence, as found by a replay.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Damaged {
        entry: u32,
    },
    NotReached {
        entry: u32,
        now: Vec<NamedWait>,
    },
    OtherLine {
        entry: u32,
        here: SiteId,
    },
    /// The call has moved by another number of lines than those before it.
    OtherShift {
        entry: u32,
        here: SiteId,
    },
    Other {
        entry: u32,
        kind: Kind,
        here: SiteId,
    },
    OtherValue {
        entry: u32,
        type_name: &'static str,
    },
    /// What was done once has another label.
    OtherLabel {
        entry: u32,
        label: String,
    },
    Returned {
        entry: u32,
    },
    Panicked {
        entry: u32,
        message: String,
    },
    NotRecorded {
        entry: u32,
        /// Where the wait began, if it is one of framestep.
        at: Option<&'static Location<'static>>,
    },
    OtherWaits {
        entry: u32,
        saved: Vec<NamedWait>,
        now: Vec<NamedWait>,
        why: OtherWaits,
    },
    /// A wait is about another script, owner, subscription or promise: what it is about in the save,
    /// and now.
    OtherSubject {
        entry: u32,
        wait: NamedWait,
        says: [String; 2],
    },
    /// A value that is stored for the script is of another type than it reads.
    OtherStored {
        entry: u32,
        what: String,
        type_name: &'static str,
    },
    OtherVersion {
        saved: u32,
        now: u32,
    },
    OtherState {
        type_name: &'static str,
        why: String,
    },
}

/// Lists what a script waits for.
pub(crate) fn waits(waits: &[NamedWait], sites: &Sites) -> String {
    let said = waits
        .iter()
        .map(|wait| at(&awaited(wait.site, sites), wait.site, sites));
    let said: Vec<String> = said.collect();
    match said.len() {
        0 => "nothing".to_owned(),
        _ => said.join(" and "),
    }
}

/// Says which call a wait is.
fn awaited(site: SiteId, sites: &Sites) -> String {
    match sites.get(site) {
        Some(site) if site.name.is_empty() => format!("`{}`", site.call),
        Some(site) => format!("`{}` for `{}`", site.call, site.name),
        None => "?".to_owned(),
    }
}

/// Says which call an effect is.
fn done(site: SiteId, sites: &Sites) -> String {
    let Some(site) = sites.get(site) else {
        return "?".to_owned();
    };
    let article = if site.call.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    match &*site.name {
        "" => format!("{article} `{}`", site.call),
        name => format!("{article} `{}` of `{name}`", site.call),
    }
}

fn at(what: &str, site: SiteId, sites: &Sites) -> String {
    format!("{what} at {}", sites.place(site))
}

/// Says what an entry records, and where.
pub(crate) fn said_at(kind: Kind, site: SiteId, sites: &Sites) -> String {
    let what = match kind {
        Kind::Ended(_) => format!("the end of {}", awaited(site, sites)),
        Kind::Failed(_) => format!("a panic of {}", awaited(site, sites)),
        Kind::Effect => done(site, sites),
        Kind::Panicked => format!("a panic of {}", done(site, sites)),
    };
    at(&what, site, sites)
}

impl Found {
    /// The divergence of a script from a journal with these sites.
    #[expect(clippy::too_many_lines, reason = "a case for each kind")]
    pub(crate) fn of(
        self,
        script: ScriptId,
        name: &str,
        sites: &Sites,
        journal: &Journal,
    ) -> Divergence {
        let divergence = |entry, recorded, found| Divergence {
            script,
            name: name.to_owned(),
            entry,
            recorded,
            found,
        };
        let recorded_entry = |entry: u32| match journal.at(entry) {
            Some((kind, site)) => said_at(kind, site, sites),
            None => "no more entries".to_owned(),
        };
        let (entry, recorded, found) = match self {
            Found::Damaged { entry } => (
                entry,
                "an entry that cannot be read".to_owned(),
                "cannot continue".to_owned(),
            ),
            Found::NotReached { entry, now } => {
                let why = not_reached(journal, entry, &now, sites);
                let found = format!("awaits {}{why}", waits(&now, sites));
                (entry, recorded_entry(entry), found)
            }
            Found::OtherLine { entry, here } => (
                entry,
                recorded_entry(entry),
                format!("does so at {}", sites.place(here)),
            ),
            Found::OtherShift { entry, here } => (
                entry,
                recorded_entry(entry),
                format!("does so at {}, {MOVED}", sites.place(here)),
            ),
            Found::Other { entry, kind, here } => {
                let now = match kind {
                    Kind::Ended(_) | Kind::Failed(_) => {
                        format!("awaits {}", at(&awaited(here, sites), here, sites))
                    }
                    Kind::Effect | Kind::Panicked => {
                        format!("does {}", at(&done(here, sites), here, sites))
                    }
                };
                let is_same = journal.at(entry) == Some((kind, here));
                let why = if is_same { EARLIER } else { "" };
                (entry, recorded_entry(entry), format!("{now}{why}"))
            }
            Found::OtherValue { entry, type_name } => (
                entry,
                recorded_entry(entry),
                format!("reads its value as a `{type_name}`, which it is not"),
            ),
            Found::OtherLabel { entry, label } => (
                entry,
                match journal.value_at(entry).and_then(|label| label.read()) {
                    Some::<String>(label) => format!("{} as {label:?}", recorded_entry(entry)),
                    None => recorded_entry(entry),
                },
                format!("does it as {label:?}"),
            ),
            Found::Returned { entry } => (entry, recorded_entry(entry), "returns".to_owned()),
            Found::Panicked { entry, message } => {
                let found = match plain_wait(&message) {
                    Some(call) => format!(
                        "awaits {call} of `framestep`, which is not recorded: await that of \
                         `framestep_durable`"
                    ),
                    None => format!("{PANICS}{message}"),
                };
                (entry, recorded_entry(entry), found)
            }
            Found::NotRecorded { entry, at } => {
                let place = match (at, entry.checked_sub(1)) {
                    (Some(at), _) => format!(" at {}:{}", at.file(), at.line()),
                    (None, Some(last)) => format!(", after {},", recorded_entry(last)),
                    (None, None) => String::new(),
                };
                let found = format!(
                    "awaits{place} what is not recorded, such as a signal, a watch or a semaphore of \
                     `framestep`, or a future of another crate: await those of `framestep_durable`"
                );
                (entry, recorded_entry(entry), found)
            }
            Found::OtherWaits {
                entry,
                saved,
                now,
                why,
            } => (
                entry,
                format!("it awaiting {}", waits(&saved, sites)),
                format!("awaits {}{}", waits(&now, sites), why.why()),
            ),
            Found::OtherSubject { entry, wait, says } => {
                let [saved, now] = says;
                let wait = waits(&[wait], sites);
                let recorded = format!("it awaiting {wait}, for {saved}");
                (entry, recorded, format!("is for {now}"))
            }
            Found::OtherStored {
                entry,
                what,
                type_name,
            } => {
                let found = format!("reads that as a `{type_name}`, which it is not");
                (entry, what, found)
            }
            Found::OtherVersion { saved, now } => {
                let recorded = format!("version {saved} of it");
                return divergence(Some(0), recorded, format!("is version {now}"));
            }
            Found::OtherState { type_name, why } => {
                let recorded = "a state with which its chapter began".to_owned();
                let found = format!("that is not a `{type_name}` any more: {why}");
                return divergence(None, recorded, found);
            }
        };
        divergence(Some(entry + 1), recorded, found)
    }
}

/// Why an entry is not reached, if the script awaits the same call for the same thing.
fn not_reached(journal: &Journal, entry: u32, now: &[NamedWait], sites: &Sites) -> String {
    let Some((Kind::Ended(saved) | Kind::Failed(saved), site)) = journal.at(entry) else {
        return String::new();
    };
    let is_like = |wait: &&NamedWait| match (sites.get(site), sites.get(wait.site)) {
        (Some(then), Some(here)) => then.is_like(here),
        _ => false,
    };
    if now.iter().any(|wait| wait.number == saved) {
        return String::new();
    }
    let same = now.iter().find(is_like);
    same.map_or_else(String::new, |wait| as_another_wait(saved, wait.number))
}

/// The name of one of framestep's own waits, from the message of its panic when it is polled
/// outside an executor, as in a replay.
fn plain_wait(message: &str) -> Option<&str> {
    let (call, _) = message.split_once(" was polled outside of an executor")?;
    Some(call)
}
