//! Lent state: the host's `&mut World`, which scripts borrow inside closures.
//!
//! [`Executor::lend`](crate::Executor::lend) lends state for the length of a closure in which
//! frames run. Scripts borrow it by type with [`with`], [`with_ref`] and their `try_` forms.
//! [`defer`](defer()) borrows it when a script ends, [`with_deferred`] as soon as it is free. A key that
//! implements [`Lend`] lends contexts with lifetimes, for the forms whose names end in `_as`.
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//!
//! struct World { score: u32 }
//!
//! let mut executor = Executor::new();
//! let script = executor.spawn(async { with(|world: &mut World| world.score += 1) });
//! let mut world = World { score: 0 };
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert!(script.is_finished());
//! assert_eq!(world.score, 1);
//! ```

mod borrow;
mod defer;
mod defer_call;
mod deferred;
mod error;
mod kept;
mod key;
mod link;
mod note;
mod own;

pub(crate) use borrow::{borrow_here, borrow_mut_here};
pub(crate) use kept::{Dismissed, Origin};
pub(crate) use link::{as_key, clean_up, has_clean_up, plain};
pub(crate) use note::Lending;

pub use borrow::{try_with, try_with_as, try_with_ref, with, with_as, with_ref};
pub use defer::Defer;
#[doc(alias = "finally")]
#[doc(alias = "OnKill")]
#[doc(alias = "OnDestroy")]
#[doc(alias = "scopeguard")]
pub use defer::defer;
pub use defer_call::DeferCall;
#[doc(alias = "finally")]
pub use defer_call::defer_call;
pub use deferred::{with_deferred, with_deferred_as};
pub use error::LendError;
pub use key::Lend;
