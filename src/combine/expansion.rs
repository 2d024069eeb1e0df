//! Names that the expansions of `select!` and `join!` use. Not public API.

#![forbid(unsafe_code)]

pub use super::branch::Branch;
pub use super::select::Selected;
