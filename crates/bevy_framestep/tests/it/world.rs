//! How and when scripts access the world.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use bevy_framestep::framestep::inspect::CoroutineInfo;
use bevy_framestep::prelude::*;
use bevy_framestep::{Framestep, Missing};

use super::{app, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Shield;

#[derive(Component, PartialEq)]
struct Armor(u32);

#[derive(EntityEvent, Clone, Debug)]
struct Hit(Entity);

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
        assert!(missing.to_string().contains("Shield, at "), "{missing}");
        goblin.insert(Shield)?;
        assert!(goblin.has::<Shield>());
        goblin.remove::<Shield>()?;
        assert!(!goblin.has::<Shield>());
        goblin.despawn()?;
        assert!(!goblin.exists());
        assert!(
            matches!(goblin.despawn(), Err(Missing::Entity { entity, .. }) if entity == goblin)
        );
        let missing = goblin.get(|health: &Health| health.0);
        assert!(matches!(missing, Err(Missing::Entity { .. })));
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

/// An error names the line that the script is in, not one of the library.
#[test]
fn what_is_missing_in_which_line() {
    fn line_of(missing: Missing) -> u32 {
        let (Missing::Entity { at, .. } | Missing::Component { at, .. }) = missing else {
            unreachable!("{missing}");
        };
        assert_eq!(at.file(), file!());
        assert!(missing.to_string().ends_with(&format!(", at {at}")));
        at.line()
    }

    let mut app = app();
    let script = app.world_mut().start_script(|| async {
        for has_entity in [true, false] {
            let goblin = commands(|commands| commands.spawn_empty().id());
            if !has_entity {
                goblin.despawn().unwrap();
            }
            let here = line!();
            let missing = [
                goblin.get(|_: &Health| ()).unwrap_err(),
                goblin.get_mut(|_: &mut Health| ()).unwrap_err(),
                goblin.with(|_: &Health, _: &Shield| ()).unwrap_err(),
                goblin.set_if_neq(Armor(1)).unwrap_err(),
                query::<&Health>().get(goblin, |_| ()).unwrap_err(),
                goblin.wait_until(|_: &Health| true).await.unwrap_err(),
                goblin.changed::<Health>().await.unwrap_err(),
            ];
            for (at, missing) in (2..).zip(missing) {
                assert_eq!(line_of(missing), here + at);
            }
            if has_entity {
                continue;
            }
            let here = line!();
            let missing = [
                goblin.insert(Shield).unwrap_err(),
                goblin.remove::<Shield>().unwrap_err(),
                goblin.despawn().unwrap_err(),
                goblin.removed::<Health>().await.unwrap_err(),
                goblin.next_event::<Hit>().await.unwrap_err(),
            ];
            for (at, missing) in (2..).zip(missing) {
                assert_eq!(line_of(missing), here + at);
            }
        }
        log("done");
    });
    for _ in 0..6 {
        app.update();
    }
    assert!(script.take_output().unwrap().is_ok());
    assert_eq!(take_log(&mut app), ["done"]);
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
