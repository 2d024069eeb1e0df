//! What a script does with others, and the host with scripts, by their numbers.

use std::panic::Location;

use framestep::task::Ended;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ids::ScriptId;
use crate::runtime::{Joins, ScriptHandle, ends};
use crate::script::caller::{Caller, caller};
use crate::script::join_error::StopLine;
use crate::script::{Shared, command};

impl ScriptId {
    /// Makes a handle of the script, to join it: for a script that knows another one by its number, as from a
    /// parameter. `None` if the script has ended and no handle keeps its result, or if there is no such script.
    ///
    /// In a durable script, this is an effect, which is recorded. The host calls it in
    /// [`Runtime::enter`](crate::Runtime::enter): after a restore, it gets the result of a script that had a handle at
    /// the save, until the next run begins.
    ///
    /// # Panics
    ///
    /// Outside of a durable script, and of `enter`. Of another type than the script returns, the handle panics when its
    /// result is read.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn dig() -> u32 {
    ///     wait_seconds(1).await;
    ///     7
    /// }
    ///
    /// #[durable]
    /// async fn overseer(digger: ScriptId) -> Option<u32> {
    ///     let digs = digger.handle::<u32>()?;
    ///     digs.await.ok()
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(dig).script(overseer));
    /// let dig = runtime.start(dig());
    /// let overseer = runtime.start(overseer(dig.id()));
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(overseer), Some(Ok(Some(7))));
    /// ```
    #[must_use = "dropping the last handle of a script detaches it"]
    #[track_caller]
    pub fn handle<T: Serialize + DeserializeOwned>(self) -> Option<ScriptHandle<T>> {
        let mut birth = None;
        let is_there = command("handle", |shared| {
            birth = shared.birth(self);
            birth.is_some()
        });
        let place = caller().filter(|_| is_there)?;
        let joins = Joins::new(place.shared(), self, birth);
        Some(ScriptHandle::of(match &place {
            Caller::Host(_) => joins,
            Caller::Script(_) if birth.is_some() => joins.returning::<T>(),
            Caller::Script(cell) => joins.replayed_by(cell).returning::<T>(),
        }))
    }

    /// Waits until the script has ended, however it ends and whatever it returns. See
    /// [`framestep::Coroutine::finished`]. For its result, join its [`handle`](Self::handle).
    ///
    /// # Resumes
    ///
    /// Like a join: as soon as the script has ended, in the same frame and phase. At once, without a wait, if it has ended
    /// before, or if there is no such script.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. Nothing is lost.
    ///
    /// # Panics
    ///
    /// When polled: outside of a durable script; or by the script itself, because it would never be over.
    ///
    /// # Examples
    ///
    /// A script that knows another one by its number, and waits for its end:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn fire() {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// #[durable]
    /// async fn smoke(fire: ScriptId) -> u64 {
    ///     fire.ended().await;
    ///     time().frame
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(fire).script(smoke));
    /// let fire = runtime.start(fire());
    /// let smoke = runtime.start(smoke(fire.id()));
    /// fire.detach();
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(smoke), Some(Ok(4)));
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::Coroutine::finished`].
    pub fn ended(self) -> Ended {
        ends::ended(ends::Of::Script(self))
    }
}

/// What can be done to a script by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Ask,
    Stop(StopLine),
    Pause,
    Resume,
}

impl Shared {
    /// Stops, pauses or resumes a script. Returns whether that changes anything.
    pub(crate) fn act(&self, id: ScriptId, act: Act) -> bool {
        let coroutine = self.scripts.get(id).and_then(|cell| cell.coroutine_id());
        let Some(coroutine) = coroutine else {
            return false;
        };
        match act {
            Act::Ask => self.ask_script(id),
            Act::Stop(place) => self.door.stop(coroutine, place),
            Act::Pause => self.executor.pause(coroutine),
            Act::Resume => self.executor.resume(coroutine),
        }
    }
}

#[track_caller]
fn act(call: &'static str, id: ScriptId, act: Act) -> bool {
    command(call, |shared| shared.act(id, act))
}

/// Stops a script. Returns `false` if it has ended.
///
/// # Panics
///
/// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this.
#[track_caller]
pub fn stop(id: ScriptId) -> bool {
    act("stop", id, Act::Stop(Some(Location::caller())))
}

/// Requests a script to stop, like [`ScriptHandle::request_stop`]. Returns `false` if it was requested before,
/// or has ended.
///
/// # Panics
///
/// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this.
#[track_caller]
pub fn request_stop(id: ScriptId) -> bool {
    act("request_stop", id, Act::Ask)
}

/// Pauses a script. Returns `false` if it was paused or has ended.
///
/// # Panics
///
/// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this.
#[track_caller]
pub fn pause(id: ScriptId) -> bool {
    act("pause", id, Act::Pause)
}

/// Resumes a script that was paused. Returns `false` if it was not, or has ended.
///
/// # Panics
///
/// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this.
#[track_caller]
pub fn resume(id: ScriptId) -> bool {
    act("resume", id, Act::Resume)
}
