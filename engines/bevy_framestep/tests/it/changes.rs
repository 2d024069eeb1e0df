//! The phase and the frame in which a script is notified of a change.

use std::fmt::Write as _;

use bevy_app::{App, FixedUpdate, Last, PostUpdate, PreUpdate, Update};
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_framestep::prelude::*;
use futures::FutureExt;

use super::app;

#[derive(Component, PartialEq)]
struct Health(u32);

/// The schedule whose systems change the component in this frame, in the first of its
/// runs.
#[derive(Resource, Default)]
struct Change(Option<Interned<dyn ScheduleLabel>>);

/// What each script has done in this frame: a letter for each change.
#[derive(Resource, Default)]
struct Heard([String; 5]);

const PHASES: [(&str, Phase, &str); 5] = [
    ("early ", Phase::EarlyUpdate, "E"),
    ("fixed ", Phase::FixedUpdate, "F"),
    ("update", Phase::Update, "*"),
    ("late  ", Phase::LateUpdate, "L"),
    ("end   ", Phase::EndOfFrame, "Z"),
];

fn change_in(app: &mut App, schedule: impl ScheduleLabel) {
    let label = schedule.intern();
    let change = move |mut change: ResMut<Change>, mut health: Single<&mut Health>| {
        if change.0 == Some(label) {
            change.0 = None;
            health.0 += 1;
        }
    };
    app.add_systems(schedule, change);
}

async fn listen(hero: Entity, row: usize) {
    let (_, phase, letter) = PHASES[row];
    while hero.changed::<Health>().in_phase(phase).await.is_ok() {
        resource_mut(|heard: &mut Heard| heard.0[row].push_str(letter));
    }
}

/// Draws a column for each frame, in which the component changes in the given schedule.
fn draw(app: &mut App, changes: &[Option<Interned<dyn ScheduleLabel>>]) -> String {
    let mut rows = PHASES.map(|(name, ..)| name.to_string());
    for change in changes {
        app.world_mut().resource_mut::<Change>().0 = *change;
        app.update();
        let heard = std::mem::take(&mut *app.world_mut().resource_mut::<Heard>());
        for (row, heard) in rows.iter_mut().zip(heard.0) {
            let cell = if heard.is_empty() { "-" } else { &heard };
            write!(row, " {cell}").unwrap();
        }
    }
    rows.join("\n")
}

/// Each frame has two fixed steps. A change comes in the next run of the phase, in the
/// fixed phase in the next step: once, not in each step. The first frame has no step.
#[test]
fn changes_in_each_phase() {
    let mut app = app();
    app.init_resource::<Change>().init_resource::<Heard>();
    change_in(&mut app, PreUpdate);
    change_in(&mut app, FixedUpdate);
    change_in(&mut app, Update);
    change_in(&mut app, PostUpdate);
    change_in(&mut app, Last);
    let hero = app.world_mut().spawn(Health(10)).id();
    for row in 0..PHASES.len() {
        app.world_mut().start_script(move || listen(hero, row));
    }
    let frames = [
        None,
        Some(PreUpdate.intern()),
        None,
        Some(FixedUpdate.intern()),
        None,
        Some(Update.intern()),
        None,
        Some(PostUpdate.intern()),
        None,
        Some(Last.intern()),
        None,
        None,
    ];
    let drawing = [
        //       P   F   U   P   L
        "early  - E - - E - E - E - E -",
        "fixed  - F - F - - F - F - F -",
        "update - * - * - * - - * - * -",
        "late   - L - L - L - L - - L -",
        "end    - Z - Z - Z - Z - Z - -",
    ];
    assert_eq!(draw(&mut app, &frames), drawing.join("\n"));
}

/// Twice in a step, and once more in the next step of the same frame.
#[test]
fn changes_of_steps() {
    let mut app = app();
    app.init_resource::<Heard>();
    app.add_systems(FixedUpdate, |mut health: Single<&mut Health>| {
        health.0 += 1;
        health.0 += 1;
    });
    let hero = app.world_mut().spawn(Health(10)).id();
    app.world_mut().start_script(move || listen(hero, 1));
    app.update();
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Heard>().0[1], "FFFF");
}

#[test]
fn the_phase_is_chosen_before_the_wait_begins() {
    let mut app = super::app_with(FramestepPlugin::default().on_report(|report| {
        assert!(report.to_string().contains("in_phase"), "{report}");
    }));
    let hero = app.world_mut().spawn(Health(10)).id();
    let script = app.world_mut().start_script(move || async move {
        let mut changed = hero.changed::<Health>();
        // Polled once.
        assert!((&mut changed).now_or_never().is_none());
        let _ = changed.in_phase(Phase::LateUpdate).await;
    });
    assert!(script.is_finished());
}

/// An equal value is no change.
#[test]
fn set_to_an_equal_value() {
    let mut app = app();
    let hero = app.world_mut().spawn(Health(3)).id();
    let listens = app.world_mut().start_script(move || async move {
        hero.changed::<Health>().await.unwrap();
    });
    for (frame, health, changes) in [(1, 3, false), (2, 3, false), (3, 4, true)] {
        let set = app.world_mut().start_script(move || async move {
            assert_eq!(hero.set_if_neq(Health(health)), Ok(changes));
        });
        assert!(set.is_finished());
        app.update();
        assert_eq!(listens.is_finished(), changes, "in frame {frame}");
    }
    app.world_mut().despawn(hero);
    let set = app
        .world_mut()
        .start_script(move || async move { assert!(hero.set_if_neq(Health(1)).is_err()) });
    assert!(set.is_finished());
}
