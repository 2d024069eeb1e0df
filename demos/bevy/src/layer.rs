//! How near to the camera things are.

use bevy::prelude::*;

pub(crate) const FLOOR: f32 = 0.0;
/// What lies on the floor, or hangs on a wall.
pub(crate) const FLAT: f32 = 1.0;
/// What stands: see [`standing`].
pub(crate) const STANDING: f32 = 4.0;
pub(crate) const LINTEL: f32 = 5.0;
/// Everything nearer shines by itself.
pub(crate) const NIGHT: f32 = 10.0;
pub(crate) const GLOW: f32 = 11.0;
pub(crate) const SPARK: f32 = 12.0;
pub(crate) const SIGN: f32 = 13.0;
/// These are parts of the stage, and move along with the view.
pub(crate) const DISPLAY: f32 = 20.0;
/// Text comes after all pictures of the display: fewer switches between the two are faster to
/// draw.
pub(crate) const TEXT: f32 = 21.0;
pub(crate) const MENU: f32 = 30.0;

/// The place of something that stands on the floor: those below are nearer.
pub(crate) fn standing(at: Vec2) -> Vec3 {
    at.extend(STANDING - at.y / 2_000.0)
}
