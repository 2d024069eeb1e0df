//! The state of the game, which the host lends to the scripts.

use framestep::prelude::*;
use macroquad::prelude::*;

use crate::boss::Boss;
use crate::bullet::{Bullets, Side, Slot};
use crate::dialogue::Speech;
use crate::door::Door;
use crate::enemy::Enemy;
use crate::floor::{Floor, Shock};
use crate::hero::Hero;
use crate::input::{Input, Key};
use crate::menu::Menu;

/// Where the game takes place, in pixels of a view of 960 by 540.
pub(crate) const ARENA: Rect = Rect {
    x: 22.0,
    y: 22.0,
    w: 656.0,
    h: 496.0,
};

/// The chapter of the scene; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Chapter {
    Fallen,
    Welcome,
    Wave(usize),
    Boss(usize),
    Peace,
}

/// Clocks that follow each other: each has its own scale, and the scales multiply.
pub(crate) struct Clocks {
    pub(crate) game: Clock,
    /// A child of `game`.
    /// Slow for a moment when the boss changes.
    pub(crate) drama: Clock,
    /// A child of `drama`, for enemies and their bullets; slow while the player likes.
    pub(crate) foes: Clock,
}

/// The owners of the scripts.
pub(crate) struct Owners {
    /// Above all the others: the menu pauses this one.
    pub(crate) game: Owner,
    /// The scene and the hero's scripts.
    pub(crate) scene: Owner,
    pub(crate) floor: Owner,
    pub(crate) effects: Owner,
    /// Above the owners of the enemies, on the clock of the foes.
    pub(crate) foes: Owner,
    /// Bullets have a separate owner: they continue when the enemy that shot them is
    /// gone.
    pub(crate) bullets: Owner,
}

pub(crate) struct World {
    pub(crate) clocks: Clocks,
    pub(crate) owners: Owners,
    pub(crate) input: Input,
    pub(crate) keys: Signal<Key>,
    pub(crate) menu_keys: Signal<Key>,
    pub(crate) restart: Signal<()>,
    pub(crate) shocks: Signal<Shock>,
    pub(crate) chapter: Watch<Chapter>,
    /// How many enemies are left.
    pub(crate) left: Watch<usize>,
    pub(crate) hero: Hero,
    pub(crate) enemies: Vec<Enemy>,
    /// How many have entered so far.
    pub(crate) entered: u64,
    pub(crate) boss: Option<Boss>,
    pub(crate) bullets: Bullets,
    pub(crate) doors: [Door; 3],
    pub(crate) floor: Floor,
    pub(crate) speech: Option<Speech>,
    pub(crate) banner: Option<(String, f32)>,
    pub(crate) menu: Option<Menu>,
    pub(crate) shows_overlay: bool,
    pub(crate) shake: f32,
    /// Pictures to take after this frame.
    pub(crate) pictures: Vec<&'static str>,
    pub(crate) is_over: bool,
}

impl World {
    pub(crate) fn new(executor: &Executor) -> Self {
        let clock = executor.clock();
        let drama = clock.child();
        let clocks = Clocks {
            foes: drama.child(),
            drama,
            game: clock,
        };
        let foes = &clocks.foes;
        let game = executor.owner().named("game");
        let owners = Owners {
            scene: game.child(),
            floor: game.child(),
            effects: game.child(),
            foes: game.child_on(foes),
            bullets: game.child_on(foes),
            game,
        };
        World {
            clocks,
            owners,
            input: Input::default(),
            keys: Signal::new().named("key"),
            menu_keys: Signal::new().named("menu key"),
            restart: Signal::new().named("restart"),
            shocks: Signal::new().named("shock"),
            chapter: Watch::new(Chapter::Welcome).named("chapter"),
            left: Watch::new(0).named("enemies left"),
            hero: Hero::default(),
            enemies: Vec::new(),
            entered: 0,
            boss: None,
            bullets: Bullets::default(),
            doors: Door::all(),
            floor: Floor::default(),
            speech: None,
            banner: None,
            menu: None,
            shows_overlay: true,
            shake: 0.0,
            pictures: Vec::new(),
            is_over: false,
        }
    }

    /// Ends all scripts of the scene, so that it can begin again.
    ///
    /// The guards of the scripts clean up after themselves: bullets go back to their
    /// pool, the dialogue closes.
    pub(crate) fn clear(&mut self) {
        let owners = &self.owners;
        for owner in [
            &owners.scene,
            &owners.effects,
            &owners.foes,
            &owners.bullets,
        ] {
            owner.stop_all();
        }
        self.enemies.clear();
        self.left.set(0);
        self.hero = Hero::default();
        self.doors = Door::all();
    }

    /// Ends the game. In a browser, where the user closes the page, it begins again.
    pub(crate) fn leave(&mut self) {
        if cfg!(target_arch = "wasm32") {
            self.restart.emit(());
        } else {
            self.is_over = true;
        }
    }

    /// Fades the flashes and the shake of the camera.
    pub(crate) fn calm(&mut self, seconds: f32) {
        self.shake *= (1.0 - 8.0 * seconds).max(0.0);
        let enemies = self.enemies.iter_mut().map(|enemy| &mut enemy.flash);
        for flash in enemies.chain(self.boss.as_mut().map(|boss| &mut boss.flash)) {
            *flash = (*flash - 8.0 * seconds).max(0.0);
        }
    }

    /// Moves a bullet. `false`: it has hit something, or left the arena.
    pub(crate) fn fly(&mut self, slot: &Slot, way: Vec2) -> bool {
        let bullet = self.bullets.get_mut(slot);
        bullet.at += way;
        let (at, radius, side) = (bullet.at, bullet.radius, bullet.side);
        if !ARENA.contains(at) {
            return false;
        }
        match side {
            Side::Foe => !self.hit_hero(at, radius),
            Side::Hero => !self.hit_foe(at, radius),
            Side::Spark => true,
        }
    }

    fn hit_hero(&mut self, at: Vec2, radius: f32) -> bool {
        let is_hit = at.distance(self.hero.at) < radius + 4.0;
        if is_hit {
            self.hurt_hero();
        }
        is_hit
    }

    fn hit_foe(&mut self, at: Vec2, radius: f32) -> bool {
        if let Some(boss) = &mut self.boss {
            if at.distance(boss.at) < radius + Boss::RADIUS {
                boss.flash = 1.0;
                boss.health.update(|health| *health -= 1);
                return true;
            }
        }
        let hit = |enemy: &Enemy| at.distance(enemy.at) < radius + enemy.kind.radius();
        let Some(index) = self.enemies.iter().position(hit) else {
            return false;
        };
        let enemy = &mut self.enemies[index];
        enemy.flash = 1.0;
        enemy.health -= 1;
        if enemy.health <= 0 {
            // Its owner is dropped with it, which ends its scripts.
            let enemy = self.enemies.swap_remove(index);
            self.burst(enemy.at, 24, enemy.kind.colour());
            self.shocks.emit(Shock::small(enemy.at));
            self.left.set(self.enemies.len());
        }
        true
    }
}
