//! Turrets shoot bolts.

use bevy::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use crate::bolt;
use crate::scene::{block, layer, place};

pub(crate) const COLOUR: Color = Color::srgb(0.75, 0.3, 0.4);

/// The script of a turret: a bolt every so often.
pub(crate) async fn shoot(turret: Entity, towards: Vec2, after: f32) -> Result<(), Missing> {
    wait_seconds(after).await;
    loop {
        wait_seconds(0.9).await;
        let at = place(turret)? + towards * 20.0;
        commands(|commands| {
            let size = bolt::size(towards);
            let bolt = block(commands, bolt::COLOUR, layer::BOLT, at.into(), size.into());
            commands
                .entity(bolt)
                .start_script(move |bolt| bolt::fly(bolt, towards));
        });
        recoil(turret, towards).await?;
    }
}

async fn recoil(turret: Entity, towards: Vec2) -> Result<(), Missing> {
    let home = turret.get(|place: &Transform| place.translation)?;
    animate(0.25, |t| {
        let back = towards.extend(0.0) * -8.0 * (1.0 - t);
        let moved = turret.get_mut(|place: &mut Transform| place.translation = home + back);
        moved.expect("its scripts end with the turret");
    })
    .await;
    Ok(())
}
