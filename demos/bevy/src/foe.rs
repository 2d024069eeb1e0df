//! What all foes have in common: the sword hurts them.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::body::{Feet, Health, Hit, place};
use crate::hero::hero;
use crate::spark;
use crate::stage::Quake;

/// A script of a foe: when hit, it flashes and is pushed back. Without health it is despawned.
pub(crate) async fn suffer(foe: Entity) -> Result<(), Missing> {
    let feet = Feet::new();
    loop {
        let hit = foe.next_event::<Hit>().await?;
        let at = place(foe)?;
        spark::burst(at, Color::srgb(1.0, 0.95, 0.8), 8);
        let health = foe.get_mut(|health: &mut Health| {
            health.0 = health.0.saturating_sub(1);
            health.0
        })?;
        if health == 0 {
            write_message(Quake(4.0));
            spark::burst(at, Color::srgb(0.8, 0.5, 1.0), 24);
            return foe.despawn();
        }
        foe.get_mut(|drawn: &mut Drawn| drawn.color = Color::srgb(2.0, 1.9, 1.9))?;
        let away = (at - hit.from).normalize_or_zero();
        for _ in 0..5 {
            feet.step(foe, away * 4.0)?;
            next_frame().await;
        }
        foe.get_mut(|drawn: &mut Drawn| drawn.color = Color::WHITE)?;
    }
}

/// Hits the hero, if near enough. Returns whether it did.
pub(crate) fn touch(foe: Entity, reach: f32) -> Result<bool, Missing> {
    let (at, hero) = (place(foe)?, hero());
    let touches = place(hero)?.distance(at) < reach;
    if touches {
        trigger(Hit {
            entity: hero,
            from: at,
        });
    }
    Ok(touches)
}

/// A script of a foe: it chases the hero, as long as it lives.
pub(crate) async fn hunt(foe: Entity, speed: f32) -> Result<(), Missing> {
    let feet = Feet::new();
    loop {
        feet.approach(foe, place(hero())?, speed)?;
        if touch(foe, 26.0)? {
            wait_seconds(0.7).await;
        }
        next_frame().await;
    }
}
