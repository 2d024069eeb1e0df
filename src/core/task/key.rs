//! The name of a task.

/// The index of the block in which a coroutine is stored, and the generation of the
/// block's occupant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TaskKey {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl TaskKey {
    /// The key of no task: generations count from 1.
    pub(crate) const NOBODY: TaskKey = TaskKey {
        index: 0,
        generation: 0,
    };
}
