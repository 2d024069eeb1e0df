//! x
mod doubles;
mod entry;
mod hash;
mod member;
mod role;
mod saves;
#[cfg(any(test, feature = "simulate"))]
#[doc(hidden)]
pub mod simulate;
pub use entry::*;
pub use role::Note;
