//! What game objects implement.

#![forbid(unsafe_code)]

use super::context::SceneContext;

/// Something in a [`Scene`](super::Scene): a door, an enemy, the player.
///
/// All callbacks are optional. Each gets a [`SceneContext`] to start coroutines
/// with, which belong to the behaviour and end with it. What a callback
/// [`start`](SceneContext::start)s begins right after it has returned. The free
/// functions, [`time`](crate::time()), [`spawn`](crate::spawn) and their kin,
/// work in callbacks as well.
///
/// A callback that panics ends its behaviour and nothing else: it is
/// [reported](crate::Report::BehaviourPanicked), its coroutines are stopped, and
/// at the end of the frame it is removed, without
/// [`on_destroy`](Behaviour::on_destroy). So is a destructor that panics, when
/// the behaviour is removed.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::{Behaviour, Scene, SceneContext};
///
/// struct Door {
///     height: f32,
/// }
///
/// impl Behaviour for Door {
///     fn start(&mut self, context: &SceneContext<'_, Self>) {
///         let this = context.this();
///         context.start(async move {
///             wait_seconds(1).await;
///             while this.with(|door| door.height) < 2.0 {
///                 this.with(|door| door.height += 2.0 * delta_seconds());
///                 next_frame().await;
///             }
///         });
///     }
/// }
///
/// let mut scene = Scene::new();
/// let door = scene.add(Door { height: 0.0 });
/// for _ in 0..8 {
///     scene.run_frame(0.25);
/// }
/// assert_eq!(door.with(|door| door.height), 2.0);
/// ```
///
/// # Source
///
/// `MonoBehaviour`, and "Order of execution for event functions", Unity manual.
#[doc(alias = "MonoBehaviour")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a behaviour",
    label = "does not implement `Behaviour`",
    note = "write `impl Behaviour for {Self} {{}}`: all callbacks are optional"
)]
pub trait Behaviour: Sized + 'static {
    /// Called once, before the first [`fixed_update`](Behaviour::fixed_update)
    /// and [`update`](Behaviour::update). Not before the behaviour is
    /// [active](crate::This::set_active).
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called in every fixed step, before
    /// [`Phase::FixedUpdate`](crate::Phase::FixedUpdate) is run. The time is
    /// that of the step.
    #[doc(alias = "FixedUpdate")]
    fn fixed_update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called once a frame, before [`Phase::Update`](crate::Phase::Update) is
    /// run.
    fn update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called once a frame, after the coroutines of
    /// [`Phase::Update`](crate::Phase::Update) and before those of
    /// [`Phase::LateUpdate`](crate::Phase::LateUpdate).
    #[doc(alias = "LateUpdate")]
    fn late_update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called at the end of the frame in which the behaviour was destroyed, or
    /// when its scene is dropped; its coroutines have been stopped, and no other
    /// starts. Called once, also if the behaviour is inactive or was destroyed
    /// before its [`start`](Behaviour::start).
    ///
    /// If the scene is dropped inside a closure that has the behaviour, this is
    /// called when the closure has returned.
    #[doc(alias = "OnDestroy")]
    fn on_destroy(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }
}
