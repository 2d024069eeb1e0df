//! What a behaviour's callback gets.

#![forbid(unsafe_code)]

use std::fmt;
use std::future::Future;

use crate::coroutine::Coroutine;
use crate::time::Time;

use super::behaviour::Behaviour;
use super::handle::SceneHandle;
use super::slot::Slot;
use super::this::This;

/// The hands of a [`Behaviour`] in its callbacks: coroutines, time, and itself.
pub struct SceneContext<'a, B> {
    slot: &'a Slot<B>,
}

impl<'a, B: Behaviour> SceneContext<'a, B> {
    pub(super) fn new(slot: &'a Slot<B>) -> Self {
        SceneContext { slot }
    }

    /// Starts a coroutine of this behaviour: it runs to its first wait as soon
    /// as the callback has returned.
    ///
    /// On a behaviour that is inactive or has been removed, the handle is one of
    /// a coroutine that was stopped before it began.
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        self.slot.owner.start(future)
    }

    /// Adds a coroutine of this behaviour: it is first polled in the next run of
    /// [`Phase::Update`](crate::Phase::Update), which may be this frame's. It is
    /// refused as by [`start`](SceneContext::start).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        self.slot.owner.spawn(future)
    }

    /// Stops all coroutines of this behaviour.
    #[doc(alias = "StopAllCoroutines")]
    pub fn stop_all(&self) {
        self.slot.owner.stop_all();
    }

    /// Destroys this behaviour: it and its coroutines go on to the end of the
    /// frame, and are removed then. `false`: it was destroyed already.
    #[doc(alias = "Destroy")]
    pub fn destroy_self(&self) -> bool {
        self.slot.destroy()
    }

    /// The clocks; in a fixed step, with the time of the step.
    pub fn time(&self) -> Time {
        self.slot.core.game_time()
    }

    /// A handle of this behaviour that its coroutines can keep.
    pub fn this(&self) -> This<B> {
        self.slot.this()
    }

    /// A handle of the scene: to add and find others.
    pub fn scene(&self) -> SceneHandle {
        self.slot.scene.clone()
    }
}

impl<B> fmt::Debug for SceneContext<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SceneContext").finish_non_exhaustive()
    }
}
