//! How the named sources of both worlds are called.

use std::panic::Location;
use std::rc::Rc;

/// The name of a signal, a watch or a semaphore that code finds by it.
#[derive(Clone, Copy, Debug)]
pub struct SourceName<'a> {
    /// Without the key.
    pub base: &'static str,
    /// With the key.
    pub full: &'a str,
    /// The same, if it has a key.
    pub keyed: Option<&'a Rc<str>>,
}

/// Why a runtime refuses a call: the message of a panic in the line of the caller.
pub type Refused = String;

/// What a runtime has returned.
///
/// # Panics
///
/// If it has refused the call.
#[track_caller]
pub(crate) fn expect_called<R>(called: Result<R, Refused>) -> R {
    match called {
        Ok(called) => called,
        Err(why) => panic!("{why} (the call is at {})", Location::caller()),
    }
}
