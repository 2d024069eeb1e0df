//! The door for the crate `framestep_durable`, which saves executors and restores them.
//!
//! Not a public interface: it changes with any version, and only the companion of the same
//! version uses it. No run calls it.

mod door;
mod event;
mod numbers;
mod wait;

pub use door::{Door, Unsavable, load_time, own_time, phase_number, phase_of, save_time};
pub use event::{Event, EventNote};
pub use numbers::{Damaged, Reader, Writer};
pub use wait::{DurableWait, length_ns};
