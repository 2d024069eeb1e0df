//! Names that the expansions of `select!` and `join!` use. Not public API.

pub use super::branch::Branch;
pub use super::select::Selected;
