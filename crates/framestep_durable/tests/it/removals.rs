//! `or_closed`: waits for a signal or a watch whose entity may be gone, in both worlds.

use framestep_durable::prelude::*;
use framestep_durable::{OrClosed, WaitSignal};

const HIT: Signal<u32> = signal("hit");
const LIFE: Watch<u32> = watch("life", || 3);

type Log = Vec<String>;

fn log(what: &impl std::fmt::Debug) {
    let line = format!("{what:?} in {}", time().frame);
    with(move |log: &mut Log| log.push(line));
}

/// The waits of a script of the orc.
async fn watches(orc: u32) {
    let hits = async {
        let mut hits = HIT.keyed(orc).subscribe().or_closed();
        let mut sum = 0;
        while let Some(hit) = hits.next().await {
            sum += hit;
            wait_frames(2).await;
        }
        log(&("hits", sum));
    };
    join!(hits, hears(orc + 1));
    // Of the next orc of this number.
    let big = HIT.keyed(orc).wait_for(|hit| *hit > 5).or_closed();
    let (big, life) = join!(big, LIFE.keyed(orc).changed().or_closed());
    log(&("next", big, life));
    let dead = LIFE.keyed(orc).wait_for(|life| *life == 0).or_closed();
    log(&("dead", dead.await));
    let mut lives = LIFE.keyed(orc).subscribe().or_closed();
    log(&("lives", lives.next().await, lives.next().await));
}

async fn hears(orc: u32) {
    let hit: OrClosed<WaitSignal<u32>> = HIT.keyed(orc).wait().or_closed();
    log(&("hears", hit.await));
}

#[durable]
async fn orc(number: u32) {
    watches(number).await;
}

#[durable]
async fn friend(orc: u32) {
    hears(orc).await;
}

#[durable]
async fn removes(number: u32) {
    wait_frames(2).await;
    HIT.keyed(number).remove();
    LIFE.keyed(number).remove();
}

fn frame(at: u32) {
    match at {
        1 => HIT.keyed(1).emit(2),
        3 => {
            HIT.keyed(1).emit(3);
            HIT.keyed(1).remove();
            HIT.keyed(2).remove();
        }
        6 => {
            HIT.keyed(1).emit(4);
            HIT.keyed(1).emit(6);
            LIFE.keyed(1).set(2);
        }
        8 => {
            LIFE.keyed(1).set(0);
            LIFE.keyed(1).remove();
        }
        9 => LIFE.keyed(1).set(1),
        10 => {
            LIFE.keyed(1).remove();
        }
        _ => {}
    }
}

const FRAMES: u32 = 11;

fn runtime() -> Runtime {
    Runtime::new(Registry::new().script(orc).script(friend).script(removes))
}

fn plain() -> Log {
    let mut executor = framestep::Executor::new();
    let mut log = Log::new();
    let script = executor.start(watches(1));
    for at in 1..=FRAMES {
        executor.enter(|| frame(at));
        executor.run_frame_with(&mut log, 0.1);
    }
    assert!(script.is_finished());
    log
}

#[test]
fn a_wait_ends_with_the_removal_in_the_same_frames_in_both_worlds() {
    let expected = plain();
    assert_eq!(
        expected,
        [
            "(\"hears\", Err(Closed)) in 3",
            "(\"hits\", 5) in 5",
            "(\"next\", Ok(6), Ok(2)) in 6",
            "(\"dead\", Err(Closed)) in 8",
            "(\"lives\", Some(1), None) in 10",
        ]
    );
    let (mut runtime, mut log) = (runtime(), Log::new());
    runtime.start(orc(1)).detach();
    for at in 1..=FRAMES {
        runtime.enter(|| frame(at));
        runtime.run_frame_with(&mut log, 0.1);
    }
    assert_eq!(log, expected);
}

#[test]
fn it_is_saved_in_the_middle() {
    let (mut now, mut log) = (runtime(), Log::new());
    now.start(orc(1)).detach();
    for at in 1..=FRAMES {
        let file = now.save().unwrap().to_bytes();
        now = runtime();
        let save = SaveState::from_bytes(&file).unwrap();
        now.restore(&save, Policy::Fail).unwrap();
        now.enter(|| frame(at));
        now.run_frame_with(&mut log, 0.1);
    }
    assert!(now.scripts().is_empty());
    assert_eq!(log, plain());
}

#[test]
fn a_script_that_is_restored_removes_nothing_again() {
    let (mut now, mut log) = (runtime(), Log::new());
    now.start(removes(4)).detach();
    now.start(friend(4)).detach();
    for _ in 0..3 {
        now.run_frame_with(&mut log, 0.1);
    }
    assert_eq!(log, ["(\"hears\", Err(Closed)) in 2"]);
    now.start(removes(4)).detach();
    now.start(friend(4)).detach();
    let file = now.save().unwrap().to_bytes();
    let mut again = runtime();
    let save = SaveState::from_bytes(&file).unwrap();
    again.restore(&save, Policy::Fail).unwrap();
    again.run_frame_with(&mut log, 0.1);
    assert_eq!((log.len(), again.scripts().len()), (1, 2));
    again.run_frame_with(&mut log, 0.1);
    assert_eq!((log.len(), again.scripts().len()), (2, 0));
}
