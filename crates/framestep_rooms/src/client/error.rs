//! Why a client has not done what it should.

use std::fmt;

use crate::log::LogError;

/// Why a client has not done what it should. `Debug` is the same sentence as `Display`: `main` prints it.
#[non_exhaustive]
pub enum ClientError {
    /// The log.
    Log(LogError),
    /// A name or a value that cannot be sent, or a client that has other types than the server.
    Settings(String),
    /// There is no such room: it was not opened, or is broken.
    NoRoom {
        /// Its name.
        room: String,
        /// Why not.
        why: String,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Log(error) => error.fmt(f),
            ClientError::Settings(why) => f.write_str(why),
            ClientError::NoRoom { room, why } => write!(f, "there is no room `{room}`: {why}"),
        }
    }
}

impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ClientError {}

impl From<LogError> for ClientError {
    fn from(error: LogError) -> Self {
        ClientError::Log(error)
    }
}
