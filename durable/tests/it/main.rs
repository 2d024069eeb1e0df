//! Durable scripts, at the public boundary.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::unsafe_derive_deserialize,
    reason = "small numbers; and the macros of framestep pin with `pin!`"
)]

mod changed_code;
mod ends;
mod every_wait;
mod files;
mod random;
mod refusals;
mod scenes;
mod signals;
