//! With Bevy's executor that runs systems on several threads.

use bevy_app::{App, TaskPoolPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;

use super::{Log, alive, app, log, take_log};

#[derive(Component)]
struct Goblin(u32);

fn app_on_threads() -> App {
    let mut app = app();
    app.add_plugins(TaskPoolPlugin::default());
    app
}

fn is_sync<T: Send + Sync>() {}

#[test]
fn what_may_travel() {
    is_sync::<Scripts>();
    is_sync::<FramestepPlugin>();
    is_sync::<bevy_framestep::Missing>();
}

/// Systems that run in parallel start scripts with commands, and read those of entities. One
/// system uses the executor.
#[test]
fn systems_side_by_side() {
    fn spawn(mut commands: Commands) {
        commands.spawn(Goblin(0)).start_script(|goblin| async move {
            for _ in 0..3 {
                next_frame().await;
                goblin.get_mut(|goblin: &mut Goblin| goblin.0 += 1).unwrap();
            }
            goblin.despawn().unwrap();
        });
    }
    fn look(goblins: Query<(&Goblin, Option<&Scripts>)>) {
        for (goblin, scripts) in &goblins {
            assert!(goblin.0 <= 3);
            assert!(scripts.is_some());
        }
    }
    fn count(scripts: NonSend<Framestep>) {
        assert!(scripts.handle().snapshot().is_some());
    }
    let mut app = app_on_threads();
    app.add_systems(Update, (spawn, spawn, spawn, look, look, count));
    for _ in 0..100 {
        app.update();
    }
    // Those that the latest three frames have spawned.
    assert_eq!(alive(&app), 9);
}

/// A system that removes the component and drops it on its own thread.
#[test]
fn dropped_on_another_thread() {
    let mut app = app_on_threads();
    let goblin = app.world_mut().spawn(Goblin(0)).id();
    app.world_mut().entity_mut(goblin).start_script(|_| async {
        loop {
            next_frame().await;
            log("patrol");
        }
    });
    app.update();
    assert_eq!(take_log(&mut app), ["patrol"]);
    let scripts = app
        .world_mut()
        .entity_mut(goblin)
        .take::<Scripts>()
        .unwrap();
    std::thread::spawn(move || {
        assert!(scripts.owner().is_none());
        drop(scripts);
    })
    .join()
    .unwrap();
    app.update();
    assert_eq!(app.world().resource::<Log>().0, [""; 0]);
    assert_eq!(alive(&app), 0);
}

/// Another thread starts scripts, which access the world.
#[test]
fn from_another_thread() {
    let mut app = app_on_threads();
    let framestep = app.world().non_send::<Framestep>();
    let remote = framestep.with_executor(framestep::Executor::remote);
    std::thread::spawn(move || {
        remote.spawn(|| async {
            wait_seconds(0.25).await;
            log("from a socket");
        });
    })
    .join()
    .unwrap();
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["from a socket"]);
}
