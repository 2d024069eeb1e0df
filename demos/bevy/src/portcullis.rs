//! A portcullis goes up when its lever is pulled.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::Barrier;
use crate::layer;
use crate::level::{DOORWAY, LINTEL, Prop};
use crate::lever::Pulled;
use crate::stage::{Focus, Quake};

pub(crate) fn spawn(world: &mut World, foot: Vec2, lever: Entity) {
    let middle = foot + Vec2::Y * LINTEL / 2.0;
    let barrier = Rect::from_center_size(middle, vec2(DOORWAY, LINTEL));
    world.spawn((
        Prop,
        Picture::Portcullis.drawn(),
        Transform::from_translation(middle.extend(layer::FLAT)),
        Barrier(barrier),
        Scripts::of(move |portcullis| rise(portcullis, lever)),
    ));
}

/// The script of a portcullis. The view turns to it while it moves.
async fn rise(portcullis: Entity, lever: Entity) -> Result<(), Missing> {
    lever.next_event::<Pulled>().await?;
    let foot = portcullis.get(|place: &Transform| place.translation)?;
    resource_mut(|focus: &mut Focus| focus.0 = Some(portcullis));
    wait_seconds(0.6).await;
    for notch in 0_u8..5 {
        write_message(Quake(2.5));
        animate(0.28, |t| {
            let share = (f32::from(notch) + t * t) / 5.0;
            let moved = portcullis.get_mut(|place: &mut Transform| {
                // It goes into the wall: the visible rest hangs from its upper end.
                place.scale.y = 1.0 - 0.8 * share;
                place.translation = foot + Vec3::Y * LINTEL * (1.0 - place.scale.y) / 2.0;
            });
            moved.expect("its scripts end with the portcullis");
        })
        .await;
    }
    portcullis.remove::<Barrier>()?;
    resource_mut(|focus: &mut Focus| focus.0 = None);
    Ok(())
}
