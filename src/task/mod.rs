//! Coroutines and their lives: handles and ids, starts, owners and groups, requests to stop,
//! budgets of time, work on other threads.

mod budget;
pub(crate) mod coroutine;
pub(crate) mod offload;
pub(crate) mod owner;
pub(crate) mod script;

pub use crate::executor::{RemoteCall, RemoteCallError, RemoteHandle};
pub use budget::{Budget, Checkpoint};
pub use coroutine::{
    Coroutine, CoroutineId, Finished, JoinError, Outcome, OutputSource, ScriptBuilder, ScriptJoin,
    join,
};
#[doc(alias = "RunOnThreadPool")]
#[doc(alias = "spawn_blocking")]
#[doc(alias = "unblock")]
#[doc(alias = "Task.Run")]
#[doc(alias = "thread pool")]
#[doc(alias = "SwitchToThreadPool")]
#[doc(alias = "rayon")]
#[doc(alias = "background")]
pub use offload::offload;
pub use offload::{Job, Offload, OffloadError};
#[doc(alias = "nursery")]
#[doc(alias = "JoinSet")]
#[doc(alias = "TaskGroup")]
pub use owner::Group;
#[doc(alias = "IsCancellationRequested")]
pub use owner::is_stop_requested;
#[doc(alias = "CancellationToken")]
#[doc(alias = "cancelled")]
#[doc(alias = "WaitUntilCanceled")]
#[doc(alias = "Register")]
pub use owner::stop_requested;
pub use owner::{
    Ended, JoinGroup, Owner, OwnerHandle, PauseGuard, SendOwner, StopRequested, StopWithin,
    TryJoinGroup, group,
};
#[doc(alias = "LocalBoxFuture")]
#[doc(alias = "IEnumerator")]
pub use script::Script;
#[doc(alias = "GetCancellationTokenOnDestroy")]
#[doc(alias = "AttachExternalCancellation")]
#[doc(alias = "CompositeDisposable")]
pub use script::owner;
#[doc(alias = "SwitchToMainThread")]
#[doc(alias = "ObserveOn")]
pub use script::remote;
#[doc(alias = "StartCoroutine")]
pub use script::start;
#[doc(alias = "StopCoroutine")]
pub use script::stop;
pub use script::{current, current_name, handle, home, owner_on, script, spawn};
