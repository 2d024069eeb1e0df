//! Why a server has not started or has stopped.

use std::fmt;

use crate::log::LogError;

/// Why a server has stopped, or has not started. `Debug` is the same sentence as `Display`: `main` prints it.
#[non_exhaustive]
pub enum ServerError {
    /// The log.
    Log(LogError),
    /// The settings of the server.
    Settings(String),
    /// The operating system.
    System(std::io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Log(error) => error.fmt(f),
            ServerError::Settings(why) => f.write_str(why),
            ServerError::System(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServerError {}

impl From<LogError> for ServerError {
    fn from(error: LogError) -> Self {
        ServerError::Log(error)
    }
}

impl From<std::io::Error> for ServerError {
    fn from(error: std::io::Error) -> Self {
        ServerError::System(error)
    }
}
