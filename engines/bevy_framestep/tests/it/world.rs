//! How and when scripts access the world.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use bevy_framestep::framestep::CoroutineInfo;
use bevy_framestep::prelude::*;
use bevy_framestep::{Framestep, Missing};

use super::{app, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Shield;

#[derive(Resource)]
struct Gold(u32);

#[test]
fn the_world_is_lent_to_every_poll() {
    let mut app = app();
    app.insert_resource(Gold(0));
    app.world_mut().start_script(|| async {
        with(|world: &mut World| world.resource_mut::<Gold>().0 += 1);
        next_frame().await;
        with(|world: &mut World| world.resource_mut::<Gold>().0 += 10);
        fixed_update().await;
        resource_mut(|gold: &mut Gold| gold.0 += 100);
        end_of_frame().await;
        resource_mut(|gold: &mut Gold| gold.0 += 1000);
    });
    assert_eq!(app.world().resource::<Gold>().0, 1);
    app.update();
    assert_eq!(app.world().resource::<Gold>().0, 11);
    app.update();
    assert_eq!(app.world().resource::<Gold>().0, 1111);
}

#[test]
fn components_by_type() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(10)).id();
    let script = app.world_mut().start_script(move || async move {
        goblin.get_mut(|health: &mut Health| health.0 -= 3)?;
        assert_eq!(goblin.get(|health: &Health| health.0), Ok(7));
        let missing = goblin.get(|_: &Shield| ()).unwrap_err();
        assert!(missing.to_string().ends_with("Shield"), "{missing}");
        goblin.insert(Shield)?;
        assert!(goblin.has::<Shield>());
        goblin.remove::<Shield>()?;
        assert!(!goblin.has::<Shield>());
        goblin.despawn()?;
        assert!(!goblin.exists());
        assert_eq!(goblin.despawn(), Err(Missing::Entity { entity: goblin }));
        assert_eq!(
            goblin.get(|health: &Health| health.0),
            Err(Missing::Entity { entity: goblin })
        );
        goblin.insert(Shield)
    });
    let joined = app.world_mut().start_script(|| script);
    assert!(joined.is_finished());
    let result = app.world_mut().start_script(|| async {
        let result = joined.await.unwrap().unwrap();
        assert!(matches!(result, Err(Missing::Entity { .. })));
    });
    assert!(result.is_finished());
}

#[test]
fn commands_are_applied_in_the_call() {
    let mut app = app();
    app.insert_resource(Gold(0));
    let script = app.world_mut().start_script(|| async {
        let entity = commands(|commands| {
            commands.insert_resource(Gold(5));
            commands.spawn(Health(3)).id()
        });
        assert_eq!(entity.get(|health: &Health| health.0), Ok(3));
        assert_eq!(resource(|gold: &Gold| gold.0), 5);
    });
    assert!(script.is_finished());
    assert_eq!(super::alive(&app), 0);
    assert_eq!(app.world().resource::<Gold>().0, 5);
}

/// Systems see the changes that a script makes.
#[test]
fn systems_see_what_scripts_change() {
    fn watch(changed: Query<&Health, Changed<Health>>, mut log: ResMut<super::Log>) {
        for health in &changed {
            log.0.push(format!("changed to {}", health.0));
        }
    }
    let mut app = app();
    app.add_systems(Update, watch);
    app.world_mut()
        .spawn(Health(2))
        .start_script(|goblin| async move {
            next_frame().await;
            goblin.get(|_: &Health| ()).unwrap();
            next_frame().await;
            goblin.get_mut(|health: &mut Health| health.0 = 1).unwrap();
        });
    for expected in [&["changed to 2"][..], &[], &["changed to 1"], &[]] {
        app.update();
        assert_eq!(take_log(&mut app), expected);
    }
}

/// A script runs a system that starts another script. This one begins when the first script's
/// borrow of the world ends.
#[test]
fn a_script_within_a_borrow() {
    fn system(mut commands: Commands) {
        commands.start_script(|| async { log("the inner script") });
    }
    let mut app = app();
    app.world_mut().start_script(|| async {
        next_frame().await;
        with(|world: &mut World| {
            bevy_ecs::system::RunSystemOnce::run_system_once(&mut *world, system).unwrap();
            world
                .resource_mut::<super::Log>()
                .0
                .push("the system".into());
        });
        log("the outer script");
    });
    app.update();
    let expected = ["the system", "the inner script", "the outer script"];
    assert_eq!(take_log(&mut app), expected);
}

/// In a run, systems find the executor: it stays in the world.
#[test]
fn the_executor_stays_in_the_world() {
    fn system(scripts: NonSend<bevy_framestep::Framestep>) -> usize {
        scripts.handle().snapshot().unwrap().len()
    }
    let mut app = app();
    let script = app.world_mut().start_script(|| async {
        next_frame().await;
        with(|world: &mut World| {
            bevy_ecs::system::RunSystemOnce::run_system_once(world, system).unwrap()
        })
    });
    app.update();
    let check = app.world_mut().start_script(|| async {
        assert_eq!(script.await.unwrap(), 1);
    });
    assert!(check.is_finished());
}

async fn patrol(_guard: Entity) {
    wait_seconds(60).await;
}

async fn rain() {
    wait_seconds(60).await;
}

/// Snapshots and reports say which script it is.
#[test]
fn names() {
    let mut app = app();
    app.world_mut().start_script(rain);
    app.world_mut().spawn_empty().start_script(patrol);
    let guard = app.world_mut().spawn_empty().id();
    app.world_mut()
        .commands()
        .entity(guard)
        .start_script(patrol);
    app.world_mut().flush();
    let snapshot = app.world().non_send::<Framestep>().handle().snapshot();
    let snapshot = snapshot.unwrap();
    let names: Vec<&str> = snapshot.iter().map(CoroutineInfo::name).collect();
    let expected = ["it::world::rain", "it::world::patrol", "it::world::patrol"];
    assert_eq!(names, expected);
}
