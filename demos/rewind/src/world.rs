//! The state that scripts change: a ball in a row of rooms with doors.

use serde::{Deserialize, Serialize};

use crate::guardian::{Guardian, distance};

pub(crate) const LEFT: f32 = 40.0;
pub(crate) const RIGHT: f32 = 920.0;
pub(crate) const TOP: f32 = 90.0;
pub(crate) const BOTTOM: f32 = 450.0;
pub(crate) const MIDDLE: f32 = 270.0;
/// Where the walls with the doors are.
pub(crate) const WALLS: [f32; 4] = [216.0, 392.0, 568.0, 744.0];
/// Half the height of a door.
pub(crate) const DOOR: f32 = 52.0;
pub(crate) const BALL: f32 = 13.0;
/// The distance of a plate from its door, and its size.
pub(crate) const PLATE: (f32, f32) = (44.0, 30.0);
pub(crate) const LAMPS: u8 = 24;
pub(crate) const COIN: f32 = 11.0;

/// The direction in which the player pushes the ball.
pub(crate) type Push = [f32; 2];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coin {
    pub(crate) number: u32,
    pub(crate) at: [f32; 2],
    pub(crate) size: f32,
    pub(crate) alpha: f32,
    pub(crate) is_taken: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct World {
    pub(crate) ball: [f32; 2],
    pub(crate) speed: [f32; 2],
    /// How far each door is open, from 0 to 1.
    pub(crate) doors: [f32; 4],
    pub(crate) lamps: [f32; LAMPS as usize],
    pub(crate) coins: Vec<Coin>,
    pub(crate) next_coin: u32,
    pub(crate) score: u32,
    pub(crate) guardian: Guardian,
    random: u64,
}

/// What scripts must be told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    /// Where the ball hit a wall.
    pub(crate) bumps: Vec<f32>,
    /// Doors whose plates the ball has touched.
    pub(crate) pressed: Vec<u8>,
    pub(crate) taken: Vec<u32>,
    /// The ball is close to the guardian.
    pub(crate) is_near: bool,
    /// The ball struck the guardian.
    pub(crate) is_struck: bool,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        World {
            ball: [128.0, 320.0],
            speed: [170.0, 110.0],
            doors: [0.0; 4],
            lamps: [0.0; LAMPS as usize],
            coins: Vec::new(),
            next_coin: 0,
            score: 0,
            guardian: Guardian::new(),
            random: seed,
        }
    }

    /// A random number from 0 to 1.
    pub(crate) fn random(&mut self) -> f32 {
        let random = self.random.wrapping_mul(0x5851_F42D_4C95_7F2D);
        self.random = random.wrapping_add(0x1405_7B7E_F767_814F);
        let [.., low, high] = self.random.to_le_bytes();
        f32::from(u16::from_le_bytes([low, high])) / 65_536.0
    }

    /// Moves the ball.
    pub(crate) fn advance(&mut self, push: Push, seconds: f32) -> Events {
        let mut events = Events::default();
        let before = self.ball;
        for (at, (speed, push)) in self.ball.iter_mut().zip(self.speed.iter_mut().zip(push)) {
            *speed = (*speed + 500.0 * push * seconds).clamp(-330.0, 330.0);
            *at += *speed * seconds;
        }
        let [x, y] = self.ball;
        let hits = |(wall, open): (&f32, &f32)| {
            let is_in_door = (y - MIDDLE).abs() < (DOOR - BALL).max(0.0) && *open > 0.6;
            // A ball that a door has closed on can leave the door.
            let is_closer = (x - wall).abs() < (before[0] - wall).abs();
            (x - wall).abs() < BALL && is_closer && !is_in_door
        };
        let hits_wall = WALLS.iter().zip(&self.doors).any(hits);
        if hits_wall || !(LEFT + BALL..=RIGHT - BALL).contains(&x) {
            self.ball[0] = before[0];
            self.speed[0] = -self.speed[0];
            events.bumps.push(x);
        }
        if !(TOP + BALL..=BOTTOM - BALL).contains(&y) {
            self.ball[1] = before[1];
            self.speed[1] = -self.speed[1];
            events.bumps.push(x);
        }
        let contact = self.meet_guardian(before, seconds);
        (events.is_near, events.is_struck) = (contact.is_near, contact.is_struck);
        for (number, wall) in (0..).zip(WALLS) {
            if is_on_plate(self.ball, wall) && !is_on_plate(before, wall) {
                events.pressed.push(number);
            }
        }
        for coin in self.coins.iter_mut().filter(|coin| !coin.is_taken) {
            if distance(coin.at, self.ball) < COIN + BALL {
                coin.is_taken = true;
                events.taken.push(coin.number);
            }
        }
        events
    }

    /// Whether the ball is in the way of a door.
    pub(crate) fn is_blocked(&self, door: u8) -> bool {
        (self.ball[0] - WALLS[usize::from(door)]).abs() < 2.0 * BALL
    }

    pub(crate) fn place_coin(&mut self) -> u32 {
        let number = self.next_coin;
        self.next_coin += 1;
        let x = LEFT + 30.0 + (RIGHT - LEFT - 60.0) * self.random();
        let y = TOP + 30.0 + (BOTTOM - TOP - 60.0) * self.random();
        self.coins.push(Coin {
            number,
            at: [x, y],
            size: 1.0,
            alpha: 0.0,
            is_taken: false,
        });
        number
    }

    /// The coin with this number. It exists as long as its script.
    pub(crate) fn coin(&mut self, number: u32) -> &mut Coin {
        let coin = self.coins.iter_mut().find(|coin| coin.number == number);
        coin.expect("the script of a coin removes it")
    }
}

/// Where a lamp hangs.
pub(crate) fn lamp_x(lamp: u8) -> f32 {
    LEFT + (RIGHT - LEFT) * (f32::from(lamp) + 0.5) / f32::from(LAMPS)
}

fn is_on_plate([x, y]: [f32; 2], wall: f32) -> bool {
    let (away, half) = PLATE;
    ((x - wall).abs() - away).abs() < half / 2.0 + BALL && (y - MIDDLE).abs() < DOOR
}
