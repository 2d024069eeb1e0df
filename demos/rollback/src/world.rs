//! The game without its scripts. Positions are whole numbers, so that every machine computes
//! the same.

use serde::Serialize;

use crate::random::Random;

pub(crate) const WIDTH: i32 = 320;
pub(crate) const HEIGHT: i32 = 240;
pub(crate) const BOSS_HEALTH: i32 = 30;

/// The buttons that a player holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct Buttons(pub(crate) u8);

impl Buttons {
    const LEFT: u8 = 1;
    const RIGHT: u8 = 2;
    const UP: u8 = 4;
    const DOWN: u8 = 8;
    pub(crate) const FIRE: u8 = 16;

    fn axis(self, less: u8, more: u8) -> i32 {
        i32::from(self.0 & more != 0) - i32::from(self.0 & less != 0)
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Player {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) is_alive: bool,
    pub(crate) is_vulnerable: bool,
    pub(crate) shields: u8,
    /// How visible the player is, of 255.
    pub(crate) alpha: u8,
    reload: u8,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bullet {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) speed: (i32, i32),
    pub(crate) is_of_boss: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct PowerUp {
    pub(crate) number: u32,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) players: [Player; 2],
    pub(crate) bullets: Vec<Bullet>,
    pub(crate) power_ups: Vec<PowerUp>,
    pub(crate) boss_x: i32,
    pub(crate) boss_health: i32,
    /// The text in the middle of the screen.
    pub(crate) banner: String,
    /// Players move only in a round.
    pub(crate) is_running: bool,
    pub(crate) round: u32,
    pub(crate) wins: u32,
    pub(crate) deaths: u32,
    pub(crate) taken: u32,
    pub(crate) next_power_up: u32,
}

/// What scripts must be told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    /// Players that were hit.
    pub(crate) hits: Vec<u8>,
    /// Power-ups that were taken, and by which player.
    pub(crate) taken: Vec<(u32, u8)>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        World {
            random: Random::new(seed),
            players: Default::default(),
            bullets: Vec::new(),
            power_ups: Vec::new(),
            boss_x: WIDTH / 2,
            boss_health: 0,
            banner: String::new(),
            is_running: false,
            round: 0,
            wins: 0,
            deaths: 0,
            taken: 0,
            next_power_up: 0,
        }
    }

    /// Advances everything by a step.
    pub(crate) fn advance(&mut self, buttons: [Buttons; 2]) -> Events {
        for (player, buttons) in self.players.iter_mut().zip(buttons) {
            if !self.is_running || !player.is_alive {
                continue;
            }
            let across = buttons.axis(Buttons::LEFT, Buttons::RIGHT);
            let down = buttons.axis(Buttons::UP, Buttons::DOWN);
            player.x = (player.x + 2 * across).clamp(0, WIDTH);
            player.y = (player.y + 2 * down).clamp(HEIGHT / 2, HEIGHT);
            player.reload = player.reload.saturating_sub(1);
            if buttons.0 & Buttons::FIRE != 0 && player.reload == 0 {
                player.reload = 10;
                self.bullets.push(Bullet {
                    x: player.x,
                    y: player.y,
                    speed: (0, -6),
                    is_of_boss: false,
                });
            }
        }
        for bullet in &mut self.bullets {
            bullet.x += bullet.speed.0;
            bullet.y += bullet.speed.1;
        }
        self.collide()
    }

    fn collide(&mut self) -> Events {
        let mut events = Events::default();
        let (players, boss_x) = (&self.players, self.boss_x);
        let boss_health = &mut self.boss_health;
        self.bullets.retain(|bullet| {
            let is_inside = (0..=WIDTH).contains(&bullet.x) && (0..=HEIGHT).contains(&bullet.y);
            if !bullet.is_of_boss {
                let hits = bullet.y < 40 && (bullet.x - boss_x).abs() < 32 && *boss_health > 0;
                *boss_health -= i32::from(hits);
                return is_inside && !hits;
            }
            let hit = players.iter().position(|player| {
                let is_near = (player.x - bullet.x).abs() < 6 && (player.y - bullet.y).abs() < 6;
                player.is_alive && player.is_vulnerable && player.shields == 0 && is_near
            });
            events
                .hits
                .extend(hit.and_then(|hit| u8::try_from(hit).ok()));
            is_inside && hit.is_none()
        });
        for (at, player) in (0..).zip(players) {
            for power_up in &self.power_ups {
                let (x, y) = (power_up.x - player.x, power_up.y - player.y);
                if player.is_alive && x.abs() < 12 && y.abs() < 12 {
                    events.taken.push((power_up.number, at));
                }
            }
        }
        events
    }

    /// Fires a bullet of the boss.
    pub(crate) fn fire(&mut self, speed: (i32, i32)) {
        self.bullets.push(Bullet {
            x: self.boss_x,
            y: 30,
            speed,
            is_of_boss: true,
        });
    }

    /// Places a power-up at random. Returns its number.
    pub(crate) fn place_power_up(&mut self) -> u32 {
        let number = self.next_power_up;
        self.next_power_up += 1;
        self.power_ups.push(PowerUp {
            number,
            x: self.random.below(WIDTH),
            y: HEIGHT / 2 + self.random.below(HEIGHT / 2),
        });
        number
    }
}
