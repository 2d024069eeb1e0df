//! What the closures of `with`, conditions, animations and questions do is a part of these: it is
//! done once, and is not recorded by itself.

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

const BELL: Signal<u32> = signal("bell");
const STAGE: Watch<u32> = watch("stage", Default::default);

#[durable]
async fn kid(frames: u64) -> u64 {
    wait_frames(frames).await;
    log(format!("kid of {frames}"));
    frames
}

#[durable]
async fn hears() -> Chapter {
    let bell = BELL.wait().await;
    log(format!("hears {bell} at stage {}", STAGE.get()));
    Chapter::Next(hears())
}

#[derive(Serialize, Deserialize)]
struct Riddle {
    frame: u64,
}

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = u32;
}

/// A line with what a script can read.
fn reads() -> String {
    let lines = with_ref(|log: &Log| log.len());
    format!(
        "{} {} {lines} {}",
        current_name(),
        time().frame,
        delta_seconds() > 0.0
    )
}

#[durable]
async fn does_all_of_it() {
    next_frame().await;
    let read = with(|log: &mut Log| {
        let frame = time().frame;
        log.push(format!("frame {frame} of {}", current_name()));
        start(kid(3));
        spawn(kid(4)).detach();
        BELL.emit(STAGE.update(|stage| {
            *stage += 1;
            *stage
        }));
        (frame, current(), ClockId::GAME.clock().is_paused())
    });
    log(format!("{read:?}"));
    log(with(|_: &mut u32| reads()));
    wait_until(|| time().frame % 5 == 0 && !with_ref(|log: &Log| log.is_empty())).await;
    log(reads());
    let fade = animate(0.4, |share| {
        let line = format!("{share} in frame {} of {}", time().frame, current_name());
        with(|log: &mut Log| log.push(line));
        if share >= 1.0 {
            BELL.emit(99);
        }
    });
    fade.in_phase(Phase::FixedUpdate).await;
    let question = ask(|| {
        with(|log: &mut Log| log.push("asks".into()));
        Riddle {
            frame: time().frame,
        }
    });
    let answer = timeout(0.5, question).await;
    log(format!("{answer:?}"));
}

fn registry() -> Registry {
    Registry::new()
        .script(kid)
        .script(hears)
        .script(does_all_of_it)
}

#[test]
fn effects_in_closures_are_a_part_of_what_calls_them_and_done_once() {
    let game = Game {
        blank: || quiet(registry()),
        begin: |runtime, _: &mut Log| {
            runtime.spawn(hears()).detach();
            runtime.spawn(does_all_of_it()).detach();
        },
        frame: |at, runtime, log| {
            runtime.lend(&mut 7_u32, |runtime| moment(at, runtime, log));
        },
        frames: 14 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let log = what(&log);
    for line in ["kid of 3", "kid of 4", "asks", "hears 1 at stage 1"] {
        let times = log.iter().filter(|other| **other == line).count();
        assert_eq!(times, 1, "{line}: {log:#?}");
    }
    assert!(log.contains(&"hears 99 at stage 1"), "{log:#?}");
}

#[durable]
async fn alarm(number: u32) -> Chapter {
    wait_frames(2).await;
    log(format!("alarm {number}"));
    Chapter::Next(alarm(number))
}

/// Has handles that stop their scripts.
#[durable]
async fn guards() {
    let first = start(alarm(1)).stop_on_drop();
    let second = spawn(alarm(2)).stop_on_drop();
    let third = start(alarm(3)).stop_on_drop();
    wait_frames(3).await;
    drop(first);
    log(format!("paused {}", second.pause()));
    wait_frames(3).await;
    log(format!("resumed {} {}", second.resume(), third.stop()));
    log(format!("stopped {}", third.stop()));
    start(alarm(4)).stop_on_drop().detach();
    wait_frames(5).await;
}

#[test]
fn a_handle_that_stops_on_drop_ends_its_script_with_the_one_that_has_it() {
    let game = Game {
        blank: || quiet(Registry::new().script(alarm).script(guards)),
        begin: |runtime, _: &mut Log| runtime.spawn(guards()).detach(),
        frame: |at, runtime, log| {
            if at == 9 * MOMENTS {
                // In the middle of the last wait.
                assert!(runtime.enter(|| stop(ScriptId::from_raw(1))));
            }
            moment(at, runtime, log);
        },
        frames: 13 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let log = what(&log);
    let last = |line| log.iter().rposition(|other| *other == line).unwrap();
    assert!(last("alarm 1") < last("paused true"), "{log:#?}");
    assert!(last("alarm 3") < last("resumed true true"), "{log:#?}");
    assert!(log.contains(&"stopped false"), "{log:#?}");
    assert_eq!(log.last(), Some(&"alarm 4"), "{log:#?}");
    assert!(log.contains(&"alarm 2"), "{log:#?}");
}

#[test]
fn the_host_stops_with_its_handle_unless_a_restore_came_between() {
    let mut runtime = Runtime::new(Registry::new().script(alarm));
    let kept = runtime.start(alarm(1)).stop_on_drop();
    let dropped = runtime.start(alarm(2)).stop_on_drop();
    drop(dropped);
    assert_eq!(runtime.scripts().len(), 1);
    assert!(kept.pause() && !kept.pause() && kept.resume());
    let save = runtime.save().unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    assert!(!kept.stop(), "it names nothing any more");
    drop(kept);
    assert_eq!(runtime.scripts().len(), 1);
    let again = runtime
        .enter(|| ScriptId::from_raw(1).handle::<()>())
        .unwrap();
    assert!(again.stop());
    assert!(matches!(
        runtime.take(again),
        Some(Err(JoinError::Stopped { .. }))
    ));
}
