//! What can go wrong when scripts are saved and restored.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use framestep::durable::Unsavable;

use crate::ids::ScriptId;
use crate::replay::Divergence;

/// Why a runtime cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The executor is not in a state that can be saved.
    Executor(String),
    /// A script waits for something that is not recorded, or has done so in its present chapter.
    NotRecorded {
        /// The script.
        script: ScriptId,
        /// Its name.
        name: String,
        /// What it has done last that is recorded, with the line. `None` if there is nothing.
        after: Option<String>,
        /// What it waits for.
        why: String,
        /// Whether that has come: the script can be saved in its next chapter.
        is_over: bool,
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
                ..
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
                 `Registry::with_watch`, or forget it with `Registry::without_watch`"
            ),
            RestoreError::UnknownScript { name } => write!(
                f,
                "the save has a script named `{name}`, which the registry does not know: add it \
                 with `Registry::script`; if it was renamed, give it its earlier `NAME`; or let \
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
