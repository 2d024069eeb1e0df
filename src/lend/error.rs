//! The error of a borrow of lent state.

use std::error::Error;
use std::fmt;
use std::panic::Location;

/// The error of [`try_with`](crate::lend::try_with) and its variants, and of
/// [`BehaviourHandle::try_with`](crate::scene::BehaviourHandle::try_with): why the state could not be borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LendError {
    /// The host has not lent state of this type.
    #[non_exhaustive]
    NotLent {
        /// The name of the requested type.
        type_name: &'static str,
        /// Where the host called `start`, if it started the coroutine outside a run,
        /// and therefore outside the `lend` of this type.
        started_at: Option<&'static Location<'static>>,
        /// The name of the type that is lent here instead, the innermost one if there
        /// are several. `None` if nothing is lent.
        lent_here: Option<&'static str>,
    },
    /// A closure or callback around the call borrows the state.
    #[non_exhaustive]
    Borrowed {
        /// The name of the requested type.
        type_name: &'static str,
        /// Where that closure was passed to [`with`](crate::with()) or to a variant of
        /// it. `None` for a callback.
        borrowed_at: Option<&'static Location<'static>>,
    },
    /// The behaviour of a [`BehaviourHandle`](crate::scene::BehaviourHandle) has been removed from its scene.
    #[non_exhaustive]
    Destroyed {
        /// The name of the behaviour's type.
        type_name: &'static str,
    },
}

/// The text of an error, without the state that is lent instead.
pub(super) struct Reason(pub(super) LendError);

impl fmt::Display for LendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Reason(*self))?;
        match self {
            LendError::NotLent {
                lent_here: Some(name),
                ..
            } => write!(f, " (the innermost state lent here is a `{name}`)"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            LendError::NotLent {
                type_name,
                started_at: Some(place),
                ..
            } => write!(
                f,
                "no `{type_name}` is lent to the coroutine started at {place}: it was started \
                 outside of `lend`: use `spawn`, or start it inside the `lend`"
            ),
            LendError::NotLent { type_name, .. } => write!(
                f,
                "no `{type_name}` is lent: the host must run the executor inside \
                 `executor.lend(&mut state, |executor| ..)`; in a destructor, which may run \
                 outside it, use `with_deferred`"
            ),
            LendError::Borrowed {
                type_name,
                borrowed_at,
            } => {
                write!(f, "the `{type_name}` is borrowed by ")?;
                match borrowed_at {
                    Some(place) => write!(f, "the closure at {place}, around this call")?,
                    None => write!(f, "a callback around this call")?,
                }
                f.write_str(
                    ": use its reference, or `spawn` the code that needs the state; in a \
                     destructor, use `with_deferred` for lent state",
                )
            }
            LendError::Destroyed { type_name } => write!(
                f,
                "the `{type_name}` has been destroyed: check `is_alive` first, or use `try_with`"
            ),
        }
    }
}

impl Error for LendError {}
