//! Bullets and sparks: each is a script with a place in a pool.

use crate::ported::fight::shapes::*;
use framestep::next_frame;
use framestep::prelude::*;

use super::World;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Foe,
    Hero,
    /// Hits nothing.
    Spark,
}

#[derive(Clone)]
pub(crate) struct Bullet {
    pub(crate) at: Vec2,
    pub(crate) radius: f32,
    pub(crate) colour: Color,
    pub(crate) side: Side,
    is_free: bool,
}

#[derive(Default)]
pub(crate) struct Bullets {
    all: Vec<Bullet>,
    free: Vec<usize>,
}

/// A place in the pool: it becomes free when this is dropped, however the script of
/// the bullet ends.
pub(crate) struct Slot(usize);

impl Drop for Slot {
    fn drop(&mut self) {
        let index = self.0;
        // The script may end inside a closure that borrows the world: then this waits.
        with_deferred(move |world: &mut World| {
            world.bullets.all[index].is_free = true;
            world.bullets.free.push(index);
        });
    }
}

impl Bullets {
    fn take(&mut self, at: Vec2, radius: f32, colour: Color, side: Side) -> Slot {
        let bullet = Bullet {
            at,
            radius,
            colour,
            side,
            is_free: false,
        };
        if let Some(index) = self.free.pop() {
            self.all[index] = bullet;
            Slot(index)
        } else {
            self.all.push(bullet);
            Slot(self.all.len() - 1)
        }
    }

    pub(crate) fn get_mut(&mut self, slot: &Slot) -> &mut Bullet {
        &mut self.all[slot.0]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bullet> {
        self.all.iter().filter(|bullet| !bullet.is_free)
    }
}

/// How a bullet of the foes flies.
#[derive(Clone, Copy)]
pub(crate) enum Flight {
    Straight,
    /// In a curve, by so many radians a second, which gets straighter.
    Curve(f32),
    /// Stops after so many seconds, then flies at the hero.
    Aim(f32),
}

impl World {
    /// Shoots at the hero's side: `angle` 0 is to the right, half a π is down.
    pub(crate) fn shoot(&mut self, at: Vec2, angle: f32, speed: f32, flight: Flight) {
        let colour = match flight {
            Flight::Straight => Color::new(1.0, 0.35, 0.4, 1.0),
            Flight::Curve(_) => Color::new(1.0, 0.5, 0.95, 1.0),
            Flight::Aim(_) => Color::new(1.0, 0.8, 0.3, 1.0),
        };
        let slot = self.bullets.take(at, 4.5, colour, Side::Foe);
        let velocity = Vec2::from_angle(angle) * speed;
        let owner = &self.owners.bullets;
        match flight {
            Flight::Straight => owner.spawn(straight(slot, velocity)),
            Flight::Curve(turn) => owner.spawn(curve(slot, velocity, turn)),
            Flight::Aim(seconds) => owner.spawn(aim(slot, velocity, seconds)),
        };
    }

    pub(crate) fn shoot_up(&mut self, at: Vec2, angle: f32) {
        let colour = Color::new(0.45, 0.95, 1.0, 1.0);
        let slot = self.bullets.take(at, 3.5, colour, Side::Hero);
        let velocity = Vec2::from_angle(angle - std::f32::consts::FRAC_PI_2) * 520.0;
        self.owners.effects.spawn(straight(slot, velocity));
    }

    /// Sparks that fly from `at`, one script each.
    pub(crate) fn burst(&mut self, at: Vec2, sparks: usize, colour: Color) {
        for _ in 0..sparks {
            let slot = self
                .bullets
                .take(at, gen_range(1.5, 3.5), colour, Side::Spark);
            let velocity = Vec2::from_angle(gen_range(0.0, 6.3)) * gen_range(20.0, 170.0);
            self.owners.effects.spawn(spark(slot, velocity));
        }
    }

    /// Ends the bullets of the foes: each becomes two sparks.
    pub(crate) fn clear_bullets(&mut self) {
        let is_foe = |bullet: &&Bullet| bullet.side == Side::Foe;
        let places: Vec<_> = self.bullets.iter().filter(is_foe).cloned().collect();
        self.owners.bullets.stop_all();
        for bullet in places {
            self.burst(bullet.at, 2, bullet.colour);
        }
    }
}

/// A frame of a flight. `false`: it is over.
async fn fly(slot: &Slot, velocity: Vec2) -> bool {
    next_frame().await;
    let way = velocity * delta_seconds();
    with(|world: &mut World| world.fly(slot, way))
}

async fn straight(slot: Slot, velocity: Vec2) {
    while fly(&slot, velocity).await {}
}

async fn curve(slot: Slot, mut velocity: Vec2, mut turn: f32) {
    while fly(&slot, velocity).await {
        velocity = Vec2::from_angle(turn * delta_seconds()).rotate(velocity);
        turn -= turn * 0.4 * delta_seconds();
    }
}

async fn aim(slot: Slot, velocity: Vec2, seconds: f32) {
    let straight = async { while fly(&slot, velocity).await {} };
    select! {
        () = straight => return,
        () = wait_seconds(seconds) => {}
    }
    wait_seconds(0.4).await;
    let to_hero = with(|world: &mut World| world.hero.at - world.bullets.get_mut(&slot).at);
    let velocity = to_hero.normalize_or_zero() * 210.0;
    while fly(&slot, velocity).await {}
}

async fn spark(slot: Slot, mut velocity: Vec2) {
    let lifetime = gen_range(0.4, 1.1);
    let fade = animate(lifetime, |t| {
        velocity *= 1.0 - 1.5 * delta_seconds();
        let way = velocity * delta_seconds();
        with(|world: &mut World| {
            world.fly(&slot, way);
            world.bullets.get_mut(&slot).colour.a = 1.0 - t;
        });
    });
    fade.await;
}
