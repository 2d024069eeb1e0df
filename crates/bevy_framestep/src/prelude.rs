//! The names that games use, with those of [`framestep::prelude`].
//!
//! In a module with durable scripts, import the prelude of the module `durable` instead of this
//! one: many names are in both.
//!
//! Together with `bevy::prelude`, one name is ambiguous: `interval`. Import it explicitly
//! where it is used: `use framestep::interval;`.

pub use framestep::prelude::*;

#[cfg(feature = "state")]
pub use crate::StateScriptsExt;
#[cfg(feature = "animation")]
pub use crate::animation_finished;
#[cfg(feature = "tasks")]
pub use crate::compute;
pub use crate::{
    CommandsScriptsExt, EntityCommandsScriptsExt, EntityWorldScriptsExt, Events, Framestep,
    FramestepPlugin, Missing, ScriptEntity, ScriptHandle, ScriptOutput, ScriptQuery, Scripts,
    WorldScriptsExt, commands, messages, next_event, next_message, pause_game, query,
    query_filtered, resource, resource_mut, system, trigger, wait_for_timer, wait_until_resource,
    wait_until_world, write_message,
};
#[cfg(feature = "input")]
pub use crate::{just_pressed, just_released};
#[cfg(feature = "asset")]
pub use crate::{next_asset_event, wait_for_asset};
#[cfg(feature = "state")]
pub use crate::{next_transition, state_entered, state_exited, wait_for_state};
