//! The port, and the host.

mod boss;
mod bullet;
mod hero;
mod scene;

use framestep_durable::Host;
use framestep_durable::prelude::*;
use serde::de::DeserializeOwned;

use super::shapes::*;
use super::{ARENA, DT, Seen};

use boss::Boss;
use bullet::{Bullets, Side, Slot};
use hero::Hero;

pub(crate) const CHAPTER: Value<Chapter> = Value::new("chapter");
pub(crate) const SHOCKS: Signal<Shock> = Signal::new("shock");

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Chapter {
    #[default]
    Welcome,
    Boss(usize),
    Peace,
}

/// A wave that runs over the floor.
#[derive(Clone, Copy, Serialize, Deserialize)]
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

#[derive(Serialize, Deserialize)]
pub(crate) struct Clocks {
    pub(crate) drama: ClockId,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Owners {
    pub(crate) scene: OwnerId,
    pub(crate) effects: OwnerId,
    pub(crate) foes: OwnerId,
    pub(crate) bullets: OwnerId,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Input {
    pub(crate) fires: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct World {
    /// Set when the world is made, and after a load.
    #[serde(skip, default = "no_host")]
    pub(crate) host: Host,
    pub(crate) clocks: Clocks,
    pub(crate) owners: Owners,
    pub(crate) input: Input,
    pub(crate) speech: Option<()>,
    pub(crate) hero: Hero,
    pub(crate) boss: Option<Boss>,
    pub(crate) bullets: Bullets,
    pub(crate) banner: Option<(String, f32)>,
    pub(crate) shake: f32,
    pub(crate) tremor: f32,
    pub(crate) random: Random,
    asked: Vec<(OwnerId, Asked)>,
}

fn no_host() -> Host {
    Runtime::new(Registry::new()).host().clone()
}

/// The scripts that code inside of a `with` asks for: a host cannot spawn on an owner.
macro_rules! asked {
    ($($script:ident in $module:ident),*) => {
        #[derive(Serialize, Deserialize)]
        enum Asked {
            $($script($module::$script),)*
        }

        $(
            impl From<$module::$script> for Asked {
                fn from(script: $module::$script) -> Self {
                    Asked::$script(script)
                }
            }
        )*

        impl Asked {
            fn spawn_on(self, owner: OwnerId) {
                match self {
                    $(Asked::$script(script) => spawn_on(owner, script).detach(),)*
                }
            }
        }

        fn register(registry: Registry) -> Registry {
            registry$(.with::<$module::$script>())*
        }
    };
}

asked! {
    Straight in bullet,
    Curve in bullet,
    Aim in bullet,
    Spark in bullet,
    Recover in hero,
    Banner in scene,
    SlowForAMoment in boss
}

/// The `with` of the game: it also spawns the scripts that `f` has asked for.
fn with<R: Serialize + DeserializeOwned>(f: impl FnOnce(&mut World) -> R + Clone) -> R {
    let (result, asked) = framestep_durable::with(|world: &mut World| {
        let result = f(world);
        (result, std::mem::take(&mut world.asked))
    });
    for (owner, script) in asked {
        script.spawn_on(owner);
    }
    result
}

impl World {
    /// Spawns a script once the `with` has ended.
    fn spawn(&mut self, owner: OwnerId, script: impl Into<Asked>) {
        self.asked.push((owner, script.into()));
    }

    fn new(host: &Host) -> Self {
        let drama = host.child_clock(ClockId::GAME);
        let foes = host.child_clock(drama);
        let owners = Owners {
            scene: host.owner(),
            effects: host.owner(),
            foes: host.owner_on(foes),
            bullets: host.owner_on(foes),
        };
        World {
            host: host.clone(),
            clocks: Clocks { drama },
            owners,
            input: Input::default(),
            speech: None,
            hero: Hero::default(),
            boss: None,
            bullets: Bullets::default(),
            banner: None,
            shake: 0.0,
            tremor: 0.0,
            random: Random::new(),
            asked: Vec::new(),
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
            self.host
                .set(&boss::HEALTH, self.host.get(&boss::HEALTH) - 1);
        }
        is_hit
    }
}

/// The floor trembles with each shock.
#[durable]
async fn tremble() {
    loop {
        let shock = SHOCKS.wait().await;
        with(|world: &mut World| world.tremor += shock.strength);
    }
}

/// The fight, and what comes after it.
#[durable]
async fn play(foes: OwnerId) {
    let fight = spawn_on(foes, boss::fight());
    let _ = fight.await;
    wait_seconds(1).await;
    CHAPTER.set(Chapter::Peace);
}

pub(crate) struct Game {
    runtime: Runtime,
    world: World,
}

fn blank() -> Runtime {
    let registry = register(Registry::new())
        .with::<boss::Fight>()
        .with::<hero::Shoot>()
        .with::<Play>()
        .with::<Tremble>();
    let runtime = Runtime::new(registry);
    runtime.on_long_chapter(|_| ()); // the fight is one
    runtime
}

impl Game {
    pub(crate) fn new() -> Self {
        let mut runtime = blank();
        let mut world = World::new(runtime.host());
        runtime.set(&hero::HEALTH, Hero::HEALTH);
        let (scene, foes) = (world.owners.scene, world.owners.foes);
        runtime.lend(&mut world, |runtime| {
            runtime.start_on(scene, play(foes)).detach();
            runtime.start_on(scene, hero::shoot()).detach();
            runtime.start_on(scene, tremble()).detach();
        });
        Game { runtime, world }
    }

    pub(crate) fn frame(&mut self) -> Seen {
        let Game { runtime, world } = self;
        let boss = world.boss.as_ref().map(|boss| boss.at);
        world.hero.at = super::hero_at(world.hero.at, boss);
        world.input.fires = world.boss.is_some();
        runtime.run_frame_with(world, DT);
        world.calm(DT);
        self.seen()
    }

    /// The game as a file, and the same game in a new runtime, from that file.
    pub(crate) fn through_a_file(self) -> Self {
        let file = self.runtime.save().unwrap().to_bytes_with(&self.world);
        drop(self);
        let (scripts, mut world): (_, World) = SaveState::from_bytes_with(&file).unwrap();
        let mut runtime = blank();
        runtime.restore(&scripts, Policy::Fail).unwrap();
        world.host = runtime.host().clone();
        Game { runtime, world }
    }

    pub(crate) fn seen(&self) -> Seen {
        let Game { runtime, world } = self;
        let bullets = world.bullets.iter();
        let boss = world.boss.as_ref();
        Seen {
            bullets: bullets.map(|it| (it.at, it.radius, it.colour)).collect(),
            boss: boss.map(|it| (it.at, runtime.get(&boss::HEALTH), it.flash)),
            hero: (runtime.get(&hero::HEALTH), world.hero.shield),
            chapter: format!("{:?}", runtime.get(&CHAPTER)),
            banner: world.banner.clone(),
            shake: world.shake,
            tremor: world.tremor,
            scale: runtime.clock(world.clocks.drama).scale(),
        }
    }
}
