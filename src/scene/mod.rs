//! Behaviours and scenes, for those without an engine.

#![forbid(unsafe_code)]

mod behaviour;
mod context;
mod handle;
mod slot;
mod this;

use std::fmt;
use std::rc::Rc;

use crate::{Executor, Phase, Seconds, lend};

pub use behaviour::Behaviour;
pub use context::SceneContext;
pub use handle::SceneHandle;
pub use this::This;

use handle::Cast;
use slot::Callback;

/// Behaviours and the executor of their coroutines, stepped together.
///
/// ```text
/// run_frame(dt)   start of the new ones
///                 EarlyUpdate
///                 fixed_update -> FixedUpdate     for every fixed step
///                 start of the new ones
///                 update -> Update
///                 late_update -> LateUpdate
///                 EndOfFrame
///                 the destroyed ones are removed
/// ```
///
/// Behaviours are called in the order in which they were added. One that is
/// added while callbacks are called begins with the next `start` of the diagram.
///
/// Dropping a scene removes all its behaviours.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::{Behaviour, Scene, SceneContext};
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
/// scene.run_frame(0.25); // begun in frame 1, it goes off in frame 5
/// assert!(scene.is_empty());
/// ```
///
/// # Source
///
/// "Order of execution for event functions", Unity manual.
pub struct Scene {
    // Dropped first: behaviours may have a last look at the executor.
    cast: Rc<Cast>,
    executor: Executor,
}

impl Scene {
    /// An empty scene around an executor with Unity's defaults.
    pub fn new() -> Self {
        Self::with_executor(Executor::new())
    }

    /// An empty scene around `executor`.
    pub fn with_executor(executor: Executor) -> Self {
        Scene {
            cast: Cast::new(executor.core().clone()),
            executor,
        }
    }

    /// The executor that runs the coroutines of the scene.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Adds a behaviour. Its `start` is called in the next frame, or, during a
    /// frame, where the diagram of [`Scene`] says.
    #[doc(alias = "Instantiate")]
    pub fn add<B: Behaviour>(&self, behaviour: B) -> This<B> {
        self.cast.add(behaviour)
    }

    /// The first behaviour of a type, unless it has been destroyed.
    #[doc(alias = "FindObjectOfType")]
    pub fn find<B: Behaviour>(&self) -> Option<This<B>> {
        self.cast.find()
    }

    /// All behaviours of a type that have not been destroyed, in the order in
    /// which they were added.
    #[doc(alias = "FindObjectsOfType")]
    pub fn find_all<B: Behaviour>(&self) -> Vec<This<B>> {
        self.cast.find_all()
    }

    /// Destroys a behaviour: it and its coroutines go on to the end of the next
    /// frame, and are removed then. `false`: it was destroyed already.
    #[doc(alias = "Destroy")]
    pub fn destroy<B: Behaviour>(&self, behaviour: &This<B>) -> bool {
        behaviour.destroy()
    }

    /// A handle that behaviours and their coroutines can keep.
    pub fn handle(&self) -> SceneHandle {
        SceneHandle::new(&self.cast)
    }

    /// How many behaviours there are that have not been destroyed.
    pub fn len(&self) -> usize {
        self.cast.len()
    }

    /// Whether there is no behaviour, or all have been destroyed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs one frame, as in the diagram of [`Scene`]. `dt` is the time since
    /// the last one, as in [`Executor::run_frame`].
    pub fn run_frame(&mut self, dt: impl Seconds) {
        let Scene { cast, executor } = self;
        executor.begin_frame(dt);
        cast.each(|slot| slot.start());
        executor.run_phase(Phase::EarlyUpdate);
        while executor.begin_fixed_step() {
            cast.each(|slot| slot.call(Callback::FixedUpdate));
            executor.run_phase(Phase::FixedUpdate);
        }
        cast.each(|slot| slot.start());
        cast.each(|slot| slot.call(Callback::Update));
        executor.run_phase(Phase::Update);
        cast.each(|slot| slot.call(Callback::LateUpdate));
        executor.run_phase(Phase::LateUpdate);
        executor.run_phase(Phase::EndOfFrame);
        cast.remove(false);
    }

    /// Lends `state` to the callbacks and coroutines that `f` runs, as
    /// [`Executor::lend`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep::{Behaviour, Scene, SceneContext};
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
        lend::lend(core, state, || f(self))
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.cast.remove(true);
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
