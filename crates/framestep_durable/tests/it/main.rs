//! Durable scripts, at the public boundary.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::unsafe_derive_deserialize,
    reason = "small numbers; and the macros of framestep pin with `pin!`"
)]

mod after_wait;
mod borrowed;
mod by_number;
mod carried;
mod caught;
mod changed_code;
mod changed_waits;
mod chapters;
mod cleaning_up;
mod clocks;
mod closures;
mod combinators;
mod compile_fail;
mod damaged_lists;
mod described;
mod destructors;
mod differences;
mod documents;
mod dry_runs;
mod elsewhere;
mod ends;
mod every_wait;
mod everything;
mod families;
mod files;
mod first_polls;
mod foreign_macros;
mod forged;
mod forged_at_random;
mod forged_waits;
mod groups;
mod guards;
mod handing_over;
mod hashed_effects;
mod hooks;
mod host_in_effects;
mod host_in_polls;
mod keys;
mod locals;
mod losses;
mod macros;
mod messages;
mod misuse;
mod on_clock;
mod once;
mod one_vocabulary;
mod outsiders;
mod owners;
mod panics;
mod patched;
mod patches;
mod pauses;
mod plain_events;
mod policies;
mod ported;
mod promises;
mod questions;
mod refusals;
mod refused_calls;
mod reload;
mod removals;
mod requests;
mod resets;
mod resimulated;
mod scenes;
mod seats;
mod shown;
mod signals;
mod sleeps;
mod stopped;
mod stops;
mod streams;
mod subjects;
mod subscriptions;
mod sync_test;
mod themselves;
mod threads;
mod timelines;
mod together;
mod trials;
mod twin;
mod unrecorded;
mod versions;
mod voided;
mod watched;
mod yields;
