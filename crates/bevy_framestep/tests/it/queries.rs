//! What is new to a query that a script keeps: what has changed since its last use in an earlier
//! run.

use bevy_app::{App, PostUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::run_scripts;

use super::{app, log, take_log};

#[derive(Component)]
struct Health(u32);

/// Looks in each run of `phase`, and draws a column for each: `*` for something new.
fn looks<F: bevy_ecs::query::QueryFilter + 'static>(app: &mut App, phase: Phase) {
    app.world_mut().start_script(move || async move {
        let changed = query_filtered::<&Health, F>();
        loop {
            in_phase(phase).await;
            log(["-", "*"][usize::from(!changed.is_empty())]);
        }
    });
}

/// Changes the component in the frames with a `*`, in the given phase.
fn changes(app: &mut App, goblin: Entity, phase: Phase, frames: &'static str) {
    app.world_mut().start_script(move || async move {
        for frame in frames.chars() {
            in_phase(phase).await;
            if frame == '*' {
                goblin.get_mut(|health: &mut Health| health.0 += 1).unwrap();
            }
        }
    });
}

fn draw(app: &mut App, frames: usize) -> String {
    for _ in 0..frames {
        app.update();
    }
    take_log(app).concat()
}

fn app_with_goblin() -> (App, Entity) {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(0)).id();
    (app, goblin)
}

/// Either script may come first in a run: what comes later is seen in the next frame. At first,
/// everything is new.
#[test]
fn changes_of_a_script_in_either_order() {
    let (mut app, goblin) = app_with_goblin();
    looks::<Changed<Health>>(&mut app, Phase::Update);
    changes(&mut app, goblin, Phase::Update, "--**-*");
    assert_eq!(draw(&mut app, 8), "*--**-*-");

    let (mut app, goblin) = app_with_goblin();
    changes(&mut app, goblin, Phase::Update, "--**-*");
    looks::<Changed<Health>>(&mut app, Phase::Update);
    assert_eq!(draw(&mut app, 8), "*-**-*--");
}

/// In each phase, before and after the one in which the script looks.
#[test]
fn changes_in_other_phases() {
    let (mut app, goblin) = app_with_goblin();
    looks::<Changed<Health>>(&mut app, Phase::Update);
    changes(&mut app, goblin, Phase::EarlyUpdate, "--*---");
    assert_eq!(draw(&mut app, 6), "*-*---");

    let (mut app, goblin) = app_with_goblin();
    looks::<Changed<Health>>(&mut app, Phase::Update);
    changes(&mut app, goblin, Phase::EndOfFrame, "--*---");
    assert_eq!(draw(&mut app, 6), "*--*--");
}

#[test]
fn changes_of_systems() {
    #[derive(Resource)]
    struct Frame(u32);

    let every_third = |mut frame: ResMut<Frame>, mut health: Single<&mut Health>| {
        frame.0 += 1;
        if frame.0.is_multiple_of(3) {
            health.0 += 1;
        }
    };
    let (mut app, _) = app_with_goblin();
    app.insert_resource(Frame(0))
        .add_systems(Update, every_third);
    looks::<Changed<Health>>(&mut app, Phase::Update);
    assert_eq!(draw(&mut app, 7), "*-*--*-");

    let (mut app, _) = app_with_goblin();
    app.insert_resource(Frame(0))
        .add_systems(PostUpdate, every_third);
    looks::<Changed<Health>>(&mut app, Phase::Update);
    assert_eq!(draw(&mut app, 7), "*--*--*");
}

#[test]
fn added_components() {
    let (mut app, _) = app_with_goblin();
    looks::<Added<Health>>(&mut app, Phase::Update);
    app.world_mut().start_script(|| async {
        wait_frames(3).await;
        commands(|commands| _ = commands.spawn(Health(1)));
    });
    assert_eq!(draw(&mut app, 6), "*--*--");
}

/// A script that looks seldom misses nothing in between.
#[test]
fn after_frames_without_a_look() {
    let (mut app, goblin) = app_with_goblin();
    app.world_mut().start_script(|| async {
        let health = query::<Ref<'static, Health>>();
        loop {
            wait_frames(3).await;
            let is_new = health.single(|health| health.is_changed()).unwrap();
            log(["-", "*"][usize::from(is_new)]);
        }
    });
    changes(&mut app, goblin, Phase::Update, "----*-----*-");
    assert_eq!(draw(&mut app, 15), "**-*-");
}

/// All looks of a run find the same. What its own closure changes is not new to a query.
#[test]
fn in_one_run_and_by_itself() {
    let (mut app, goblin) = app_with_goblin();
    app.world_mut().start_script(move || async move {
        let changed = query_filtered::<&mut Health, Changed<Health>>();
        loop {
            next_frame().await;
            let count = changed.count();
            let is_there = changed.get(goblin, |_| ()).is_ok();
            changed.for_each(|mut health| health.0 += 1);
            log(format!("{count}{}", if is_there { "*" } else { "-" }));
        }
    });
    changes(&mut app, goblin, Phase::Update, "--*--");
    assert_eq!(draw(&mut app, 5), "1*0-0-1*0-");
}

/// Runs by hand are runs, too, and a clone counts for itself.
#[test]
fn in_runs_by_hand() {
    const PHASE: Phase = Phase::Custom(7);

    let (mut app, goblin) = app_with_goblin();
    app.world_mut().start_script(move || async move {
        let changed = query_filtered::<&Health, Changed<Health>>();
        in_phase(PHASE).await;
        let mut both = [changed.clone(), changed];
        loop {
            log(both[0].count().to_string());
            in_phase(PHASE).await;
            both.rotate_left(1);
        }
    });
    let world = app.world_mut();
    for is_changed in [false, false, true, false, false, false] {
        if is_changed {
            world.get_mut::<Health>(goblin).unwrap().0 += 1;
        }
        run_scripts(world, PHASE);
    }
    assert_eq!(take_log(&mut app), ["1", "1", "1", "1", "0", "0"]);
}
