//! The original, and the host.

mod boss;
mod bullet;
mod hero;
mod scene;

use framestep::prelude::*;

use super::shapes::*;
use super::{ARENA, DT, Seen};

use boss::Boss;
use bullet::{Bullets, Side, Slot};
use hero::Hero;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Chapter {
    Welcome,
    Boss(usize),
    Peace,
}

/// A wave that runs over the floor.
#[derive(Clone, Copy)]
pub(crate) struct Shock {
    strength: f32,
}

impl Shock {
    pub(crate) fn small(_: Vec2) -> Self {
        Shock { strength: 0.5 }
    }

    pub(crate) fn large(_: Vec2) -> Self {
        Shock { strength: 1.0 }
    }
}

pub(crate) struct Clocks {
    pub(crate) drama: Clock,
}

pub(crate) struct Owners {
    pub(crate) scene: Owner,
    pub(crate) effects: Owner,
    pub(crate) foes: Owner,
    pub(crate) bullets: Owner,
}

#[derive(Default)]
pub(crate) struct Input {
    pub(crate) fires: bool,
}

pub(crate) struct World {
    pub(crate) clocks: Clocks,
    pub(crate) owners: Owners,
    pub(crate) input: Input,
    pub(crate) speech: Option<()>,
    pub(crate) shocks: Signal<Shock>,
    pub(crate) chapter: Watch<Chapter>,
    pub(crate) hero: Hero,
    pub(crate) boss: Option<Boss>,
    pub(crate) bullets: Bullets,
    pub(crate) banner: Option<(String, f32)>,
    pub(crate) shake: f32,
    pub(crate) tremor: f32,
}

impl World {
    fn new(executor: &Executor) -> Self {
        let drama = executor.clock().child();
        let foes = drama.child();
        let owners = Owners {
            scene: executor.owner(),
            effects: executor.owner(),
            foes: executor.owner_on(&foes),
            bullets: executor.owner_on(&foes),
        };
        World {
            clocks: Clocks { drama },
            owners,
            input: Input::default(),
            speech: None,
            shocks: Signal::new(),
            chapter: Watch::new(Chapter::Welcome),
            hero: Hero::default(),
            boss: None,
            bullets: Bullets::default(),
            banner: None,
            shake: 0.0,
            tremor: 0.0,
        }
    }

    fn calm(&mut self, seconds: f32) {
        self.shake *= (1.0 - 8.0 * seconds).max(0.0);
        if let Some(boss) = &mut self.boss {
            boss.flash = (boss.flash - 8.0 * seconds).max(0.0);
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
        let Some(boss) = &mut self.boss else {
            return false;
        };
        let is_hit = at.distance(boss.at) < radius + Boss::RADIUS;
        if is_hit {
            boss.flash = 1.0;
            boss.health.update(|health| *health -= 1);
        }
        is_hit
    }
}

/// The floor trembles with each shock.
async fn tremble() {
    loop {
        let shock = with_ref(|world: &World| world.shocks.wait()).await;
        with(|world: &mut World| world.tremor += shock.strength);
    }
}

/// The fight, and what comes after it.
async fn play() {
    let fight = with(|world: &mut World| world.owners.foes.spawn(boss::fight()));
    let _ = fight.await;
    wait_seconds(1).await;
    with(|world: &mut World| world.chapter.set(Chapter::Peace));
}

pub(crate) struct Game {
    executor: Executor,
    world: World,
}

impl Game {
    pub(crate) fn new() -> Self {
        let executor = Executor::new();
        let world = World::new(&executor);
        let scene = &world.owners.scene;
        scene.spawn(play());
        scene.spawn(hero::shoot());
        scene.spawn(tremble());
        Game { executor, world }
    }

    pub(crate) fn frame(&mut self) -> Seen {
        let Game { executor, world } = self;
        let boss = world.boss.as_ref().map(|boss| boss.at);
        world.hero.at = super::hero_at(world.hero.at, boss);
        world.input.fires = world.boss.is_some();
        executor.run_frame_with(world, DT);
        world.calm(DT);
        self.seen()
    }

    fn seen(&self) -> Seen {
        let world = &self.world;
        let bullets = world.bullets.iter();
        let boss = world.boss.as_ref();
        Seen {
            bullets: bullets.map(|it| (it.at, it.radius, it.colour)).collect(),
            boss: boss.map(|it| (it.at, it.health.get(), it.flash)),
            hero: (world.hero.health.get(), world.hero.shield),
            chapter: format!("{:?}", world.chapter.get()),
            banner: world.banner.clone(),
            shake: world.shake,
            tremor: world.tremor,
            scale: world.clocks.drama.scale(),
        }
    }
}
