//! How a coroutine ended, as those who join it see it.

#![forbid(unsafe_code)]

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::call::{self, Payload};
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
/// # Clones
///
/// It may be cloned, to be told to several. All clones share the payload of a
/// panic: the first that asks with [`into_panic`](Self::into_panic) gets it.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let door = executor.spawn(async { wait_seconds(1).await }).named("door");
/// door.stop();
/// let error = executor.run_until(door, 0.5).unwrap_err();
/// assert!(error.is_stopped());
/// assert_eq!(error.to_string(), "coroutine 0v1 (door) was stopped before it finished");
/// ```
///
/// # Source
///
/// `tokio::task::JoinError`. In Unity the parent of a stopped coroutine waits
/// without end.
#[derive(Clone)]
pub struct JoinError(Arc<Failure>);

/// Shared, since the error can be cloned; also, every result of a join is as large
/// as its error.
struct Failure {
    id: CoroutineId,
    name: Cow<'static, str>,
    panic: Option<Panicked>,
}

struct Panicked {
    /// What the panic said, if it was raised with a text.
    message: Option<String>,
    /// Until the first who asks takes it. Behind a mutex so that the error is
    /// `Sync`, as `?` into most error types asks for.
    payload: Mutex<Option<Payload>>,
}

impl JoinError {
    pub(crate) fn stopped(id: CoroutineId, name: Cow<'static, str>) -> Self {
        JoinError(Arc::new(Failure {
            id,
            name,
            panic: None,
        }))
    }

    pub(crate) fn panicked(id: CoroutineId, name: Cow<'static, str>, payload: Payload) -> Self {
        let panic = Panicked {
            message: call::message(&*payload),
            payload: Mutex::new(Some(payload)),
        };
        JoinError(Arc::new(Failure {
            id,
            name,
            panic: Some(panic),
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

    /// What the coroutine panicked with, to be passed to
    /// [`std::panic::resume_unwind`] or downcast.
    ///
    /// There is one payload for all clones of an error. The first call returns it;
    /// later calls, on other clones, return a `String` in its place: the message of
    /// the panic, or if there was none, what the error prints.
    ///
    /// # Panics
    ///
    /// If the coroutine was stopped: see [`is_panic`](Self::is_panic).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let lost = executor.start(async { panic!("lost") });
    /// let error = lost.take().unwrap().unwrap_err();
    /// let (first, second) = (error.clone(), error);
    /// assert_eq!(first.into_panic().downcast_ref(), Some(&"lost"));
    /// assert_eq!(second.into_panic().downcast_ref(), Some(&String::from("lost")));
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        let Some(panic) = &self.0.panic else {
            let id = self.0.id;
            panic!("coroutine {id} was stopped, it did not panic: ask `is_panic()` first")
        };
        let mut payload = panic.payload.lock().unwrap_or_else(PoisonError::into_inner);
        match (payload.take(), &panic.message) {
            (Some(payload), _) => payload,
            (None, Some(message)) => Box::new(message.clone()),
            (None, None) => Box::new(self.to_string()),
        }
    }

    /// The message of the panic, if it was raised with one.
    fn message(&self) -> Option<&str> {
        self.0.panic.as_ref()?.message.as_deref()
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
