//! Panics, outputs that no join returns, and how mistakes are reported.

mod callers;
mod compile_fail;
mod hook_panics;
mod join_errors;
mod on_error;
mod on_unobserved;
mod panics;
mod spawn_errors;
mod unobserved_panics;
