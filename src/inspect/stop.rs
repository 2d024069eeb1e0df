//! Requests to stop whose time is not over.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A request to stop the coroutines of an owner after some time, which is not over: see
/// [`Owner::stop_within`](crate::Owner::stop_within).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// let crowd = executor.owner().named("crowd");
/// crowd.start(async { wait_seconds(60).await });
/// drop(crowd.stop_within(2));
/// executor.run_frame(0.25);
/// executor.run_frame(0.25);
///
/// let snapshot = executor.snapshot();
/// let stop = snapshot.stops().next().unwrap();
/// assert_eq!(stop.owner(), "crowd");
/// assert_eq!(stop.left(), Some(Duration::from_millis(1750)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingStop {
    pub(crate) owner: String,
    pub(crate) left: Option<Duration>,
    pub(crate) place: Option<&'static Location<'static>>,
}

impl PendingStop {
    /// The name of the owner, or its number.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The dt after which the time is over, at the present speed of the clocks. `None` before the
    /// time has begun, and while a clock stands still.
    pub fn left(&self) -> Option<Duration> {
        self.left
    }

    /// The line of the call. `None` of a durable script.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.place
    }
}

impl fmt::Display for PendingStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a request to stop the scripts of `{}`", self.owner)?;
        if let Some(left) = self.left {
            write!(f, ", over in {left:?}")?;
        }
        match self.place {
            Some(place) => write!(f, ", made at {}:{}", place.file(), place.line()),
            None => Ok(()),
        }
    }
}
