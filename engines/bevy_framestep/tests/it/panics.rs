//! Panics go where the owner of the app wants them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use bevy_framestep::prelude::*;

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

/// Out of `App::update`, which goes on with the next frame.
#[test]
fn to_the_app() {
    let plugin = FramestepPlugin::default().executor(|builder| builder.propagate_panics(true));
    let mut app = app_with(plugin);
    app.world_mut().start_script(fails);
    app.world_mut().start_script(goes_on);
    let caught = catch_unwind(AssertUnwindSafe(|| app.update()));
    assert_eq!(
        *caught.unwrap_err().downcast::<&str>().unwrap(),
        "no such door"
    );
    assert_eq!(take_log(&mut app), ["frame 1"]);
    assert_eq!(alive(&app), 1);
}

/// To the one that joins it, if there is one.
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
