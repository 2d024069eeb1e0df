//! Behaviours and scenes, for programs without an engine.
//!
//! A [`Scene`] owns [`Behaviour`]s, steps their callbacks in Unity's order, and ends their scripts
//! with them. A game that has an engine, or objects of its own, needs none of this: it keeps an
//! [`Owner`](crate::Owner) in each object.

mod behaviour;
mod behaviour_handle;
mod context;
mod handle;
mod slot;

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::core::run;
use crate::executor::{Executor, Patience, output_of};
use crate::lend;
use crate::time::{Phase, PhaseIndex, Seconds};

#[doc(alias = "MonoBehaviour")]
pub use behaviour::Behaviour;
pub use behaviour_handle::BehaviourHandle;
pub use context::SceneContext;
pub use handle::SceneHandle;

use handle::Cast;
use slot::Callback;

/// A list of behaviours and the executor of their coroutines, stepped together.
///
/// ```text
/// run_frame(dt)   start (new behaviours), EarlyUpdate
///                 start (new behaviours), fixed_update, FixedUpdate   in each fixed step
///                 start (new behaviours), update, Update
///                 late_update, LateUpdate
///                 EndOfFrame
///                 removal of the destroyed behaviours
/// ```
///
/// Other [phases](Phase::NAMED) have no callbacks. A name in small letters is a callback,
/// which is called on all behaviours in the order they were added. A name in capitals is a
/// run of that phase, which polls the coroutines that are due. A behaviour that is added during a frame begins with the next `start` of
/// the diagram, before any other of its callbacks.
///
/// Behaviours are removed in the order they were destroyed. A behaviour that an
/// `on_destroy` destroys is removed in the same frame, even if the `on_destroy` has
/// added it. (At most one more for each behaviour of the scene, and 1,000; the rest
/// follow in the next frame.)
///
/// Dropping a scene removes all behaviours, in the order they were added.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::scene::{Behaviour, Scene, SceneContext};
///
/// struct Bomb;
///
/// impl Behaviour for Bomb {
///     fn start(&mut self, context: &SceneContext<'_, Self>) {
///         let this = context.this();
///         context.start(async move {
///             wait_seconds(1).await;
///             this.destroy();
///         });
///     }
/// }
///
/// let mut scene = Scene::new();
/// scene.add(Bomb);
/// for _ in 0..4 {
///     scene.run_frame(0.25);
///     assert_eq!(scene.len(), 1);
/// }
/// scene.run_frame(0.25); // the script began in frame 1, and ends in frame 5
/// assert!(scene.is_empty());
/// ```
///
/// # Source
///
/// "Order of execution for event functions", Unity manual.
pub struct Scene {
    // Dropped first: `on_destroy` may use the executor.
    cast: Rc<Cast>,
    executor: Executor,
}

impl Scene {
    /// Makes an empty scene around an executor with Unity's defaults.
    pub fn new() -> Self {
        Self::with_executor(Executor::new())
    }

    /// Makes an empty scene around `executor`.
    pub fn with_executor(executor: Executor) -> Self {
        Scene {
            cast: Cast::new(executor.core().clone()),
            executor,
        }
    }

    /// Returns the executor that runs the coroutines of the scene.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Adds a behaviour. Its `start` is called in the next frame, or, if it is
    /// added during a frame, at the next `start` in the diagram of [`Scene`].
    #[doc(alias = "Instantiate")]
    pub fn add<B: Behaviour>(&self, behaviour: B) -> BehaviourHandle<B> {
        self.cast.add(behaviour)
    }

    /// Finds the first behaviour of type `B` that has not been destroyed, active or
    /// not.
    #[doc(alias = "FindObjectOfType")]
    pub fn find<B: Behaviour>(&self) -> Option<BehaviourHandle<B>> {
        self.cast.find()
    }

    /// Finds all behaviours of type `B` that have not been destroyed, active or not, in
    /// the order they were added.
    #[doc(alias = "FindObjectsOfType")]
    pub fn find_all<B: Behaviour>(&self) -> Vec<BehaviourHandle<B>> {
        self.cast.find_all()
    }

    /// Destroys a behaviour. The behaviour and its coroutines run until the end of
    /// the next frame, and are removed then. Returns `false` if the behaviour was
    /// already destroyed.
    #[doc(alias = "Destroy")]
    pub fn destroy<B: Behaviour>(&self, behaviour: &BehaviourHandle<B>) -> bool {
        behaviour.destroy()
    }

    /// Returns a weak handle, which behaviours and their coroutines can keep.
    pub fn handle(&self) -> SceneHandle {
        SceneHandle::new(&self.cast)
    }

    /// The number of behaviours that have not been destroyed.
    pub fn len(&self) -> usize {
        self.cast.len()
    }

    /// Whether there is no behaviour that has not been destroyed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs one frame, as in the diagram of [`Scene`]. `dt` is the time since the
    /// last frame, as in [`Executor::run_frame`].
    ///
    /// # Panics
    ///
    /// At the caller's line, if called inside a closure that borrows lent state or
    /// a behaviour of this scene, such as one of [`BehaviourHandle::with`].
    #[track_caller]
    pub fn run_frame(&mut self, dt: impl Seconds) {
        self.begin_frame(dt);
        for phase in Phase::NAMED {
            if phase == Phase::FixedUpdate {
                while self.begin_fixed_step() {
                    self.run_phase(phase);
                }
            } else {
                self.run_phase(phase);
            }
        }
    }

    /// Begins a frame, for hosts that run their own code between the parts of a frame:
    /// physics in the fixed steps, rendering before the end of the frame.
    ///
    /// # Examples
    ///
    /// What [`run_frame`](Scene::run_frame) does:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// # let mut scene = framestep::scene::Scene::new();
    /// scene.begin_frame(0.25);
    /// scene.run_phase(Phase::EarlyUpdate);
    /// while scene.begin_fixed_step() {
    ///     scene.run_phase(Phase::FixedUpdate);
    ///     // physics
    /// }
    /// scene.run_phase(Phase::Update);
    /// scene.run_phase(Phase::LateUpdate);
    /// // rendering
    /// scene.run_phase(Phase::EndOfFrame);
    /// ```
    ///
    /// # Panics
    ///
    /// Like [`run_frame`](Scene::run_frame).
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        self.expect_not_borrowed();
        self.executor.begin_frame(dt);
    }

    /// Begins the next fixed step if it is due, like
    /// [`Executor::begin_fixed_step`].
    #[track_caller]
    pub fn begin_fixed_step(&mut self) -> bool {
        self.executor.begin_fixed_step()
    }

    /// Runs one phase: calls its callbacks, as in the diagram of [`Scene`], and
    /// then polls the coroutines that are due in it. After [`Phase::EndOfFrame`],
    /// it removes the destroyed behaviours.
    ///
    /// # Panics
    ///
    /// Like [`run_frame`](Scene::run_frame).
    #[track_caller]
    pub fn run_phase(&mut self, phase: Phase) {
        self.expect_not_borrowed();
        run::assert_idle(self.executor.core(), "run_phase");
        // The callbacks read the same time as the coroutines after them.
        self.executor
            .core()
            .clock
            .enter_phase(PhaseIndex::new(phase));
        let call = |callback| self.cast.each(|slot| slot.call(callback));
        let start = || self.cast.each(|slot| slot.start());
        match phase {
            Phase::EarlyUpdate => start(),
            Phase::FixedUpdate => {
                start();
                call(Callback::FixedUpdate);
            }
            Phase::Update => {
                start();
                call(Callback::Update);
            }
            Phase::LateUpdate => call(Callback::LateUpdate),
            _ => {}
        }
        self.executor.run_phase(phase);
        if phase == Phase::EndOfFrame {
            self.cast.remove_destroyed();
        }
    }

    /// Starts `future`, runs frames of `dt` until it has returned, and returns its
    /// output, like [`Executor::run_until`]: for tools and tests.
    ///
    /// # Panics
    ///
    /// If the future panics, with the same payload; if it is stopped; or if it has not returned
    /// after [`max_frames`](crate::Builder::max_frames). Also like
    /// [`run_frame`](Scene::run_frame).
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::scene::{Behaviour, Scene, SceneContext};
    ///
    /// struct Rocket {
    ///     height: f32,
    /// }
    ///
    /// impl Behaviour for Rocket {
    ///     fn update(&mut self, context: &SceneContext<'_, Self>) {
    ///         self.height += 2.0 * delta_seconds();
    ///     }
    /// }
    ///
    /// let mut scene = Scene::new();
    /// let rocket = scene.add(Rocket { height: 0.0 });
    /// scene.run_until(wait_until(move || rocket.with(|rocket| rocket.height >= 2.0)), 0.25);
    /// assert_eq!(scene.executor().time().frame, 4);
    /// ```
    #[track_caller]
    pub fn run_until<F: Future + 'static>(&mut self, future: F, dt: impl Seconds) -> F::Output {
        self.expect_not_borrowed();
        run::assert_idle(self.executor.core(), "run_until");
        let coroutine = self.executor.start(future);
        let mut patience = Patience::with_host(coroutine.id());
        while !coroutine.is_finished() {
            self.run_frame(dt);
            if !coroutine.is_finished() {
                patience.end_frame(&self.executor);
            }
        }
        output_of(coroutine)
    }

    #[track_caller]
    fn expect_not_borrowed(&self) {
        assert!(
            !self.cast.is_borrowed(),
            "the scene was stepped inside a closure of `with` or `try_with`, which may borrow one \
             of its behaviours: step it after the closure has returned"
        );
    }

    /// Lends `state` to the callbacks and coroutines that `f` runs, like
    /// [`Executor::lend`].
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::scene::{Behaviour, Scene, SceneContext};
    ///
    /// struct Score(u32);
    /// struct Coin;
    ///
    /// impl Behaviour for Coin {
    ///     fn update(&mut self, context: &SceneContext<'_, Self>) {
    ///         with(|score: &mut Score| score.0 += 1);
    ///         context.destroy_self();
    ///     }
    /// }
    ///
    /// let mut score = Score(0);
    /// let mut scene = Scene::new();
    /// scene.add(Coin);
    /// scene.lend(&mut score, |scene| scene.run_frame(0.1));
    /// assert_eq!(score.0, 1);
    /// ```
    pub fn lend<S: 'static, R>(&mut self, state: &mut S, f: impl FnOnce(&mut Scene) -> R) -> R {
        let core = self.executor.core().clone();
        lend::plain(core, state, || f(self))
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.cast.close();
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene")
            .field("behaviours", &self.len())
            .field("executor", &self.executor)
            .finish_non_exhaustive()
    }
}
