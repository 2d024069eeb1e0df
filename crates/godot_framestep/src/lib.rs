#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod debugger;
#[cfg(feature = "durable")]
mod durable;
mod frames;
mod host;
mod monitors;
pub mod prelude;
mod script;
mod scripts;
mod signals;
mod ties;
mod watch;

#[cfg(feature = "durable")]
pub use durable::{Durable, Moment};
pub use host::FramestepHost;
pub use script::{ForGodot, FramestepScript};
pub use scripts::{NodeScripts, scripts, tree};
pub use signals::{Emissions, Emitted, SignalArguments, SignalWaits, called};

/// The crate that the scripts run on.
pub use framestep;
/// The crate of durable scripts.
#[cfg(feature = "durable")]
pub use framestep_durable;
