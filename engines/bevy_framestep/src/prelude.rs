//! The names that games use, with those of [`framestep::prelude`].
//!
//! Beside `bevy::prelude`, one name is ambiguous: `interval`. Import it explicitly where
//! it is used: `use framestep::interval;`.

pub use framestep::prelude::*;

#[cfg(feature = "asset")]
pub use crate::wait_for_asset;
pub use crate::{
    CommandsScriptsExt, EntityCommandsScriptsExt, EntityWorldScriptsExt, FramestepPlugin,
    ScriptEntity, ScriptHandle, ScriptOutput, Scripts, WorldScriptsExt, commands, messages,
    next_event, next_message, resource, resource_mut, trigger, wait_until_world, write_message,
};
#[cfg(feature = "state")]
pub use crate::{next_transition, state_entered, state_exited, wait_for_state};
