//! Errors of saving and loading a world, and of access to missing entities.

use std::any::type_name;
use std::error::Error;
use std::fmt;

use framestep_durable::RestoreError;
use serde::{Deserialize, Serialize};

use super::entity::DurableId;

/// A durable script accessed an entity or a component that does not exist.
///
/// Unlike [`bevy_framestep::Missing`](crate::Missing), it can be recorded: it refers to the
/// entity by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Missing {
    /// The entity was despawned.
    Entity {
        /// Its number.
        entity: DurableId,
    },
    /// The entity does not have the component.
    Component {
        /// The number of the entity.
        entity: DurableId,
        /// The type of the component.
        component: String,
    },
}

impl Missing {
    pub(super) fn entity(entity: DurableId) -> Self {
        Missing::Entity { entity }
    }

    pub(super) fn component<C>(entity: DurableId) -> Self {
        Missing::Component {
            entity,
            component: type_name::<C>().to_owned(),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Entity { entity } => write!(f, "there is no durable entity {entity}"),
            Missing::Component { entity, component } => {
                write!(f, "the durable entity {entity} has no {component}")
            }
        }
    }
}

impl Error for Missing {}

/// Why a world cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The durable scripts are running, or a fixed step is under way. Save between two
    /// schedules, in a system outside `FixedMain`, or between two updates of the app.
    Running,
    /// The scripts cannot be saved.
    Scripts(framestep_durable::SaveError),
    /// A component does not serialise.
    Component {
        /// The number of its entity.
        entity: DurableId,
        /// The name by which the app saves it.
        name: String,
        /// The error of its `Serialize`.
        message: String,
    },
    /// A resource does not serialise.
    Resource {
        /// The name by which the app saves it.
        name: String,
        /// The error of its `Serialize`.
        message: String,
    },
    /// A state of the app does not serialise.
    State {
        /// The name by which the app saves it.
        name: String,
        /// The error of its `Serialize`.
        message: String,
    },
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Running => f.write_str(
                "the world cannot be saved while durable scripts run or a fixed step is under way",
            ),
            SaveError::Scripts(error) => error.fmt(f),
            SaveError::Component {
                entity,
                name,
                message,
            } => write!(
                f,
                "the component `{name}` of the durable entity {entity} does not serialise: \
                 {message}"
            ),
            SaveError::Resource { name, message } => {
                write!(f, "the resource `{name}` does not serialise: {message}")
            }
            SaveError::State { name, message } => {
                write!(f, "the state `{name}` does not serialise: {message}")
            }
        }
    }
}

impl Error for SaveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SaveError::Scripts(error) => Some(error),
            _ => None,
        }
    }
}

/// Why a save cannot be loaded. The world and its scripts are then as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The durable scripts are running, or a fixed step is under way. Load between two
    /// schedules, in a system outside `FixedMain`, or between two updates of the app.
    Running,
    /// The bytes are not a save of a world.
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
    /// The save has components with a name that the app does not know.
    UnknownComponent {
        /// The name.
        name: String,
    },
    /// The save has a resource with a name that the app does not know.
    UnknownResource {
        /// The name.
        name: String,
    },
    /// The save has a state with a name that the app does not know.
    UnknownState {
        /// The name.
        name: String,
    },
    /// A component cannot be read: its type has changed since.
    Component {
        /// The number of its entity.
        entity: DurableId,
        /// The name by which the app saves it.
        name: String,
    },
    /// A resource cannot be read: its type has changed since.
    Resource {
        /// The name by which the app saves it.
        name: String,
    },
    /// A state cannot be read: its type has changed since.
    State {
        /// The name by which the app saves it.
        name: String,
    },
    /// The scripts cannot be restored.
    Scripts(RestoreError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Running => f.write_str(
                "no save can be loaded while durable scripts run or a fixed step is under way",
            ),
            LoadError::NotASave => f.write_str("this is not a save of a world"),
            LoadError::Version { found, expected } => write!(
                f,
                "the save has version {found} of the format, and this build reads version \
                 {expected}"
            ),
            LoadError::Damaged => f.write_str("the save is damaged"),
            LoadError::UnknownComponent { name } => write!(
                f,
                "the save has components named `{name}`, which the app does not know: name them \
                 with `app.save_component`"
            ),
            LoadError::UnknownResource { name } => write!(
                f,
                "the save has a resource named `{name}`, which the app does not know: name it \
                 with `app.save_resource`"
            ),
            LoadError::UnknownState { name } => write!(
                f,
                "the save has a state named `{name}`, which the app does not know: name it with \
                 `app.save_state`, with the feature `state`"
            ),
            LoadError::Component { entity, name } => write!(
                f,
                "the component `{name}` of the durable entity {entity} cannot be read: its type \
                 has changed since it was saved"
            ),
            LoadError::Resource { name } => write!(
                f,
                "the resource `{name}` cannot be read: its type has changed since it was saved"
            ),
            LoadError::State { name } => write!(
                f,
                "the state `{name}` cannot be read: its type has changed since it was saved"
            ),
            LoadError::Scripts(error) => error.fmt(f),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LoadError::Scripts(error) => Some(error),
            _ => None,
        }
    }
}
