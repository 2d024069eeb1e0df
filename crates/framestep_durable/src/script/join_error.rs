//! Why a script has no result.

use std::error::Error;
use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::bytes::{dispose, message_of};

/// Why a script has no result.
///
/// An error is recorded and saved with the script that has joined the other one. The line of a stop is
/// the only part that depends on the build. It is saved beside the rest, and no
/// [checksum](crate::SaveState::checksum) has it: errors that differ only in the line are equal, and
/// their `Debug`, which is in the panic of an `unwrap`, is without it. `Display` has it. So do not put
/// that text into a world that is compared between builds; [`stopped_by`](Self::stopped_by) is the same
/// in all of them.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn walk() {
///     wait_seconds(60).await;
/// }
///
/// #[durable]
/// async fn cutscene(walk: ScriptId) {
///     wait_seconds(1).await;
///     stop(walk);
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(walk).script(cutscene));
/// let walk = runtime.start(walk());
/// runtime.start(cutscene(walk.id()));
/// for _ in 0..4 {
///     runtime.run_frame(0.25);
/// }
/// let error = runtime.take(walk).unwrap().unwrap_err();
/// assert_eq!(error.stopped_by(), Some("cutscene"));
/// let text = error.to_string();
/// assert!(text.starts_with("the script was stopped, by `cutscene`, at "));
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub enum JoinError {
    /// It was stopped.
    #[non_exhaustive]
    Stopped {
        /// See [`stopped_by`](Self::stopped_by).
        by: Option<String>,
        /// See [`stopped_at`](Self::stopped_at).
        #[serde(skip)]
        at: Option<String>,
    },
    /// It panicked, with this text.
    Panicked(String),
    /// A chapter of it had more entries than the runtime
    /// [allows](crate::RuntimeBuilder::max_entries).
    ChapterTooLong,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Stopped { by, at } => {
                f.write_str("the script was stopped")?;
                if let Some(by) = by {
                    write!(f, ", by `{by}`")?;
                }
                match at {
                    Some(at) => write!(f, ", at {at}"),
                    None => Ok(()),
                }
            }
            JoinError::Panicked(text) => write!(f, "the script panicked: {text}"),
            JoinError::ChapterTooLong => {
                f.write_str("the script was stopped: its chapter had too many entries")
            }
        }
    }
}

/// Without the line of a stop: the panic of an `unwrap` is recorded.
impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Stopped { by, .. } => {
                let mut stopped = f.debug_struct("Stopped");
                stopped.field("by", by).finish_non_exhaustive()
            }
            JoinError::Panicked(text) => f.debug_tuple("Panicked").field(text).finish(),
            JoinError::ChapterTooLong => f.write_str("ChapterTooLong"),
        }
    }
}

impl Error for JoinError {}

impl PartialEq for JoinError {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            // Equal runs of two builds have equal errors.
            (JoinError::Stopped { by, .. }, JoinError::Stopped { by: other, .. }) => by == other,
            (JoinError::Panicked(text), JoinError::Panicked(other)) => text == other,
            (JoinError::ChapterTooLong, JoinError::ChapterTooLong) => true,
            _ => false,
        }
    }
}

impl Eq for JoinError {}

impl JoinError {
    /// Whether the script was stopped: by a call, with its owner or its runtime, by a restore that
    /// drops it, or because its chapter was too long.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        !self.is_panic()
    }

    /// Whether the script panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self, JoinError::Panicked(_))
    }

    /// The name of the script that stopped this one: by its handle, its number or its owner. `None`
    /// if it panicked, if the host stopped it, or if that is not known: as when the time of
    /// [`stop_within`](crate::OwnerId::stop_within) was over.
    #[must_use]
    pub fn stopped_by(&self) -> Option<&str> {
        match self {
            JoinError::Stopped { by, .. } => by.as_deref(),
            _ => None,
        }
    }

    /// The file and the line of the call that stopped the script, such as `src/level.rs:40`, as the
    /// build had them that made the call. `None` if it panicked, or if a handle with
    /// [`stop_on_drop`](crate::ScriptHandle::stop_on_drop) or a group was dropped: a drop has no line.
    #[must_use]
    pub fn stopped_at(&self) -> Option<&str> {
        match self {
            JoinError::Stopped { at, .. } => at.as_deref(),
            _ => None,
        }
    }

    /// The error of a script that was stopped, and nothing else is known.
    pub(crate) fn stopped() -> Self {
        JoinError::Stopped { by: None, at: None }
    }

    /// The same error with the line of the stop, if there was one.
    pub(crate) fn with_line(mut self, line: Option<&str>) -> Self {
        if let JoinError::Stopped { at, .. } = &mut self {
            *at = line.map(str::to_owned);
        }
        self
    }

    pub(crate) fn of_plain(error: framestep::JoinError) -> Self {
        if error.is_panic() {
            let payload = error.into_panic();
            let text = message_of(&*payload);
            dispose(payload);
            JoinError::Panicked(text)
        } else {
            let by = error.stopped_by().map(str::to_owned);
            let at = error.stopped_at().map(line_of);
            JoinError::Stopped { by, at }
        }
    }
}

/// The line of a call that stops a script, if it is known.
pub(crate) type StopLine = Option<&'static Location<'static>>;

/// A place as text. All systems that build the same code have the same text.
pub(crate) fn line_of(place: &Location<'_>) -> String {
    format!("{}:{}", place.file().replace('\\', "/"), place.line())
}
