//! The names that durable scripts and their games use, with those of
//! [`framestep_durable::prelude`].
//!
//! Many are the same as in [`bevy_framestep::prelude`](crate::prelude), for scripts that are
//! not durable: import only one of the two in a module.

pub use framestep_durable::prelude::*;

// Replaces the one for a runtime alone.
pub use super::SaveError;
pub use super::{
    CommandsDurableExt, Durable, DurableEntities, DurableId, DurableRuntime, DurableScriptsPlugin,
    EntityCommandsDurableExt, EntityWorldDurableExt, LoadError, Missing, Save, SaveAppExt,
    WorldDurableExt,
};
