#![doc = include_str!("../../docs/durable.md")]

mod clocks;
mod entity;
mod error;
mod file;
mod plugin;
pub mod prelude;
mod runtime;
mod save;
mod script;
mod start;
mod types;

pub use entity::{Durable, DurableEntities, DurableId};
pub use error::{LoadError, Missing, SaveError};
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
pub use types::SaveAppExt;

/// The crate that the durable scripts run on.
pub use framestep_durable;
