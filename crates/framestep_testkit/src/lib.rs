//! What tests and proofs share: the tables of waits, combinators and phases, timing diagrams
//! and logs, random numbers, values that notice misuse, small futures, counters.

// Not published: what a name says needs no sentence, and nobody prints these.
#![allow(missing_docs, missing_debug_implementations)]
#![allow(clippy::missing_errors_doc, clippy::return_self_not_must_use)]

pub mod actor;
mod allocations;
mod choices;
pub mod combinators;
mod drops;
pub mod exports;
mod frames;
mod futures;
pub mod misuse;
mod panics;
pub mod phases;
pub mod portable;
pub mod program;
// The unit tests have the same one.
#[path = "../../../src/random.rs"]
mod random;
mod stage;
pub mod timeline;
pub mod waits;
mod wakers;
pub mod watched;

pub use allocations::{
    allocations_of, call_in_allocation, call_in_nth_allocation, has_called, live_bytes,
};
pub use drops::{Bomb, OnDrop};
pub use frames::update;
pub use futures::{
    count_frames, counted, entered, forever, noted, poll_once, receiver, receiver_in, result_of,
    swallow, yield_now,
};
pub use panics::{panic_of, panic_text, place_of_panic};
pub use phases::PHASES;
pub use random::Random;
pub use stage::Stage;
pub use wakers::{WakerCall, by, waker_that_tells};
