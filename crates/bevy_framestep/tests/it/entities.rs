//! Scripts end with their entity, in the same frame, in whatever way the entity ends.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bevy_app::{App, PreUpdate, Update};
use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;
use bevy_time::Time;

use super::{alive, app, app_with, log, take_log};

#[derive(Component)]
struct Goblin;

#[derive(EntityEvent, Clone)]
struct Killed(Entity);

/// Logs when it ends.
struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        let line = format!("{} ends in frame {}", self.0, time().frame);
        with_deferred(move |world: &mut World| {
            world.resource_mut::<super::Log>().0.push(line);
        });
    }
}

async fn patrol(_goblin: Entity) {
    let _guard = Guard("patrol");
    loop {
        next_frame().await;
        log(format!("patrol in frame {}", time().frame));
    }
}

/// An app with a goblin on patrol, after one frame.
fn app_with_goblin() -> (App, Entity) {
    let mut app = app();
    let goblin = app.world_mut().spawn(Goblin).start_script_and_id();
    app.update();
    assert_eq!(take_log(&mut app), ["patrol in frame 1"]);
    assert_eq!(alive(&app), 1);
    (app, goblin)
}

trait Started {
    fn start_script_and_id(self) -> Entity;
}

impl Started for EntityWorldMut<'_> {
    fn start_script_and_id(mut self) -> Entity {
        self.start_script(patrol);
        self.id()
    }
}

/// Another value ends the scripts that run, and starts its own, as if it were inserted.
#[test]
fn a_component_that_is_assigned() {
    async fn flee(_: Entity) {
        loop {
            next_frame().await;
            log(format!("flees in frame {}", time().frame));
        }
    }

    fn assign(app: &mut App, value: Scripts) {
        let mut all = app.world_mut().query::<&mut Scripts>();
        *all.single_mut(app.world_mut()).unwrap() = value;
    }

    let (mut app, goblin) = app_with_goblin();
    assign(&mut app, Scripts::of(flee));
    assert_eq!(alive(&app), 0);
    app.update();
    app.update();
    let lines = take_log(&mut app);
    assert_eq!(lines.last().unwrap(), "flees in frame 3");
    assert!(!lines.iter().any(|line| line.starts_with("patrol in")));
    assert!(app.world().get::<Scripts>(goblin).unwrap().stop("flee"));
    app.update();
    assert_eq!(alive(&app), 0);

    // With what is set in the value.
    let paused = Scripts::of(flee);
    paused.pause();
    assign(&mut app, paused);
    for _ in 0..3 {
        app.update();
    }
    assert_eq!((alive(&app), take_log(&mut app).len()), (1, 0));
    assign(&mut app, Scripts::new());
    assert_eq!(alive(&app), 0);
    app.world_mut().entity_mut(goblin).start_script(flee);
    app.update();
    assert_eq!(alive(&app), 1);

    // Nothing begins on an entity that is gone.
    assign(&mut app, Scripts::of(patrol));
    app.world_mut().despawn(goblin);
    app.update();
    assert_eq!(alive(&app), 0);
}

/// The same in a system, on whichever thread that runs.
#[test]
fn a_component_that_a_system_assigns() {
    async fn flee(_: Entity) {
        in_phase(Phase::EndOfFrame).await;
        log(format!("fled in frame {}", time().frame));
    }

    let (mut app, _) = app_with_goblin();
    app.add_systems(Update, |mut all: Query<&mut Scripts>, time: Res<Time>| {
        for mut scripts in &mut all {
            if time.elapsed() == Duration::from_millis(250) {
                *scripts = Scripts::of(flee);
            }
        }
    });
    app.update();
    assert_eq!(take_log(&mut app).last().unwrap(), "fled in frame 2");
    assert_eq!(alive(&app), 0);
}

#[test]
fn despawned_by_the_host() {
    let (mut app, goblin) = app_with_goblin();
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 0);
    app.update();
    assert_eq!(take_log(&mut app), ["patrol ends in frame 1"]);
}

#[test]
fn despawned_by_a_system() {
    fn kill(goblins: Query<Entity, With<Goblin>>, mut commands: Commands) {
        for goblin in &goblins {
            commands.entity(goblin).despawn();
        }
    }
    let (mut app, _) = app_with_goblin();
    app.add_systems(Update, kill);
    app.update();
    assert_eq!(take_log(&mut app), ["patrol ends in frame 2"]);
    assert_eq!(alive(&app), 0);
}

#[test]
fn despawned_by_an_observer() {
    let (mut app, goblin) = app_with_goblin();
    app.add_observer(|killed: On<Killed>, mut commands: Commands| {
        commands.entity(killed.event_target()).despawn();
    });
    app.add_systems(PreUpdate, move |mut commands: Commands| {
        commands.trigger(Killed(goblin));
    });
    app.update();
    assert_eq!(take_log(&mut app), ["patrol ends in frame 2"]);
    assert_eq!(alive(&app), 0);
}

/// The killer runs first; the patrol would have been polled in this run.
#[test]
fn despawned_by_another_script() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Goblin).id();
    let killer = app.world_mut().start_script(move || async move {
        wait_frames(2).await;
        goblin.despawn().unwrap();
        log("killed");
        assert_eq!(time().frame, 2);
    });
    app.world_mut()
        .entity_mut(goblin)
        .start_script(|goblin| async move {
            let _guard = Guard("patrol");
            wait_seconds(0.25).await;
            goblin.despawn().unwrap();
            unreachable!();
        });
    app.update();
    app.update();
    assert!(killer.is_finished());
    assert_eq!(take_log(&mut app), ["patrol ends in frame 2", "killed"]);
    assert_eq!(alive(&app), 0);
}

/// The script continues to its next wait.
#[test]
fn despawned_by_its_own_script() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Goblin).id();
    app.world_mut().entity_mut(goblin).start_script(patrol);
    app.world_mut()
        .entity_mut(goblin)
        .start_script(|goblin| async move {
            let _guard = Guard("death");
            next_frame().await;
            goblin.despawn().unwrap();
            log("last words");
            next_frame().await;
            unreachable!();
        });
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "patrol in frame 1",
            "patrol ends in frame 1",
            "last words",
            "death ends in frame 1",
        ]
    );
    assert_eq!(alive(&app), 0);
}

/// What it starts then would end with the entity, which is gone: it is refused, with what to do. What is
/// started on the handle belongs to nobody.
#[test]
fn what_a_script_starts_after_it_has_despawned_its_entity() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let hook = reports.clone();
    let plugin = FramestepPlugin::default()
        .on_report(move |report| hook.lock().unwrap().push(report.to_string()));
    let mut app = app_with(plugin);
    let line = line!() + 6;
    app.world_mut()
        .spawn(Goblin)
        .start_script(|goblin| async move {
            next_frame().await;
            goblin.despawn().unwrap();
            let explosion = start(async { log("never") });
            assert!(goblin.start(async { log("never") }).await.is_err());
            assert!(explosion.await.is_err());
            handle().start(async {
                wait_frames(2).await;
                log(format!("explodes in frame {}", time().frame));
            });
        });
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["explodes in frame 3"]);
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 2, "{reports:?}");
    let place = format!("{}:{line}:", file!());
    assert!(reports[0].contains(&place), "{reports:?}");
    assert!(
        reports[0].contains("with `handle().start(..)`"),
        "{reports:?}"
    );
}

/// With its parent, in Bevy's hierarchy.
#[test]
fn despawned_with_its_parent() {
    let (mut app, goblin) = app_with_goblin();
    let camp = app.world_mut().spawn_empty().add_child(goblin).id();
    app.world_mut().despawn(camp);
    assert_eq!(alive(&app), 0);
}

#[test]
fn the_component_is_removed() {
    let (mut app, goblin) = app_with_goblin();
    app.world_mut().entity_mut(goblin).remove::<Scripts>();
    assert_eq!(alive(&app), 0);
    app.world_mut().entity_mut(goblin).start_script(patrol);
    assert_eq!(alive(&app), 1);
}

#[test]
fn the_world_is_cleared() {
    let (mut app, _) = app_with_goblin();
    app.world_mut().clear_entities();
    assert_eq!(alive(&app), 0);
}

/// Replacing or changing the component does not affect the scripts. They still end with the
/// entity.
#[test]
fn the_component_is_replaced_or_changed() {
    let changes: [fn(EntityWorldMut<'_>); 3] = [
        |mut goblin| _ = goblin.insert(Scripts::new()),
        |mut goblin| _ = goblin.modify_component(|scripts: &mut Scripts| scripts.set_speed(0.5)),
        |mut goblin| {
            goblin.insert(Scripts::on_realtime());
            goblin.modify_component(|_: &mut Scripts| ());
            goblin.insert(Scripts::new());
        },
    ];
    let ends: [fn(&mut App, Entity); 5] = [
        |app, goblin| _ = app.world_mut().despawn(goblin),
        |app, goblin| _ = app.world_mut().entity_mut(goblin).remove::<Scripts>(),
        |app, goblin| _ = app.world_mut().entity_mut(goblin).take::<Scripts>(),
        |app, _| app.world_mut().clear_entities(),
        |app, _| *app = self::app(),
    ];
    for change in changes {
        for end in ends {
            let (mut app, goblin) = app_with_goblin();
            let token = std::rc::Rc::new(());
            let held = token.clone();
            app.world_mut()
                .entity_mut(goblin)
                .start_script(|_| async move {
                    wait_frames(100).await;
                    drop(held);
                });
            change(app.world_mut().entity_mut(goblin));
            app.update();
            assert_eq!(alive(&app), 2);
            assert_eq!(take_log(&mut app).len(), 1);
            end(&mut app, goblin);
            assert_eq!(alive(&app), 0);
            assert_eq!(std::rc::Rc::strong_count(&token), 1);
        }
    }
}

/// A component that was taken can be inserted on another entity, and begins there with new
/// scripts.
#[test]
fn the_component_is_taken() {
    let (mut app, goblin) = app_with_goblin();
    let scripts = app.world_mut().entity_mut(goblin).take::<Scripts>();
    let scripts = scripts.unwrap().and(patrol);
    assert_eq!(alive(&app), 0);
    let other = app.world_mut().spawn(scripts).id();
    app.world_mut().flush();
    assert_eq!(alive(&app), 1);
    app.world_mut().despawn(other);
    app.update();
    // The destructors of both access the world when it is next lent.
    assert_eq!(take_log(&mut app), ["patrol ends in frame 1"; 2]);
    assert_eq!(alive(&app), 0);
}

/// A script that a script of an entity starts also ends with the entity, unless it is started
/// elsewhere.
#[test]
fn children_of_scripts() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Goblin).id();
    app.world_mut().entity_mut(goblin).start_script(|_| async {
        start(wait_seconds(60));
        handle().start(wait_seconds(60));
        wait_seconds(60).await;
    });
    assert_eq!(alive(&app), 3);
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 1);
}

/// From a script, for any entity.
#[test]
fn started_by_a_script() {
    let mut app = app();
    let script = app.world_mut().start_script(|| async {
        let goblin = commands(|commands| commands.spawn(Goblin).id());
        let patrol = goblin.start(patrol(goblin));
        next_frame().await;
        next_frame().await;
        goblin.despawn().unwrap();
        assert!(patrol.is_finished());
        let refused = goblin.start(async { log("never said") });
        assert!(refused.await.unwrap_err().is_stopped());
    });
    app.update();
    app.update();
    assert!(script.is_finished());
    assert_eq!(alive(&app), 0);
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "patrol in frame 1",
            "patrol in frame 2",
            "patrol ends in frame 2",
        ]
    );
}

#[test]
fn started_by_an_observer() {
    let mut app = app();
    app.add_observer(|killed: On<Killed>, mut commands: Commands| {
        commands
            .entity(killed.event_target())
            .start_script(|_| async {
                log(format!("last words in frame {}", time().frame));
            });
    });
    let goblin = app.world_mut().spawn(Goblin).id();
    app.update();
    app.world_mut().trigger(Killed(goblin));
    app.world_mut().flush();
    assert_eq!(take_log(&mut app), ["last words in frame 1"]);
}

/// Paused with the entity's component, and on its own clock.
#[test]
fn paused_and_slowed() {
    fn setup(scripts: NonSend<Framestep>, mut commands: Commands) {
        let slow = scripts.handle().clock().unwrap().child();
        slow.set_scale(0.5);
        let scripts = Scripts::on_clock(scripts.handle(), &slow).unwrap();
        commands.spawn((Goblin, scripts)).start_script(|_| async {
            wait_seconds(1).await;
            log(format!("slow in frame {}", time().frame));
        });
    }
    let mut app = app();
    app.add_systems(bevy_app::Startup, setup);
    for _ in 0..5 {
        app.update();
    }
    let mut scripts = app.world_mut().query::<&Scripts>();
    let pause = |app: &App, scripts: &mut QueryState<&Scripts>, paused: bool| {
        let scripts = scripts.single(app.world()).unwrap();
        if paused {
            scripts.pause();
        } else {
            scripts.resume();
        }
        assert_eq!(scripts.owner().unwrap().is_paused(), paused);
    };
    pause(&app, &mut scripts, true);
    for _ in 0..10 {
        app.update();
    }
    pause(&app, &mut scripts, false);
    for _ in 0..4 {
        assert_eq!(take_log(&mut app), [""; 0]);
        app.update();
    }
    assert_eq!(take_log(&mut app), ["slow in frame 19"]);
}

/// Five thousand spawned and despawned entities leave nothing behind.
#[test]
fn nothing_is_left() {
    let mut app = app();
    for _ in 0..100 {
        let goblins: Vec<Entity> = (0..50)
            .map(|_| app.world_mut().spawn(Goblin).id())
            .collect();
        for &goblin in &goblins {
            app.world_mut()
                .entity_mut(goblin)
                .start_script(|_| wait_seconds(1));
        }
        app.update();
        for goblin in goblins {
            app.world_mut().despawn(goblin);
        }
        assert_eq!(alive(&app), 0);
    }
}

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A clone has no scripts, and the app hears of it; without scripts that run, there is nothing
/// to say.
#[test]
fn a_clone_of_an_entity_has_no_scripts_and_says_so() {
    let (mut app, goblin) = app_with_goblin();
    app.insert_resource(FallbackErrorHandler(|error, _| {
        HEARD.with_borrow_mut(|all| all.push(error.to_string()));
    }));
    let clone = app.world_mut().entity_mut(goblin).clone_and_spawn();
    let says = format!("the scripts of entity {goblin} were not cloned to entity {clone}: ");
    let heard = HEARD.take();
    assert!(heard.len() == 1 && heard[0].starts_with(&says), "{heard:?}");
    assert_eq!(alive(&app), 1);

    app.world().get::<Scripts>(goblin).unwrap().stop_all();
    take_log(&mut app);
    app.world_mut().entity_mut(goblin).clone_and_spawn();
    assert_eq!(HEARD.take(), [""; 0]);
}
