//! What a call says that is refused: in the words of Bevy, with the line of the script.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use bevy_app::App;
use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;

use super::{Log, app, app_with, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Boss;

#[derive(Message, Clone)]
struct Hit;

#[derive(Event, Clone)]
struct Alarm;

/// The text of the panic of `f`.
#[track_caller]
fn panic_of<R: Debug>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    let text = payload.downcast::<String>();
    *text.expect("the message has a value in it")
}

/// What the plugin reports of the only script, which begins in the second frame.
#[track_caller]
fn report_of<F>(script: impl FnOnce(Entity) -> F + 'static) -> String
where
    F: Future<Output: ScriptOutput> + 'static,
{
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = reports.clone();
    let mut app = app_with(
        FramestepPlugin::default()
            .on_report(move |report| kept.lock().unwrap().push(report.to_string())),
    );
    let goblin = app.world_mut().spawn(Health(3)).id();
    app.world_mut().start_script(move || async move {
        next_frame().await;
        script(goblin).await
    });
    for _ in 0..3 {
        app.update();
    }
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports[0].clone()
}

fn here(line: u32) -> String {
    format!("{}:{line}:", file!())
}

#[test]
fn in_a_system() {
    let mut app = app();
    let text = panic_of(|| {
        let system = || resource(|log: &Log| log.0.len());
        app.world_mut().run_system_once(system).unwrap()
    });
    assert_eq!(
        text,
        "`resource` was called outside of a script: call it in a script; in a system, take \
         `Res<S>` as a parameter; in a destructor, use `with_deferred`"
    );
}

#[test]
fn outside_of_scripts() {
    let goblin = Entity::PLACEHOLDER;
    let cases = [
        ("get", panic_of(|| goblin.get(|health: &Health| health.0))),
        ("get_mut", panic_of(|| goblin.get_mut(|_: &mut Health| ()))),
        ("with", panic_of(|| goblin.with(|_: &Health| ()))),
        ("has", panic_of(|| goblin.has::<Health>())),
        ("exists", panic_of(|| goblin.exists())),
        ("insert", panic_of(|| goblin.insert(Health(1)))),
        ("remove", panic_of(|| goblin.remove::<Health>())),
        ("despawn", panic_of(|| goblin.despawn())),
        ("start", panic_of(|| goblin.start(async {}))),
        ("despawned", panic_of(|| goblin.despawned())),
        ("changed", panic_of(|| goblin.changed::<Health>())),
        ("resource_mut", panic_of(|| resource_mut(|_: &mut Log| ()))),
        ("commands", panic_of(|| commands(|_| ()))),
        ("write_message", panic_of(|| write_message(Hit))),
        ("messages", panic_of(messages::<Hit>)),
        ("next_event", panic_of(next_event::<Alarm>)),
        ("query", panic_of(query::<&Health>)),
    ];
    for (name, text) in cases {
        let start = format!("`{name}` was called outside of a script: ");
        assert!(text.starts_with(&start), "{text}");
        assert!(!text.contains("executor"), "{text}");
    }
}

/// A script of a handle alone has no world up to its first wait.
#[test]
fn in_a_script_that_was_started_with_a_handle() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = reports.clone();
    let app = app_with(
        FramestepPlugin::default()
            .on_report(move |report| kept.lock().unwrap().push(report.to_string())),
    );
    let framestep = app.world().non_send::<Framestep>();
    let line = line!() + 1;
    let script = framestep.handle().start(async { resource(|_: &Log| ()) });
    drop(script);
    let report = reports.lock().unwrap().concat();
    let says = format!(
        "`resource` has no world in the script started at {}",
        here(line)
    );
    assert!(report.contains(&says), "{report}");
}

#[test]
fn in_a_condition() {
    let says = "`get_mut` was called in a condition that a script waits for, which can only read \
                the world";
    let checks = |goblin: Entity| goblin.get_mut(|health: &mut Health| health.0).is_ok();
    let report = report_of(move |goblin| wait_until_world(move |_| checks(goblin)));
    assert!(report.contains(says), "{report}");
    let report = report_of(move |goblin| goblin.wait_until(move |_: &Health| checks(goblin)));
    assert!(report.contains(says), "{report}");
    let in_another = move |goblin| wait_until_world(move |_| checks(goblin));
    let report = report_of(move |goblin| in_another(goblin).in_phase(Phase::LateUpdate));
    assert!(report.contains(says), "{report}");
}

/// `wait_until` asks in the script, where the world can be changed.
#[test]
fn not_in_a_condition_of_the_script_itself() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(3)).id();
    let script = app.world_mut().start_script(move || {
        wait_until(move || {
            let left = goblin.get_mut(|health: &mut Health| {
                health.0 -= 1;
                health.0
            });
            left == Ok(0)
        })
    });
    for _ in 0..3 {
        assert!(!script.is_finished());
        app.update();
    }
    assert!(script.is_finished());
}

#[test]
fn in_a_closure_with_the_world() {
    let line = line!() + 2;
    let report = report_of(|_| async {
        with(|_: &mut World| resource(|_: &Log| ()));
    });
    let says = format!(
        "`resource` was called inside of the closure at {}",
        here(line)
    );
    assert!(report.contains(&says), "{report}");
}

#[test]
fn of_an_entity_that_only_the_filter_rejects() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(3)).id();
    let boss = app.world_mut().spawn(Boss).id();
    app.world_mut().start_script(move || async move {
        let bosses = query_filtered::<&Health, With<Boss>>();
        for entity in [goblin, boss] {
            log(bosses.get(entity, |_| ()).unwrap_err().to_string());
        }
    });
    let [of_filter, of_component] = take_log(&mut app).try_into().unwrap();
    assert!(
        of_filter.contains("With<") && !of_filter.contains('&'),
        "{of_filter}"
    );
    assert!(of_component.contains("has no &"), "{of_component}");
}

#[cfg(feature = "state")]
#[test]
fn without_states() {
    use bevy_state::state::States;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Screen;

    for wait in [0, 1, 2, 3] {
        let report = report_of(move |_| async move {
            match wait {
                0 => wait_for_state(Screen).await,
                1 => state_entered(Screen).await,
                2 => state_exited(Screen).await,
                _ => _ = next_transition::<Screen>().await,
            }
        });
        assert!(report.contains("has no states of type"), "{report}");
        assert!(report.contains("app.init_state::<"), "{report}");
    }
}

#[test]
fn of_a_query_that_conflicts_with_itself() {
    let line = line!() + 2;
    let report = report_of(|_| async {
        query::<(&mut Health, &Health)>().for_each(|_| ());
    });
    let says = format!("the query at {}", here(line));
    assert!(report.contains(&says), "{report}");
    let line = line!() + 2;
    let report = report_of(|goblin| async move {
        _ = goblin.with(|_: &mut Health, _: &Health| ());
    });
    let says = format!("the query at {}", here(line));
    assert!(report.contains(&says), "{report}");
}

#[cfg(feature = "input")]
#[test]
fn without_input() {
    let line = line!() + 2;
    let report = report_of(|_| async {
        just_pressed(1_u8).await;
    });
    let says = format!("the wait for a button at {}", here(line));
    assert!(report.contains(&says), "{report}");
    assert!(report.contains("InputPlugin"), "{report}");
}

#[test]
fn without_the_plugin() {
    async fn patrol(_: Entity) {}
    let mut app = App::new();
    let line = line!() + 1;
    app.world_mut().commands().spawn(Boss).start_script(patrol);
    let text = panic_of(|| app.world_mut().flush());
    assert!(text.contains("need `FramestepPlugin`"), "{text}");
    assert!(text.contains("patrol` is started at"), "{text}");
    assert!(text.contains(&here(line)), "{text}");
}

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn of_components_that_are_moved() {
    async fn patrol(_: Entity) {
        wait_seconds(9).await;
    }
    let mut app = app();
    app.insert_resource(FallbackErrorHandler(|error, _| {
        HEARD.with_borrow_mut(|all| all.push(error.to_string()));
    }));
    let goblin = app.world_mut().spawn(Scripts::of(patrol)).id();
    let other = app.world_mut().spawn_empty().id();
    app.update();
    let mut of_goblin = app.world_mut().entity_mut(goblin);
    of_goblin.move_components::<Scripts>(other);
    let heard = HEARD.take();
    let says = format!("the scripts of entity {goblin} end, because its components are moved");
    assert!(heard.len() == 1 && heard[0].starts_with(&says), "{heard:?}");
    assert_eq!(super::alive(&app), 0);
}
