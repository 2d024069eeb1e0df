//! The hero shoots, and recovers from a hit.

use framestep::prelude::*;

use super::{Shock, World};
use crate::ported::fight::ARENA;
use crate::ported::fight::shapes::*;

pub(crate) struct Hero {
    pub(crate) at: Vec2,
    pub(crate) health: Watch<i32>,
    /// How much slow motion is left, from 0 to 1.
    pub(crate) focus: f32,
    /// Falls from 1 to 0 after a hit; above 0, nothing hits the hero.
    pub(crate) shield: f32,
}

impl Hero {
    pub(crate) const HEALTH: i32 = 12;
}

impl Default for Hero {
    fn default() -> Self {
        Hero {
            at: ARENA.center() + vec2(0.0, 150.0),
            health: Watch::new(Hero::HEALTH).named("hero's health"),
            focus: 1.0,
            shield: 0.0,
        }
    }
}

impl World {
    pub(crate) fn hurt_hero(&mut self) {
        if self.hero.shield > 0.0 {
            return;
        }
        self.hero.health.update(|health| *health -= 1);
        self.shake = 6.0;
        self.shocks.emit(Shock::small(self.hero.at));
        self.burst(self.hero.at, 16, Color::new(0.5, 0.9, 1.0, 1.0));
        self.owners.effects.spawn(recover());
        // The script begins later in this run: more bullets may come before it.
        self.hero.shield = 1.0;
    }
}

async fn recover() {
    animate(1.5, |t| {
        with(|world: &mut World| world.hero.shield = 1.0 - t);
    })
    .await;
}

pub(crate) async fn shoot() {
    loop {
        wait_until(|| with_ref(|world: &World| world.input.fires && world.speech.is_none())).await;
        with(|world: &mut World| {
            for side in [-2.0, -1.0, 0.0, 1.0, 2.0] {
                let at = world.hero.at + vec2(4.0 * side, side.abs() - 12.0);
                world.shoot_up(at, 0.06 * side);
            }
        });
        wait_seconds(0.09).await;
    }
}
