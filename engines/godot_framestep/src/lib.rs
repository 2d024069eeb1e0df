#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod frames;
mod host;
pub mod prelude;
mod scripts;
mod signals;
mod ties;

pub use host::FramestepHost;
pub use scripts::{NodeScripts, scripts, tree};
pub use signals::{Emissions, emissions, emitted};

/// The crate that the scripts run on.
pub use framestep;
