//! Scripts that know others by their numbers: from a parameter, a state, a save.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use framestep_durable::prelude::*;
use futures::FutureExt;

use crate::sleeps::reread;
use crate::twin::{Game, Log, log, quiet, what};

#[durable]
async fn digs(seconds: f32) -> u32 {
    wait_seconds(seconds).await;
    7
}

#[durable]
async fn breaks(seconds: f32) -> u32 {
    wait_seconds(seconds).await;
    panic!("the shovel breaks");
}

/// A helper that knows neither world: it takes what it joins.
async fn joined<H: Future<Output = Result<u32, E>>, E>(script: Option<H>) -> Option<u32> {
    script?.await.ok()
}

#[durable]
async fn reads(digger: ScriptId) {
    let found = joined(digger.handle()).await;
    log(format!("{found:?} in frame {}", time().frame));
}

#[durable]
async fn sees(digger: ScriptId) {
    digger.ended().await;
    log(format!("over in frame {}", time().frame));
}

/// Gives up, and waits again in another chapter.
#[durable]
async fn looks(digger: ScriptId, round: u32) -> Chapter {
    match timeout(0.3, digger.ended()).await {
        Ok(()) => {
            log(format!("seen in round {round}"));
            Chapter::Done(())
        }
        Err(_) => Chapter::Next(looks(digger, round + 1)),
    }
}

fn blank() -> Runtime {
    let registry = Registry::new().script(digs).script(breaks);
    quiet(registry.script(reads).script(sees).script(looks))
}

/// All that waits for a script, which has no handle beside theirs.
fn begin(runtime: &mut Runtime, digger: ScriptId) {
    runtime.start(reads(digger)).detach();
    runtime.start(sees(digger)).detach();
    runtime.start(looks(digger, 1)).detach();
}

fn frame(_: u32, runtime: &mut Runtime, world: &mut Log) {
    runtime.run_frame_with(world, 0.125);
}

#[test]
fn what_waits_for_a_script_by_its_number_is_saved_loaded_and_rolled_back() {
    let game = Game {
        blank,
        begin: |runtime, _| {
            let digger = runtime.start(digs(0.75)).id();
            begin(runtime, digger);
        },
        frame,
        frames: 9,
    };
    // They resume as joins do: with the end, in the order in which they began.
    let log = ["Some(7) in frame 6", "over in frame 6", "seen in round 3"];
    assert_eq!(what(&game.assert_like_its_twin()), log);
}

#[test]
fn the_end_of_a_script_that_panics_or_is_stopped_is_an_end() {
    let game = Game {
        blank,
        begin: |runtime, _| {
            let digger = runtime.start(breaks(0.25)).id();
            begin(runtime, digger);
            let other = runtime.start(digs(60.0)).id();
            begin(runtime, other);
        },
        frame: |number, runtime, world| {
            if number == 4 {
                runtime.enter(|| stop(ScriptId::from_raw(5)));
            }
            frame(number, runtime, world);
        },
        frames: 7,
    };
    let log = [
        "None in frame 2",
        "over in frame 2",
        "seen in round 1",
        "None in frame 5",
        "over in frame 5",
        "seen in round 2",
    ];
    assert_eq!(what(&game.assert_like_its_twin()), log);
}

#[test]
fn a_script_that_has_ended_or_never_was_is_over_at_once() {
    let (mut runtime, mut log) = (blank(), Log::new());
    let digger = runtime.start(digs(0.0)).id();
    runtime.run_frame_with(&mut log, 0.125);
    assert!(!runtime.is_alive(digger));
    runtime.lend(&mut log, |runtime| {
        begin(runtime, digger);
        begin(runtime, ScriptId::from_raw(1_000));
    });
    let each = ["None in frame 1", "over in frame 1", "seen in round 1"];
    assert_eq!(what(&log), [each, each].concat());
}

#[test]
fn a_handle_by_number_keeps_the_result_in_a_file() {
    let mut runtime = blank();
    let digs = runtime.start(digs(0.25));
    let id = digs.id();
    let mut log = Log::new();
    runtime.start(reads(id)).detach();
    drop(digs); // the handle of the other script keeps its result
    runtime.run_frame_with(&mut log, 0.125);
    let mut other = blank();
    other.restore(&reread(&runtime), Policy::Fail).unwrap();
    other.run_frame_with(&mut log, 0.125);
    assert_eq!(what(&log), ["Some(7) in frame 2"]);
}

#[durable]
async fn awaits_itself() {
    current().ended().await;
}

#[durable]
async fn reads_as_text(digger: ScriptId) -> bool {
    digger.handle::<String>().unwrap().await.is_ok()
}

#[test]
fn bad_calls_say_what_to_do() {
    let registry = Registry::new().script(awaits_itself).script(reads_as_text);
    let mut runtime = quiet(registry.script(digs));
    let itself = runtime.start(awaits_itself());
    let digs = runtime.start(digs(0.25));
    let text = runtime.start(reads_as_text(digs.id()));
    for _ in 0..3 {
        runtime.run_frame(0.125);
    }
    let panic_of = |error: JoinError| match error {
        JoinError::Panicked(text) => text,
        other => panic!("{other}"),
    };
    let itself = panic_of(runtime.take(itself).unwrap().unwrap_err());
    assert!(
        itself.contains("awaits its own end, which would never come"),
        "{itself}"
    );
    let text = panic_of(runtime.take(text).unwrap().unwrap_err());
    assert!(
        text.contains("the result of the script #2 is not a `"),
        "{text}"
    );
    let outside = std::panic::catch_unwind(|| drop(ScriptId::from_raw(1).handle::<u32>()));
    let outside = *outside.unwrap_err().downcast::<String>().unwrap();
    assert!(
        outside.contains("`handle` was called outside of a durable script"),
        "{outside}"
    );
}

/// The same in the plain world: there, a handle is a parameter.
#[test]
fn a_plain_script_takes_the_handle_itself() {
    use framestep::{Coroutine, Executor};

    async fn digs() -> u32 {
        framestep::wait_seconds(0.75).await;
        7
    }

    async fn reads(digger: Coroutine<u32>) -> (Option<u32>, u64) {
        (joined(Some(digger)).await, framestep::time::time().frame)
    }

    let mut executor = Executor::new();
    let digger = executor.start(digs());
    assert_eq!(executor.run_until(reads(digger), 0.125), (Some(7), 6));
}

/// Joins a script that it knows by its number, and tells how that has ended.
#[durable]
async fn tells(digger: ScriptId) {
    let ended = digger.handle::<u32>().unwrap().await;
    log(ended.unwrap_err().to_string());
}

#[durable]
async fn stops(digger: ScriptId) {
    wait_seconds(0.5).await;
    stop(digger);
}

/// A script that had no handle any more, and got one by its number, ends for that like any other, with and without a
/// rollback.
#[test]
fn a_script_that_is_held_again_tells_who_has_stopped_it_and_its_panic_is_joined() {
    let mut told = Vec::new();
    for goes_back in [false, true] {
        let registry = Registry::new().script(digs).script(breaks);
        let mut runtime = Runtime::new(registry.script(tells).script(stops));
        let reports = Rc::new(Cell::new(0));
        let count = Rc::clone(&reports);
        runtime
            .executor()
            .on_report(move |_| count.set(count.get() + 1));
        let mut said: Log = Log::new();
        let digs = runtime.start(digs(9.0)).id();
        let breaks = runtime.start(breaks(0.5)).id();
        runtime.lend(&mut said, |runtime| {
            runtime.run_frame(0.1);
            runtime.start(tells(digs));
            runtime.start(tells(breaks));
            runtime.start(stops(digs));
            for _ in 0..8 {
                if goes_back {
                    let save = runtime.save_state().unwrap();
                    runtime.rollback(&save).unwrap();
                }
                runtime.run_frame(0.1);
            }
        });
        assert_eq!(reports.get(), 0, "the panic is joined");
        told.push(said);
    }
    assert!(told[0].concat().contains("by `stops`"), "{told:?}");
    assert_eq!(told[0], told[1]);
}

/// Catches the panic of a wait for its own end, and goes on.
#[durable]
async fn goes_on() {
    next_frame().await;
    let itself = AssertUnwindSafe(current().ended()).catch_unwind().await;
    assert!(itself.is_err());
    wait_seconds(9).await;
}

/// A journal has the text of a panic that a script has caught: it must be that of each run of the same frames.
#[test]
fn a_wait_for_its_own_end_is_the_same_after_a_rollback() {
    let mut runtime = quiet(Registry::new().script(goes_on));
    runtime.start(goes_on());
    let before = runtime.save_state().unwrap();
    runtime.run_frame(0.1);
    let sum = runtime.checksum().unwrap();
    runtime.rollback(&before).unwrap();
    runtime.run_frame(0.1);
    assert_eq!(runtime.checksum().unwrap(), sum);
}
