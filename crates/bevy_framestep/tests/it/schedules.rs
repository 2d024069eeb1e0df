//! Which phase runs after which schedule.

use bevy_app::{
    App, First, FixedLast, FixedPostUpdate, FixedUpdate, Last, PostUpdate, PreUpdate, Update,
};
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy_framestep::prelude::*;
use bevy_framestep::{ScriptSystems, run_scripts};

use super::{Log, app, app_with, log, take_log};

fn note(line: &'static str) -> impl FnMut(ResMut<'_, Log>) {
    move |mut log| log.0.push(line.to_string())
}

async fn note_runs(phase: Phase) {
    loop {
        in_phase(phase).await;
        log(format!("scripts of {phase}"));
    }
}

/// Two systems in each schedule, in any order, and the scripts after both.
#[test]
fn scripts_run_after_the_systems() {
    let mut app = app();
    app.add_systems(PreUpdate, note("PreUpdate"))
        .add_systems(FixedUpdate, (note("FixedUpdate"), note("FixedUpdate")))
        .add_systems(FixedPostUpdate, note("FixedPostUpdate"))
        .add_systems(Update, (note("Update"), note("Update")))
        .add_systems(PostUpdate, note("PostUpdate"))
        .add_systems(Last, note("Last"));
    let phases = [
        Phase::EarlyUpdate,
        Phase::FixedUpdate,
        Phase::Update,
        Phase::LateUpdate,
        Phase::EndOfFrame,
    ];
    for phase in phases {
        app.world_mut().start_script(move || note_runs(phase));
    }
    app.update();
    take_log(&mut app);
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "PreUpdate",
            "scripts of EarlyUpdate",
            "FixedUpdate",
            "FixedUpdate",
            "scripts of FixedUpdate",
            "FixedPostUpdate",
            "FixedUpdate",
            "FixedUpdate",
            "scripts of FixedUpdate",
            "FixedPostUpdate",
            "Update",
            "Update",
            "scripts of Update",
            "PostUpdate",
            "scripts of LateUpdate",
            "Last",
            "scripts of EndOfFrame",
        ]
    );
}

#[test]
fn other_schedules() {
    const PHYSICS: Phase = Phase::Custom(0);
    const LATER: Phase = Phase::Custom(1);
    let plugin = FramestepPlugin::default()
        .run_after(PHYSICS, FixedPostUpdate)
        .run_after(Phase::Update, PostUpdate)
        .run_after(LATER, PostUpdate);
    let mut app = app_with(plugin);
    app.add_systems(FixedPostUpdate, note("FixedPostUpdate"))
        .add_systems(FixedLast, note("FixedLast"))
        .add_systems(PostUpdate, note("PostUpdate"));
    for phase in [LATER, Phase::LateUpdate, Phase::Update, PHYSICS] {
        app.world_mut().start_script(move || note_runs(phase));
    }
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "PostUpdate",
            "scripts of Update",
            "scripts of LateUpdate",
            "scripts of Custom(1)",
        ]
    );
    app.update();
    let step = ["FixedPostUpdate", "scripts of Custom(0)", "FixedLast"];
    assert_eq!(take_log(&mut app)[..3], step);
}

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Nowhere;

/// The plugin names a schedule that only the host runs.
#[test]
fn a_schedule_that_the_host_runs() {
    let mut app = app_with(FramestepPlugin::default().run_after(Phase::Custom(3), Nowhere));
    app.add_systems(Nowhere, note("Nowhere"));
    app.world_mut().start_script(|| note_runs(Phase::Custom(3)));
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    app.world_mut().run_schedule(Nowhere);
    assert_eq!(take_log(&mut app), ["Nowhere", "scripts of Custom(3)"]);
}

/// The commands of all systems are applied when the scripts run, whenever the systems were
/// added.
#[test]
fn commands_of_systems_are_applied() {
    #[derive(Resource, Default)]
    struct Count(u32);

    fn count(mut commands: Commands) {
        commands.queue(|world: &mut World| world.resource_mut::<Count>().0 += 1);
    }
    let mut app = app();
    app.add_plugins(bevy_app::TaskPoolPlugin::default());
    app.init_resource::<Count>();
    app.add_systems(Update, (count, (count, count).chain(), count));
    app.world_mut().start_script(|| async {
        loop {
            next_frame().await;
            log(format!("{}", resource(|count: &Count| count.0)));
        }
    });
    app.update();
    // Added when the schedule was built already.
    app.add_systems(Update, (count, count.after(ScriptSystems::Run)));
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["4", "9", "15"]);
}

/// A schedule of the host's own calls `run_scripts` itself.
#[test]
fn a_schedule_of_ones_own() {
    const OWN: Phase = Phase::Custom(7);
    let mut app = app();
    app.init_schedule(Nowhere);
    app.add_systems(Nowhere, |world: &mut World| run_scripts(world, OWN));
    app.world_mut().start_script(|| note_runs(OWN));
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    app.world_mut().run_schedule(Nowhere);
    assert_eq!(take_log(&mut app), ["scripts of Custom(7)"]);
}

#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
struct TheLast;

/// Systems can be put around the scripts.
#[test]
fn the_sets() {
    let mut app = app();
    app.add_systems(
        Update,
        (
            note("before").before(ScriptSystems::Run),
            note("after").in_set(TheLast).after(ScriptSystems::Run),
            note("after those").after(TheLast),
        ),
    );
    app.add_systems(First, note("begun").after(ScriptSystems::BeginFrame));
    app.world_mut().start_script(|| note_runs(Phase::Update));
    app.update();
    let expected = [
        "begun",
        "before",
        "scripts of Update",
        "after",
        "after those",
    ];
    assert_eq!(take_log(&mut app), expected);
}

#[test]
#[should_panic(expected = "add `TimePlugin`")]
fn no_clocks() {
    let mut app = App::new();
    app.add_plugins(FramestepPlugin::default());
    app.update();
}

#[test]
#[should_panic(expected = "add it to the app")]
fn no_plugin() {
    let mut world = World::new();
    world.start_script(|| async {});
}

/// A script that runs the scripts panics, and the others continue.
#[test]
fn a_run_within_a_run() {
    let mut app = app_with(FramestepPlugin::default().on_report(|_| {}));
    app.world_mut().start_script(|| async {
        next_frame().await;
        with(|world: &mut World| run_scripts(world, Phase::Update));
        unreachable!();
    });
    app.world_mut().start_script(|| note_runs(Phase::Update));
    app.update();
    app.update();
    let runs = take_log(&mut app);
    assert_eq!(runs, ["scripts of Update", "scripts of Update"]);
    assert_eq!(super::alive(&app), 1);
}

/// Two apps on one thread, in turns: each finds its own scripts.
#[test]
fn two_apps() {
    let mut apps = [app(), app()];
    for (index, app) in apps.iter_mut().enumerate() {
        app.world_mut().start_script(move || async move {
            loop {
                next_frame().await;
                log(format!("app {index}"));
            }
        });
    }
    for _ in 0..2 {
        for (index, app) in apps.iter_mut().enumerate() {
            app.update();
            assert_eq!(take_log(app), [format!("app {index}")]);
        }
    }
    let [first, mut second] = apps;
    drop(first);
    second.update();
    assert_eq!(take_log(&mut second), ["app 1"]);
    assert_eq!(super::alive(&second), 1);
}

/// Without scripts, the phases have nothing to do; scripts from other threads and handles
/// still begin.
#[test]
fn an_app_without_scripts() {
    let mut app = app();
    for _ in 0..3 {
        app.update();
    }
    let framestep = app.world().non_send::<bevy_framestep::Framestep>();
    let remote = framestep.with_executor(framestep::Executor::remote);
    let handle = framestep.handle().clone();
    remote.spawn(|| async { log(format!("remote in frame {}", time().frame)) });
    app.update();
    handle.script("").in_phase(Phase::LateUpdate).spawn(async {
        log(format!("handle in {}", time().phase.unwrap()));
    });
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["remote in frame 4", "handle in LateUpdate"]
    );
}

/// Bevy's detection of ambiguities finds none that the plugin brings.
#[test]
fn no_order_is_left_to_chance() {
    #[derive(Message)]
    struct Rung;

    let mut app = app();
    app.add_message::<Rung>();
    let schedules: [Interned<dyn ScheduleLabel>; 6] = [
        First.intern(),
        PreUpdate.intern(),
        FixedUpdate.intern(),
        Update.intern(),
        PostUpdate.intern(),
        Last.intern(),
    ];
    for schedule in schedules {
        app.edit_schedule(schedule, |schedule| {
            schedule.set_build_settings(ScheduleBuildSettings {
                ambiguity_detection: LogLevel::Error,
                ..Default::default()
            });
        });
    }
    for _ in 0..3 {
        app.update();
    }
}
