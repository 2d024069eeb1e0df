//! What can go wrong when scripts are saved and restored.

use std::error::Error;
use std::fmt;

use framestep::durable::Unsavable;

use crate::cell::ScriptId;
use crate::journal::{Effect, Kind, Place};

/// Why a runtime cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The executor is not in a state that can be saved.
    Executor(String),
    /// A script could not be restored from this save. In debug builds, each save is tried.
    Verify(RestoreError),
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
            SaveError::Verify(error) => {
                write!(f, "what was saved could not be restored: {error}")
            }
        }
    }
}

impl Error for SaveError {}

/// Why a runtime cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are no save of this crate.
    NotASave,
    /// The save was written by another version of the format.
    Version {
        /// The version of the file.
        found: u32,
        /// The version of this crate.
        expected: u32,
    },
    /// The save was cut or changed.
    Damaged,
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
            RestoreError::NotASave => f.write_str("this is no save of durable scripts"),
            RestoreError::Version { found, expected } => write!(
                f,
                "the save has version {found} of the format, and this build reads version \
                 {expected}"
            ),
            RestoreError::Damaged => f.write_str(
                "the save is damaged, or from a runtime with another `fixed_delta` or \
                 `max_delta`",
            ),
            RestoreError::UnknownScript { name } => write!(
                f,
                "the save has a script named `{name}`, which the registry does not know: add it \
                 with `Registry::with`, or let `Policy::Drop` drop it"
            ),
            RestoreError::Diverged(divergence) => divergence.fmt(f),
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
    /// The number of the entry of its journal, from 1.
    pub entry: u32,
    /// What the save says, with the line.
    pub recorded: String,
    /// What the script does instead, with the line.
    pub found: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the script `{}` ({}) does not fit its save, at entry {}: the save has {}; now it {}. \
             Either its code has changed since, or it depends on what is not recorded",
            self.name, self.script, self.entry, self.recorded, self.found
        )
    }
}

/// A divergence, as a replay finds it.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Damaged {
        entry: u32,
    },
    NotReached {
        entry: u32,
        recorded: Kind,
        place: Place,
    },
    OtherLine {
        entry: u32,
        recorded: Kind,
        place: Place,
        here: Place,
    },
    Other {
        entry: u32,
        does: Kind,
        here: Place,
    },
    Returned {
        entry: u32,
    },
    Panicked {
        entry: u32,
        message: String,
    },
    OtherWaits {
        entry: u32,
        saved: Vec<u32>,
        found: Vec<u32>,
    },
    OtherState,
}

impl Found {
    /// The divergence, with the files of the runtime's table.
    pub(crate) fn of(
        self,
        script: ScriptId,
        name: &str,
        file: impl Fn(Place) -> String,
        recorded_at: impl Fn(u32) -> Option<(Kind, Place)>,
    ) -> Divergence {
        let recorded_entry = |entry: u32| match recorded_at(entry) {
            Some((kind, place)) => format!("{} at {}", said(kind), file(place)),
            None => "no more entries".to_owned(),
        };
        let (entry, recorded, found) = match self {
            Found::Damaged { entry } => (
                entry,
                "an entry that cannot be read".to_owned(),
                "cannot go on".to_owned(),
            ),
            Found::NotReached {
                entry,
                recorded,
                place,
            } => (
                entry,
                format!("{} at {}", said(recorded), file(place)),
                "waits for something else".to_owned(),
            ),
            Found::OtherLine {
                entry,
                recorded,
                place,
                here,
            } => (
                entry,
                format!("{} at {}", said(recorded), file(place)),
                format!("does so at {}", file(here)),
            ),
            Found::Other { entry, does, here } => (
                entry,
                recorded_entry(entry),
                format!("does {} at {}", said(does), file(here)),
            ),
            Found::Returned { entry } => (entry, recorded_entry(entry), "returns".to_owned()),
            Found::Panicked { entry, message } => {
                (entry, recorded_entry(entry), format!("panics: {message}"))
            }
            Found::OtherWaits {
                entry,
                saved,
                found,
            } => (
                entry,
                format!("the waits {saved:?} under way"),
                format!("has the waits {found:?}"),
            ),
            Found::OtherState => (
                0,
                "a state of its chapter".to_owned(),
                "cannot read that state".to_owned(),
            ),
        };
        Divergence {
            script,
            name: name.to_owned(),
            entry: entry + 1,
            recorded,
            found,
        }
    }
}

fn said(kind: Kind) -> String {
    match kind {
        Kind::Ended(wait) => format!("the end of wait {}", wait + 1),
        Kind::Effect(effect) => match effect {
            Effect::Step => "a `step`",
            Effect::Time => "a `time()`",
            Effect::Start => "a `start`",
            Effect::Spawn => "a `spawn`",
            Effect::Emit => "an `emit`",
            Effect::Set => "a `set`",
            Effect::Get => "a `get`",
            Effect::Command => "a stop, pause, resume or change of a clock",
        }
        .to_owned(),
    }
}
