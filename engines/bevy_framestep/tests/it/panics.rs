//! Panics go where the owner of the app wants them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

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
