//! What a Bevy developer expects in the first week, and regressions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bevy_app::{App, FixedUpdate, Main, PreUpdate, SubApp, TaskPoolPlugin, Update};
use bevy_ecs::error::{BevyError, ErrorContext, FallbackErrorHandler};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_framestep::prelude::*;
use bevy_framestep::{Events, Framestep, Missing};
use bevy_time::{Fixed, Real, Time, Virtual};

use super::{Log, alive, app, app_with, every_update_takes, log, take_log};

#[derive(Component)]
struct Health(i32);

#[derive(Event, Clone)]
struct Boom;

#[derive(EntityEvent, Clone)]
struct Clicked(Entity);

#[derive(Message, Clone)]
struct Key;

#[derive(Resource, Default)]
struct Pressed(bool);

fn app_with_keys() -> App {
    let mut app = app();
    app.init_resource::<Pressed>().add_message::<Key>();
    app
}

/// At 144 Hz most frames have no fixed step. A script whose previous wait was in a step still
/// sees every key, because the key is checked in its home phase, Update.
#[test]
fn keys_after_a_fixed_step() {
    let mut app = app_with_keys();
    app.insert_resource(Time::<Fixed>::from_hz(64.0));
    every_update_takes(&mut app, Duration::from_nanos(6_944_444));
    app.world_mut().start_script(|| async {
        loop {
            fixed_update().await;
            wait_until_world(|world| world.resource::<Pressed>().0).await;
            log("jump");
        }
    });
    let mut pressed = 0;
    for frame in 0..1440 {
        let just = frame % 20 == 10;
        pressed += usize::from(just);
        app.world_mut().resource_mut::<Pressed>().0 = just;
        app.update();
    }
    assert_eq!(take_log(&mut app).len(), pressed);
}

/// A dialogue pauses the game and waits for an answer. While the game is paused, there are no
/// fixed steps.
#[test]
fn a_pause_after_a_fixed_step() {
    for which in 0..4 {
        let mut app = app_with_keys();
        let script = app.world_mut().start_script(move || async move {
            fixed_update().await;
            resource_mut(Time::<Virtual>::pause);
            match which {
                0 => _ = next_message::<Key>().await,
                1 => _ = next_event::<Boom>().await,
                2 => wait_until_world(|world| world.resource::<Pressed>().0).await,
                _ => _ = messages::<Key>().next().await,
            }
            assert_eq!(time().phase, Some(Phase::Update));
            resource_mut(Time::<Virtual>::unpause);
        });
        for frame in 0..20 {
            if frame > 10 {
                app.world_mut().resource_mut::<Pressed>().0 = true;
                app.world_mut().write_message(Key);
                app.world_mut().trigger(Boom);
            }
            app.update();
        }
        assert!(script.is_finished(), "{which}");
    }
}

/// Each wait can name another phase than the home phase of its script.
#[test]
fn waits_in_a_phase_of_their_own() {
    async fn every_kind(phase: Phase) {
        let name = move |kind: &str| {
            assert_eq!(time().phase, Some(phase), "{kind}");
            log(format!("{kind} in frame {}", time().frame));
        };
        next_message::<Key>().in_phase(phase).await;
        name("message");
        next_event::<Boom>().in_phase(phase).await;
        name("event");
        wait_until_world(|world| world.resource::<Pressed>().0)
            .in_phase(phase)
            .await;
        name("condition");
        let mut keys = messages::<Key>().in_phase(phase);
        keys.next().await;
        name("first key");
        keys.next().await;
        name("second key");
        let mut booms = Events::<Boom>::all().in_phase(phase);
        booms.next().await;
        name("one of many events");
    }
    for phase in [Phase::FixedUpdate, Phase::LateUpdate, Phase::Update] {
        let mut app = app_with_keys();
        app.add_systems(
            PreUpdate,
            |mut keys: MessageWriter<Key>, mut commands: Commands, mut frame: Local<u32>| {
                *frame += 1;
                match *frame {
                    2 => drop(keys.write(Key)),
                    4 | 10 => commands.trigger(Boom),
                    6 => commands.insert_resource(Pressed(true)),
                    8 => drop(keys.write_batch([Key, Key])),
                    _ => {}
                }
            },
        );
        app.world_mut().start_script(move || every_kind(phase));
        for _ in 0..12 {
            app.update();
        }
        // In the frame in which it happened, before the frame's own runs.
        assert_eq!(
            take_log(&mut app),
            [
                "message in frame 2",
                "event in frame 4",
                "condition in frame 6",
                "first key in frame 8",
                "second key in frame 8",
                "one of many events in frame 10",
            ],
            "{phase}"
        );
    }
}

#[cfg(feature = "state")]
#[test]
fn states_in_a_phase_of_their_own() {
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::prelude::*;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }
    let mut app = app();
    app.add_plugins(StatesPlugin).init_state::<Screen>();
    let script = app.world_mut().start_script(|| async {
        let at = |phase| assert_eq!(time().phase, Some(phase));
        wait_for_state(Screen::Game)
            .in_phase(Phase::LateUpdate)
            .await;
        at(Phase::LateUpdate);
        state_exited(Screen::Game).in_phase(Phase::EndOfFrame).await;
        at(Phase::EndOfFrame);
        next_transition::<Screen>()
            .in_phase(Phase::FixedUpdate)
            .await;
        at(Phase::FixedUpdate);
    });
    app.update();
    for state in [Screen::Game, Screen::Menu, Screen::Game] {
        app.world_mut()
            .resource_mut::<NextState<Screen>>()
            .set(state);
        app.update();
    }
    assert!(script.is_finished());
}

/// Ordinary systems, which Bevy runs on several threads: one pauses, one resumes, one stops by
/// name, one slows down.
#[test]
fn systems_on_threads_control_scripts() {
    #[derive(Resource, Default)]
    struct Order(&'static str);

    fn control(order: Res<Order>, scripts: Query<&Scripts>) {
        for scripts in &scripts {
            match order.0 {
                "pause" => scripts.pause(),
                "resume" => scripts.resume(),
                "stop" => assert!(scripts.stop("patrol")),
                "slow" => scripts.set_speed(0.5),
                "stop all" => scripts.stop_all(),
                _ => {}
            }
        }
    }
    // Not on this thread: there is work for several.
    fn other(_: Query<&Health>) {}

    async fn patrol(_: Entity) {
        loop {
            next_frame().await;
            log(format!("{}", delta_seconds()));
        }
    }

    async fn idle(_: Entity) {
        wait_seconds(1000).await;
    }

    let mut app = app();
    app.add_plugins(TaskPoolPlugin::default());
    app.init_resource::<Order>();
    app.add_systems(Update, (other, control, other));
    app.world_mut()
        .commands()
        .spawn(Health(1))
        .start_script(patrol)
        .start_script(idle);
    app.update();
    take_log(&mut app);
    let mut step = |order: &'static str| {
        app.world_mut().resource_mut::<Order>().0 = order;
        app.update();
        app.world_mut().resource_mut::<Order>().0 = "";
        let lines = take_log(&mut app);
        (lines.join(" "), alive(&app))
    };
    assert_eq!(step(""), ("0.25".into(), 2));
    assert_eq!(step("pause"), (String::new(), 2));
    assert_eq!(step(""), (String::new(), 2));
    assert_eq!(step("resume"), ("0.25".into(), 2));
    assert_eq!(step("slow").1, 2);
    assert_eq!(step(""), ("0.125".into(), 2));
    assert_eq!(step("stop"), (String::new(), 1));
    assert_eq!(step("stop all"), (String::new(), 0));
}

/// From other threads than the app's, whichever Bevy chooses.
#[test]
fn another_thread_controls_scripts() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(1)).id();
    let script = app
        .world_mut()
        .entity_mut(goblin)
        .start_script(|_| async {
            loop {
                next_frame().await;
                log("awake");
            }
        })
        .id();
    let order = |app: &mut App, order: fn(&Scripts)| {
        let scripts = app.world().get::<Scripts>(goblin).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(scripts.owner().is_none());
                order(scripts);
            });
        });
        app.update();
        take_log(app).len()
    };
    assert_eq!(order(&mut app, |_| ()), 1);
    assert_eq!(order(&mut app, Scripts::pause), 0);
    assert!(app.world().get::<Scripts>(goblin).unwrap().is_paused());
    assert_eq!(order(&mut app, Scripts::resume), 1);
    assert_eq!(
        order(&mut app, |scripts| assert!(!scripts.stop("other"))),
        1
    );
    assert_eq!(order(&mut app, Scripts::stop_all), 0);
    let handle = app.world().non_send::<Framestep>().handle().clone();
    assert!(!handle.is_alive(script));
}

/// Hit and killed in one frame.
#[test]
fn a_script_for_an_entity_that_is_gone() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(1)).id();
    let handles = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = handles.clone();
    app.add_systems(
        Update,
        (
            move |mut commands: Commands| commands.entity(goblin).try_despawn(),
            move |mut commands: Commands| {
                if let Ok(mut goblin) = commands.get_entity(goblin) {
                    goblin.start_script(|_| wait_seconds(0.1));
                    goblin.try_start_script(|_| wait_seconds(0.1));
                    let handle = goblin.start_script_handle(|_| wait_seconds(0.1));
                    kept.lock().unwrap().push(handle);
                }
            },
        )
            .chain_ignore_deferred(),
    );
    app.update();
    app.update();
    assert_eq!(alive(&app), 0);
    let handles = handles.lock().unwrap();
    assert_eq!(handles.len(), 1);
    assert!(handles[0].is_finished());
    assert_eq!(handles[0].id(), None);
}

fn log_error(error: BevyError, context: ErrorContext) {
    let line = format!("{} {}: {error}", context.kind(), context.name());
    ERRORS.lock().unwrap().push(line);
}

static ERRORS: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

async fn poison(me: Entity) -> Result<(), Missing> {
    next_frame().await;
    me.get_mut(|health: &mut Health| health.0 -= 1)
}

async fn save(_: Entity) -> Result<(), std::io::Error> {
    Err(std::io::Error::other("disk full"))
}

async fn load() -> Result<u32, String> {
    next_frame().await;
    Err("no such level".to_string())
}

/// The error of a script goes to the handler of the app, wherever the script was started,
/// with the names of the script and of the entity.
#[test]
fn errors_go_to_the_handler_of_bevy() {
    fn take_errors() -> Vec<String> {
        std::mem::take(&mut *ERRORS.lock().unwrap())
    }
    let mut app = app();
    app.insert_resource(FallbackErrorHandler(log_error));
    let entity = app.world_mut().spawn(Name::new("Goblin")).id();
    let mut commands = app.world_mut().commands();
    commands
        .entity(entity)
        .start_script(poison)
        .start_script(save);
    commands.start_script(load);
    app.world_mut().spawn(Scripts::of(save));
    drop(app.world_mut().entity_mut(entity).start_script(save));
    drop(app.world_mut().start_script(load));
    app.update();
    app.update();
    let errors = take_errors();
    let count = |parts: [&str; 3]| {
        let has_all = |line: &&String| parts.iter().all(|part| line.contains(part));
        errors.iter().filter(has_all).count()
    };
    assert_eq!(errors.len(), 6, "{errors:#?}");
    assert_eq!(count(["poison", "of Goblin", "has no"]), 1, "{errors:#?}");
    assert_eq!(count(["save", "of Goblin", "disk full"]), 2, "{errors:#?}");
    assert_eq!(count(["save", "of entity", "disk full"]), 1, "{errors:#?}");
    assert_eq!(count(["system", "load", "no such level"]), 2, "{errors:#?}");

    // An error that is read is not an error of the app.
    let script = app.world_mut().start_script(load);
    let reader = app.world_mut().start_script(|| async {
        assert!(script.await.unwrap().is_err());
    });
    // The error of a child is reported when its handle is dropped.
    app.world_mut().start_script(|| async {
        drop(start(load()));
    });
    for _ in 0..3 {
        app.update();
    }
    assert!(reader.is_finished());
    let errors = take_errors();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("no such level"));
}

/// The handler panics unless the app sets another one. The panic ends only that script, and
/// is reported under its name.
#[test]
fn errors_without_a_handler_are_reported() {
    let reports = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = reports.clone();
    let mut app = app_with(FramestepPlugin::default().on_report(move |report| {
        kept.lock().unwrap().push(report.to_string());
    }));
    let entity = app.world_mut().spawn_empty().id();
    app.world_mut()
        .commands()
        .entity(entity)
        .start_script(poison)
        .start_script(save);
    app.update();
    app.update();
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 2, "{reports:#?}");
    assert!(reports[0].contains("save") && reports[0].contains("disk full"));
    assert!(reports[1].contains("poison") && reports[1].contains("has no"));
}

/// An enemy that walks already is slowed down, and continues.
#[test]
fn slow_an_enemy_that_is_there() {
    async fn walk(_: Entity) {
        loop {
            next_frame().await;
            log(format!("walks {}", delta_seconds()));
        }
    }

    async fn shoot(_: Entity) {
        loop {
            wait_seconds(0.5).await;
            log("shoots");
        }
    }

    fn slowly(how: impl FnOnce(&mut App, Entity)) {
        let mut app = app();
        let enemy = app.world_mut().spawn(Health(1)).id();
        let mut entity = app.world_mut().entity_mut(enemy);
        let scripts = (entity.start_script(walk), entity.start_script(shoot));
        for _ in 0..2 {
            app.update();
        }
        assert_eq!(take_log(&mut app), ["walks 0", "walks 0.25"]);
        how(&mut app, enemy);
        // The shot ends by the clock on which its wait began, the next shot by the new clock.
        let mut lines = Vec::new();
        for _ in 0..5 {
            app.update();
            lines.push(take_log(&mut app).join(", "));
        }
        assert!(lines[0].ends_with("shoots"), "{lines:?}");
        assert_eq!(alive(&app), 2, "{lines:?}");
        assert_eq!(lines[1..4], ["walks 0.125", "walks 0.125", "walks 0.125"]);
        assert_eq!(lines[4], "walks 0.125, shoots");
        assert!(!scripts.0.is_finished());
        app.world_mut().despawn(enemy);
        assert_eq!(alive(&app), 0);
    }

    slowly(|app, enemy| app.world().get::<Scripts>(enemy).unwrap().set_speed(0.5));
    slowly(|app, enemy| {
        let handle = app.world().non_send::<Framestep>().handle().clone();
        let slow = handle.clock().unwrap().child();
        slow.set_scale(0.5);
        let scripts = Scripts::on_clock(&handle, &slow).unwrap();
        app.world_mut().entity_mut(enemy).insert(scripts);
    });
}

/// What waits for what, in the words of the game.
#[test]
fn snapshots_name_events_and_entities() {
    let mut app = app_with_keys();
    let goblin = app.world_mut().spawn((Health(1), Name::new("Goblin"))).id();
    let mut entity = app.world_mut().entity_mut(goblin);
    entity.start_script(|_| async { _ = next_event::<Boom>().await });
    entity.start_script(|goblin| async move { drop(goblin.next_event::<Clicked>().await) });
    entity.start_script(|_| async { _ = next_message::<Key>().await });
    let nameless = app.world_mut().spawn_empty().id();
    app.world_mut()
        .entity_mut(nameless)
        .start_script(|_| wait_seconds(1));
    let snapshot = app.world().non_send::<Framestep>().handle().snapshot();
    let text = snapshot.unwrap().to_string();
    for part in ["first_week::Boom", "first_week::Clicked", "first_week::Key"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(&format!("Goblin {goblin}")), "{text}");
    let is_shown = text.contains(&format!("entity {nameless}"));
    assert_eq!(is_shown, cfg!(debug_assertions), "{text}");
}

/// In a sub-app, which has no schedules of its own, and the clocks that it was given.
#[test]
fn a_sub_app() {
    let mut sub = SubApp::new();
    sub.add_plugins(FramestepPlugin::default());
    sub.init_resource::<Time<Real>>()
        .init_resource::<Time<Virtual>>();
    assert_eq!(sub.update_schedule, Some(Main.intern()));
    let script = sub.world_mut().start_script(|| async {
        next_frame().await;
        end_of_frame().await;
        next_frame().await;
        time().frame
    });
    for _ in 0..2 {
        sub.run_default_schedule();
    }
    assert_eq!(script.take_output().unwrap().unwrap(), 2);
}

/// Without `TimePlugin`, it says what is missing.
#[test]
fn a_sub_app_without_clocks() {
    let mut sub = SubApp::new();
    sub.add_plugins(FramestepPlugin::default());
    let panic = catch_unwind(AssertUnwindSafe(|| sub.run_default_schedule())).unwrap_err();
    let message = panic.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(message.contains("add `TimePlugin`"), "{message}");
}

/// A level that despawns all observers: scripts that wait for their events end.
#[test]
fn waits_for_events_end_with_the_observer() {
    let mut app = app();
    let door = app.world_mut().spawn_empty().id();
    let next = app.world_mut().start_script(|| async {
        next_event::<Boom>().await;
    });
    app.world_mut().start_script(|| async {
        let mut booms = Events::<Boom>::all();
        while booms.next().await.is_some() {}
        log("the stream ends");
    });
    app.world_mut().start_script(move || async move {
        assert!(door.next_event::<Clicked>().await.is_err());
        log("that of the entity ends");
    });
    app.update();
    let mut observers = app.world_mut().query_filtered::<Entity, With<Observer>>();
    let observers: Vec<Entity> = observers.iter(app.world()).collect();
    assert_eq!(observers.len(), 2, "one for each kind of event");
    for observer in observers {
        app.world_mut().despawn(observer);
    }
    app.update();
    assert!(next.is_finished());
    let joined = app.world_mut().start_script(|| async move {
        assert!(next.await.unwrap_err().is_stopped());
    });
    assert!(joined.is_finished());
    assert_eq!(
        take_log(&mut app),
        ["the stream ends", "that of the entity ends"]
    );
    assert_eq!(alive(&app), 0);

    // The next wait has one again.
    let again = app.world_mut().start_script(|| async {
        next_event::<Boom>().await;
    });
    app.world_mut().trigger(Boom);
    app.update();
    assert!(again.is_finished());
}

/// From commands: a handle that systems keep, to stop, pause and ask.
#[test]
fn handles_from_commands() {
    #[derive(Resource, Clone)]
    struct Intro(ScriptHandle);

    fn begin(mut commands: Commands) {
        let intro = commands.start_script(|| async {
            loop {
                next_frame().await;
                log("intro");
            }
        });
        assert!(!intro.is_finished());
        assert_eq!(intro.id(), None);
        commands.insert_resource(Intro(intro));
    }

    let mut app = app();
    app.add_systems(bevy_app::Startup, begin);
    app.update();
    let Intro(intro) = app.world().resource::<Intro>().clone();
    let waiting = intro.clone();
    let waiter = app
        .world_mut()
        .start_script(move || async move { waiting.finished().await });
    assert!(intro.id().is_some());
    let mut lines = |order: fn(&ScriptHandle)| {
        let handle = intro.clone();
        std::thread::spawn(move || order(&handle)).join().unwrap();
        app.update();
        take_log(&mut app).len()
    };
    assert_eq!(lines(|_| ()), 2);
    assert_eq!(lines(ScriptHandle::pause), 0);
    assert_eq!(lines(ScriptHandle::resume), 1);
    assert_eq!(lines(ScriptHandle::stop), 0);
    assert!(intro.is_finished());
    intro.stop();
    assert!(waiter.is_finished());

    // Stopped or paused before it begins.
    let begun = Arc::new(AtomicU32::new(0));
    let counted = begun.clone();
    let mut commands = app.world_mut().commands();
    let stopped = commands.start_script(|| async { unreachable!("it was stopped") });
    stopped.stop();
    let ended = commands.start_script(move || async move {
        counted.fetch_add(1, Ordering::Relaxed);
        next_frame().await;
        counted.fetch_add(1, Ordering::Relaxed);
    });
    ended.pause();
    app.update();
    app.update();
    assert!(stopped.is_finished());
    assert_eq!(stopped.id(), None);
    assert_eq!(begun.load(Ordering::Relaxed), 1);
    ended.resume();
    app.update();
    assert!(ended.is_finished());
    assert_eq!(begun.load(Ordering::Relaxed), 2);
    assert_eq!(alive(&app), 0);
}

/// Scripts as part of a bundle, with those of the children.
#[test]
fn scripts_in_bundles() {
    fn says(line: &'static str) -> impl AsyncFnOnce(Entity) + Copy {
        async move |entity: Entity| {
            assert!(entity.has::<Health>());
            log(line);
            wait_seconds(60).await;
        }
    }
    fn script(line: &'static str) -> impl FnOnce(Entity) -> Script<()> + Send {
        move |entity| Box::pin(says(line)(entity))
    }
    fn spawn(mut commands: Commands) {
        commands.spawn((
            Scripts::of(script("drive")),
            Health(3),
            children![(Health(1), Scripts::of(script("aim")).and(script("shoot")))],
        ));
    }
    let mut app = app();
    app.add_systems(bevy_app::Startup, spawn);
    app.update();
    let mut lines = take_log(&mut app);
    lines.sort();
    assert_eq!(lines, ["aim", "drive", "shoot"]);
    assert_eq!(alive(&app), 3);

    // Inserted on an entity whose scripts run: these continue.
    let mut parents = app.world_mut().query_filtered::<Entity, With<Children>>();
    let parent = parents.single(app.world()).unwrap();
    app.world_mut()
        .entity_mut(parent)
        .insert(Scripts::of(script("turn")));
    app.update();
    assert_eq!(take_log(&mut app), ["turn"]);
    assert_eq!(alive(&app), 4);
    let scripts = app.world().get::<Scripts>(parent).unwrap();
    assert!(
        !scripts.stop("drive"),
        "a boxed script has the name of its box"
    );
    app.world_mut().entity_mut(parent).remove::<Scripts>();
    assert_eq!(alive(&app), 2);
    app.world_mut().despawn(parent);
    assert_eq!(alive(&app), 0);
}

/// A pause and a speed that were set before, or come with the bundle.
#[test]
fn bundles_that_begin_paused_or_slow() {
    let mut app = app();
    let paused = Scripts::of(|_| async {
        loop {
            next_frame().await;
            log("paused");
        }
    });
    paused.pause();
    let paused = app.world_mut().spawn(paused).id();
    let slow = Scripts::of(|_| async {
        loop {
            next_frame().await;
            log(format!("slow {}", delta_seconds()));
        }
    });
    slow.set_speed(0.5);
    app.world_mut().spawn(slow);
    for _ in 0..3 {
        app.update();
    }
    let lines = take_log(&mut app);
    assert_eq!(lines.last().map(String::as_str), Some("slow 0.125"));
    assert!(!lines.contains(&"paused".to_string()));
    // It stays paused with what is added.
    app.world_mut()
        .entity_mut(paused)
        .insert(Scripts::of(|_| async { log("never") }));
    app.update();
    assert!(app.world().get::<Scripts>(paused).unwrap().is_paused());
    app.world().get::<Scripts>(paused).unwrap().resume();
    app.update();
    app.update();
    assert!(take_log(&mut app).contains(&"paused".to_string()));
}

/// The menu that pauses the game continues.
#[test]
fn scripts_on_realtime() {
    let mut app = app();
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    app.world_mut().spawn(Scripts::on_realtime().and(|_| async {
        wait_seconds(0.5).await;
        log("slid in");
    }));
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["slid in"]);
}

/// Only the test needs the log: a system can take it while scripts run.
#[test]
fn fixed_systems_pause_scripts_before_the_step() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(1)).id();
    app.world_mut().entity_mut(goblin).start_script(|_| async {
        loop {
            fixed_update().await;
            log("step");
        }
    });
    app.add_systems(
        FixedUpdate,
        |scripts: Query<&Scripts>, mut steps: Local<u32>| {
            *steps += 1;
            if *steps == 2 {
                scripts.iter().for_each(Scripts::pause);
            }
        },
    );
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(app.world().resource::<Log>().0, ["step"]);
}
