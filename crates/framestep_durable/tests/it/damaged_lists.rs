//! Files that are read without a checksum, and contain impossible states.

use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

use crate::sleeps::{Riddle, Sleeps, blank};

/// Formats such as JSON have no checksum.
#[test]
fn numbers_of_a_damaged_file_are_an_error_and_no_panic_in_the_next_frame() {
    let mut runtime = blank();
    runtime.run_frame(0.1);
    let mut json = serde_json::to_value(runtime.save_state().unwrap()).unwrap();
    for list in ["clocks", "lists"] {
        for at in 0..json[list].as_array().unwrap().len() {
            let kept = std::mem::replace(&mut json[list][at], u64::MAX.into());
            let save: SaveState = serde_json::from_value(json.clone()).unwrap();
            json[list][at] = kept;
            let mut other = blank();
            if other.restore(&save, Policy::Fail).is_ok() {
                let frame = catch_unwind(AssertUnwindSafe(|| other.run_frame(0.1)));
                assert!(frame.is_ok(), "number {at} of `{list}`");
            }
        }
    }
}

/// A script with a wait behind another library's waker, of which no save state can be taken.
#[derive(Serialize, Deserialize)]
struct Unsavable;

impl DurableScript for Unsavable {
    const NAME: &'static str = "unsavable";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let mut waits: futures::stream::FuturesUnordered<_> = (1..3).map(wait_frames).collect();
        while futures::StreamExt::next(&mut waits).await.is_some() {}
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Asks;

impl DurableScript for Asks {
    const NAME: &'static str = "asks";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        Chapter::Done(ask(|| Riddle).await)
    }
}

fn everything() -> Runtime {
    let registry = Registry::new().with::<Sleeps>().with::<Unsavable>();
    Runtime::new(registry.with::<Asks>())
}

/// The save state of a runtime with some scripts, with one part changed.
fn changed(part: &str, at: usize, number: u64) -> Option<SaveState> {
    let mut runtime = everything();
    let owner = runtime.enter(|| owner_on(ClockId::GAME));
    let clock = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| owner_on(clock).start(Sleeps)).detach();
    runtime.enter(|| owner.start(Asks)).detach();
    runtime.run_frame(0.1);
    runtime
        .named(&watch::<u32>("stage", Default::default))
        .set(1);
    let mut json = serde_json::to_value(runtime.save_state().unwrap()).unwrap();
    match part {
        "scripts" | "owners" => *json[part].get_mut(at)?.get_mut("id")? = number.into(),
        _ if json[part].is_array() => *json[part].get_mut(at)? = number.into(),
        _ => json[part] = number.into(),
    }
    Some(serde_json::from_value(json).unwrap())
}

const PARTS: [&str; 10] = [
    "ends",
    "clocks",
    "waits",
    "lists",
    "scripts",
    "owners",
    "next_script",
    "next_request",
    "next_owner",
    "last_ticket",
];

#[test]
fn damage_is_found_before_anything_changes() {
    let mut errors = 0;
    for part in PARTS {
        for at in 0.. {
            let Some(save) = changed(part, at, u64::MAX) else {
                break;
            };
            for is_rollback in [true, false] {
                let mut runtime = everything();
                let clock = runtime.enter(|| ClockId::GAME.child());
                let scale = runtime.enter(|| clock.clock());
                let sleeps = runtime.start(Sleeps);
                let unsavable = runtime.start(Unsavable);
                let asks = runtime.start(Asks);
                assert_eq!(runtime.requests::<Riddle>().len(), 1);
                let restored = if is_rollback {
                    runtime.rollback(&save)
                } else {
                    runtime.restore(&save, Policy::Drop).map(drop)
                };
                if restored.is_ok() {
                    continue;
                }
                errors += 1;
                assert_eq!(restored, Err(RestoreError::Damaged));
                assert_eq!(runtime.requests::<Riddle>().len(), 0, "asked twice");
                scale.set_scale(0.5);
                assert!((runtime.enter(|| clock.clock()).scale() - 0.5).abs() < f64::EPSILON);
                for _ in 0..9 {
                    runtime.run_frame(0.1);
                }
                assert_eq!(runtime.take(sleeps), Some(Ok(1)), "{part} {at}");
                assert_eq!(runtime.take(unsavable), Some(Ok(())), "{part} {at}");
                assert!(runtime.is_alive(asks.id()));
            }
            if !["clocks", "waits", "lists", "scripts", "owners"].contains(&part) {
                break;
            }
        }
    }
    assert!(errors > 40, "{errors}");
}

#[test]
fn a_counter_of_a_damaged_file_neither_overflows_nor_gives_a_number_twice() {
    for part in PARTS {
        for number in [0, 1, u64::MAX / 2 - 1, u64::MAX - 1] {
            let mut runtime = everything();
            let save = changed(part, 0, number).unwrap();
            if runtime.restore(&save, Policy::Drop).is_err() {
                continue;
            }
            let used = catch_unwind(AssertUnwindSafe(|| {
                runtime.start(Sleeps).detach();
                runtime.start(Asks).detach();
                runtime.owner();
                runtime
                    .named(&watch::<u32>("stage", Default::default))
                    .set(2);
                for id in runtime.scripts() {
                    runtime.enter(|| pause(id.0));
                    runtime.run_frame(0.1);
                    runtime.enter(|| resume(id.0));
                }
                runtime.save().is_ok()
            }));
            assert!(used.is_ok_and(|saved| saved), "{part} {number}");
        }
    }
}
