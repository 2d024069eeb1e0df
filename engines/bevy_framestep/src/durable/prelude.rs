//! The names that durable scripts and their games use, with those of
//! [`framestep_durable::prelude`].
//!
//! Many are those of [`bevy_framestep::prelude`](crate::prelude), for scripts that are not
//! durable: a module imports the one or the other.

pub use framestep_durable::prelude::*;

// In place of the one for a runtime alone.
pub use super::SaveError;
pub use super::{
    CommandsDurableExt, Durable, DurableEntities, DurableId, DurableRuntime, DurableScriptsPlugin,
    EntityCommandsDurableExt, EntityWorldDurableExt, LoadError, Missing, Save, SaveAppExt,
    WorldDurableExt,
};
