//! Waits for changes and events in the world.

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use super::{alive, app, log, take_log};

#[derive(Message, Clone)]
pub(super) struct Hit(pub(super) u32);

#[derive(Event, Clone)]
pub(super) struct Alarm(pub(super) u32);

#[derive(EntityEvent, Clone)]
pub(super) struct Clicked {
    pub(super) entity: Entity,
    pub(super) button: u32,
}

#[derive(Component)]
struct Health(u32);

pub(super) fn app_with_hits() -> App {
    let mut app = app();
    app.add_message::<Hit>();
    app
}

async fn log_hits() {
    let mut hits = messages::<Hit>();
    while let Some(Hit(points)) = hits.next().await {
        log(format!("{points} in frame {}", time().frame));
    }
}

/// A message that a system of Update writes reaches scripts in the same Update; the wait
/// counts from the call.
#[test]
fn messages_of_systems() {
    let mut app = app_with_hits();
    app.world_mut().write_message(Hit(1)); // before the call
    app.world_mut().start_script(log_hits);
    app.add_systems(
        Update,
        |mut hits: MessageWriter<Hit>, mut number: Local<u32>| {
            *number += 10;
            hits.write(Hit(*number));
            hits.write(Hit(*number + 1));
        },
    );
    app.update();
    app.update();
    assert_eq!(
        take_log(&mut app),
        [
            "10 in frame 1",
            "11 in frame 1",
            "20 in frame 2",
            "21 in frame 2"
        ]
    );
}

/// A message that a script writes comes in the next run.
#[test]
fn messages_of_scripts() {
    let mut app = app_with_hits();
    app.world_mut().start_script(log_hits);
    app.world_mut().start_script(|| async {
        in_phase(Phase::EarlyUpdate).await;
        write_message(Hit(1));
        next_frame().await;
        write_message(Hit(2));
    });
    app.update();
    assert_eq!(take_log(&mut app), ["1 in frame 1"]);
    app.update();
    assert_eq!(take_log(&mut app), [""; 0], "it was written in this run");
    app.update();
    assert_eq!(take_log(&mut app), ["2 in frame 3"]);
}

/// Two scripts, one of which starts later: each gets the messages that are written after its
/// call.
#[test]
fn messages_from_the_call_on() {
    let mut app = app_with_hits();
    app.world_mut().start_script(|| async {
        let Hit(points) = next_message::<Hit>().await;
        log(format!("first: {points}"));
    });
    app.world_mut().write_message(Hit(1));
    app.world_mut().start_script(|| async {
        let Hit(points) = next_message::<Hit>().await;
        log(format!("second: {points}"));
    });
    app.world_mut().write_message(Hit(2));
    app.update();
    assert_eq!(take_log(&mut app), ["first: 1", "second: 2"]);
    assert_eq!(alive(&app), 0);
}

/// Fixed steps come before Update: a script in Update gets their messages in the same frame.
#[test]
fn messages_of_fixed_steps() {
    let mut app = app_with_hits();
    app.add_systems(FixedUpdate, |mut hits: MessageWriter<Hit>| {
        hits.write(Hit(1));
    });
    app.world_mut().start_script(log_hits);
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["1 in frame 2", "1 in frame 2"]);
}

/// A message that no script reads is not cloned.
#[test]
fn messages_without_readers() {
    #[derive(Message)]
    struct Counted(std::sync::Arc<std::sync::atomic::AtomicU32>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Counted(self.0.clone())
        }
    }

    let clones = std::sync::Arc::default();
    let mut app = app();
    app.add_message::<Counted>();
    app.world_mut().start_script(|| async {
        next_message::<Counted>().await;
    });
    for _ in 0..3 {
        let counted = Counted(std::sync::Arc::clone(&clones));
        app.world_mut().write_message(counted);
        app.update();
        assert_eq!(clones.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
}

#[test]
fn messages_that_the_app_does_not_have() {
    let mut app = super::app_with(FramestepPlugin::default().on_report(|report| {
        assert!(report.to_string().contains("call `app.add_message::<"));
    }));
    let script = app.world_mut().start_script(log_hits);
    assert!(script.is_finished());
}

/// From a system, from the host, and from another script: that is later in the same run.
#[test]
fn events() {
    let mut app = app();
    app.world_mut().start_script(|| async {
        for _ in 0..3 {
            let Alarm(number) = next_event::<Alarm>().await;
            log(format!("alarm {number} in frame {}", time().frame));
        }
    });
    app.update();
    app.world_mut().trigger(Alarm(1));
    app.update();
    app.add_systems(Update, |mut commands: Commands, mut done: Local<bool>| {
        if !std::mem::replace(&mut *done, true) {
            commands.trigger(Alarm(2));
        }
    });
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["alarm 1 in frame 2", "alarm 2 in frame 3"]
    );
    app.world_mut().start_script(|| async {
        next_frame().await;
        trigger(Alarm(3));
    });
    app.update();
    assert_eq!(take_log(&mut app), ["alarm 3 in frame 4"]);
}

/// There is one observer for each kind of event, even if many scripts wait, one after the
/// other or at once. An event that no script waits for is not cloned.
#[test]
fn one_observer_for_a_kind_of_event() {
    #[derive(Event)]
    struct Counted(std::sync::Arc<std::sync::atomic::AtomicU32>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Counted(self.0.clone())
        }
    }

    let mut app = app();
    let scripts: Vec<_> = (0..10)
        .map(|_| {
            app.world_mut().start_script(|| async {
                for _ in 0..2 {
                    next_event::<Counted>().await;
                }
            })
        })
        .collect();
    let clones = std::sync::Arc::default();
    for expected in [10, 20, 20] {
        let event = Counted(std::sync::Arc::clone(&clones));
        app.world_mut().trigger(event);
        app.update();
        let clones = clones.load(std::sync::atomic::Ordering::Relaxed);
        // The observer is still the first one.
        assert!((expected..=expected + 2).contains(&clones), "{clones}");
        let mut observers = app.world_mut().query::<&Observer>();
        assert_eq!(observers.iter(app.world()).count(), 1);
    }
    assert!(scripts.iter().all(framestep::Coroutine::is_finished));
}

#[test]
fn events_of_an_entity() {
    let mut app = app();
    let (door, window) = (
        app.world_mut().spawn_empty().id(),
        app.world_mut().spawn_empty().id(),
    );
    app.world_mut().start_script(move || async move {
        loop {
            match door.next_event::<Clicked>().await {
                Ok(clicked) => log(format!("button {}", clicked.button)),
                Err(missing) => {
                    assert!(matches!(missing, Missing::Entity { entity, .. } if entity == door));
                    log(format!("gone in frame {}", time().frame));
                    return;
                }
            }
        }
    });
    app.update();
    app.world_mut().trigger(Clicked {
        entity: window,
        button: 1,
    });
    app.world_mut().trigger(Clicked {
        entity: door,
        button: 2,
    });
    app.update();
    assert_eq!(take_log(&mut app), ["button 2"]);
    app.world_mut().despawn(door);
    app.update();
    assert_eq!(take_log(&mut app), ["gone in frame 3"]);
    assert_eq!(alive(&app), 0);
}

/// A loop that ignores the error goes on once in a frame, as it does with other waits.
#[test]
fn events_of_an_entity_that_is_gone_take_a_frame() {
    let mut app = app();
    let door = app.world_mut().spawn_empty().id();
    app.world_mut().start_script(move || async move {
        loop {
            let clicked = door.next_event::<Clicked>().await;
            log(format!("{} in frame {}", clicked.is_ok(), time().frame));
        }
    });
    app.world_mut().trigger(Clicked {
        entity: door,
        button: 1,
    });
    app.update();
    assert_eq!(take_log(&mut app), ["true in frame 1"]);
    app.world_mut().despawn(door);
    for _ in 0..3 {
        app.update();
    }
    let expected = ["false in frame 2", "false in frame 3", "false in frame 4"];
    assert_eq!(take_log(&mut app), expected);
    // In the phase of the wait. As a stream, it has ended.
    app.world_mut().start_script(move || async move {
        let late = door.next_event::<Clicked>().in_phase(Phase::LateUpdate);
        assert!(late.await.is_err());
        log(format!(
            "{} in frame {}",
            time().phase.unwrap(),
            time().frame
        ));
        assert!(door.events::<Clicked>().next().await.is_none());
        log("the end");
    });
    app.update();
    let expected = ["false in frame 5", "LateUpdate in frame 5", "the end"];
    assert_eq!(take_log(&mut app), expected);
}

/// The end of an entity, by a script of the same run and by the host.
#[test]
fn despawned() {
    let mut app = app();
    let goblins: Vec<Entity> = (0..2).map(|_| app.world_mut().spawn_empty().id()).collect();
    for goblin in goblins.clone() {
        app.world_mut().start_script(move || async move {
            goblin.despawned().await;
            log(format!("one is gone in frame {}", time().frame));
            goblin.despawned().await; // at once
            log("still gone");
        });
    }
    app.update();
    let first = goblins[0];
    app.world_mut().start_script(move || async move {
        next_frame().await;
        first.despawn().unwrap();
        log("despawned by a script");
    });
    app.update();
    let gone = [
        "despawned by a script",
        "one is gone in frame 2",
        "still gone",
    ];
    assert_eq!(take_log(&mut app), gone);
    app.world_mut().despawn(goblins[1]);
    app.update();
    assert_eq!(take_log(&mut app), ["one is gone in frame 3", "still gone"]);
    assert_eq!(alive(&app), 0);
}

/// Only components are removed: the scripts continue to wait.
#[test]
fn not_despawned() {
    let mut app = app();
    let goblin = app.world_mut().spawn(Health(1)).id();
    let script = app.world_mut().start_script(move || goblin.despawned());
    app.world_mut().entity_mut(goblin).clear();
    app.update();
    assert!(!script.is_finished());
    app.world_mut().despawn(goblin);
    app.update();
    assert!(script.is_finished());
}

/// Changes by a system, by an earlier script, and by a later script of the same run. The
/// waiting script sees the last of these in the next frame.
#[test]
fn changes() {
    let mut app = app();
    let hero = app.world_mut().spawn(Health(10)).id();
    app.world_mut().start_script(move || async move {
        loop {
            if hero.changed::<Health>().await.is_err() {
                log("gone");
                return;
            }
            let health = hero.get(|health: &Health| health.0).unwrap();
            log(format!("{health} in frame {}", time().frame));
        }
    });
    app.update();
    app.update();
    assert_eq!(
        take_log(&mut app),
        [""; 0],
        "it was spawned before the call"
    );

    app.world_mut().get_mut::<Health>(hero).unwrap().0 = 9;
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["9 in frame 3"]);

    // Checked in Update of frame 5, before this script resumes.
    app.world_mut().start_script(move || async move {
        next_frame().await;
        hero.get_mut(|health: &mut Health| health.0 = 8).unwrap();
    });
    app.update();
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["8 in frame 6"]);

    app.world_mut().entity_mut(hero).remove::<Health>();
    app.update();
    assert_eq!(take_log(&mut app), ["gone"]);
}

/// A change in the same poll as the call, before it: not counted. After it: counted.
#[test]
fn changes_from_the_call_on() {
    let mut app = app();
    let hero = app.world_mut().spawn(Health(10)).id();
    let before = app.world_mut().start_script(move || async move {
        hero.get_mut(|health: &mut Health| health.0 = 9).unwrap();
        hero.changed::<Health>().await
    });
    app.update();
    assert!(!before.is_finished());
    let after = app.world_mut().start_script(move || async move {
        let changed = hero.changed::<Health>();
        hero.get_mut(|health: &mut Health| health.0 = 9).unwrap();
        changed.await
    });
    app.update();
    assert!(before.is_finished());
    assert!(after.is_finished());
}

/// A script reads nothing for a second, or four frames, with five messages and events in each.
#[test]
fn a_stream_keeps_as_many_as_the_plugin_says() {
    async fn read_late() {
        let (mut hits, mut alarms) = (messages::<Hit>(), Events::<Alarm>::all());
        wait_seconds(1).await;
        let (first_hit, first_alarm) = (hits.next().await, alarms.next().await);
        let first = (first_hit.unwrap().0, first_alarm.unwrap().0);
        log(format!(
            "{first:?}, missed {} and {}",
            hits.missed(),
            alarms.missed()
        ));
    }

    for (kept, expected) in [
        (10, "(10, 10), missed 10 and 10"),
        (10_000, "(0, 0), missed 0 and 0"),
    ] {
        let mut app = super::app_with(FramestepPlugin::default().keep_events(kept));
        app.add_message::<Hit>();
        app.update();
        app.world_mut().start_script(read_late);
        let mut next = 0..25;
        for _ in 0..5 {
            for number in next.by_ref().take(5) {
                app.world_mut().write_message(Hit(number));
                app.world_mut().trigger(Alarm(number));
            }
            app.update();
        }
        assert_eq!(take_log(&mut app), [expected], "{kept}");
    }
}

#[test]
#[should_panic(expected = "a stream must keep one event at least")]
fn a_stream_that_keeps_nothing_is_refused() {
    let _ = FramestepPlugin::default().keep_events(0);
}
