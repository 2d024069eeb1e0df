//! Waits for animations.

use bevy_animation::AnimationPlayer;
use bevy_ecs::prelude::*;

use super::ComponentUntil;

/// Waits until all animations that the `AnimationPlayer` of an entity plays have finished. An
/// endless animation never does.
///
/// # Resumes
///
/// In the home phase of the script. Bevy advances animations in `PostUpdate`, so a script
/// whose home phase is Update resumes in the next frame; with
/// [`in_phase`](ComponentUntil::in_phase)`(Phase::LateUpdate)`, in the same frame.
///
/// # Errors
///
/// When the entity or its player does not exist.
///
/// # Examples
///
/// ```
/// use bevy_animation::AnimationPlayer;
/// use bevy_animation::graph::AnimationNodeIndex;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Missing;
/// use bevy_framestep::prelude::*;
///
/// async fn die(goblin: Entity, fall: AnimationNodeIndex) -> Result<(), Missing> {
///     goblin.get_mut(|player: &mut AnimationPlayer| _ = player.start(fall))?;
///     animation_finished(goblin).await?;
///     goblin.despawn()
/// }
/// ```
#[track_caller]
pub fn animation_finished(entity: Entity) -> ComponentUntil {
    ComponentUntil::named(entity, AnimationPlayer::all_finished, |f, of| {
        write!(f, "the end of the animations of {of}")
    })
}
