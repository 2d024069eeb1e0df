//! The phase and the frame in which a script is notified of a change.

use std::fmt::Write as _;

use bevy_app::{App, FixedUpdate, Last, PostUpdate, PreUpdate, Update};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_framestep::prelude::*;
use futures::FutureExt;

use super::{app, log, take_log};

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

/// What a script that waits for changes of an entity must hear of, in the next frame.
struct Watched {
    entity: Entity,
    now: Now,
    has_changed: bool,
    /// A script waits for it.
    is_waited_for: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Now {
    WithHealth,
    Without,
    Despawned,
}

async fn report(entity: Entity, number: usize) {
    while entity.changed::<Health>().await.is_ok() {
        log(format!("{number} changed"));
    }
    log(format!("{number} gone"));
}

/// Changes of any kind, of some or of nearly all entities that scripts wait for: with many
/// waits, all components are looked at in a row.
#[test]
fn any_number_of_scripts_hears_of_each_change() {
    for seed in 1..=60_u32 {
        let mut dice = u64::from(seed);
        let mut roll = move |sides: u64| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice >> 11) % sides
        };
        let mut app = app();
        let share = [1, 3, 40][(seed % 3) as usize];
        let mut all: Vec<Watched> = Vec::new();
        for frame in 0..30 {
            for _ in 0..roll(if frame == 0 { 60 } else { 2 }) {
                all.push(Watched {
                    entity: app.world_mut().spawn(Health(0)).id(),
                    now: Now::WithHealth,
                    has_changed: false,
                    is_waited_for: false,
                });
            }
            for (number, of) in all
                .iter_mut()
                .enumerate()
                .filter(|(_, of)| of.now != Now::Despawned)
            {
                let has_begun = of.now == Now::WithHealth && !of.is_waited_for && roll(share) == 0;
                if has_begun {
                    app.world_mut().start_script({
                        let entity = of.entity;
                        move || report(entity, number)
                    });
                    (of.is_waited_for, of.has_changed) = (true, false);
                }
                let mut entity = app.world_mut().entity_mut(of.entity);
                match roll(if seed % 2 == 0 { 20 } else { 200 }) {
                    0 => {
                        entity.despawn();
                        of.now = Now::Despawned;
                    }
                    1 => {
                        entity.remove::<Health>();
                        of.now = Now::Without;
                    }
                    2 => {
                        entity.remove::<Health>();
                        entity.insert(Health(1));
                        (of.now, of.has_changed) = (Now::WithHealth, true);
                    }
                    3 => _ = entity.insert(Disabled),
                    4 => _ = entity.remove::<Disabled>(),
                    5 | 6 => {
                        if let Some(mut health) = entity.get_mut::<Health>() {
                            health.0 += 1;
                            of.has_changed = true;
                        }
                    }
                    _ => {}
                }
            }
            let mut expected = Vec::new();
            for (number, of) in all
                .iter_mut()
                .enumerate()
                .filter(|(_, of)| of.is_waited_for)
            {
                if of.now != Now::WithHealth {
                    expected.push(format!("{number} gone"));
                    of.is_waited_for = false;
                } else if of.has_changed {
                    expected.push(format!("{number} changed"));
                }
                of.has_changed = false;
            }
            app.update();
            let mut heard = take_log(&mut app);
            heard.sort();
            expected.sort();
            assert_eq!(heard, expected, "seed {seed}, frame {frame}");
        }
    }
}

/// Entities that are disabled in a way of the app's own are found, too.
#[test]
fn many_scripts_of_entities_that_queries_leave_out() {
    #[derive(Component)]
    struct Hidden;

    let mut app = app();
    app.world_mut().register_disabling_component::<Hidden>();
    let all: Vec<Entity> = (0..20)
        .map(|number| app.world_mut().spawn((Health(number), Hidden)).id())
        .collect();
    for (number, &entity) in all.iter().enumerate() {
        app.world_mut().start_script(move || report(entity, number));
    }
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(take_log(&mut app), [""; 0]);
    app.world_mut().get_mut::<Health>(all[7]).unwrap().0 += 1;
    app.world_mut().despawn(all[9]);
    app.update();
    assert_eq!(take_log(&mut app), ["7 changed", "9 gone"]);
}
