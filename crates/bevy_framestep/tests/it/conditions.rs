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
