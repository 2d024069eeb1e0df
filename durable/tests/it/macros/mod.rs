//! `#[durable]`: scripts as functions and as modules of chapters.

mod files;
mod functions;
mod modules;
mod names;
