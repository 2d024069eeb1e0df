//! Several components at once, queries that a script keeps, and waits for Bevy's features.

use bevy_curve::{Curve, EaseFunction};
use bevy_ecs::prelude::*;
use bevy_ecs::query::QuerySingleError;
use bevy_framestep::prelude::*;
use bevy_time::{Timer, TimerMode};

use super::{alive, app, log, take_log};

#[derive(Component, Debug, PartialEq)]
struct Position(f32);

#[derive(Component)]
struct Speed(f32);

#[derive(Component)]
struct Shield;

fn halve(at: &mut Position) {
    at.0 /= 2.0;
}

/// The arguments say what is borrowed, and how.
#[test]
fn several_components() {
    let mut app = app();
    let guard = app.world_mut().spawn((Position(1.0), Speed(2.0))).id();
    let script = app.world_mut().start_script(move || async move {
        guard.with(|at: &mut Position, speed: &Speed| at.0 += speed.0)?;
        let sum = guard.with(|at: &Position, speed: &Speed| at.0 + speed.0)?;
        assert!((sum - 5.0).abs() < f32::EPSILON);
        let all = guard.with(
            |entity: Entity,
             at: &mut Position,
             shield: Option<&Shield>,
             speed: Option<&mut Speed>| {
                at.0 = 7.0;
                let speed = speed.map(|speed| {
                    speed.0 += 1.0;
                    speed.0
                });
                (entity, shield.is_some(), speed)
            },
        )?;
        assert_eq!(all, (guard, false, Some(3.0)));
        // The state of a query is shared, and knows of components that come later.
        guard.insert(Shield)?;
        guard.with(|_: &mut Position, _: &Shield, _: Entity| ())?;
        guard.with(halve)
    });
    assert!(matches!(script.take_output(), Some(Ok(Ok(())))));
    assert_eq!(app.world().get::<Position>(guard), Some(&Position(3.5)));
}

/// It says which component is missing.
#[test]
fn several_components_of_which_one_is_missing() {
    let mut app = app();
    let guard = app.world_mut().spawn(Position(1.0)).id();
    let script = app.world_mut().start_script(move || async move {
        let missing = guard.with(|_: &mut Position, _: &Speed| ()).unwrap_err();
        assert!(missing.to_string().contains("Speed, at "), "{missing}");
        let missing = guard.with(|_: &Shield, _: &Position| ()).unwrap_err();
        assert!(missing.to_string().contains("Shield, at "), "{missing}");
        guard.despawn().unwrap();
        let missing = guard.with(|_: &mut Position, _: &Speed| ()).unwrap_err();
        assert!(matches!(missing, Missing::Entity { entity, .. } if entity == guard));
    });
    assert!(script.is_finished());
    assert!(script.take_output().unwrap().is_ok());
}

/// A component cannot be borrowed twice.
#[test]
fn several_components_that_conflict() {
    let mut app = app();
    let guard = app.world_mut().spawn(Position(1.0)).id();
    let script = app
        .world_mut()
        .start_script(move || async move { guard.with(|_: &mut Position, _: &Position| ()) });
    assert!(script.take_output().unwrap().unwrap_err().is_panic());
}

/// What `with` borrows mutably is changed for systems.
#[test]
fn several_components_are_changed() {
    let mut app = app();
    let guard = app.world_mut().spawn((Position(1.0), Speed(2.0))).id();
    app.world_mut().start_script(move || async move {
        loop {
            guard.changed::<Position>().await.unwrap();
            log(format!("moved in frame {}", time().frame));
        }
    });
    app.world_mut().start_script(move || async move {
        wait_frames(2).await;
        guard.with(|_: &Position, _: &Speed| ()).unwrap();
        wait_frames(2).await;
        guard.with(|_: &mut Position, _: &Speed| ()).unwrap();
    });
    for _ in 0..6 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["moved in frame 5"]);
}

#[test]
fn a_query_for_the_life_of_a_script() {
    let mut app = app();
    app.world_mut().start_script(|| async {
        let moving = query::<(&mut Position, &Speed)>();
        let shielded = query_filtered::<Entity, With<Shield>>();
        for _ in 0..3 {
            next_frame().await;
            moving.for_each(|(mut at, speed)| at.0 += speed.0);
            log(format!(
                "{} moving, {} shielded",
                moving.count(),
                shielded.count()
            ));
        }
        assert!(shielded.is_empty());
        assert!(matches!(
            shielded.single(|entity| entity),
            Err(QuerySingleError::NoEntities(_))
        ));
        let only = moving.single(|(at, _)| at.0);
        assert_eq!(only.ok(), Some(7.0));
    });
    app.update();
    let first = app.world_mut().spawn((Position(1.0), Speed(3.0))).id();
    let second = app
        .world_mut()
        .spawn((Position(1.0), Speed(3.0), Shield))
        .id();
    app.update();
    app.world_mut().despawn(second);
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "0 moving, 0 shielded",
            "2 moving, 1 shielded",
            "1 moving, 0 shielded",
        ]
    );
    assert_eq!(alive(&app), 0);
    let script = app.world_mut().start_script(move || async move {
        let moving = query::<&Position>();
        assert_eq!(moving.get(first, |at| at.0), Ok(7.0));
        let none = query::<&Shield>().get(first, |_| ()).unwrap_err();
        assert!(matches!(none, Missing::Component { .. }));
        let none = moving.get(second, |_| ()).unwrap_err();
        assert!(matches!(none, Missing::Entity { entity, .. } if entity == second));
    });
    assert!(script.take_output().unwrap().is_ok());
}

#[test]
fn conditions_on_a_component() {
    let mut app = app();
    let boss = app.world_mut().spawn((Position(0.0), Shield)).id();
    app.world_mut().start_script(move || async move {
        boss.wait_until(|at: &Position| at.0 > 1.0).await.unwrap();
        log(format!("moved in frame {}", time().frame));
        boss.removed::<Shield>()
            .in_phase(Phase::LateUpdate)
            .await
            .unwrap();
        assert_eq!(time().phase, Some(Phase::LateUpdate));
        log(format!("open in frame {}", time().frame));
        let missing = boss.wait_until(|_: &Shield| false).await.unwrap_err();
        assert!(missing.to_string().contains("Shield, at "));
        let missing = boss.removed::<Position>();
        boss.despawn().unwrap();
        let missing = missing.await.unwrap_err();
        assert!(matches!(missing, Missing::Entity { entity, .. } if entity == boss));
        log("gone");
    });
    app.update();
    app.update();
    app.world_mut().get_mut::<Position>(boss).unwrap().0 = 2.0;
    app.update();
    app.world_mut().entity_mut(boss).remove::<Shield>();
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(
        take_log(&mut app),
        ["moved in frame 3", "open in frame 4", "gone"]
    );
}

/// On the clock of the script, with the remainder of the previous round.
#[test]
fn timers_of_bevy() {
    let mut app = app();
    app.world_mut().start_script(|| async {
        let mut shots = Timer::from_seconds(0.6, TimerMode::Repeating);
        for _ in 0..3 {
            wait_for_timer(&mut shots).await;
            log(format!("shot in frame {}", time().frame));
        }
        let mut once = Timer::from_seconds(0.25, TimerMode::Once);
        wait_for_timer(&mut once).await;
        assert!(once.is_finished());
        wait_for_timer(&mut once).await;
        log(format!("once in frame {}", time().frame));
        once.reset();
        once.pause();
        wait_for_timer(&mut once).await;
        unreachable!("it is paused");
    });
    for _ in 0..12 {
        app.update();
    }
    // 0.6, 1.2 and 1.8 s; the first frame takes no time.
    assert_eq!(
        take_log(&mut app),
        [
            "shot in frame 4",
            "shot in frame 6",
            "shot in frame 9",
            "once in frame 10"
        ]
    );
}

#[cfg(feature = "input")]
#[test]
fn keys() {
    use bevy_input::ButtonInput;
    use bevy_input::keyboard::KeyCode;

    let mut app = app();
    app.init_resource::<ButtonInput<KeyCode>>();
    app.world_mut().start_script(|| async {
        just_pressed(KeyCode::Space).await;
        log(format!("down in frame {}", time().frame));
        just_released(KeyCode::Space).await;
        log(format!("up in frame {}", time().frame));
    });
    for frame in 1..6 {
        let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
        keys.clear();
        match frame {
            2 => keys.press(KeyCode::KeyA),
            3 => keys.press(KeyCode::Space),
            5 => keys.release(KeyCode::Space),
            _ => {}
        }
        app.update();
    }
    assert_eq!(take_log(&mut app), ["down in frame 3", "up in frame 5"]);
}

#[cfg(feature = "input")]
#[test]
fn keys_that_the_app_does_not_have() {
    let mut app = super::app_with(FramestepPlugin::default().on_report(|report| {
        assert!(report.to_string().contains("add `InputPlugin`"), "{report}");
    }));
    let script = app
        .world_mut()
        .start_script(|| just_pressed(bevy_input::mouse::MouseButton::Left));
    app.update();
    assert!(script.is_finished());
}

#[cfg(feature = "animation")]
#[test]
fn animations() {
    use bevy_animation::AnimationPlayer;
    use bevy_animation::graph::AnimationNodeIndex;

    let mut app = app();
    let mut player = AnimationPlayer::default();
    player.play(AnimationNodeIndex::new(1));
    let goblin = app.world_mut().spawn(player).id();
    let script = app
        .world_mut()
        .start_script(move || animation_finished(goblin));
    app.update();
    app.update();
    assert!(!script.is_finished());
    app.world_mut()
        .get_mut::<AnimationPlayer>(goblin)
        .unwrap()
        .stop_all();
    app.update();
    assert!(matches!(script.take_output(), Some(Ok(Ok(())))));
}

/// The work is done on another thread; the script continues here.
#[cfg(feature = "tasks")]
#[test]
fn work_on_other_threads() {
    let mut app = app();
    app.add_plugins(bevy_app::TaskPoolPlugin::default());
    let here = std::thread::current().id();
    let script = app.world_mut().start_script(move || async move {
        let (sum, there) = compute(|| ((1..=10).sum::<u32>(), std::thread::current().id())).await;
        assert_eq!(sum, 55);
        assert_ne!(there, here);
        assert_eq!(std::thread::current().id(), here);
    });
    while !script.is_finished() {
        app.update();
        std::thread::yield_now();
    }
    assert!(script.take_output().unwrap().is_ok());
}

#[test]
fn a_curve_of_bevy_is_one_of_animate() {
    let mut app = app();
    app.update();
    let door = app.world_mut().spawn(Position(0.0)).id();
    let script = app.world_mut().start_script(move || async move {
        let curve = |t| EaseFunction::CubicIn.sample_clamped(t);
        let opens = |t| door.with(|at: &mut Position| at.0 = t).unwrap();
        animate(1, opens).ease(curve).repeat(2).yoyo().await;
    });
    let mut seen = Vec::new();
    while !script.is_finished() {
        app.update();
        seen.extend(app.world().get::<Position>(door).map(|at| at.0));
    }
    let there = [0.015_625, 0.125, 0.421_875, 1.0];
    let back = [0.421_875, 0.125, 0.015_625, 0.0];
    assert_eq!(seen, [there, back].concat());
}
