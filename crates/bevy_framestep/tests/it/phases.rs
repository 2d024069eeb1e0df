//! All waits of the package, in another phase than the home phase of their script.

use bevy_app::{App, PreStartup, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_time::{Timer, TimerMode};
use framestep::Coroutine;
use futures::FutureExt;

use super::{app_with, log, take_log};

#[derive(Message, Clone)]
struct Hit;

#[derive(Event, Clone)]
struct Alarm;

#[derive(EntityEvent, Clone)]
struct Clicked(Entity);

#[derive(Component)]
struct Health(u32);

/// A wait, and what ends it.
struct Row {
    name: &'static str,
    /// Starts a script that waits in the phase, and logs where it resumes.
    start: fn(&mut App, Entity, Phase),
    /// Starts a script that chooses a phase when the wait has begun.
    start_late: fn(&mut App, Entity) -> Coroutine<()>,
    end: fn(&mut World, Entity),
}

macro_rules! row {
    ($name:literal, |$entity:ident| $wait:expr, |$world:ident, $of:ident| $end:expr) => {
        Row {
            name: $name,
            start: |app, entity, phase| {
                app.world_mut().start_script(move || async move {
                    let $entity = entity;
                    let _ = $entity;
                    let _ = $wait.in_phase(phase).await;
                    log(format!(
                        "{:?} of frame {}",
                        time().phase.unwrap(),
                        time().frame
                    ));
                });
            },
            start_late: |app, entity| {
                app.world_mut().start_script(move || async move {
                    let $entity = entity;
                    let _ = $entity;
                    let mut wait = $wait;
                    assert!((&mut wait).now_or_never().is_none());
                    drop(wait.in_phase(Phase::LateUpdate));
                })
            },
            end: |$world, $of| {
                let _ = $of;
                $end;
            },
        }
    };
}

fn rows() -> Vec<Row> {
    vec![
        row!("next_message", |_e| next_message::<Hit>(), |world, _e| {
            world.write_message(Hit)
        }),
        row!("next_event", |_e| next_event::<Alarm>(), |world, _e| world
            .trigger(Alarm)),
        row!(
            "next_event of an entity",
            |hero| hero.next_event::<Clicked>(),
            |world, hero| world.trigger(Clicked(hero))
        ),
        row!(
            "next_event, and the entity goes",
            |hero| hero.next_event::<Clicked>(),
            |world, hero| world.despawn(hero)
        ),
        row!("despawned", |hero| hero.despawned(), |world, hero| world
            .despawn(hero)),
        row!(
            "wait_until",
            |hero| hero.wait_until(|health: &Health| health.0 < 10),
            |world, hero| {
                world.get_mut::<Health>(hero).unwrap().0 = 9;
            }
        ),
        row!("removed", |hero| hero.removed::<Health>(), |world, hero| {
            world.entity_mut(hero).remove::<Health>()
        }),
        row!("changed", |hero| hero.changed::<Health>(), |world, hero| {
            {
                world.get_mut::<Health>(hero).unwrap().0 = 9;
            }
        }),
        row!(
            "wait_until_world",
            |hero| wait_until_world(move |world| world.get_entity(hero).is_err()),
            |world, hero| world.despawn(hero)
        ),
        #[cfg(feature = "input")]
        row!(
            "just_pressed",
            |_e| just_pressed(bevy_input::mouse::MouseButton::Left),
            |world, _e| world
                .resource_mut::<bevy_input::ButtonInput<_>>()
                .press(bevy_input::mouse::MouseButton::Left)
        ),
        #[cfg(feature = "animation")]
        row!(
            "animation_finished",
            |hero| animation_finished(hero),
            |world, hero| world
                .get_mut::<bevy_animation::AnimationPlayer>(hero)
                .unwrap()
                .stop_all()
        ),
    ]
}

/// An app without reports, and an entity with everything that the rows need.
fn app_and_hero() -> (App, Entity) {
    let mut app = app_with(FramestepPlugin::default().on_report(|_| {}));
    app.add_message::<Hit>();
    #[cfg(feature = "input")]
    app.init_resource::<bevy_input::ButtonInput<bevy_input::mouse::MouseButton>>();
    let hero = app.world_mut().spawn(Health(10)).id();
    #[cfg(feature = "animation")]
    {
        let mut player = bevy_animation::AnimationPlayer::default();
        player.play(bevy_animation::graph::AnimationNodeIndex::new(1));
        app.world_mut().entity_mut(hero).insert(player);
    }
    (app, hero)
}

const PHASES: [Phase; 5] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

/// In the next run of the phase: in the same frame, if it is still to come.
#[test]
fn in_the_next_run_of_the_phase() {
    for row in rows() {
        for phase in PHASES {
            let (mut app, hero) = app_and_hero();
            (row.start)(&mut app, hero, phase);
            let end = row.end;
            app.add_systems(
                PreUpdate,
                move |world: &mut World, mut frame: Local<u32>| {
                    *frame += 1;
                    if *frame == 3 {
                        end(world, hero);
                    }
                },
            );
            for _ in 0..5 {
                app.update();
            }
            let expected = format!("{phase:?} of frame 3");
            assert_eq!(take_log(&mut app), [expected], "{}", row.name);
        }
    }
}

/// A phase cannot be chosen after the wait has begun.
#[test]
fn not_once_it_has_begun() {
    for row in rows() {
        let (mut app, hero) = app_and_hero();
        let script = (row.start_late)(&mut app, hero);
        let ended = script.take_output().expect(row.name);
        assert!(ended.is_err_and(|ended| ended.is_panic()), "{}", row.name);
    }
}

/// The entity does not exist any more: the wait is ready, in any phase.
#[test]
fn despawned_at_once() {
    let (mut app, hero) = app_and_hero();
    app.world_mut().despawn(hero);
    let script = app
        .world_mut()
        .start_script(move || hero.despawned().in_phase(Phase::LateUpdate));
    assert!(script.is_finished());
}

/// Only components are removed, and the wait continues.
#[test]
fn not_despawned() {
    let (mut app, hero) = app_and_hero();
    let script = app
        .world_mut()
        .start_script(move || hero.despawned().in_phase(Phase::LateUpdate));
    app.update();
    app.world_mut().entity_mut(hero).clear();
    app.update();
    assert!(!script.is_finished());
    app.world_mut().despawn(hero);
    app.update();
    assert!(script.is_finished());
}

/// Due at half a second, which begins in frame 3. The timer has finished when the wait has.
#[test]
fn timers() {
    for phase in PHASES {
        for begins_in_a_frame in [false, true] {
            let (mut app, _) = app_and_hero();
            let script = move || async move {
                let mut timer = Timer::from_seconds(0.5, TimerMode::Once);
                wait_for_timer(&mut timer).in_phase(phase).await;
                assert!(timer.is_finished());
                log(format!(
                    "{:?} of frame {}",
                    time().phase.unwrap(),
                    time().frame
                ));
            };
            if begins_in_a_frame {
                app.add_systems(PreStartup, move |mut commands: Commands| {
                    commands.start_script(script);
                });
            } else {
                app.world_mut().start_script(script);
            }
            for _ in 0..5 {
                app.update();
            }
            let expected = format!("{phase:?} of frame 3");
            assert_eq!(take_log(&mut app), [expected], "{begins_in_a_frame}");
        }
    }
}

/// A repeating timer continues in steps, with the remainder.
#[test]
fn timers_in_steps() {
    let (mut app, _) = app_and_hero();
    app.world_mut().start_script(|| async {
        let mut timer = Timer::from_seconds(0.3, TimerMode::Repeating);
        for _ in 0..3 {
            wait_for_timer(&mut timer)
                .in_phase(Phase::FixedUpdate)
                .await;
            assert_eq!(timer.times_finished_this_tick(), 1);
            log(format!("{:?}", time().elapsed));
        }
    });
    for _ in 0..6 {
        app.update();
    }
    // Steps of 0.125 s: the first ones at or past 0.3, 0.6 and 0.9 s.
    assert_eq!(take_log(&mut app), ["375ms", "625ms", "1s"]);
}

#[test]
fn timers_that_have_begun() {
    let (mut app, _) = app_and_hero();
    let script = app.world_mut().start_script(|| async {
        let mut timer = Timer::from_seconds(0.5, TimerMode::Once);
        let mut wait = wait_for_timer(&mut timer);
        assert!((&mut wait).now_or_never().is_none());
        drop(wait.in_phase(Phase::LateUpdate));
    });
    assert!(
        script
            .take_output()
            .unwrap()
            .is_err_and(|ended| ended.is_panic())
    );
}

/// Transitions come between `PreUpdate` and the fixed steps.
#[cfg(feature = "state")]
mod states {
    use bevy_framestep::prelude::*;
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::prelude::*;

    use super::{PHASES, app_and_hero, log, take_log};

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }

    async fn wait(which: usize, phase: Phase) {
        match which {
            0 => wait_for_state(Screen::Game).in_phase(phase).await,
            1 => state_entered(Screen::Game).in_phase(phase).await,
            2 => state_exited(Screen::Menu).in_phase(phase).await,
            _ => _ = next_transition::<Screen>().in_phase(phase).await,
        }
        log(format!(
            "{:?} of frame {}",
            time().phase.unwrap(),
            time().frame
        ));
    }

    #[test]
    fn in_the_next_run_of_the_phase() {
        for which in 0..4 {
            for phase in PHASES {
                let (mut app, _) = app_and_hero();
                app.add_plugins(StatesPlugin).init_state::<Screen>();
                app.update();
                app.world_mut().start_script(move || wait(which, phase));
                app.update();
                let mut next = app.world_mut().resource_mut::<NextState<Screen>>();
                next.set(Screen::Game);
                for _ in 0..3 {
                    app.update();
                }
                let frame = if phase == Phase::EarlyUpdate { 4 } else { 3 };
                let expected = format!("{phase:?} of frame {frame}");
                assert_eq!(take_log(&mut app), [expected], "{which}");
            }
        }
    }
}
