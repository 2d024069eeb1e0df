//! Why lent state could not be borrowed.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt;
use std::panic::Location;

/// Why [`try_with`](crate::try_with) and its relatives, or
/// [`This::try_with`](crate::This::try_with), could not borrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithError {
    /// The host has not lent a state of this type.
    #[non_exhaustive]
    NotLent {
        /// The type that was asked for.
        type_name: &'static str,
        /// Where the host has called `start`, if it has started the coroutine
        /// outside of a run, and so outside of the lend of this type.
        started_at: Option<&'static Location<'static>>,
    },
    /// The call was made inside of a closure or callback that has the state.
    #[non_exhaustive]
    Borrowed {
        /// The type that was asked for.
        type_name: &'static str,
    },
    /// The behaviour of a [`This`](crate::This) has been removed from its scene.
    #[non_exhaustive]
    Destroyed {
        /// The type of the behaviour.
        type_name: &'static str,
    },
}

impl fmt::Display for WithError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WithError::NotLent {
                type_name,
                started_at: Some(place),
            } => write!(
                f,
                "no `{type_name}` is lent to the coroutine started at {place}: it was started \
                 outside of `lend`: use `spawn`, or start it inside the `lend`"
            ),
            WithError::NotLent { type_name, .. } => write!(
                f,
                "no `{type_name}` is lent: the host has to run the executor inside \
                 `executor.lend(&mut state, |executor| ..)`; a destructor, which may run outside \
                 of it, uses `with_soon`"
            ),
            WithError::Borrowed { type_name } => write!(
                f,
                "the `{type_name}` is borrowed by a closure or callback around this call: use the \
                 reference which that one has, or `spawn` what needs the state"
            ),
            WithError::Destroyed { type_name } => write!(
                f,
                "the `{type_name}` has been destroyed: ask `is_alive` first, or use `try_with`"
            ),
        }
    }
}

impl Error for WithError {}
