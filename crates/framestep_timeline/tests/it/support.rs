//! Games to record.

use std::fmt::Write as _;

use framestep::prelude::*;
use framestep_timeline::{Film, Recorder};

/// An executor that is recorded.
pub(crate) fn recorded() -> (Executor, Recorder) {
    let executor = Executor::builder().fixed_delta(0.25).inspect(true).build();
    let recorder = Recorder::new();
    recorder.watch(&executor);
    (executor, recorder)
}

/// A scene with all kinds of waits, several owners, signals, joins and a pause.
pub(crate) fn scene() -> Film {
    let (mut executor, recorder) = recorded();
    let lever = Signal::<()>::new().named("lever");
    let keys = Semaphore::new(1).named("keys");
    let heroes = executor.owner().named("heroes");
    let level = executor.owner().named("level");
    let pulled = lever.clone();
    let key = keys.clone();
    heroes.script("hero").start(async move {
        drop(script("line").start(wait_seconds(0.5)).await);
        pulled.emit(());
        let _key = key.acquire().await;
        wait_frames(3).await;
    });
    let waits = lever.clone();
    level.script("gate").start(async move {
        waits.wait().await;
        fixed_update().await;
        end_of_frame().await;
        let _key = keys.acquire().await;
        let _ = timeout(1, std::future::pending::<()>()).await;
    });
    let archer = level.script("archer").start(wait_seconds(1)).id();
    let camera = executor.script("camera").start(async {
        loop {
            in_phase(Phase::LateUpdate).await;
        }
    });
    executor.script("lost").start(std::future::pending::<()>());
    for frame in 1..=16 {
        match frame {
            3 => drop(executor.pause(archer)),
            6 => drop(executor.resume(archer)),
            10 => drop(executor.stop(camera.id())),
            14 => executor.enter(|| lever.emit(())),
            _ => {}
        }
        executor.run_frame(0.25);
    }
    recorder.film()
}

/// Many scripts of several owners.
pub(crate) fn crowd(owners: usize, scripts: usize) -> Film {
    let (mut executor, recorder) = recorded();
    let mut kept = Vec::new();
    for number in 0..owners {
        let owner = executor.owner().named(format!("squad {number}"));
        for number in 0..scripts {
            let frames = 1 + (number % 7) as u64;
            owner.script(format!("soldier {number}")).start(async move {
                loop {
                    wait_frames(frames).await;
                }
            });
        }
        kept.push(owner);
    }
    executor.run_frames(20, 0.25);
    recorder.film()
}

/// The message of a panic.
pub(crate) fn message(run: impl FnOnce()) -> String {
    let payload =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
    }
}

/// A text in which places of this file have neither a folder nor a column: `_:12`.
pub(crate) fn plain(file: &str, text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split(file).enumerate() {
        let column = part.strip_prefix(':').and_then(|rest| rest.split_once(':'));
        match column.filter(|_| at > 0) {
            Some((line, rest)) => {
                let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
                let _ = write!(out, "_:{line}{rest}");
            }
            None => out.push_str(part),
        }
    }
    out
}
