//! The playground of framestep's site: small scripts, which a reader changes, and their frames.
//!
//! A page cannot compile Rust. So this reads a small part of it, [`run`]: `async fn`s, loops,
//! conditions, closures, `select!` and `join!`. Each wait is the one of the crate, and the executor
//! that polls it is the crate's. `tests/same.rs` compiles the scripts of `presets`, too, and
//! compares: the same polls, prints and lines, frame by frame.

mod calls;
mod error;
mod evaluate;
mod json;
mod machine;
#[cfg(target_arch = "wasm32")]
mod page;
mod parse;
mod run;
mod token;
mod tree;
mod value;

pub use error::{Error, Place};
pub use json::json;
pub use machine::{Printed, World};
pub use run::{Event, Frame, Mistake, Options, Run, Script, Source, Waiting, What, record, run};
