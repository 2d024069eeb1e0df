//! Ids of coroutines: small values that go stale when the coroutine ends.

use crate::core::base::key::TaskKey;
use std::fmt;

/// Identifies one coroutine of one executor.
///
/// An id is a plain value that keeps nothing alive. It is unique, until four billion
/// coroutines have used the same slot. If the coroutine has ended or belongs to another
/// executor, [`stop`](crate::stop) and similar functions return `false`.
///
/// It prints as slot and generation: `12v3` is the third occupant of slot 12.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let executor = Executor::new();
/// let id = executor.spawn(async {}).id();
/// assert_eq!(id.to_string(), "0v1");
/// assert!(executor.stop(id));
/// assert!(!executor.stop(id));
/// assert_eq!(executor.spawn(async {}).id().to_string(), "0v2");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoroutineId {
    executor: u32,
    key: TaskKey,
}

impl CoroutineId {
    /// The id of a coroutine that no executor accepted. Executors count from 1.
    pub(crate) const NEVER: CoroutineId = CoroutineId {
        executor: 0,
        key: TaskKey::NOBODY,
    };

    pub(crate) const fn new(executor: u32, key: TaskKey) -> Self {
        CoroutineId { executor, key }
    }

    /// The key, if the coroutine belongs to `executor`.
    pub(crate) fn key_in(self, executor: u32) -> Option<TaskKey> {
        (self.executor == executor).then_some(self.key)
    }
}

impl fmt::Display for CoroutineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}v{}", self.key.index, self.key.generation))
    }
}

impl fmt::Debug for CoroutineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoroutineId({self})")
    }
}
