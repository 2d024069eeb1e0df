//! Random games, saved at random moments and loaded in fresh apps: both continue alike.

use bevy_app::{FixedUpdate, PostUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*};

use super::*;

const HORN: Signal<i32> = signal("horn");

/// A generator that is part of the world, so that it is saved with it.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
struct Dice(u64);

impl Dice {
    /// A `SplitMix64`.
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }
}

fn roll(below: u64) -> u64 {
    with(|world: &mut World| world.resource_mut::<Dice>().roll(below))
}

/// What a goblin does, a few things in a chapter.
#[derive(Serialize, Deserialize)]
struct Goblin(DurableId);

/// Any goblin that is alive.
fn anyone() -> Option<DurableId> {
    with(|world: &mut World| {
        let entities = world.resource::<DurableEntities>();
        let all: Vec<DurableId> = entities.iter().map(|(id, _)| id).collect();
        let at = world.resource_mut::<Dice>().roll(all.len().max(1) as u64);
        all.get(at as usize).copied()
    })
}

impl Goblin {
    async fn act(&self) -> Result<(), durable::Missing> {
        let me = self.0;
        let length = |tenths: u64| tenths as f64 / 10.0;
        match roll(18) {
            0 => wait_seconds(length(roll(9))).await,
            1 => next_frame().await,
            2 => wait_steps(roll(4)).await,
            3 => fixed_update().await,
            4 => in_phase(Phase::LateUpdate).await,
            5 => end_of_frame().await,
            6 => me.get_mut(|health: &mut Health| health.0 -= 1)?,
            7 => me.wait_until(|health: &Health| health.0 % 2 == 0).await?,
            8 => {
                let foe = anyone();
                if let Some(foe) = foe {
                    me.insert(Follows(foe))?;
                }
            }
            9 => {
                if let Ok(Follows(foe)) = me.get(|follows: &Follows| *follows) {
                    select! {
                        () = foe.despawned() => log(format!("{me} saw {foe} die")),
                        () = wait_seconds(length(roll(20))) => me.remove::<Follows>()?,
                    }
                }
            }
            10 => {
                let spawned = with(move |world: &mut World| {
                    let count = world.resource::<DurableEntities>().iter().count();
                    (count < 20).then(|| {
                        let health = world.resource_mut::<Dice>().roll(9) as i32;
                        let mut goblin = world.spawn(Health(health));
                        goblin.start_durable_script(Goblin);
                        goblin.get::<Durable>().unwrap().id()
                    })
                });
                log(format!("{me} spawned {spawned:?}"));
            }
            11 => {
                if let Some(prey) = anyone() {
                    let health = prey.get(|health: &Health| health.0)?;
                    if health < 1 {
                        log(format!("{me} kills {prey}: {:?}", prey.despawn()));
                    }
                }
            }
            12 => HORN.emit(roll(100) as i32),
            13 => {
                let heard = timeout(length(roll(15)), HORN.wait()).await;
                log(format!("{me} heard {heard:?}"));
            }
            14 => {
                if let Some(other) = anyone() {
                    drop(other.start(Goblin(other))?);
                }
            }
            15 => {
                let helper = me.start(Goblin(me))?;
                let joined = timeout(length(roll(10)), helper).await;
                log(format!("{me} was helped: {joined:?}"));
            }
            16 => {
                let sum = wait_until(|| {
                    with_ref(|world: &World| world.resource::<Dice>().0.is_multiple_of(3))
                });
                let holds = timeout(length(roll(8)), sum.in_phase(Phase::FixedUpdate)).await;
                log(format!("{me} divisible: {holds:?}"));
            }
            _ => {
                let owner = with(move |world: &mut World| {
                    let entity = me.find(world)?;
                    world.get::<Durable>(entity)?.owner()
                });
                if let Some(owner) = owner {
                    owner.pause();
                    start(Wake(owner)).detach();
                }
            }
        }
        Ok(())
    }
}

impl DurableScript for Goblin {
    const NAME: &'static str = "goblin";
    type Output = bool;

    async fn run(self) -> Chapter<Self> {
        for _ in 0..=roll(5) {
            if let Err(missing) = self.act().await {
                log(format!("{}: {missing}", self.0));
                return Chapter::Done(false);
            }
            let frame = time().frame;
            log(format!("{} in frame {frame}", self.0));
        }
        next_frame().await;
        // Some scripts end, so that there are not too many.
        if roll(12) == 0 {
            return Chapter::Done(true);
        }
        Chapter::Next(self)
    }
}

/// Resumes the scripts of an entity.
#[derive(Serialize, Deserialize)]
struct Wake(OwnerId);

impl DurableScript for Wake {
    const NAME: &'static str = "wake";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(1).await;
        self.0.resume();
        Chapter::Done(())
    }
}

/// Systems change the world, too.
fn bleed(mut healths: Query<&mut Health>) {
    for mut health in &mut healths {
        health.0 -= 1;
    }
}

fn heal(mut healths: Query<&mut Health>, time: Res<Time>) {
    let seconds = time.elapsed_secs() as i32;
    for mut health in &mut healths {
        health.0 += seconds % 3;
    }
}

fn bury(dead: Query<(Entity, &Health)>, mut commands: Commands) {
    for (entity, health) in &dead {
        if health.0 < -20 {
            commands.entity(entity).despawn();
        }
    }
}

fn game() -> App {
    let registry = Registry::new().with::<Goblin>().with::<Wake>();
    let mut app = App::new();
    let plugin = DurableScriptsPlugin::new(registry);
    app.add_plugins((TimePlugin, plugin));
    app.insert_resource(Time::<Fixed>::from_seconds(0.07));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        50,
    )));
    app.init_resource::<Log>();
    app.insert_resource(Dice(0));
    app.save_component::<Health>("health");
    app.save_component::<Follows>("follows");
    app.save_resource::<Log>("log");
    app.save_resource::<Dice>("dice");
    app.add_systems(FixedUpdate, bleed);
    app.add_systems(Update, heal);
    app.add_systems(PostUpdate, bury);
    app.update();
    app
}

/// Lets some time pass, and does something as the host.
fn frame(app: &mut App, host: &mut Dice) {
    let ms = [0, 10, 33, 50, 50, 70, 120, 300][host.roll(8) as usize];
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        ms,
    )));
    if host.roll(6) == 0 {
        let horn = host.roll(50) as i32;
        let runtime = app.world().non_send::<DurableRuntime>();
        runtime.host().executor().enter(|| HORN.emit(horn));
    }
    if app.world().resource::<DurableEntities>().iter().count() < 4 {
        app.world_mut()
            .spawn(Health(8))
            .start_durable_script(Goblin);
    }
    app.update();
}

fn number_of(name: &str, default: u64) -> u64 {
    let number = std::env::var(name).ok();
    number.map_or(default, |number| number.parse().expect("a number"))
}

#[test]
fn saved_games_continue_like_those_that_were_not_saved() {
    let (mut saves, mut lines, mut most) = (0, 0, 0);
    for seed in 1..=number_of("BEVY_DURABLE_GAMES", 10) {
        let mut first = game();
        first.insert_resource(Dice(seed));
        for _ in 0..6 {
            first
                .world_mut()
                .spawn(Health(9))
                .start_durable_script(Goblin);
        }
        let mut host = Dice(seed ^ 0xABCD);
        let mut second: Option<App> = None;
        for at in 0..200 {
            let mut same = host.clone();
            frame(&mut first, &mut host);
            if let Some(second) = &mut second {
                frame(second, &mut same);
                let [one, two] = [&mut first, second].map(|app| {
                    let save = durable::save_state(app.world_mut()).unwrap();
                    (take_log(app), save.checksum())
                });
                assert_eq!(one, two, "seed {seed}, frame {at}");
                lines += one.0.len();
            }
            most = most.max(alive(&first));
            if host.roll(10) == 0 {
                let file = saved(&mut first);
                let mut other = game();
                // The app has run before.
                other
                    .world_mut()
                    .spawn(Health(1))
                    .start_durable_script(Goblin);
                other.update();
                load(&mut other, &file);
                second = Some(other);
                saves += 1;
            }
        }
    }
    eprintln!("{saves} saves, {lines} lines compared, up to {most} scripts at once");
    assert!(saves > 100 && lines > 2_000, "{saves} saves, {lines} lines");
}

#[test]
fn games_that_are_rolled_back_and_played_again_are_alike() {
    for seed in 1..=number_of("BEVY_DURABLE_GAMES", 3) {
        let mut app = game();
        app.insert_resource(Dice(seed));
        for _ in 0..6 {
            app.world_mut()
                .spawn(Health(9))
                .start_durable_script(Goblin);
        }
        let mut host = Dice(seed ^ 0x1234);
        let mut past: Vec<(Save, Dice)> = Vec::new();
        for at in 0..200 {
            let save = durable::save_state(app.world_mut()).unwrap();
            past.push((save, host.clone()));
            frame(&mut app, &mut host);
            take_log(&mut app);
            let depth = 1 + host.clone().roll(9) as usize;
            if at % 7 == 0 && depth <= past.len() {
                let from = past.len() - depth;
                durable::rollback(app.world_mut(), &past[from].0).unwrap();
                host = past[from].1.clone();
                for (save, _) in &past[from..] {
                    let again = durable::save_state(app.world_mut()).unwrap();
                    assert_eq!(again.checksum(), save.checksum(), "seed {seed}, frame {at}");
                    frame(&mut app, &mut host);
                    take_log(&mut app);
                }
            }
        }
    }
}
