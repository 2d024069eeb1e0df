//! The names that durable scripts and their games use, with those of
//! [`framestep_durable::prelude`].
//!
//! Many are the same as in [`bevy_framestep::prelude`](crate::prelude), for scripts that are not
//! durable, such as `wait_seconds`. Import only one of the two in a module: this one where
//! durable scripts are. With both globs, the compiler takes the names of the first one and only
//! warns, and a durable script that awaits the plain `wait_seconds` cannot be saved. What is
//! only in the other one can be imported by name: `use bevy_framestep::FramestepPlugin;`.

pub use framestep_durable::prelude::*;

// Replaces the one for a runtime alone.
pub use super::SaveError;
pub use super::{
    CommandsDurableExt, Durable, DurableEntities, DurableId, DurableRuntime, DurableScriptsPlugin,
    EntityCommandsDurableExt, EntityWorldDurableExt, HearAppExt, Heard, LoadError, Missing, Save,
    SaveAppExt, WorldDurableExt, messages, next_event, next_message,
};
#[cfg(feature = "state")]
pub use super::{OnRestore, SaveStateAppExt, StateDurableExt, wait_for_state};
