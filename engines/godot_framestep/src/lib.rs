#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod frames;
mod host;
mod monitors;
pub mod prelude;
mod script;
mod scripts;
mod signals;
mod ties;

pub use host::FramestepHost;
pub use script::{ForGodot, FramestepScript};
pub use scripts::{NodeScripts, scripts, tree};
pub use signals::{Emissions, called, emissions, emitted};

/// The crate that the scripts run on.
pub use framestep;
