//! A second executor of framestep in an app, whose scripts use the functions of this package.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use framestep::Executor;

use super::{alive, app, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(Resource)]
struct Gold(u32);

#[derive(Message, Clone)]
struct News;

#[derive(EntityEvent, Clone)]
struct Poked(Entity);

/// Runs a frame of it with the world lent.
fn frame(executor: &mut Executor, app: &mut App) {
    executor.lend(app.world_mut(), |executor| executor.run_frame(0.25));
}

fn two_executors() -> (App, Executor, Entity) {
    let mut app = app();
    app.add_message::<News>();
    app.insert_resource(Gold(0));
    let goblin = app.world_mut().spawn(Health(3)).id();
    (app, Executor::new(), goblin)
}

/// They borrow the world that is lent to their own executor.
#[test]
fn its_scripts_reach_the_world() {
    let (mut app, mut second, goblin) = two_executors();
    let script = second.spawn(async move {
        assert_eq!(goblin.get(|health: &Health| health.0), Ok(3));
        goblin.get_mut(|health: &mut Health| health.0 = 2).unwrap();
        system(|mut gold: ResMut<Gold>| gold.0 += 5);
        assert_eq!(resource(|gold: &Gold| gold.0), 5);
        write_message(News);
        next_frame().await;
        goblin.despawn().unwrap();
        assert!(!goblin.exists());
    });
    frame(&mut second, &mut app);
    app.update();
    frame(&mut second, &mut app);
    assert!(script.take_output().unwrap().is_ok());
}

/// What is checked or passed on in the runs of the plugin resumes them in a run of their own.
#[test]
fn its_scripts_wait_for_the_world() {
    let (mut app, mut second, goblin) = two_executors();
    let waits = second.spawn(async move {
        let waits = join!(
            goblin.changed::<Health>(),
            goblin.wait_until(|health: &Health| health.0 == 1),
            goblin.next_event::<Poked>(),
            next_message::<News>(),
            wait_until_resource(|gold: &Gold| gold.0 > 1),
            wait_until_world(|world| world.resource::<Gold>().0 > 1),
        );
        assert!(waits.0.is_ok() && waits.1.is_ok() && waits.2.is_ok());
        goblin.despawned().await;
    });
    frame(&mut second, &mut app);
    app.update();
    app.world_mut().get_mut::<Health>(goblin).unwrap().0 = 1;
    app.world_mut().resource_mut::<Gold>().0 = 2;
    app.world_mut().write_message(News);
    app.world_mut().trigger(Poked(goblin));
    app.update();
    assert!(!waits.is_finished());
    frame(&mut second, &mut app);
    app.world_mut().despawn(goblin);
    frame(&mut second, &mut app);
    assert!(waits.is_finished(), "{}", second.snapshot());
    assert!(waits.take_output().unwrap().is_ok());
}

/// Scripts of an entity belong to the executor of the plugin, whichever executor starts them.
#[test]
fn scripts_of_entities_belong_to_the_plugin() {
    let (mut app, mut second, goblin) = two_executors();
    second.spawn(async move {
        goblin.start(async move {
            next_frame().await;
            log("runs in the schedules of the app");
            goblin.despawn().unwrap();
            next_frame().await;
        });
    });
    frame(&mut second, &mut app);
    assert!(second.is_empty());
    assert_eq!(alive(&app), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["runs in the schedules of the app"]);
    assert_eq!(alive(&app), 0);
}

/// A system runs it in the middle of the frame of the other one.
#[test]
fn it_is_run_by_a_system() {
    let (mut app, second, goblin) = two_executors();
    second.spawn(async move {
        loop {
            next_frame().await;
            goblin.get_mut(|health: &mut Health| health.0 += 1).unwrap();
        }
    });
    app.insert_non_send(second);
    app.add_systems(Update, |world: &mut World| {
        let mut second = world.remove_non_send::<Executor>().unwrap();
        second.lend(world, |second| second.run_frame(0.25));
        world.insert_non_send(second);
    });
    app.world_mut().start_script(move || async move {
        for _ in 0..3 {
            goblin.changed::<Health>().await.unwrap();
            log(format!(
                "{}",
                goblin.get(|health: &Health| health.0).unwrap()
            ));
        }
    });
    (0..5).for_each(|_| app.update());
    assert_eq!(take_log(&mut app), ["4", "5", "6"]);
}
