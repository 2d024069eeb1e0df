//! The boss: three phases, each until its health is low enough.

use std::f32::consts::TAU;
use std::future::Future;

use framestep::prelude::*;
use macroquad::prelude::*;

use crate::bullet::Flight;
use crate::floor::Shock;
use crate::numbers::real;
use crate::scene::banner;
use crate::world::{ARENA, Chapter, World};

pub(crate) struct Boss {
    pub(crate) at: Vec2,
    pub(crate) health: Watch<i32>,
    /// Bright for a moment after a hit. From 1 to 0.
    pub(crate) flash: f32,
}

impl Boss {
    pub(crate) const RADIUS: f32 = 30.0;
    pub(crate) const HEALTH: i32 = 900;

    /// How much is left, from 0 to 1.
    pub(crate) fn share(&self) -> f32 {
        let left = u16::try_from(self.health.get()).unwrap_or(0);
        f32::from(left) / 900.0
    }
}

/// Removes the boss from the world when the fight ends, even if it is stopped.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        with_deferred(|world: &mut World| world.boss = None);
    }
}

/// The fight, until the boss has no health left.
pub(crate) async fn fight() {
    let health = Watch::new(Boss::HEALTH).named("boss's health");
    let _leave = Leave;
    with(|world: &mut World| {
        world.boss = Some(Boss {
            at: vec2(ARENA.center().x, ARENA.top() - Boss::RADIUS),
            health: health.clone(),
            flash: 0.0,
        });
    });
    move_to(ARENA.center() - vec2(0.0, 120.0), 1.5).await;

    phase(1, "RINGS", rings(), &health).await;
    phase(2, "SPIRALS", spirals(), &health).await;
    phase(3, "THE FLOWER", flower(), &health).await;

    with(|world: &mut World| {
        if let Some(boss) = &world.boss {
            let at = boss.at;
            world.burst(at, 260, Color::new(1.0, 0.75, 0.4, 1.0));
        }
    });
}

/// Attacks until a third of the health is gone, even in the middle of an attack.
async fn phase(number: usize, name: &str, attack: impl Future<Output = ()>, health: &Watch<i32>) {
    with(|world: &mut World| {
        world.chapter.set(Chapter::Boss(number));
        let scene = &world.owners.scene;
        scene.spawn(banner(format!("PHASE {number}: {name}")));
    });
    let left = Boss::HEALTH - Boss::HEALTH / 3 * i32::try_from(number).unwrap_or(3);
    select! {
        _ = health.wait_for(|health| *health <= left) => {}
        () = attack => {}
    }
    with(|world: &mut World| {
        let at = world.boss.as_ref().map_or(ARENA.center(), |boss| boss.at);
        world.clear_bullets();
        world.shocks.emit(Shock::large(at));
        world.shake = 10.0;
        let effects = &world.owners.effects;
        effects.spawn(slow_for_a_moment(world.clocks.drama.clone()));
    });
    wait_seconds(0.6).await;
}

/// Slow motion for everything that counts on `drama`. This script counts on the game
/// clock.
async fn slow_for_a_moment(drama: Clock) {
    struct Normal(Clock);

    impl Drop for Normal {
        fn drop(&mut self) {
            self.0.set_scale(1);
        }
    }

    let normal = Normal(drama);
    normal.0.set_scale(0.15);
    wait_seconds(0.8).await;
    animate(0.6, |t| normal.0.set_scale(0.15 + 0.85 * t)).await;
}

fn place(world: &World) -> Vec2 {
    let boss = world.boss.as_ref();
    boss.expect("the boss stays until its fight is over").at
}

async fn move_to(to: Vec2, seconds: f32) {
    let from = with_ref(place);
    animate(seconds, |t| {
        let smooth = t * t * (3.0 - 2.0 * t);
        with(|world: &mut World| {
            if let Some(boss) = &mut world.boss {
                boss.at = from.lerp(to, smooth);
            }
        });
    })
    .await;
}

/// Moves left and right for as long as it is polled.
async fn sway(reach: f32) {
    let middle = ARENA.center() - vec2(0.0, 130.0);
    loop {
        move_to(middle - vec2(reach, 0.0), 1.8).await;
        move_to(middle + vec2(reach, 20.0), 1.8).await;
    }
}

fn ring(world: &mut World, arms: usize, first: f32, speed: f32, flight: Flight) {
    let at = place(world);
    for arm in 0..arms {
        let angle = first + TAU * real(arm) / real(arms);
        world.shoot(at, angle, speed, flight);
    }
}

async fn rings() {
    let volleys = async {
        let mut first = 0.0;
        loop {
            for speed in [70.0, 95.0, 120.0] {
                with(|world: &mut World| ring(world, 40, first, speed, Flight::Straight));
                first += 0.04;
                wait_seconds(0.16).await;
            }
            wait_seconds(0.7).await;
        }
    };
    join!(sway(150.0), volleys);
}

async fn spirals() {
    move_to(ARENA.center() - vec2(0.0, 100.0), 1.0).await;
    let arms = async {
        let mut first = 0.0;
        let mut every = interval(0.07);
        loop {
            every.tick().await;
            first += 0.11;
            with(|world: &mut World| {
                ring(world, 9, first, 72.0, Flight::Straight);
                ring(world, 7, -1.3 * first, 95.0, Flight::Curve(0.35));
            });
        }
    };
    let volleys = async {
        loop {
            wait_seconds(2).await;
            with(|world: &mut World| ring(world, 14, 0.2, 160.0, Flight::Aim(0.7)));
        }
    };
    join!(arms, volleys);
}

async fn flower() {
    move_to(ARENA.center() - vec2(0.0, 90.0), 1.0).await;
    let petals = async {
        let mut turn = 0.8;
        let mut first = 0.0;
        loop {
            with(|world: &mut World| {
                ring(world, 60, first, 58.0, Flight::Curve(turn));
                ring(world, 60, first, 76.0, Flight::Curve(-turn));
            });
            turn = -turn;
            first += 0.2;
            wait_seconds(0.36).await;
        }
    };
    let volleys = async {
        loop {
            wait_seconds(1.4).await;
            with(|world: &mut World| {
                ring(world, 18, 0.0, 190.0, Flight::Aim(0.8));
                world.shocks.emit(Shock::small(place(world)));
            });
        }
    };
    join!(petals, volleys);
}
