//! Bullets and sparks: each is a script with a place in a pool.

use crate::ported::fight::{DT, shapes::*};
use framestep_durable::prelude::*;

use super::{World, with};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Side {
    Foe,
    Hero,
    /// Hits nothing.
    Spark,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bullet {
    pub(crate) at: Vec2,
    pub(crate) radius: f32,
    pub(crate) colour: Color,
    pub(crate) side: Side,
    is_free: bool,
    velocity: Vec2,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
        drop(defer(move |world: &mut World| {
            world.bullets.all[index].is_free = true;
            world.bullets.free.push(index);
        }));
    }
}

impl Bullets {
    fn take(&mut self, at: Vec2, radius: f32, colour: Color, side: Side) -> usize {
        let bullet = Bullet {
            at,
            radius,
            colour,
            side,
            is_free: false,
            velocity: Vec2::default(),
        };
        if let Some(index) = self.free.pop() {
            self.all[index] = bullet;
            index
        } else {
            self.all.push(bullet);
            self.all.len() - 1
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
#[derive(Clone, Copy, Serialize, Deserialize)]
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
        let owner = self.owners.bullets;
        match flight {
            Flight::Straight => self.spawn(owner, straight(slot, velocity)),
            Flight::Curve(turn) => self.spawn(owner, curve(slot, velocity, turn)),
            Flight::Aim(seconds) => self.spawn(owner, aim(slot, velocity, seconds)),
        };
    }

    pub(crate) fn shoot_up(&mut self, at: Vec2, angle: f32) {
        let colour = Color::new(0.45, 0.95, 1.0, 1.0);
        let slot = self.bullets.take(at, 3.5, colour, Side::Hero);
        let velocity = Vec2::from_angle(angle - std::f32::consts::FRAC_PI_2) * 520.0;
        self.spawn(self.owners.effects, straight(slot, velocity));
    }

    /// Sparks that fly from `at`, one script each.
    pub(crate) fn burst(&mut self, at: Vec2, sparks: usize, colour: Color) {
        for _ in 0..sparks {
            let radius = self.random.range(1.5, 3.5);
            let slot = self.bullets.take(at, radius, colour, Side::Spark);
            let direction = Vec2::from_angle(self.random.range(0.0, 6.3));
            self.bullets.all[slot].velocity = direction * self.random.range(20.0, 170.0);
            self.spawn(self.owners.effects, spark(slot));
        }
    }

    /// Ends the bullets of the foes: each becomes two sparks.
    pub(crate) fn clear_bullets(&mut self) {
        let is_foe = |bullet: &&Bullet| bullet.side == Side::Foe;
        let places: Vec<_> = self.bullets.iter().filter(is_foe).cloned().collect();
        self.host.stop_all(self.owners.bullets);
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

#[durable]
pub(crate) async fn straight(slot: usize, velocity: Vec2) {
    let slot = Slot(slot);
    while fly(&slot, velocity).await {}
}

#[durable]
pub(crate) async fn curve(slot: usize, mut velocity: Vec2, mut turn: f32) {
    let slot = Slot(slot);
    while fly(&slot, velocity).await {
        velocity = Vec2::from_angle(turn * delta_seconds()).rotate(velocity);
        turn -= turn * 0.4 * delta_seconds();
    }
}

#[durable]
pub(crate) async fn aim(slot: usize, velocity: Vec2, seconds: f32) {
    let slot = Slot(slot);
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

#[durable]
pub(crate) async fn spark(slot: usize) {
    let slot = Slot(slot);
    let lifetime = with(|world: &mut World| world.random.range(0.4, 1.1));
    let fade = animate(lifetime, |t| {
        with(|world: &mut World| {
            let bullet = world.bullets.get_mut(&slot);
            bullet.velocity *= 1.0 - 1.5 * DT;
            let way = bullet.velocity * DT;
            world.fly(&slot, way);
            world.bullets.get_mut(&slot).colour.a = 1.0 - t;
        });
    });
    fade.await;
}
