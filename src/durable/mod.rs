//! Access for the crate `framestep_durable`, which saves and restores executors.
//!
//! Not a public interface: it can change with any version, and is only for the
//! `framestep_durable` of the same version. No run calls it.

mod beside;
mod clock;
mod door;
mod event;
mod image;
mod names;
mod recorder;
mod registration;
mod source;
mod wait;

pub use crate::core::scope::recording::{
    number_of_recorder, poll_recorded, record, refuse, replay, unrecorded, with_recorder,
};
pub use crate::image::{ClockNames, Damaged, Reader, Writer};
pub use crate::inspect::hook::Hook;
pub use crate::inspect::to_stderr;
pub use crate::task::owner::outputs::{flat, nested};
pub use crate::task::owner::stop::expect_length_ns;
pub use crate::wait::interval::SavedInterval;
pub use beside::{beside, known_beside};
pub use clock::SavedGuard;
pub use door::{
    Door, OwnerStop, borrow, borrow_mut, load_time, phase_number, phase_of, save_time, saved_time,
    time_now,
};
pub use event::{Event, EventNote, in_line, take_outside_wait};
pub use futures::stream::Stream;
pub use image::Unsavable;
pub use recorder::{Asks, Begun, CalledOn, Given, Gives, Progress, Reads, Recorder, Ticked};
pub use source::{
    Refused, RuntimeAcquire, RuntimeChanges, RuntimeEnd, RuntimeEvents, RuntimeHere, RuntimePermit,
    RuntimePromise, RuntimeReads, RuntimeSemaphores, RuntimeSignals, RuntimeWatches, SemaphoresOf,
    SignalsOf, SourceName, Start, WatchesOf, being_changed, changes_for, ended_of, in_runtime,
    limit_of_signal, name_of, promise_of, report_excess, request_of_runtime, semaphore_for,
    signal_for, signal_of_name, stop_within_of, subscription, watch_for,
};
pub use wait::{DurableWait, EndOf, FrameWait, SavedWait, Shape, when_each_by};
