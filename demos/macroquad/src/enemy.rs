//! Enemies: each owns its scripts, which end with it.

use std::f32::consts::TAU;

use framestep::prelude::*;
use macroquad::prelude::*;
use macroquad::rand::gen_range;

use crate::bullet::Flight;
use crate::numbers::real;
use crate::world::{ARENA, World};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Shoots three at a time at the hero.
    Scout,
    /// Shoots rings.
    Spinner,
}

impl Kind {
    pub(crate) fn radius(self) -> f32 {
        match self {
            Kind::Scout => 11.0,
            Kind::Spinner => 15.0,
        }
    }

    pub(crate) fn colour(self) -> Color {
        match self {
            Kind::Scout => Color::new(1.0, 0.62, 0.25, 1.0),
            Kind::Spinner => Color::new(0.75, 0.5, 1.0, 1.0),
        }
    }

    fn health(self) -> i32 {
        match self {
            Kind::Scout => 7,
            Kind::Spinner => 14,
        }
    }
}

pub(crate) struct Enemy {
    number: u64,
    pub(crate) kind: Kind,
    pub(crate) at: Vec2,
    pub(crate) health: i32,
    /// Bright for a moment after a hit. From 1 to 0.
    pub(crate) flash: f32,
    /// Stops its scripts when it is dropped.
    _scripts: Owner,
}

/// Adds an enemy at `at`, and spawns its scripts.
pub(crate) fn enter(world: &mut World, kind: Kind, at: Vec2) {
    world.entered += 1;
    let number = world.entered;
    let scripts = world.owners.foes.child();
    scripts.spawn(roam(number, at));
    match kind {
        Kind::Scout => scripts.spawn(shoot_at_hero(number)),
        Kind::Spinner => scripts.spawn(shoot_rings(number)),
    };
    world.enemies.push(Enemy {
        number,
        kind,
        at,
        health: kind.health(),
        flash: 0.0,
        _scripts: scripts,
    });
    world.left.set(world.enemies.len());
}

/// Calls `f` with the enemy of that number. Only its own scripts call this: they end
/// with it, so it exists.
fn with_enemy<R>(world: &mut World, number: u64, f: impl FnOnce(&mut Enemy) -> R) -> R {
    let mut enemies = world.enemies.iter_mut();
    let enemy = enemies.find(|enemy| enemy.number == number);
    f(enemy.expect("the scripts of an enemy end with it"))
}

fn place(world: &mut World, number: u64) -> Vec2 {
    with_enemy(world, number, |enemy| enemy.at)
}

/// Walks from post to post in the upper half.
async fn roam(number: u64, mut from: Vec2) {
    loop {
        let to = vec2(
            gen_range(ARENA.left() + 40.0, ARENA.right() - 40.0),
            gen_range(ARENA.top() + 50.0, ARENA.center().y - 20.0),
        );
        let seconds = from.distance(to) / 130.0;
        animate(seconds, |t| {
            let smooth = t * t * (3.0 - 2.0 * t);
            with(|world: &mut World| {
                with_enemy(world, number, |enemy| enemy.at = from.lerp(to, smooth));
            });
        })
        .await;
        from = to;
        wait_seconds(gen_range(0.2, 0.8)).await;
    }
}

async fn shoot_at_hero(number: u64) {
    wait_seconds(gen_range(0.8, 1.6)).await;
    loop {
        for _ in 0..4 {
            with(|world: &mut World| {
                let at = place(world, number);
                let way = world.hero.at - at;
                let aim = way.y.atan2(way.x);
                for spread in [-0.3, 0.0, 0.3] {
                    world.shoot(at, aim + spread, 120.0, Flight::Straight);
                }
            });
            wait_seconds(0.18).await;
        }
        wait_seconds(gen_range(1.2, 1.8)).await;
    }
}

async fn shoot_rings(number: u64) {
    wait_seconds(gen_range(0.8, 1.4)).await;
    let mut turn = 0.9;
    loop {
        with(|world: &mut World| {
            let at = place(world, number);
            for arm in 0..26 {
                let angle = TAU * real(arm) / 26.0;
                world.shoot(at, angle, 85.0, Flight::Curve(turn));
            }
        });
        turn = -turn;
        wait_seconds(1.1).await;
    }
}
