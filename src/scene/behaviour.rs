//! The trait of game objects.

use super::context::SceneContext;

/// A game object in a [`Scene`](super::Scene): a door, an enemy, the player.
///
/// All callbacks are optional. Each receives a [`SceneContext`] to start coroutines
/// with, which belong to the behaviour and end with it. A coroutine that a callback
/// [`start`](SceneContext::start)s begins right after the callback has returned.
/// The free functions, such as [`time`](crate::time()) and [`spawn`](crate::spawn),
/// also work in callbacks.
///
/// A panic in a callback ends the behaviour and nothing else. The panic is
/// [reported](crate::inspect::Report::BehaviourPanicked), and the coroutines of the
/// behaviour are stopped. At the end of the frame the behaviour is removed, without
/// a call of [`on_destroy`](Behaviour::on_destroy). A panic in the behaviour's
/// destructor is also reported.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::scene::{Behaviour, Scene, SceneContext};
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a behaviour",
    label = "does not implement `Behaviour`",
    note = "write `impl Behaviour for {Self} {{}}`: all callbacks are optional"
)]
pub trait Behaviour: Sized + 'static {
    /// Called once, before the first [`fixed_update`](Behaviour::fixed_update) and
    /// [`update`](Behaviour::update), when the behaviour is
    /// [active](crate::scene::BehaviourHandle::set_active).
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called in every fixed step, before the run of
    /// [`Phase::FixedUpdate`](crate::Phase::FixedUpdate). The game clock reads the
    /// time of the step.
    #[doc(alias = "FixedUpdate")]
    fn fixed_update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called once a frame, before the run of
    /// [`Phase::Update`](crate::Phase::Update).
    fn update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called once a frame, after the run of
    /// [`Phase::Update`](crate::Phase::Update) and before the run of
    /// [`Phase::LateUpdate`](crate::Phase::LateUpdate).
    #[doc(alias = "LateUpdate")]
    fn late_update(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }

    /// Called once, at the end of the frame in which the behaviour was destroyed,
    /// or when its scene is dropped. Its coroutines have already been stopped, and
    /// new ones are refused. It is also called if the behaviour is inactive, or if
    /// [`start`](Behaviour::start) has not been called.
    ///
    /// If the scene is dropped inside a closure that borrows the behaviour, this is
    /// called when the closure has returned.
    #[doc(alias = "OnDestroy")]
    fn on_destroy(&mut self, context: &SceneContext<'_, Self>) {
        let _ = context;
    }
}
