//! Scripts of entities end with them, and find them by number.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use bevy_framestep::durable::prelude::*;

use super::*;

const BELL: Signal<u32> = signal("bell");

/// Logs when it ends.
#[derive(Serialize, Deserialize)]
struct Patrol(DurableId);

impl DurableScript for Patrol {
    const NAME: &'static str = "patrol";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _guard = defer(|world: &mut World| {
            world.resource_mut::<Log>().0.push("patrol ends".into());
        });
        loop {
            next_frame().await;
            log(format!("patrol in frame {}", time().frame));
        }
    }
}

/// Despawns a goblin after a frame, in a script of its own or of another one.
#[derive(Serialize, Deserialize)]
struct Kill(DurableId);

impl DurableScript for Kill {
    const NAME: &'static str = "kill";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        let killed = self.0.despawn();
        log(format!("killed: {}", killed.is_ok()));
        next_frame().await;
        log("went on");
        Chapter::Done(())
    }
}

fn with_patrol() -> (App, Entity) {
    let mut app = app(Registry::new().with::<Patrol>().with::<Kill>());
    let goblin = app.world_mut().spawn_empty().id();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Patrol);
    app.update();
    assert_eq!(take_log(&mut app), ["patrol in frame 2"]);
    (app, goblin)
}

#[test]
fn despawning_the_entity_stops_its_scripts() {
    let (mut app, goblin) = with_patrol();
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 0);
    app.update();
    assert_eq!(take_log(&mut app), ["patrol ends"]);
}

#[test]
fn removing_the_component_stops_its_scripts() {
    let (mut app, goblin) = with_patrol();
    let before = id(&app, goblin);
    app.world_mut().entity_mut(goblin).remove::<Durable>();
    assert_eq!(alive(&app), 0);
    assert_eq!(before.find(app.world()), None);
    // Another number, and another owner.
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Patrol);
    assert_ne!(id(&app, goblin), before);
    assert_eq!(alive(&app), 1);
}

#[test]
fn inserting_the_component_again_changes_nothing() {
    let (mut app, goblin) = with_patrol();
    let before = id(&app, goblin);
    app.world_mut()
        .entity_mut(goblin)
        .insert(Durable::default());
    assert_eq!(id(&app, goblin), before);
    assert_eq!(alive(&app), 1);
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 0);
}

#[test]
fn a_component_that_was_taken_loses_its_number() {
    let (mut app, goblin) = with_patrol();
    let before = id(&app, goblin);
    let taken = app.world_mut().entity_mut(goblin).take::<Durable>();
    assert_eq!(alive(&app), 0);
    let other = app.world_mut().spawn(taken.unwrap()).id();
    assert_ne!(id(&app, other), before);
    assert_eq!(app.world().get::<Durable>(other).unwrap().owner(), None);
}

#[test]
fn a_clone_has_no_number() {
    let (mut app, goblin) = with_patrol();
    app.world_mut().entity_mut(goblin).insert(Health(4));
    let clone = app.world_mut().entity_mut(goblin).clone_and_spawn();
    assert!(app.world().get::<Health>(clone).is_some());
    let number = app.world().get::<Durable>(clone).map(Durable::id);
    assert_ne!(number, Some(id(&app, goblin)));
    app.world_mut().despawn(clone);
    assert_eq!(alive(&app), 1);
}

#[test]
fn a_script_that_despawns_its_entity_continues_to_its_next_wait() {
    let (mut app, goblin) = with_patrol();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Kill);
    app.update();
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["patrol in frame 3", "patrol ends", "killed: true"]
    );
    assert_eq!(alive(&app), 0);
}

#[test]
fn another_script_despawns_the_entity() {
    let (mut app, goblin) = with_patrol();
    let goblin = id(&app, goblin);
    app.world_mut().start_durable_script(Kill(goblin));
    app.update();
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "patrol in frame 3",
            "patrol ends",
            "killed: true",
            "went on"
        ]
    );
}

#[test]
fn commands_start_scripts() {
    let mut app = app(registry());
    let dead = app.world_mut().spawn(Durable::default()).id();
    let dead_id = id(&app, dead);
    app.world_mut().despawn(dead);
    let begin = move |mut commands: Commands, mut has_begun: Local<bool>| {
        if !std::mem::replace(&mut *has_begun, true) {
            let mut goblin = commands.spawn(Health(5));
            goblin.start_durable_script(Poison);
            commands.entity(dead).try_start_durable_script(Poison);
            commands.start_durable_script(Poison(dead_id));
        }
    };
    app.add_systems(Update, begin);
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(
        take_log(&mut app),
        ["#2 has 4 in frame 4", "there is no durable entity #1"]
    );
}

/// Does one of each.
#[derive(Serialize, Deserialize)]
struct Tour(DurableId);

impl DurableScript for Tour {
    const NAME: &'static str = "tour";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let goblin = self.0;
        log(format!("{:?}", goblin.get(|health: &Health| health.0)));
        log(format!("{:?}", goblin.get(|_: &Follows| ()).is_err()));
        log(format!("{:?}", goblin.insert(Follows(goblin))));
        let both = goblin.with(|health: &mut Health, follows: &Follows| {
            health.0 += 1;
            (health.0, follows.0)
        });
        log(format!("{both:?}"));
        log(format!("{} {}", goblin.has::<Follows>(), goblin.exists()));
        log(format!("{:?}", goblin.remove::<Follows>()));
        log(format!("{}", goblin.has::<Follows>()));
        let poison = goblin.start(Poison(goblin)).unwrap();
        let waited = goblin.wait_until(|health: &Health| health.0 < 8).await;
        log(format!("{waited:?} in frame {}", time().frame));
        select! {
            rung = BELL.wait() => log(format!("bell {rung}")),
            () = goblin.despawned() => log("despawned first"),
        }
        goblin.despawned().await;
        log(format!("despawned, {:?}", poison.await));
        log(format!("{:?}", goblin.wait_until(|_: &Health| false).await));
        log(format!("{:?}", goblin.start(Poison(goblin)).is_err()));
        Chapter::Done(())
    }
}

#[test]
fn a_script_accesses_an_entity_by_number() {
    fn ring(runtime: NonSend<DurableRuntime>, healths: Query<&Health>) {
        if healths.iter().any(|health| health.0 == 6) {
            runtime.host().executor().enter(|| BELL.emit(6));
        }
    }
    let registry = || registry().with::<Tour>();
    let new = || {
        let mut app = app(registry());
        app.add_systems(Update, ring);
        app
    };
    let mut app = new();
    let goblin = app.world_mut().spawn(Health(8)).id();
    let goblin = id(&app, goblin);
    app.world_mut().start_durable_script(Tour(goblin));
    for frame in 0..14 {
        if frame == 10 {
            let entity = goblin.find(app.world()).unwrap();
            app.world_mut().despawn(entity);
        }
        app.update();
        // At each moment, another app continues from here.
        let file = saved(&mut app);
        app = new();
        load(&mut app, &file);
    }
    let log = lines(&app);
    let tour: Vec<&str> = log.iter().map(String::as_str).collect();
    assert_eq!(
        tour,
        [
            "Ok(8)",
            "true",
            "Ok(())",
            "Ok((9, DurableId(1)))",
            "true true",
            "Ok(())",
            "false",
            "#1 has 8 in frame 3",
            "#1 has 7 in frame 5",
            "Ok(()) in frame 6",
            "#1 has 6 in frame 7",
            "bell 6",
            "#1 has 5 in frame 9",
            "#1 has 4 in frame 11",
            "despawned, Err(Stopped { by: None, .. })",
            "Err(Entity { entity: DurableId(1) })",
            "true",
        ]
    );
}
