//! Why an offloaded job has no result.

use std::error::Error;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

use crate::core::base::call::{self, Foreign, Payload};

/// Why a job of [`offload`](super::offload) has no result.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// fn parse(text: &str) -> u32 {
///     text.parse().expect("a level is a number")
/// }
///
/// let mut executor = Executor::new();
/// let error = executor.run_until(async { offload(|| parse("nine")).await }, 0.25).unwrap_err();
/// assert!(error.is_panic());
/// assert!(error.to_string().contains("panicked: a level is a number"));
/// ```
pub struct OffloadError {
    reason: Reason,
    place: &'static Location<'static>,
}

/// What went wrong with a job, on whichever thread.
pub(super) enum Failure {
    Panicked(Foreign<Payload>),
    Dropped,
    NoThread(io::Error),
}

enum Reason {
    Panicked {
        /// The message, if the payload is a string.
        message: Option<String>,
        /// Behind a mutex so that the error is `Sync`, which `?` into most error types requires.
        payload: Mutex<Foreign<Payload>>,
    },
    Dropped,
    NoThread(io::Error),
}

impl OffloadError {
    pub(super) fn new(failure: Failure, place: &'static Location<'static>) -> Self {
        let reason = match failure {
            Failure::Panicked(payload) => Reason::Panicked {
                message: call::message(&**payload.get()),
                payload: Mutex::new(payload),
            },
            Failure::Dropped => Reason::Dropped,
            Failure::NoThread(error) => Reason::NoThread(error),
        };
        OffloadError { reason, place }
    }

    /// Whether the job panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.reason, Reason::Panicked { .. })
    }

    /// Whether the job was not called: the pool dropped it, or there was no thread for it.
    pub fn is_dropped(&self) -> bool {
        !self.is_panic()
    }

    /// Returns the payload of the job's panic, for
    /// [`resume_unwind`](std::panic::resume_unwind). If the job did not panic, the payload is the
    /// text of this error.
    pub fn into_panic(self) -> Box<dyn std::any::Any + Send> {
        let text = self.to_string();
        match self.reason {
            Reason::Panicked { payload, .. } => {
                let payload = payload.into_inner().unwrap_or_else(PoisonError::into_inner);
                payload.into_inner()
            }
            _ => Box::new(text),
        }
    }

    /// The line of the call of [`offload`](super::offload).
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }
}

impl fmt::Display for OffloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place;
        match &self.reason {
            Reason::Panicked { message, .. } => {
                write!(f, "the job that was offloaded at {place} panicked")?;
                match message {
                    Some(message) => write!(f, ": {message}"),
                    None => Ok(()),
                }
            }
            Reason::Dropped => write!(
                f,
                "the job that was offloaded at {place} was dropped by its pool, which did not call it"
            ),
            Reason::NoThread(error) => write!(
                f,
                "there is no thread for the job that was offloaded at {place}: {error}. Give the \
                 executor a pool, with `Builder::offload`"
            ),
        }
    }
}

impl fmt::Debug for OffloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OffloadError({self})")
    }
}

impl Error for OffloadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            Reason::NoThread(error) => Some(error),
            _ => None,
        }
    }
}
