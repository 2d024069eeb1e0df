#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    clippy::cast_precision_loss,
    reason = "a picture needs no more digits than a float has"
)]
#![allow(
    clippy::result_large_err,
    reason = "an error that names the frame, the script and the line is worth its bytes"
)]

/// The code of the page in the guide is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/timeline.md")]
mod guide {}

mod adapter;
mod compare;
mod determinism;
mod diagram;
mod film;
mod filter;
mod findings;
mod fold;
mod lanes;
mod perfetto;
mod record;
mod recorder;
mod rewind;
mod state;
mod still;
mod svg;
mod tables;
mod tape;
mod text;

pub use compare::Difference;
pub use determinism::check_determinism;
pub use diagram::Diagram;
pub use film::Film;
pub use filter::Filter;
pub use findings::{Finding, FindingKind};
pub use recorder::Recorder;
pub use rewind::{Recording, RecordingDifference, Rewind, RewindError, Step};
pub use still::{Doing, ScriptAt, Still, WaitAt};
pub use svg::{Html, Svg, Theme};
pub use tape::Dropped;
