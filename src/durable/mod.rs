//! Access for the crate `framestep_durable`, which saves and restores executors.
//!
//! Not a public interface: it can change with any version, and is only for the
//! `framestep_durable` of the same version. No run calls it.

mod door;
mod event;
mod numbers;
mod wait;

pub use door::{Door, Unsavable, load_time, own_time, phase_number, phase_of, save_time};
pub use event::{Event, EventNote};
pub use numbers::{Damaged, Reader, Writer};
pub use wait::{DurableWait, length_ns};
