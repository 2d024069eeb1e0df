//! The argument of a behaviour's callbacks.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;

use crate::task::coroutine::{Coroutine, ScriptBuilder};
use crate::time::Time;

use super::behaviour::Behaviour;
use super::behaviour_handle::BehaviourHandle;
use super::handle::SceneHandle;
use super::slot::Slot;

/// The argument of a [`Behaviour`]'s callbacks: it starts coroutines, reads the
/// time, and returns handles of the behaviour and the scene.
pub struct SceneContext<'a, B> {
    slot: &'a Slot<B>,
}

impl<'a, B: Behaviour> SceneContext<'a, B> {
    pub(super) fn new(slot: &'a Slot<B>) -> Self {
        SceneContext { slot }
    }

    /// Starts a coroutine of this behaviour. It runs up to its first wait as soon
    /// as the callback has returned.
    ///
    /// If the behaviour is inactive or has been removed, it refuses the coroutine:
    /// the future is dropped, and the handle is that of a stopped coroutine.
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.slot.owner.start(future)
    }

    /// Adds a coroutine of this behaviour. It is first polled in the next run of
    /// [`Phase::Update`](crate::Phase::Update), which may be in this frame. The
    /// behaviour may refuse it, as with [`start`](SceneContext::start).
    #[track_caller]
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.slot.owner.spawn(future)
    }

    /// Names the coroutine of this behaviour that is about to be started or spawned,
    /// like [`Executor::script`](crate::Executor::script).
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        self.slot.owner.script(name)
    }

    /// Stops all coroutines of this behaviour.
    #[doc(alias = "StopAllCoroutines")]
    #[track_caller]
    pub fn stop_all(&self) {
        self.slot.owner.stop_all();
    }

    /// Destroys this behaviour. The behaviour and its coroutines run until the end
    /// of the frame, and are removed then. Returns `false` if the behaviour was
    /// already destroyed.
    #[doc(alias = "Destroy")]
    pub fn destroy_self(&self) -> bool {
        self.slot.destroy()
    }

    /// Returns the clocks. In a fixed step, they read the time of the step.
    pub fn time(&self) -> Time {
        self.slot.core.game_time()
    }

    /// Returns a handle of this behaviour, which its coroutines can keep.
    pub fn this(&self) -> BehaviourHandle<B> {
        self.slot.this()
    }

    /// Returns a handle of the scene, to add and find behaviours.
    pub fn scene(&self) -> SceneHandle {
        self.slot.scene.clone()
    }
}

impl<B> fmt::Debug for SceneContext<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneContext").finish_non_exhaustive()
    }
}
