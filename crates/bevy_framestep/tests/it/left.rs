//! `next_message` and `next_event` in a loop: what comes in one run is read one after the
//! other.

use bevy_app::App;
use bevy_framestep::prelude::*;
use bevy_framestep::run_scripts;

use super::waits::{Alarm, Clicked, Hit, app_with_hits};
use super::{app, log, take_log};

fn write(app: &mut App, hits: impl IntoIterator<Item = u32>) {
    app.world_mut()
        .write_message_batch(hits.into_iter().map(Hit));
}

#[test]
fn a_loop_gets_all_messages_of_a_run() {
    let mut app = app_with_hits();
    app.world_mut().start_script(|| async {
        loop {
            let Hit(points) = next_message::<Hit>().await;
            log(format!("{points} in frame {}", time().frame));
        }
    });
    write(&mut app, 1..=3);
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["1 in frame 1", "2 in frame 1", "3 in frame 1"]
    );
    app.update();
    write(&mut app, [4]);
    app.update();
    write(&mut app, [5, 6]);
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["4 in frame 3", "5 in frame 4", "6 in frame 4"]
    );
}

/// Each script has its own place, whatever the other reads.
#[test]
fn scripts_do_not_take_from_each_other() {
    let mut app = app_with_hits();
    for (name, rounds) in [("first", 1), ("all", 9)] {
        app.world_mut().start_script(move || async move {
            for _ in 0..rounds {
                let Hit(points) = next_message::<Hit>().await;
                log(format!("{name}: {points}"));
            }
        });
    }
    write(&mut app, 1..=3);
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["first: 1", "all: 1", "all: 2", "all: 3"]
    );
}

/// A wait in between ends the place: what comes meanwhile is missed, and so is the rest.
#[test]
fn what_is_left_is_forgotten_at_the_end_of_the_run() {
    let mut app = app_with_hits();
    app.world_mut().start_script(|| async {
        loop {
            let Hit(points) = next_message::<Hit>().await;
            log(format!("{points}"));
            wait_frames(2).await;
        }
    });
    write(&mut app, [1, 2]);
    app.update();
    write(&mut app, [3]);
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["1"]);
    write(&mut app, [4]);
    app.update();
    assert_eq!(take_log(&mut app), ["4"]);
}

/// The place belongs to the script and the message, not to the phase of the wait.
#[test]
fn each_wait_has_its_own_phase() {
    let mut app = app_with_hits();
    app.world_mut().start_script(|| async {
        for phase in [Phase::Update, Phase::Update, Phase::LateUpdate] {
            let Hit(points) = next_message::<Hit>().in_phase(phase).await;
            log(format!("{points} in {:?}", time().phase.unwrap()));
        }
    });
    write(&mut app, 1..=3);
    app.update();
    assert_eq!(
        take_log(&mut app),
        ["1 in Update", "2 in Update", "3 in LateUpdate"]
    );
}

/// Those that are counted while they wait are dropped with their wait.
#[test]
fn a_wait_that_is_dropped_loses_what_it_has_not_returned() {
    let mut app = app_with_hits();
    app.world_mut().start_script(|| async {
        let (mut a, b) = (messages::<Hit>(), next_message::<Hit>());
        a.next().await;
        drop(b);
        let Hit(points) = next_message().await;
        log(format!("{points}"));
    });
    write(&mut app, 1..=2);
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    write(&mut app, [3]);
    app.update();
    assert_eq!(take_log(&mut app), ["3"]);
}

#[test]
fn a_loop_gets_all_events() {
    let mut app = app();
    app.world_mut().start_script(|| async {
        loop {
            let Alarm(number) = next_event::<Alarm>().await;
            log(format!("alarm {number} in frame {}", time().frame));
        }
    });
    let door = app.world_mut().spawn_empty().id();
    app.world_mut().start_script(move || async move {
        while let Ok(clicked) = door.next_event::<Clicked>().await {
            log(format!(
                "button {} in frame {}",
                clicked.button,
                time().frame
            ));
        }
        log("gone");
    });
    for number in 1..=2 {
        app.world_mut().trigger(Alarm(number));
        app.world_mut().trigger(Clicked {
            entity: door,
            button: number,
        });
    }
    app.world_mut().despawn(door);
    run_scripts(app.world_mut(), Phase::Update);
    assert_eq!(
        take_log(&mut app),
        [
            "alarm 1 in frame 0",
            "alarm 2 in frame 0",
            "button 1 in frame 0",
            "button 2 in frame 0",
            "gone"
        ]
    );
}
