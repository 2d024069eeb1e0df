#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod error;
mod executor;
mod plugin;
pub mod prelude;
mod scripts;
mod start;
mod wait;
mod wake;

pub use access::{ScriptEntity, commands, resource, resource_mut, trigger, write_message};
pub use error::Missing;
pub use executor::{Framestep, next_frame_in, run_scripts};
pub use plugin::{FramestepPlugin, RunScripts, ScriptSystems};
pub use scripts::Scripts;
pub use start::{
    CommandsScriptsExt, EntityCommandsScriptsExt, EntityWorldScriptsExt, WorldScriptsExt,
};
#[cfg(feature = "asset")]
pub use wait::{AssetFailed, WaitForAsset, wait_for_asset};
pub use wait::{
    ComponentChanged, Events, Messages, WaitUntilWorld, messages, next_event, next_message,
    wait_until_world,
};
#[cfg(feature = "state")]
pub use wait::{next_transition, state_entered, state_exited, wait_for_state};

/// The crate that the scripts run on.
pub use framestep;
