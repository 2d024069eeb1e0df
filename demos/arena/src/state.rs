//! The state of an arena: plain data, whole numbers only, so that each machine computes the same.

use std::collections::BTreeMap;

use framestep_durable::prelude::*;
use framestep_rooms::Player;

/// The size of the field.
pub(crate) const WIDTH: i32 = 960;
pub(crate) const HEIGHT: i32 = 540;
/// How far a blow reaches.
const REACH: i32 = 70;
const HERO_HEALTH: i32 = 100;
const GUARDS: i32 = 6;

/// Marsaglia's xorshift.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i32) -> i32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i32::try_from(self.0 % u64::from(bound.unsigned_abs().max(1))).unwrap_or(0)
    }
}

/// Something that walks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) x: i32,
    pub(crate) y: i32,
    goal: (i32, i32),
    speed: i32,
}

impl Body {
    fn at(x: i32, y: i32) -> Self {
        Body {
            x,
            y,
            goal: (x, y),
            speed: 0,
        }
    }

    fn go(&mut self, goal: (i32, i32), speed: i32) {
        self.goal = goal;
        self.speed = speed;
    }

    fn step(&mut self) {
        let (dx, dy) = (self.goal.0 - self.x, self.goal.1 - self.y);
        self.x = (self.x + dx.clamp(-self.speed, self.speed)).clamp(0, WIDTH);
        self.y = (self.y + dy.clamp(-self.speed, self.speed)).clamp(0, HEIGHT);
    }

    /// The square of the distance.
    fn distance(&self, other: &Body) -> i32 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        dx * dx + dy * dy
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hero {
    pub(crate) body: Body,
    pub(crate) health: i32,
    pub(crate) gold: u32,
    pub(crate) blade: i32,
    /// Frames until the blow is over.
    pub(crate) strikes: u8,
    /// How many inputs were applied. The players compare it with what they have sent.
    pub(crate) inputs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Rat,
    Ogre,
    Boss,
}

impl Kind {
    fn health(self) -> i32 {
        match self {
            Kind::Rat => 20,
            Kind::Ogre => 45,
            Kind::Boss => 300,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Foe {
    pub(crate) kind: Kind,
    pub(crate) body: Body,
    pub(crate) health: i32,
    /// It can be seen that it is about to strike.
    pub(crate) warns: bool,
}

/// The state of a room, which its scripts borrow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Arena {
    random: Random,
    next_foe: u32,
    pub(crate) heroes: BTreeMap<Player, Hero>,
    pub(crate) foes: BTreeMap<u32, Foe>,
    pub(crate) guards: Vec<Body>,
    pub(crate) coins: Vec<(i32, i32)>,
    pub(crate) wave: u32,
    pub(crate) fallen: u32,
    pub(crate) is_shop_open: bool,
    pub(crate) sold: u32,
    pub(crate) said: String,
}

impl Arena {
    pub(crate) fn new(seed: u64) -> Self {
        let guards = (0..GUARDS)
            .map(|n| Body::at(120 + n * 144, if n % 2 == 0 { 90 } else { 450 }))
            .collect();
        Arena {
            // Never 0, which it would not leave.
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            next_foe: 0,
            heroes: BTreeMap::new(),
            foes: BTreeMap::new(),
            guards,
            coins: Vec::new(),
            wave: 0,
            fallen: 0,
            is_shop_open: false,
            sold: 0,
            said: String::new(),
        }
    }

    pub(crate) fn guard_count() -> u8 {
        u8::try_from(GUARDS).unwrap_or(0)
    }

    /// The hero of a player, who enters with the first input.
    pub(crate) fn hero(&mut self, player: &Player) -> &mut Hero {
        let Arena { heroes, random, .. } = self;
        heroes.entry(player.clone()).or_insert_with(|| Hero {
            body: Body::at(WIDTH / 2 + random.below(200) - 100, HEIGHT / 2),
            health: HERO_HEALTH,
            gold: 5,
            blade: 10,
            strikes: 0,
            inputs: 0,
        })
    }

    pub(crate) fn go(&mut self, player: &Player, dx: i32, dy: i32) {
        let hero = self.hero(player);
        let to = (
            hero.body.x + dx.clamp(-1, 1) * 120,
            hero.body.y + dy.clamp(-1, 1) * 120,
        );
        let speed = if hero.health > 0 { 8 } else { 2 };
        hero.body.go(to, speed);
    }

    /// The foe that a blow reaches, and its damage.
    pub(crate) fn strike(&mut self, player: &Player) -> Option<(u32, i32)> {
        let hero = self.hero(player);
        if hero.health <= 0 {
            return None;
        }
        hero.strikes = 5;
        let (body, damage) = (hero.body.clone(), hero.blade);
        let nearest = self
            .foes
            .iter()
            .min_by_key(|(_, foe)| foe.body.distance(&body));
        let (id, _) = nearest.filter(|(_, foe)| foe.body.distance(&body) < REACH * REACH)?;
        Some((*id, damage))
    }

    /// A frame of what has no script of its own.
    pub(crate) fn step(&mut self) {
        let Arena {
            heroes,
            foes,
            guards,
            coins,
            ..
        } = self;
        for hero in heroes.values_mut() {
            hero.body.step();
            hero.strikes = hero.strikes.saturating_sub(1);
            let before = coins.len();
            coins.retain(|(x, y)| (x - hero.body.x).abs() > 25 || (y - hero.body.y).abs() > 25);
            hero.gold += u32::try_from(before - coins.len()).unwrap_or(0);
        }
        for foe in foes.values_mut() {
            foe.body.step();
        }
        guards.iter_mut().for_each(Body::step);
    }

    pub(crate) fn heal(&mut self, by: i32) {
        for hero in self.heroes.values_mut() {
            hero.health = (hero.health + by).min(HERO_HEALTH);
        }
    }

    pub(crate) fn drop_coin(&mut self) {
        if self.coins.len() < 12 {
            let at = (self.random.below(WIDTH), self.random.below(HEIGHT));
            self.coins.push(at);
        }
    }

    pub(crate) fn begin_wave(&mut self, wave: u32) {
        self.wave = wave;
        self.said = format!("wave {wave}");
    }

    pub(crate) fn spawn(&mut self, kind: Kind) -> u32 {
        let id = self.next_foe;
        self.next_foe += 1;
        let x = if self.random.below(2) == 0 { 0 } else { WIDTH };
        let foe = Foe {
            kind,
            body: Body::at(x, self.random.below(HEIGHT)),
            health: kind.health(),
            warns: false,
        };
        self.foes.insert(id, foe);
        id
    }

    /// Sends a foe to the next hero. Returns whether it is still alive, and near enough to strike.
    pub(crate) fn hunt(&mut self, id: u32) -> (bool, bool) {
        let wander = (self.random.below(WIDTH), self.random.below(HEIGHT));
        let Some(foe) = self.foes.get_mut(&id) else {
            return (false, false);
        };
        let alive = self.heroes.values().filter(|hero| hero.health > 0);
        let goal = alive.min_by_key(|hero| hero.body.distance(&foe.body));
        let speed = if foe.kind == Kind::Rat { 4 } else { 2 };
        let Some(goal) = goal else {
            foe.body.go(wander, speed);
            return (true, false);
        };
        foe.body.go((goal.body.x, goal.body.y), speed);
        (true, goal.body.distance(&foe.body) < REACH * REACH)
    }

    pub(crate) fn warn(&mut self, id: u32, warns: bool) {
        if let Some(foe) = self.foes.get_mut(&id) {
            foe.warns = warns;
        }
    }

    /// A foe strikes at all heroes in reach.
    pub(crate) fn bite(&mut self, id: u32, damage: i32) {
        let Some(foe) = self.foes.get(&id) else {
            return;
        };
        for hero in self.heroes.values_mut() {
            if hero.body.distance(&foe.body) < REACH * REACH {
                hero.health = (hero.health - damage).max(0);
            }
        }
    }

    /// Hurts a foe. Returns whether it has fallen.
    pub(crate) fn hurt(&mut self, id: u32, damage: i32) -> bool {
        let Some(foe) = self.foes.get_mut(&id) else {
            return true;
        };
        foe.health -= damage;
        if foe.health > 0 {
            return false;
        }
        let at = (foe.body.x, foe.body.y);
        self.foes.remove(&id);
        self.coins.push(at);
        self.fallen += 1;
        true
    }

    pub(crate) fn leave(&mut self, id: u32) {
        self.foes.remove(&id);
    }

    /// A guard walks its round, or to the nearest foe that it sees.
    pub(crate) fn patrol(&mut self, guard: u8, leg: u8) -> Option<u32> {
        let post = i32::from(guard);
        let body = self.guards.get_mut(usize::from(guard))?;
        let seen = self
            .foes
            .iter()
            .min_by_key(|(_, foe)| foe.body.distance(body));
        if let Some((id, foe)) = seen.filter(|(_, foe)| foe.body.distance(body) < 160 * 160) {
            body.go((foe.body.x, foe.body.y), 5);
            let is_near = foe.body.distance(body) < REACH * REACH;
            return is_near.then_some(*id);
        }
        let x = 120 + post * 144 + if leg.is_multiple_of(2) { -60 } else { 60 };
        let y = if leg < 2 { 120 } else { 420 };
        body.go((x, y), 3);
        None
    }

    /// Takes the price from a hero.
    pub(crate) fn pay(&mut self, player: &Player, price: u32) -> bool {
        let hero = self.hero(player);
        let can = hero.gold >= price;
        if can {
            hero.gold -= price;
        }
        can
    }

    pub(crate) fn deliver(&mut self, player: &Player, price: u32, is_paid: bool) {
        let hero = self.hero(player);
        if is_paid {
            hero.blade += 2;
            self.sold += 1;
            self.said = format!("a better blade for {player}");
        } else {
            hero.gold += price;
        }
    }
}
