//! Calls of the plain package in a durable script, which would not record them.

use std::sync::{Arc, Mutex};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::durable::prelude::*;
use bevy_framestep::{
    FramestepPlugin, ScriptEntity, messages, query, resource, resource_mut, wait_until_world,
    write_message,
};
use bevy_time::TimePlugin;

use super::{Health, Log, alive};

#[derive(Message, Clone)]
struct Hit;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Does {
    ResourceMut,
    Resource,
    WriteMessage,
    Get,
    Query,
    Messages,
    Condition,
    InClosures,
}

use Does::*;

/// Does something, and then waits for a long time.
#[derive(Serialize, Deserialize)]
struct Careless(Does);

impl DurableScript for Careless {
    const NAME: &'static str = "careless";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match self.0 {
            ResourceMut => resource_mut(|log: &mut Log| log.0.clear()),
            Resource => resource(|_: &Log| ()),
            WriteMessage => write_message(Hit),
            Get => drop(Entity::PLACEHOLDER.get(|_: &Health| ())),
            Query => query::<&Health>().for_each(|_| ()),
            Messages => drop(messages::<Hit>()),
            Condition => wait_until_world(|_| true).await,
            InClosures => {
                let lines = with_ref(|_: &World| resource(|log: &Log| log.0.len()));
                effect(move || resource_mut(|log: &mut Log| log.0.push(lines.to_string())));
                wait_until(|| resource(|log: &Log| !log.0.is_empty())).await;
            }
        }
        wait_seconds(9).await;
        Chapter::Done(())
    }
}

/// With both plugins, and what is reported of the script.
fn careless(does: Does) -> (App, Vec<String>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = reports.clone();
    let durable = DurableScriptsPlugin::new(Registry::new().with::<Careless>());
    let durable = durable.on_report(move |report| kept.lock().unwrap().push(report.to_string()));
    let mut app = App::new();
    app.add_plugins((TimePlugin, FramestepPlugin::default(), durable));
    app.init_resource::<Log>().add_message::<Hit>();
    app.world_mut().start_durable_script(Careless(does));
    for _ in 0..3 {
        app.update();
    }
    let reports = reports.lock().unwrap().clone();
    (app, reports)
}

#[test]
fn are_refused_at_once() {
    let cases = [
        (ResourceMut, "resource_mut"),
        (Resource, "resource"),
        (WriteMessage, "write_message"),
        (Get, "get"),
        (Query, "query"),
        (Messages, "messages"),
        (Condition, "wait_until_world"),
    ];
    for (does, call) in cases {
        let (app, reports) = careless(does);
        assert_eq!(alive(&app), 0, "{does:?}");
        let says = format!("`{call}` was called in the durable script `careless`");
        assert!(
            reports.len() == 1 && reports[0].contains(&says),
            "{reports:?}"
        );
        assert!(reports[0].contains("durable::prelude::with"), "{reports:?}");
    }
}

/// What a closure of the script does is recorded with what it returns.
#[test]
fn are_fine_in_closures_that_are_recorded() {
    let (mut app, reports) = careless(InClosures);
    assert_eq!(reports, [""; 0]);
    assert_eq!(alive(&app), 1);
    assert_eq!(app.world().resource::<Log>().0, ["0"]);
    bevy_framestep::durable::save(app.world_mut()).unwrap();
}
