//! Parameters of systems in scripts, and scripts as systems between others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_app::Update;
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::scripts_of;

use super::{Log, app, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(Resource)]
struct Poison(u32);

#[derive(Message, Clone)]
struct Hit(u32);

#[test]
fn a_script_uses_the_parameters_of_a_system_and_its_own_variables() {
    let mut app = app();
    app.insert_resource(Poison(2));
    app.world_mut().spawn_batch([Health(5), Health(9)]);
    app.world_mut().start_script(|| async {
        let mut left = Vec::new();
        for _ in 0..2 {
            next_frame().await;
            system(|mut all: Query<&mut Health>, poison: Res<Poison>| {
                left.clear();
                for mut health in &mut all {
                    health.0 -= poison.0;
                    left.push(health.0);
                }
            });
        }
        log(format!("{left:?}"));
    });
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["[1, 5]"]);
}

/// Also what observers of them queue.
#[test]
fn commands_are_applied_before_the_call_returns() {
    let mut app = app();
    app.add_observer(|_: On<Add<Health>>, mut commands: Commands| {
        commands.insert_resource(Poison(7));
    });
    app.world_mut().start_script(|| async {
        next_frame().await;
        let entity = system(|mut commands: Commands| commands.spawn(Health(3)).id());
        assert_eq!(entity.get(|health: &Health| health.0), Ok(3));
        assert_eq!(resource(|poison: &Poison| poison.0), 7);
        log("done");
    });
    app.update();
    assert_eq!(take_log(&mut app), ["done"]);
}

/// A `Local`, a reader and `Changed` belong to the line.
#[test]
fn a_line_keeps_what_a_system_keeps() {
    let mut app = app();
    app.add_message::<Hit>();
    let goblin = app.world_mut().spawn(Health(5)).id();
    app.world_mut().start_script(|| async {
        loop {
            next_frame().await;
            let (calls, changed, hits) = system(
                |mut calls: Local<u32>,
                 changed: Query<(), Changed<Health>>,
                 mut hits: MessageReader<Hit>| {
                    *calls += 1;
                    let hits: Vec<u32> = hits.read().map(|hit| hit.0).collect();
                    (*calls, changed.iter().count(), hits)
                },
            );
            log(format!("{calls}: {changed} changed, hits {hits:?}"));
        }
    });
    app.update();
    app.world_mut().write_message(Hit(1));
    app.update();
    app.world_mut().get_mut::<Health>(goblin).unwrap().0 = 1;
    app.world_mut().write_message(Hit(2));
    app.update();
    let expected = [
        "1: 1 changed, hits []",
        "2: 0 changed, hits [1]",
        "3: 1 changed, hits [2]",
    ];
    assert_eq!(take_log(&mut app), expected);
}

/// The entity that a query would find is despawned in the closure's own commands.
#[test]
fn an_entity_that_vanishes_in_the_call() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(5)).id();
    app.world_mut()
        .entity_mut(goblin)
        .start_script(|goblin| async move {
            next_frame().await;
            system(|mut commands: Commands, all: Query<Entity, With<Health>>| {
                all.iter()
                    .for_each(|entity| commands.entity(entity).despawn());
            });
            let found = system(|all: Query<&Health>| all.get(goblin).is_ok());
            log(format!("found: {found}"));
            next_frame().await;
            unreachable!();
        });
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["found: false"]);
}

#[test]
fn a_parameter_that_is_not_valid_panics_with_the_line() {
    let mut app = app();
    let line = line!() + 3;
    let script = app.world_mut().start_script(|| async {
        next_frame().await;
        system(|poison: Res<Poison>| poison.0);
    });
    app.update();
    let error = script.take_output().unwrap().unwrap_err().to_string();
    assert!(
        error.contains(&format!("`system` at {}:{line}:", file!())),
        "{error}"
    );
    assert!(error.contains("Resource does not exist"), "{error}");
    // Two borrows of one component.
    let script = app.world_mut().start_script(|| async {
        next_frame().await;
        system(|_: Query<&mut Health>, _: Query<&Health>| ());
    });
    app.update();
    assert!(script.take_output().unwrap().is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| system(|_: Commands| ()))).is_err());
}

#[test]
fn scripts_run_between_two_systems() {
    const STEERING: Phase = Phase::Custom(3);

    let says = |line: &'static str| move |mut log: ResMut<Log>| log.0.push(line.to_owned());
    let mut app = app();
    app.add_systems(
        Update,
        (says("move"), scripts_of(STEERING), says("collide")).chain(),
    );
    app.world_mut().start_script(|| async {
        loop {
            in_phase(STEERING).await;
            log("steer");
        }
    });
    app.world_mut().start_script(|| async {
        next_frame().await;
        log("after all");
    });
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["move", "steer", "collide", "after all"]
    );
}
