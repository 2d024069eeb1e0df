//! Helpers for several folders of tests: the tables of waits, combinators and phases,
//! timing diagrams and logs, random numbers, values that notice misuse, small futures,
//! counters.

pub(crate) mod actor;
mod allocations;
pub(crate) mod combinators;
pub(crate) mod exports;
mod frames;
mod futures;
mod panics;
pub(crate) mod phases;
// The unit tests have the same one.
#[path = "../../../src/random.rs"]
mod random;
mod stage;
pub(crate) mod timeline;
pub(crate) mod waits;
mod wakers;
pub(crate) mod watched;

pub(crate) use allocations::{
    allocations_of, call_in_allocation, call_in_nth_allocation, has_called, live_bytes,
};
pub(crate) use frames::update;
pub(crate) use futures::{
    count_frames, counted, entered, forever, noted, poll_once, receiver, receiver_in, result_of,
    swallow, yield_now,
};
pub(crate) use panics::{panic_of, panic_text, place_of_panic};
pub(crate) use phases::PHASES;
pub(crate) use random::Random;
pub(crate) use stage::Stage;
pub(crate) use wakers::{WakerCall, by, waker_that_tells};
