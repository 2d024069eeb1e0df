#![doc = include_str!("../../docs/durable.md")]

mod clocks;
mod entity;
mod error;
mod file;
mod hear;
mod plugin;
pub mod prelude;
mod runtime;
mod save;
mod script;
mod start;
#[cfg(feature = "state")]
mod states;
mod types;
mod whole;

pub use entity::{Durable, DurableEntities, DurableId};
pub use error::{LoadError, Missing, SaveError};
pub use hear::{HearAppExt, Heard, NextEventOf, messages, next_event, next_message};
pub use plugin::DurableScriptsPlugin;
pub(crate) use runtime::queries;
pub use runtime::{DurableRuntime, run_durable_scripts};
#[doc(alias = "snapshot")]
pub use save::save_state;
pub use save::{Save, load, reload, reload_at, rollback, save};
pub use script::ComponentUntil;
pub use start::{
    CommandsDurableExt, EntityCommandsDurableExt, EntityWorldDurableExt, WorldDurableExt,
};
#[cfg(feature = "state")]
pub use states::{OnRestore, SaveStateAppExt, StateDurableExt, wait_for_state};
pub use types::SaveAppExt;

/// The crate that the durable scripts run on.
pub use framestep_durable;
