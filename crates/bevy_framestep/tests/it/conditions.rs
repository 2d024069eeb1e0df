//! Waits for conditions on the world.

use std::cell::Cell;
use std::panic::panic_any;
use std::rc::Rc;

use bevy_app::{FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;

use super::{alive, app, app_with, log, take_log};

#[derive(Resource, Default)]
struct Gold(u32);

fn gold(app: &mut bevy_app::App) -> Mut<'_, Gold> {
    app.world_mut().resource_mut::<Gold>()
}

/// It is checked from the next run on, even if it holds already, and sees what systems of the
/// same frame have done.
#[test]
fn from_the_next_run_on() {
    let mut app = app();
    app.insert_resource(Gold(10));
    app.add_systems(Update, |mut gold: ResMut<Gold>| gold.0 += 10);
    for wanted in [10, 30] {
        app.world_mut().start_script(move || async move {
            wait_until_world(move |world| world.resource::<Gold>().0 >= wanted).await;
            log(format!("{wanted} in frame {}", time().frame));
            wait_until_world(|_| true).await;
            log(format!("and in frame {}", time().frame));
        });
    }
    assert_eq!(take_log(&mut app), [""; 0]);
    app.update();
    assert_eq!(take_log(&mut app), ["10 in frame 1"]);
    app.update();
    assert_eq!(take_log(&mut app), ["30 in frame 2", "and in frame 2"]);
    app.update();
    assert_eq!(take_log(&mut app), ["and in frame 3"]);
}

/// Two scripts wait for the same gold, which is enough for one.
#[test]
fn it_still_holds_when_the_script_resumes() {
    let mut app = app();
    app.init_resource::<Gold>();
    for name in ["first", "second"] {
        app.world_mut().start_script(move || async move {
            wait_until_world(|world| world.resource::<Gold>().0 >= 30).await;
            resource_mut(|gold: &mut Gold| gold.0 -= 30);
            log(format!("{name} in frame {}", time().frame));
        });
    }
    gold(&mut app).0 = 30;
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["first in frame 1"]);
    gold(&mut app).0 = 30;
    app.update();
    assert_eq!(take_log(&mut app), ["second in frame 3"]);
    assert_eq!(alive(&app), 0);
}

/// In the home phase: here in the second of two steps.
#[test]
fn in_the_fixed_phase() {
    let mut app = app();
    app.init_resource::<Gold>();
    app.add_systems(FixedUpdate, |mut gold: ResMut<Gold>| gold.0 += 1);
    app.world_mut().start_script(|| async {
        script("").in_phase(Phase::FixedUpdate).start(async {
            fixed_update().await;
            let steps = resource(|gold: &Gold| gold.0);
            wait_until_world(move |world| world.resource::<Gold>().0 > steps).await;
            let phase = time().phase;
            log(format!("{phase:?} {}", resource(|gold: &Gold| gold.0)));
        });
    });
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["Some(FixedUpdate) 2"]);
}

/// Polled for something else in another phase, it is still checked in the home phase.
#[test]
fn it_is_checked_in_the_home_phase() {
    let mut app = app();
    app.init_resource::<Gold>();
    app.world_mut().start_script(|| async {
        let mut rich = wait_until_world(|world| world.resource::<Gold>().0 > 0);
        select! {
            () = &mut rich => unreachable!(),
            () = in_phase(Phase::LateUpdate) => {}
        }
        rich.await;
        log(format!("{:?} of frame {}", time().phase, time().frame));
    });
    app.update();
    gold(&mut app).0 = 1;
    app.update();
    assert_eq!(take_log(&mut app), ["Some(Update) of frame 2"]);
}

/// If the wait is dropped or its script stopped, the condition is dropped at once and never
/// checked again.
#[test]
fn dropped() {
    let mut app = app();
    let asked = Rc::new(Cell::new(0));
    let condition = || {
        let asked = asked.clone();
        move |_: &World| {
            asked.set(asked.get() + 1);
            false
        }
    };
    let waits = wait_until_world(condition());
    let stopped = app.world_mut().start_script(|| waits);
    let waits = timeout(0.25, wait_until_world(condition()));
    app.world_mut().start_script(|| async move {
        assert!(waits.await.is_err());
        log("timed out");
    });
    app.update();
    assert_eq!(asked.get(), 2);
    stopped.stop();
    assert_eq!(Rc::strong_count(&asked), 2);
    app.update();
    assert_eq!(take_log(&mut app), ["timed out"]);
    assert_eq!(Rc::strong_count(&asked), 1);
    let last = asked.get();
    app.update();
    assert_eq!(asked.get(), last);
}

/// A paused script does not continue. It checks again when it is resumed.
#[test]
fn paused() {
    let mut app = app();
    app.init_resource::<Gold>();
    let script = app.world_mut().start_script(|| async {
        wait_until_world(|world| world.resource::<Gold>().0 > 0).await;
        log(format!("frame {}", time().frame));
    });
    script.pause();
    gold(&mut app).0 = 1;
    app.update();
    gold(&mut app).0 = 0;
    script.resume();
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    gold(&mut app).0 = 1;
    app.update();
    assert_eq!(take_log(&mut app), ["frame 4"]);
}

/// A condition that panics ends its script. The others are still checked.
#[test]
fn panics() {
    let mut app = app_with(FramestepPlugin::default().on_report(|_| {}));
    app.world_mut()
        .start_script(|| wait_until_world(|_| panic!("a bad condition")));
    app.world_mut().start_script(|| async {
        wait_until_world(|_| true).await;
        log("the other");
    });
    app.update();
    assert_eq!(take_log(&mut app), ["the other"]);
    assert_eq!(alive(&app), 0);
}

/// What a condition panics with may panic itself when it is dropped. The script ends, and no
/// other condition is lost.
#[test]
fn panics_in_a_destructor() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("a bad destructor");
        }
    }
    let mut app = app_with(FramestepPlugin::default().on_report(|_| {}));
    app.world_mut()
        .start_script(|| wait_until_world(|_| panic_any(PanicsOnDrop)));
    app.world_mut().start_script(|| async {
        wait_until_world(|_| true).await;
        log("the other");
    });
    app.update();
    assert_eq!(take_log(&mut app), ["the other"]);
    assert_eq!(alive(&app), 0);
}

/// The free functions work in a condition, even when it is first checked in a run. It is
/// checked once in each run in which it does not hold.
#[test]
fn free_functions() {
    let mut app = app();
    let hero = app.world_mut().spawn_empty().id();
    let asked = Rc::new(Cell::new(0));
    let count = asked.clone();
    app.world_mut().start_script(move || async move {
        wait_until_world(move |_| {
            count.set(count.get() + 1);
            time().frame >= 3 && hero.exists()
        })
        .await;
        log(format!("frame {}", time().frame));
    });
    app.update();
    app.update();
    assert_eq!(asked.get(), 2);
    app.update();
    assert_eq!(take_log(&mut app), ["frame 3"]);
}

/// A condition that stops its own script.
#[test]
fn stops_itself() {
    let mut app = app();
    let id = Rc::new(Cell::new(None));
    let own = id.clone();
    let script = app.world_mut().start_script(move || {
        wait_until_world(move |world| {
            let framestep = world.non_send::<bevy_framestep::Framestep>();
            framestep.handle().stop(own.get().unwrap())
        })
    });
    id.set(Some(script.id()));
    app.update();
    assert!(script.is_finished());
    app.update();
    assert_eq!(Rc::strong_count(&id), 1);
}

/// It is checked when the wait begins and when the resource has changed, and not in between.
#[test]
fn a_condition_on_a_resource_is_checked_when_that_changes() {
    let mut app = app();
    app.init_resource::<Gold>();
    let checks = Rc::new(Cell::new(0));
    let counted = checks.clone();
    app.world_mut().start_script(move || async move {
        wait_until_resource(move |gold: &Gold| {
            counted.set(counted.get() + 1);
            gold.0 >= 30
        })
        .await;
        log(format!("rich in frame {}", time().frame));
    });
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(checks.take(), 1);
    gold(&mut app).0 = 20;
    for _ in 0..3 {
        app.update();
    }
    // A tick is compared with the one before it, so a change may be seen twice.
    assert!((1..=2).contains(&checks.take()));
    gold(&mut app).0 = 30;
    app.update();
    assert_eq!(take_log(&mut app), ["rich in frame 7"]);
    assert_eq!(checks.take(), 2); // and once more in the turn of the script
}

/// By a script, in the run in which the condition has been checked before; in another phase; and of a
/// resource that is replaced.
#[test]
fn no_change_of_a_resource_is_missed() {
    let mut app = app();
    app.init_resource::<Gold>();
    for phase in [Phase::EarlyUpdate, Phase::Update, Phase::LateUpdate] {
        let wait = move |least: u32| wait_until_resource(move |gold: &Gold| gold.0 >= least);
        app.world_mut().start_script(move || async move {
            for least in 1..=4 {
                wait(least).in_phase(phase).await;
                log(format!("{least} in {phase} of frame {}", time().frame));
            }
        });
    }
    app.world_mut().start_script(|| async {
        wait_frames(2).await;
        resource_mut(|gold: &mut Gold| gold.0 = 1);
    });
    app.update();
    app.update();
    let expected = ["1 in LateUpdate of frame 2"];
    assert_eq!(take_log(&mut app), expected);
    app.update();
    let expected = ["1 in EarlyUpdate of frame 3", "1 in Update of frame 3"];
    assert_eq!(take_log(&mut app), expected);
    app.insert_resource(Gold(2));
    app.update();
    assert_eq!(take_log(&mut app).len(), 3);
    app.world_mut().remove_resource::<Gold>();
    app.insert_resource(Gold(4));
    app.update();
    app.update();
    assert_eq!(take_log(&mut app).len(), 6);
}

#[test]
fn a_resource_that_is_missing_panics_in_the_script() {
    let mut app = app();
    let script = app
        .world_mut()
        .start_script(|| wait_until_resource(|gold: &Gold| gold.0 > 0));
    app.update();
    let error = script.take_output().unwrap().unwrap_err().to_string();
    assert!(
        error.contains("the world has no resource `it::conditions::Gold`"),
        "{error}"
    );
    // One that vanishes while a script waits.
    app.init_resource::<Gold>();
    let script = app
        .world_mut()
        .start_script(|| wait_until_resource(|gold: &Gold| gold.0 > 0));
    app.update();
    assert!(!script.is_finished());
    app.world_mut().remove_resource::<Gold>();
    app.update();
    assert!(script.is_finished());
}

/// Waits that begin and are given up in each frame leave nothing, though the resource never changes
/// and no list is visited.
#[test]
fn waits_that_are_given_up_leave_nothing() {
    let alive_closures = Rc::new(());
    let mut app = app();
    app.init_resource::<Gold>();
    let held = alive_closures.clone();
    app.world_mut().start_script(move || async move {
        loop {
            let held = held.clone();
            select! {
                () = wait_until_resource(move |gold: &Gold| gold.0 as usize > Rc::strong_count(&held)) => {}
                () = next_frame() => {}
            }
        }
    });
    for _ in 0..200 {
        app.update();
    }
    assert!(Rc::strong_count(&alive_closures) <= 4);
}
