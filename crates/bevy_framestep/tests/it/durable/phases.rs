//! Where in a frame durable scripts run, and where a world can be saved.

use bevy_app::{
    FixedUpdate, Last, PostUpdate, PreUpdate, RunFixedMainLoop, RunFixedMainLoopSystems, Update,
};
use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*, run_durable_scripts};
use bevy_framestep::{FramestepPlugin, WorldScriptsExt, resource_mut, run_scripts};
use bevy_time::{Fixed, Time, TimePlugin};

use super::*;

/// Logs in each run of a phase.
#[derive(Serialize, Deserialize)]
struct Each(u8);

const PHASES: [Phase; 5] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

impl DurableScript for Each {
    const NAME: &'static str = "each";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let phase = PHASES[usize::from(self.0)];
        in_phase(phase).await;
        log(format!("{phase:?} at {}", time().elapsed.as_millis()));
        Chapter::Next(self)
    }
}

fn with_each() -> App {
    let mut app = app(Registry::new().with::<Each>());
    for phase in 0..5 {
        app.world_mut().start_durable_script(Each(phase));
    }
    app
}

fn says(line: &'static str) -> impl FnMut(ResMut<Log>) {
    move |mut log: ResMut<Log>| log.0.push(line.into())
}

#[test]
fn each_phase_runs_after_the_systems_of_its_schedule() {
    let mut app = with_each();
    app.add_systems(PreUpdate, says("PreUpdate"));
    app.add_systems(FixedUpdate, says("FixedUpdate"));
    app.add_systems(Update, says("Update"));
    app.add_systems(PostUpdate, says("PostUpdate"));
    app.add_systems(Last, says("Last"));
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "PreUpdate",
            "EarlyUpdate at 250",
            "FixedUpdate",
            "FixedUpdate at 125",
            "FixedUpdate",
            "FixedUpdate at 250",
            "Update",
            "Update at 250",
            "PostUpdate",
            "LateUpdate at 250",
            "Last",
            "EndOfFrame at 250",
        ]
    );
}

#[test]
fn another_schedule_and_by_hand() {
    const PHYSICS: Phase = Phase::Custom(3);

    #[derive(Serialize, Deserialize)]
    struct Push;

    impl DurableScript for Push {
        const NAME: &'static str = "push";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            in_phase(PHYSICS).await;
            log("pushed");
            Chapter::Next(self)
        }
    }

    let mut app = App::new();
    let plugin = DurableScriptsPlugin::new(Registry::new().with::<Push>());
    app.add_plugins((TimePlugin, plugin.run_after(PHYSICS, PostUpdate)));
    app.init_resource::<Log>();
    app.world_mut().start_durable_script(Push);
    app.update();
    assert_eq!(lines(&app), ["pushed"]);
    run_durable_scripts(app.world_mut(), PHYSICS);
    assert_eq!(lines(&app), ["pushed", "pushed"]);
}

#[test]
fn fixed_steps_come_in_the_same_frames_after_a_load() {
    /// Three steps of an eighth take a frame and a half.
    #[derive(Serialize, Deserialize)]
    struct Steps;

    impl DurableScript for Steps {
        const NAME: &'static str = "steps";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            wait_steps(3).await;
            log(format!(
                "at {} in frame {}",
                time().elapsed.as_millis(),
                time().frame
            ));
            Chapter::Next(self)
        }
    }

    let new = || {
        let mut app = app(Registry::new().with::<Steps>());
        app.insert_resource(Time::<Fixed>::from_seconds(0.1));
        app
    };
    let mut first = new();
    first.world_mut().start_durable_script(Steps);
    // 0.05 s are left over.
    first.update();
    let file = saved(&mut first);
    let mut second = new();
    second.insert_resource(Time::<Fixed>::from_seconds(0.3));
    load(&mut second, &file);
    for _ in 0..4 {
        first.update();
        second.update();
    }
    assert_eq!(lines(&first), lines(&second));
    assert_eq!(
        lines(&second),
        [
            "at 300 in frame 3",
            "at 600 in frame 4",
            "at 900 in frame 5",
            "at 1200 in frame 6"
        ]
    );
}

#[test]
fn durable_scripts_run_before_the_others() {
    let mut app = with_each();
    app.add_plugins(FramestepPlugin::default());
    for phase in PHASES {
        app.world_mut().start_script(move || async move {
            loop {
                framestep_in_phase(phase).await;
                resource_mut(|log: &mut Log| log.0.push(format!("then {phase:?}")));
            }
        });
    }
    app.insert_resource(Time::<Fixed>::from_seconds(0.25));
    app.update();
    let both = PHASES.map(|phase| [format!("{phase:?} at 250"), format!("then {phase:?}")]);
    assert_eq!(take_log(&mut app), both.as_flattened());
    // The two are independent of each other.
    run_scripts(app.world_mut(), Phase::Update);
    assert_eq!(take_log(&mut app), ["then Update"]);
}

use bevy_framestep::framestep::wait::in_phase as framestep_in_phase;

#[derive(Resource, Default)]
struct Tried(Vec<(&'static str, bool, bool)>);

/// Tries to save and to load.
fn tries(place: &'static str, world: &mut World) {
    let saved = durable::save(world);
    let is_saved = match saved {
        Ok(_) => true,
        Err(SaveError::Running) => false,
        Err(error) => panic!("{error}"),
    };
    let before = world.non_send::<Save>().clone();
    let is_loaded = match durable::load(world, &before, Policy::Fail) {
        Ok(_) => true,
        Err(LoadError::Running) => false,
        Err(error) => panic!("{error}"),
    };
    let mut tried = world.resource_mut::<Tried>();
    tried.0.push((place, is_saved, is_loaded));
}

/// Tries it in a `with`.
#[derive(Serialize, Deserialize)]
struct Try;

impl DurableScript for Try {
    const NAME: &'static str = "try";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        with(|world: &mut World| tries("a start", world));
        in_phase(Phase::LateUpdate).await;
        with(|world: &mut World| tries("a with", world));
        Chapter::Done(())
    }
}

#[test]
fn a_world_is_saved_only_between_runs() {
    let mut app = app(Registry::new().with::<Try>());
    app.insert_resource(Time::<Fixed>::from_seconds(0.25));
    app.init_resource::<Tried>();
    let empty = durable::save(app.world_mut()).unwrap();
    app.insert_non_send(empty);
    app.world_mut().start_durable_script(Try);
    let before = durable::save(app.world_mut()).unwrap();
    app.insert_non_send(before);
    app.add_systems(
        RunFixedMainLoop,
        (|world: &mut World| tries("before the steps", world))
            .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
    );
    app.add_systems(FixedUpdate, |world: &mut World| {
        tries("a fixed step", world);
    });
    app.add_systems(Update, |world: &mut World| tries("a system", world));
    app.update();
    assert_eq!(
        app.world().resource::<Tried>().0,
        [
            ("a start", false, false),
            ("before the steps", true, true),
            ("a system", true, true),
            ("a with", false, false),
        ]
    );
    // Loaded before the steps, this frame had none.
    app.insert_resource(Tried::default());
    app.world_mut().run_schedule(bevy_app::FixedMain);
    let tried = &app.world().resource::<Tried>().0;
    assert_eq!(tried[..], [("a fixed step", false, false)]);
}
