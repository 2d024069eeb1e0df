//! Coroutines and their lives: handles and ids, starts, owners and groups, requests to stop,
//! budgets of time, work on other threads.

mod budget;
pub(crate) mod coroutine;
pub(crate) mod offload;
pub(crate) mod owner;
pub(crate) mod script;

pub use crate::executor::RemoteHandle;
pub use budget::{Budget, Checkpoint};
pub use coroutine::{
    Coroutine, CoroutineId, Finished, JoinError, Outcome, OutputSource, ScriptBuilder, join,
};
pub use offload::{Job, Offload, OffloadError, offload};
pub use owner::{
    Ended, Group, JoinGroup, Owner, OwnerHandle, PauseGuard, SendOwner, StopRequested, StopWithin,
    TryJoinGroup, group, is_stop_requested, stop_requested,
};
pub use script::{
    Script, current, current_name, handle, home, owner, owner_on, remote, script, spawn, start,
    stop,
};
