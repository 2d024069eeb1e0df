//! How a coroutine ended, as the coroutines that join it see it.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::base::call::{self, Foreign, Payload};
use crate::task::coroutine::CoroutineId;

/// How a coroutine ended.
///
/// The output of [`Coroutine::finished`](crate::Coroutine::finished), which any
/// number of coroutines may await.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It returned.
    Finished,
    /// It was stopped: by its handle or id, with its owner, or with its executor.
    Stopped,
    /// It, or one of its destructors, panicked.
    Panicked,
}

/// Why a join has no result: the coroutine was stopped, or it panicked.
///
/// # Clones
///
/// All clones of an error share the payload of the panic. The first call of
/// [`into_panic`](Self::into_panic) takes it.
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
/// let text = error.to_string();
/// assert!(text.starts_with("coroutine 0v1 (door) was stopped before it finished, at "));
/// ```
///
/// # Source
///
/// `tokio::task::JoinError`. In Unity, the parent of a stopped coroutine never
/// resumes.
#[derive(Clone)]
pub struct JoinError(Arc<Failure>);

/// Behind an `Arc`, because the error can be cloned, and because a large error
/// would make every result of a join large.
struct Failure {
    id: CoroutineId,
    name: Cow<'static, str>,
    panic: Option<Panicked>,
    stopper: Option<Stopper>,
}

/// What has stopped a coroutine.
pub(crate) struct Stopper {
    /// The name of the coroutine that stopped it.
    pub(crate) by: Option<Cow<'static, str>>,
    /// The line of the call.
    pub(crate) place: Option<&'static Location<'static>>,
}

struct Panicked {
    /// The message of the panic, if its payload is a string.
    message: Option<String>,
    /// `Some` until the first call of `into_panic` takes it. Behind a mutex so that
    /// the error is `Sync`, which `?` into most error types requires.
    payload: Mutex<Option<Foreign<Payload>>>,
}

impl JoinError {
    pub(crate) fn stopped(
        id: CoroutineId,
        name: Cow<'static, str>,
        stopper: Option<Stopper>,
    ) -> Self {
        JoinError(Arc::new(Failure {
            id,
            name,
            panic: None,
            stopper,
        }))
    }

    pub(crate) fn panicked(id: CoroutineId, name: Cow<'static, str>, payload: Payload) -> Self {
        let panic = Panicked {
            message: call::message(&*payload),
            payload: Mutex::new(Some(Foreign::new(payload))),
        };
        JoinError(Arc::new(Failure {
            id,
            name,
            panic: Some(panic),
            stopper: None,
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

    /// The id of the coroutine.
    pub fn id(&self) -> CoroutineId {
        self.0.id
    }

    /// The name of the coroutine: the one set with
    /// [`named`](crate::Coroutine::named), or else the name of its future's type.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The name of the coroutine that stopped this one: by its handle, its id or its owner.
    /// `None` if it panicked, if the host stopped it, or if that is not known.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let mut executor = Executor::new();
    /// let walk = executor.start(async { wait_seconds(60).await });
    /// let id = walk.id();
    /// executor.script("cutscene").start(async move { stop(id) });
    /// let error = executor.run_until(walk, 0.25).unwrap_err();
    /// assert_eq!(error.stopped_by(), Some("cutscene"));
    /// assert!(error.to_string().contains("by `cutscene`, at "));
    /// ```
    pub fn stopped_by(&self) -> Option<&str> {
        self.0.stopper.as_ref()?.by.as_deref()
    }

    /// The line of the call that stopped the coroutine. `None` if it panicked, if another
    /// thread stopped it, or if its owner or a handle with
    /// [`stop_on_drop`](crate::Coroutine::stop_on_drop) was dropped: a drop has no line.
    pub fn stopped_at(&self) -> Option<&'static Location<'static>> {
        self.0.stopper.as_ref()?.place
    }

    /// Returns the payload of the panic, to downcast it or to pass it to
    /// [`std::panic::resume_unwind`].
    ///
    /// All clones of an error share one payload. The first call returns it. Later
    /// calls, on other clones, return a `String` instead: the message of the panic,
    /// or, if it has none, the text that the error prints.
    ///
    /// # Panics
    ///
    /// If the coroutine was stopped. Check [`is_panic`](Self::is_panic) first.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let lost = executor.start(async { panic!("lost") });
    /// let error = lost.take_output().unwrap().unwrap_err();
    /// let (first, second) = (error.clone(), error);
    /// assert_eq!(first.into_panic().downcast_ref(), Some(&"lost"));
    /// assert_eq!(second.into_panic().downcast_ref(), Some(&String::from("lost")));
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        let Some(panic) = &self.0.panic else {
            let id = self.0.id;
            panic!("coroutine {id} was stopped, it did not panic: check `is_panic()` first")
        };
        let mut payload = panic.payload.lock().unwrap_or_else(PoisonError::into_inner);
        match (payload.take(), &panic.message) {
            (Some(payload), _) => payload.into_inner(),
            (None, Some(message)) => Box::new(message.clone()),
            (None, None) => Box::new(self.to_string()),
        }
    }

    /// The message of the panic, if it has one.
    fn message(&self) -> Option<&str> {
        self.0.panic.as_ref()?.message.as_deref()
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "coroutine {} ({}) ", self.0.id, self.0.name)?;
        match (self.is_stopped(), self.message()) {
            (true, _) => {
                f.write_str("was stopped before it finished")?;
                if let Some(by) = self.stopped_by() {
                    write!(f, ", by `{by}`")?;
                }
                match self.stopped_at() {
                    Some(place) => write!(f, ", at {place}"),
                    None => Ok(()),
                }
            }
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
