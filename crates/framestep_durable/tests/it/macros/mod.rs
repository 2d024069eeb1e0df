//! `#[durable]`: scripts as functions and as modules of chapters.

mod files;
mod functions;
mod generic;
mod modules;
mod names;
