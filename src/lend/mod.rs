//! Lent state: state of the host that coroutines borrow inside closures.
//!
//! [`Executor::lend`](crate::Executor::lend) puts a [note] with the address of the state
//! on its stack, and links the note into the executor. [`with`] finds the note by type.
//! The type is that of a key, [`Lend`]. So the same mechanism serves plain state and
//! contexts with lifetimes. A closure that is passed to [`with_soon`] is [kept] until the
//! state is lent and free.

mod borrow;
mod defer;
mod defer_call;
mod error;
mod kept;
mod key;
mod link;
mod note;
mod own;
mod soon;

pub(crate) use link::{as_key, clean_up, has_clean_up, plain};
pub(crate) use note::Lending;

pub use borrow::{try_with, try_with_as, try_with_ref, with, with_as, with_ref};
pub use defer::{Defer, defer};
pub use defer_call::{DeferCall, defer_call};
pub use error::WithError;
pub use key::Lend;
pub use soon::{with_soon, with_soon_as};
