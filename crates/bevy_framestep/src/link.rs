//! Handles of scripts that commands start.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use bevy_ecs::prelude::*;
use framestep::Coroutine;
use framestep::task::{CoroutineId, RemoteHandle, handle};

use crate::executor::Shared;

/// A handle of a script that commands start. It is `Send` and `Sync`: it can be kept in a
/// component or a resource, and used by any system.
///
/// It is returned by [`Commands::start_script`](crate::CommandsScriptsExt::start_script) and
/// [`EntityCommands::start_script_handle`](crate::EntityCommandsScriptsExt::start_script_handle).
/// Dropping it has no effect on the script. Clones are handles of the same script.
///
/// Its calls take effect before the next run of scripts. A script that has not begun yet is
/// stopped before it begins.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::ScriptHandle;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Resource)]
/// struct Intro(ScriptHandle);
///
/// async fn intro() {
///     wait_seconds(10).await;
/// }
///
/// fn begin(mut commands: Commands) {
///     let intro = commands.start_script(intro);
///     commands.insert_resource(Intro(intro));
/// }
///
/// fn skip(intro: Res<Intro>) {
///     intro.0.stop();
/// }
/// ```
#[derive(Clone)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(opaque, Clone, Debug)
)]
pub struct ScriptHandle {
    shared: Arc<Mutex<State>>,
}

/// The script's side of the link. It is dropped when the script ends.
pub(crate) struct Link {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    begun: Option<(RemoteHandle, CoroutineId)>,
    has_ended: bool,
    /// The calls before the script began.
    is_stopped: bool,
    is_paused: bool,
    /// The wakers of those that wait for the end, in the order in which they began.
    wakers: BTreeMap<u64, Waker>,
    next_key: u64,
}

/// A wait for the end.
struct Finished {
    shared: Arc<Mutex<State>>,
    /// That of its waker, since it was polled.
    key: Option<u64>,
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptHandle {
    /// The id of the script, for the methods of [`Handle`](framestep::Handle) and to find it
    /// in a snapshot. `None` if the commands have not been applied yet, or the script did not
    /// begin.
    pub fn id(&self) -> Option<CoroutineId> {
        let state = lock(&self.shared);
        state.begun.as_ref().map(|(_, id)| *id)
    }

    /// Stops the script. Its destructors run.
    pub fn stop(&self) {
        let mut state = lock(&self.shared);
        state.is_stopped = true;
        let begun = state.begun.clone();
        drop(state);
        if let Some((remote, id)) = begun {
            remote.stop(id);
        }
    }

    /// Pauses the script: it is not polled, and its timers stand still.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Ends the pause.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    fn set_paused(&self, paused: bool) {
        let mut state = lock(&self.shared);
        state.is_paused = paused;
        let begun = state.begun.clone();
        drop(state);
        if let Some((remote, id)) = begun {
            remote.call(move || {
                if paused {
                    handle().pause(id);
                } else {
                    handle().resume(id);
                }
            });
        }
    }

    /// Whether the script has ended: it returned, panicked, was stopped, or did not begin
    /// because its entity did not exist any more.
    pub fn is_finished(&self) -> bool {
        lock(&self.shared).has_ended
    }

    /// Waits until the script has ended in any way. Ready at once if it has.
    ///
    /// # Resumes
    ///
    /// In the home phase of the waiting script; in the same run, if the other script ends in
    /// a run of that phase.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::ScriptHandle;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Resource)]
    /// struct Intro(ScriptHandle);
    ///
    /// async fn game() {
    ///     resource(|intro: &Intro| intro.0.finished()).await;
    ///     println!("the game begins");
    /// }
    /// ```
    pub fn finished(&self) -> impl Future<Output = ()> + use<> {
        Finished {
            shared: self.shared.clone(),
            key: None,
        }
    }
}

impl Future for Finished {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Finished { shared, key } = self.get_mut();
        let mut state = lock(shared);
        if state.has_ended {
            return Poll::Ready(());
        }
        let key = *key.get_or_insert_with(|| {
            state.next_key += 1;
            state.next_key
        });
        let known = state.wakers.get(&key);
        if known.is_none_or(|known| !known.will_wake(cx.waker())) {
            let replaced = state.wakers.insert(key, cx.waker().clone());
            // A waker may call back when it is dropped.
            drop(state);
            drop(replaced);
        }
        Poll::Pending
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = lock(&self.shared).wakers.remove(&key);
            drop(waker);
        }
    }
}

impl fmt::Debug for ScriptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptHandle")
            .field("id", &self.id())
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

impl Link {
    pub(crate) fn new() -> (Self, ScriptHandle) {
        let shared = Arc::default();
        let link = Link {
            shared: Arc::clone(&shared),
        };
        (link, ScriptHandle { shared })
    }

    /// Starts the script with `start`, unless it was stopped.
    pub(crate) fn begin<T>(
        self,
        world: &mut World,
        start: impl FnOnce(&mut World, Self) -> Coroutine<T>,
    ) {
        let shared = self.shared.clone();
        if lock(&shared).is_stopped {
            return;
        }
        let started = start(world, self);
        let handle = Shared::of(world).handle().clone();
        let id = started.id();
        let mut state = lock(&shared);
        state.begun = handle.remote().map(|remote| (remote, id));
        // Called by the script itself, or before it began.
        let (is_stopped, is_paused) = (state.is_stopped, state.is_paused);
        drop(state);
        if is_stopped {
            started.stop();
        } else if is_paused {
            started.pause();
        }
    }

    /// The script, which drops this when it ends.
    pub(crate) async fn around<F: Future>(self, script: F) -> F::Output {
        let _link = self;
        script.await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut state = lock(&self.shared);
        state.has_ended = true;
        let wakers = take(&mut state.wakers);
        drop(state);
        // If one panics, the others are still called.
        let mut panicked = None;
        for waker in wakers.into_values() {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                panicked.get_or_insert(payload);
            }
        }
        if let Some(payload) = panicked.filter(|_| !thread::panicking()) {
            resume_unwind(payload);
        }
    }
}
