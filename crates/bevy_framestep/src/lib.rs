#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod access;
mod borrow;
mod clean_up;
#[cfg(feature = "durable")]
pub mod durable;
mod error;
mod executor;
mod last;
mod link;
mod lost;
mod name;
mod output;
mod pause;
mod plugin;
pub mod prelude;
mod query;
mod schedules;
mod script;
mod scripts;
mod setup;
mod start;
mod system;
#[cfg(feature = "state")]
mod transitions;
mod wait;
mod wake;

pub use access::{ScriptEntity, commands, resource, resource_mut, trigger, write_message};
pub use clean_up::clean_up_scripts;
pub use error::Missing;
pub use executor::{Framestep, next_frame_in, run_scripts};
pub use link::ScriptHandle;
pub use output::ScriptOutput;
pub use pause::{GamePause, GamePauses, pause_game};
pub use plugin::FramestepPlugin;
pub use query::{EntityFn, EntityParam, ScriptQuery, query, query_filtered};
pub use schedules::ScriptSystems;
pub use script::{EntityScriptFn, ScriptFn};
pub use scripts::Scripts;
#[cfg(feature = "state")]
pub use start::StateScriptsExt;
pub use start::{
    CommandsScriptsExt, EntityCommandsScriptsExt, EntityWorldScriptsExt, WorldScriptsExt,
};
pub use system::{SystemFn, scripts_of, system};
#[cfg(feature = "animation")]
pub use wait::animation_finished;
#[cfg(feature = "tasks")]
pub use wait::compute;
#[cfg(feature = "asset")]
pub use wait::{AssetFailed, NextAssetEvent, WaitForAsset, next_asset_event, wait_for_asset};
pub use wait::{
    ComponentChanged, ComponentUntil, Despawned, Events, Messages, NextEvent, NextEventOf,
    NextMessage, WaitForTimer, WaitUntilWorld, messages, next_event, next_message, wait_for_timer,
    wait_until_resource, wait_until_world,
};
#[cfg(feature = "state")]
pub use wait::{WaitForState, next_transition, state_entered, state_exited, wait_for_state};
#[cfg(feature = "input")]
pub use wait::{just_pressed, just_released};

/// The crate that the scripts run on.
pub use framestep;
/// For the combinators of streams: `use bevy_framestep::futures::StreamExt;`.
pub use futures;
