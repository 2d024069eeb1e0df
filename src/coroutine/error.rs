//! How a coroutine ended, as those who join it see it.

#![forbid(unsafe_code)]

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::core::call;
use crate::coroutine::CoroutineId;

/// How a coroutine ended.
///
/// Given by [`Coroutine::finished`](crate::Coroutine::finished), which any
/// number of coroutines may await.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It returned.
    Finished,
    /// It was stopped: by handle or id, with its owner, or with its executor.
    Stopped,
    /// It, or one of its destructors, panicked.
    Panicked,
}

/// Why a joined coroutine gave no result: it was stopped, or it panicked.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let door = executor.spawn(async { wait_seconds(1).await });
/// door.named("door").stop();
/// let error = executor.run_until(door, 0.5).unwrap_err();
/// assert!(error.is_stopped());
/// assert_eq!(error.to_string(), "coroutine 0v1 (door) was stopped before it finished");
/// ```
///
/// # Source
///
/// `tokio::task::JoinError`. In Unity the parent of a stopped coroutine waits
/// for ever.
pub struct JoinError(Box<Failure>);

/// Boxed, since every result of a join is as large as its error.
struct Failure {
    id: CoroutineId,
    name: Cow<'static, str>,
    /// Behind a mutex so that the error is `Sync`, as `?` into most error
    /// types asks for.
    panic: Option<Mutex<Box<dyn Any + Send>>>,
}

impl JoinError {
    pub(crate) fn stopped(id: CoroutineId, name: Cow<'static, str>) -> Self {
        JoinError(Box::new(Failure {
            id,
            name,
            panic: None,
        }))
    }

    pub(crate) fn panicked(
        id: CoroutineId,
        name: Cow<'static, str>,
        payload: Box<dyn Any + Send>,
    ) -> Self {
        JoinError(Box::new(Failure {
            id,
            name,
            panic: Some(Mutex::new(payload)),
        }))
    }

    /// Whether the coroutine was stopped, or its executor was dropped.
    pub fn is_stopped(&self) -> bool {
        self.0.panic.is_none()
    }

    /// Whether the coroutine, or one of its destructors, panicked.
    pub fn is_panic(&self) -> bool {
        self.0.panic.is_some()
    }

    /// The coroutine that gave no result.
    pub fn id(&self) -> CoroutineId {
        self.0.id
    }

    /// Its name: what it was [named](crate::Coroutine::named), else the name of
    /// its future's type.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the coroutine panicked with, to be handed to
    /// [`std::panic::resume_unwind`] or downcast.
    ///
    /// # Panics
    ///
    /// If the coroutine was stopped: see [`is_panic`](Self::is_panic).
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        let id = self.0.id;
        let Some(payload) = self.0.panic else {
            panic!("coroutine {id} was stopped, it did not panic: ask `is_panic()` first")
        };
        payload.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message of the panic, if it was raised with one.
    fn message(&self) -> Option<String> {
        let payload = self.0.panic.as_ref()?;
        let payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
        call::message(&**payload)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "coroutine {} ({}) ", self.0.id, self.0.name)?;
        match (self.is_stopped(), self.message()) {
            (true, _) => f.write_str("was stopped before it finished"),
            (false, Some(message)) => write!(f, "panicked: {message}"),
            (false, None) => f.write_str("panicked"),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

impl Error for JoinError {}
