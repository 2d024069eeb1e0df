//! A log in memory.

use std::fmt;

use super::local::{Local, State, delegate_log};

/// A log in the memory of one process: for tests, and to begin with. Clones are the same log.
///
/// It keeps what it has while a clone exists, so nodes in one process can come and go.
#[derive(Clone)]
pub struct MemoryLog {
    local: Local,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        MemoryLog {
            local: Local::new(State::default()),
        }
    }
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog").finish_non_exhaustive()
    }
}

delegate_log!(MemoryLog, local);
