//! Panics go where the owner of the app wants them.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once};

use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;
use bevy_framestep::run_scripts;

use super::{alive, app_with, log, take_log};

async fn fails() {
    next_frame().await;
    panic!("no such door");
}

async fn goes_on() {
    loop {
        next_frame().await;
        log(format!("frame {}", time().frame));
    }
}

#[test]
fn to_the_hook() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let hook = reports.clone();
    let plugin = FramestepPlugin::default()
        .on_report(move |report| hook.lock().unwrap().push(report.to_string()));
    let mut app = app_with(plugin);
    app.world_mut().start_script(fails);
    app.world_mut().start_script(goes_on);
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["frame 1", "frame 2"]);
    assert_eq!(alive(&app), 1);
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 1);
    assert!(reports[0].contains("no such door"), "{}", reports[0]);
}

/// Together with the entity, also of a script that a script of the entity has started.
#[test]
fn with_the_name_of_the_entity() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let hook = reports.clone();
    let plugin = FramestepPlugin::default()
        .on_report(move |report| hook.lock().unwrap().push(report.to_string()));
    let mut app = app_with(plugin);
    let mut goblin = app.world_mut().spawn(Name::new("Goblin"));
    goblin.start_script(|_| fails());
    goblin.start_script(|_| async {
        start(fails());
        wait_frames(2).await;
    });
    let goblin = goblin.id();
    app.update();
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 2, "{reports:#?}");
    for report in &*reports {
        let says = format!("fails) of Goblin {goblin} panicked: no such door");
        assert!(report.contains(&says), "{report}");
    }
}

/// Out of `App::update`, as a panic of a system.
#[test]
fn to_the_app() {
    let plugin = FramestepPlugin::default().executor(|builder| builder.propagate_panics(true));
    let mut app = app_with(plugin);
    app.world_mut().start_script(fails);
    app.world_mut().start_script(goes_on);
    let caught = catch_unwind(AssertUnwindSafe(|| app.update()));
    let payload = caught.unwrap_err().downcast::<&str>();
    assert_eq!(*payload.unwrap(), "no such door");
    assert_eq!(take_log(&mut app), ["frame 1"]);
    assert_eq!(alive(&app), 1);
}

/// Bevy itself has lost its schedules then. The scripts have lost nothing, as a run without a
/// schedule shows.
#[test]
fn to_the_host() {
    const OWN: Phase = Phase::Custom(0);
    let plugin = FramestepPlugin::default().executor(|builder| builder.propagate_panics(true));
    let mut app = app_with(plugin);
    app.world_mut().start_script(goes_on);
    app.world_mut().start_script(|| async {
        in_phase(OWN).await;
        panic!("no such door");
    });
    app.update();
    catch_unwind(AssertUnwindSafe(|| run_scripts(app.world_mut(), OWN))).unwrap_err();
    app.update();
    assert_eq!(take_log(&mut app), ["frame 1", "frame 2"]);
}

/// A join gets the panic, if there is one.
#[test]
fn to_the_join() {
    let plugin = FramestepPlugin::default().executor(|builder| builder.propagate_panics(true));
    let mut app = app_with(plugin);
    app.world_mut().start_script(|| async {
        let error = start(fails()).await.unwrap_err();
        log(format!("panicked: {}", error.is_panic()));
    });
    app.update();
    assert_eq!(take_log(&mut app), ["panicked: true"]);
    assert_eq!(alive(&app), 0);
}

thread_local! {
    /// Where a panic of this thread was, and what it said.
    static PANICS: RefCell<Vec<(u32, String)>> = const { RefCell::new(Vec::new()) };
}

/// Also notes the panics of this thread.
fn note_panics() {
    static NOTE: Once = Once::new();
    NOTE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let said = info.payload_as_str().unwrap_or_default().to_owned();
            let line = info.location().map_or(0, panic::Location::line);
            PANICS.with_borrow_mut(|all| all.push((line, said)));
            others(info);
        }));
    });
}

#[derive(Resource)]
struct Gold(u32);

#[derive(Message, Clone)]
struct Paid(u32);

/// What the app lacks is named, in the line of the script that needs it.
#[test]
fn in_the_line_of_the_script() {
    note_panics();
    let here = line!();
    let scripts: [fn() -> Coroutine<()>; 4] = [
        || start(async { resource(|gold: &Gold| assert_eq!(gold.0, 1)) }),
        || start(async { resource_mut(|gold: &mut Gold| gold.0 += 1) }),
        || start(async { write_message(Paid(1)) }),
        || start(async { assert_eq!(next_message::<Paid>().await.0, 1) }),
    ];
    for (at, script) in (1..).zip(scripts) {
        let mut app = app_with(FramestepPlugin::default());
        let started = app
            .world_mut()
            .start_script(move || async move { script().await.is_err() });
        app.update();
        assert!(started.is_finished());
        let panics = PANICS.take();
        let [(line, said)] = &panics[..] else {
            panic!("{panics:?}");
        };
        assert_eq!(*line, here + 1 + at, "{said}");
        let lacks = [
            "resource `it::panics::Gold`",
            "messages of type `it::panics::Paid`",
        ];
        assert!(said.contains(lacks[usize::from(at > 2)]), "{said}");
    }
}

/// A condition that panics is not asked again: the panic is that of its script.
#[test]
fn of_a_condition_once() {
    note_panics();
    let mut app = app_with(FramestepPlugin::default());
    let script = app.world_mut().start_script(|| async {
        let waits = start(wait_until_world(|_| panic!("no such bridge")));
        let error = waits.await.unwrap_err();
        log(error.to_string());
    });
    app.update();
    assert!(script.is_finished());
    let said: Vec<String> = PANICS.take().into_iter().map(|(_, said)| said).collect();
    assert_eq!(said, ["no such bridge"]);
    assert!(take_log(&mut app)[0].contains("no such bridge"));
}

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Also the error of a script that another one has started with framestep's `start`, and whose
/// handle nobody has kept.
#[test]
fn an_error_that_nothing_reads_has_the_name_of_its_script() {
    async fn flee(goblin: Entity) -> Result<(), Missing> {
        next_frame().await;
        goblin.get(|gold: &Purse| assert_eq!(gold.0, 1))
    }

    async fn lives(goblin: Entity) -> Result<(), Missing> {
        start(flee(goblin));
        wait_frames(2).await;
        Ok(())
    }

    #[derive(Component)]
    struct Purse(u32);

    let mut app = app_with(FramestepPlugin::default());
    app.insert_resource(FallbackErrorHandler(|error, _| {
        HEARD.with_borrow_mut(|all| all.push(error.to_string()));
    }));
    drop(app.world_mut().spawn_empty().start_script(lives));
    for _ in 0..3 {
        app.update();
    }
    let heard = HEARD.take();
    let [line] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert!(line.contains("::flee`") && line.contains("Purse"), "{line}");
}
