//! The hero shoots, and recovers from a hit.

use framestep_durable::prelude::*;

use super::{SHOCKS, Shock, World, with};
use crate::ported::fight::ARENA;
use crate::ported::fight::shapes::*;

pub(crate) const HEALTH: Value<i32> = Value::new("hero's health");

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hero {
    pub(crate) at: Vec2,
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
        self.host.set(&HEALTH, self.host.get(&HEALTH) - 1);
        self.shake = 6.0;
        self.host.emit(&SHOCKS, Shock::small(self.hero.at));
        self.burst(self.hero.at, 16, Color::new(0.5, 0.9, 1.0, 1.0));
        self.spawn(self.owners.effects, recover());
        // The script begins later in this run: more bullets may come before it.
        self.hero.shield = 1.0;
    }
}

#[durable]
pub(crate) async fn recover() {
    animate(1.5, |t| {
        with(|world: &mut World| {
            world.hero.shield = 1.0 - t;
        });
    })
    .await;
}

#[durable]
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
