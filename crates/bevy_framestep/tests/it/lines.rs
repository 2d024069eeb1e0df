//! The lines that snapshots show: where a script was started, and where it waits.

use std::panic::Location;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::Framestep;
use bevy_framestep::prelude::*;
use bevy_time::{Timer, TimerMode};

use super::app_with;

#[derive(Message, Clone)]
struct Hit;

#[derive(EntityEvent, Clone)]
struct Clicked(Entity);

async fn patrol(_: Entity) {
    wait_seconds(9).await;
}

async fn intro() {
    wait_seconds(9).await;
}

fn inspecting() -> App {
    let mut app = app_with(FramestepPlugin::default().executor(|builder| builder.inspect(true)));
    app.add_message::<Hit>();
    app
}

/// The lines of this file at which the scripts were started.
fn started_at(app: &App) -> Vec<u32> {
    let framestep = app.world().non_send::<Framestep>();
    let snapshot = framestep.handle().snapshot().unwrap();
    let lines = snapshot.iter().map(|script| {
        let place = script.spawned_at().unwrap();
        assert_eq!(place.file(), file!());
        place.line()
    });
    lines.collect()
}

#[test]
fn of_starts() {
    let mut app = inspecting();
    let world = app.world_mut();
    let goblin = world.spawn_empty().id();
    let before = line!();
    world.start_script(intro);
    world.entity_mut(goblin).start_script(patrol);
    world.commands().start_script(intro);
    world.commands().entity(goblin).start_script(patrol);
    world.commands().entity(goblin).try_start_script(patrol);
    world.commands().entity(goblin).start_script_handle(patrol);
    world.flush();
    let bundle = Scripts::of(patrol).and(patrol);
    world.spawn(bundle);
    let lines = started_at(&app);
    let lines: Vec<u32> = lines.into_iter().map(|line| line - before).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 8, 8]);
}

#[cfg(feature = "state")]
#[test]
fn of_starts_in_a_state() {
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::state::States;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct Screen;

    let mut app = inspecting();
    app.add_plugins(StatesPlugin).init_state::<Screen>();
    app.update();
    let before = line!();
    app.world_mut().start_script_in(Screen, intro);
    app.world_mut().commands().start_script_in(Screen, intro);
    app.update();
    assert_eq!(started_at(&app), [before + 1, before + 2]);
}

#[test]
fn of_waits() {
    let mut app = inspecting();
    let goblin = app.world_mut().spawn_empty().id();
    let before = line!();
    app.world_mut().start_script(move || async move {
        let mut timer = Timer::from_seconds(9.0, TimerMode::Once);
        let (mut hits, mut clicks) = (messages::<Hit>(), goblin.events::<Clicked>());
        select! {
            _ = wait_for_timer(&mut timer) => {}
            _ = hits.next() => {}
            _ = messages().for_each(|_: Hit| ()) => {}
            _ = clicks.next() => {}
            _ = goblin.events().for_each(|_: Clicked| ()) => {}
        }
    });
    for _ in 0..2 {
        let framestep = app.world().non_send::<Framestep>();
        let snapshot = framestep.handle().snapshot().unwrap();
        let script = snapshot.iter().next().unwrap();
        let places: Vec<_> = script.waits_at().map(|(_, at)| at).collect();
        assert_eq!(places.len(), 5);
        for at in places {
            assert_eq!(at.map(Location::file), Some(file!()));
            assert!(at.is_some_and(|at| at.line() > before));
        }
        app.update();
    }
}
