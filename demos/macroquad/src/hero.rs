//! The hero: walks, shoots, and slows the enemies down.

use framestep::next_frame;
use framestep::prelude::*;
use macroquad::prelude::*;

use crate::floor::Shock;
use crate::world::{ARENA, World};

/// In pixels a second.
const SPEED: f32 = 210.0;

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

/// All activities of the hero, at the same time, until the scene ends.
pub(crate) async fn live() {
    join!(walk(), shoot(), slow_down());
}

async fn walk() {
    loop {
        next_frame().await;
        let way = SPEED * delta_seconds();
        with(|world: &mut World| {
            if world.speech.is_none() {
                let at = world.hero.at + world.input.stick * way;
                let (low, high) = (ARENA.point(), ARENA.point() + ARENA.size());
                world.hero.at = at.clamp(low + 14.0, high - 14.0);
            }
        });
    }
}

async fn shoot() {
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

/// Slows the clock of the foes down while the key is held and focus is left.
async fn slow_down() {
    let foes = with_ref(|world: &World| world.clocks.foes.clone());
    loop {
        next_frame().await;
        let passed = delta_seconds();
        let slows = with(|world: &mut World| {
            let hero = &mut world.hero;
            let slows = world.input.slows && hero.focus > 0.0;
            let rate = if slows { -0.35 } else { 0.12 };
            hero.focus = (hero.focus + rate * passed).clamp(0.0, 1.0);
            slows
        });
        let aim = if slows { 0.25 } else { 1.0 };
        let step = 4.0 * f64::from(passed);
        foes.set_scale(foes.scale() + (aim - foes.scale()).clamp(-step, step));
    }
}
