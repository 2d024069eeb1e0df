//! Files with a right checksum whose content cannot be true: an error, or a runtime that works.

use framestep_durable::prelude::*;
use serde_json::Value as Json;

/// Counts in the world, once in each frame.
#[derive(Serialize, Deserialize)]
struct Counts;

impl DurableScript for Counts {
    const NAME: &'static str = "counts";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..50 {
            next_frame().await;
            with(|count: &mut u32| *count += 1);
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Counts>())
}

fn saved() -> Json {
    let mut runtime = blank();
    let top = runtime.owner();
    let below = runtime.enter(|| top.child());
    runtime.owner();
    let clock = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| clock.child());
    runtime.enter(|| below.start(Counts)).detach();
    let mut count = 0_u32;
    for _ in 0..3 {
        runtime.run_frame_with(&mut count, 0.03);
    }
    serde_json::to_value(runtime.save_state().unwrap()).unwrap()
}

/// Restores a file with this content.
fn restored(json: Json) -> Result<Runtime, RestoreError> {
    let save: SaveState = serde_json::from_value(json).map_err(|_| RestoreError::Damaged)?;
    let mut runtime = blank();
    runtime.restore(&SaveState::from_bytes(&save.to_bytes())?, Policy::Fail)?;
    Ok(runtime)
}

fn assert_damaged(json: Json) {
    assert_eq!(restored(json).map(drop), Err(RestoreError::Damaged));
}

#[test]
fn owners_out_of_order_are_an_error() {
    let mut json = saved();
    json["owners"][1]["id"] = 0.into();
    assert_damaged(json);
    let mut json = saved();
    json["owners"].as_array_mut().unwrap().swap(1, 2);
    assert_damaged(json);
}

#[test]
fn owners_in_a_ring_are_an_error() {
    // The second of two owners of one number is below the first one, which is lost.
    let mut json = saved();
    let mut twin = json["owners"][0].clone();
    twin["parent"] = twin["id"].clone();
    json["owners"].as_array_mut().unwrap().insert(1, twin);
    assert_damaged(json);
    let mut json = saved();
    json["owners"][0]["parent"] = json["owners"][1]["id"].clone();
    assert_damaged(json);
}

#[test]
fn a_script_that_has_not_begun_has_neither_entries_nor_waits() {
    let mut json = saved();
    json["scripts"][0]["has_begun"] = false.into();
    assert_damaged(json);
}

#[test]
fn a_clock_that_was_read_in_another_frame_is_an_error() {
    let json = saved();
    let numbers = json["clocks"].as_array().unwrap();
    // The executor's own number of the frame, and those of the two clocks.
    let of_frame = (0..numbers.len()).filter(|&at| numbers[at] == 3);
    let of_frame: Vec<usize> = of_frame.collect();
    assert!(of_frame.len() >= 3, "{numbers:?}");
    for at in of_frame {
        let mut json = json.clone();
        json["clocks"][at] = 4.into();
        assert_damaged(json);
    }
}

#[test]
fn a_site_that_is_not_in_the_table_is_an_error() {
    for table in ["files", "names", "sites"] {
        let mut json = saved();
        json["sites"][table].as_array_mut().unwrap().pop();
        assert_damaged(json);
    }
}

#[test]
fn sites_that_no_script_needs_are_forgotten() {
    let mut json = saved();
    let files = json["sites"]["files"].as_array_mut().unwrap();
    files.extend((0..20_000).map(|number| Json::from(format!("{number}.rs"))));
    let runtime = restored(json).unwrap();
    let usual = restored(saved()).unwrap();
    assert_eq!(
        runtime.save_state().unwrap().to_bytes(),
        usual.save_state().unwrap().to_bytes()
    );
}

const BELL: Signal<u32> = signal("bell");
const STAGE: Watch<u32> = watch("stage", Default::default);
const SEATS: Semaphore = semaphore("seats", 1);

/// Waits for all kinds of events.
#[durable]
async fn waits() {
    let (_resolver, answer) = promise::<u32>("answer");
    let mut bells = BELL.subscribe();
    let _seat = SEATS.acquire().await;
    let _ = join!(
        answer,
        bells.next(),
        BELL.wait(),
        STAGE.changed(),
        SEATS.acquire(),
        wait_seconds(0.2),
    );
}

fn with_events() -> Runtime {
    let runtime = Runtime::new(Registry::new().script(waits));
    for _ in 0..3 {
        runtime.start(waits()).detach();
    }
    runtime.named(&STAGE).set(1);
    runtime
}

/// Each number in a value, by the path to it.
fn numbers(json: &Json, path: &str, found: &mut Vec<String>) {
    match json {
        Json::Number(_) => found.push(path.to_owned()),
        Json::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, item)| numbers(item, &format!("{path}/{at}"), found));
        }
        Json::Object(items) => {
            let items = items.iter();
            items.for_each(|(key, item)| numbers(item, &format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn events_with_impossible_numbers_are_an_error_or_a_runtime_that_works() {
    let json = serde_json::to_value(with_events().save_state().unwrap()).unwrap();
    let mut paths = Vec::new();
    for part in [
        "signals",
        "streams",
        "values",
        "permits",
        "promises",
        "last_ticket",
    ] {
        numbers(&json[part], &format!("/{part}"), &mut paths);
    }
    for (at, script) in json["scripts"].as_array().unwrap().iter().enumerate() {
        numbers(
            &script["waits"],
            &format!("/scripts/{at}/waits"),
            &mut paths,
        );
    }
    let (mut errors, mut works) = (0, 0);
    for path in &paths {
        for number in [0, 1, 2, 3, 7, 255] {
            let mut json = json.clone();
            *json.pointer_mut(path).unwrap() = number.into();
            let Ok(save) = serde_json::from_value::<SaveState>(json) else {
                errors += 1;
                continue;
            };
            let _ = save.to_string();
            let mut runtime = Runtime::new(Registry::new().script(waits));
            if runtime.restore(&save, Policy::Fail).is_err() {
                errors += 1;
                continue;
            }
            works += 1;
            for bell in 0..3 {
                runtime.named(&BELL).emit(bell);
                runtime.named(&STAGE).set(bell);
                runtime.run_frame(0.1);
                let again = runtime.save_state().unwrap();
                runtime.rollback(&again).unwrap();
                let bytes = SaveState::from_bytes(&again.to_bytes()).unwrap();
                let mut other = Runtime::new(Registry::new().script(waits));
                if other.restore(&bytes, Policy::Fail).is_ok() {
                    assert_eq!(other.save_state().unwrap().checksum(), again.checksum());
                }
            }
            for (id, _) in runtime.scripts() {
                runtime.enter(|| stop(id));
            }
            assert!(runtime.holders(&SEATS).is_empty(), "{path} {number}");
            let text = runtime.save_state().unwrap().to_string();
            for kept in ["promise", "subscription", "signal", "permits"] {
                assert!(!text.contains(kept), "{path} {number}: {text}");
            }
        }
    }
    assert!(errors > 100 && works > 100, "{errors} errors, {works} work");
}

#[test]
fn events_of_scripts_that_are_not_there_or_out_of_order_are_an_error() {
    let json = || serde_json::to_value(with_events().save_state().unwrap()).unwrap();
    let restored = |json: Json| {
        let save: SaveState = serde_json::from_value(json).unwrap();
        let mut runtime = Runtime::new(Registry::new().script(waits));
        runtime.restore(&save, Policy::Fail).map(drop)
    };
    assert_eq!(restored(json()), Ok(()));
    let changes: [fn(&mut Json); 9] = [
        |json| json["asked"] = serde_json::json!([9]),
        |json| json["streams"][0][0][0] = 9.into(),
        |json| json["promises"][0][0][0] = 9.into(),
        |json| json["permits"][0]["held"][0][0][0] = 9.into(),
        |json| json["streams"].as_array_mut().unwrap().swap(0, 1),
        |json| json["promises"].as_array_mut().unwrap().swap(0, 1),
        |json| json["signals"][0][1].as_array_mut().unwrap().swap(0, 1),
        |json| json["permits"][0]["count"] = 2.into(),
        |json| {
            let twin = json["permits"][0].clone();
            json["permits"].as_array_mut().unwrap().push(twin);
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut json = json();
        change(&mut json);
        assert_eq!(restored(json), Err(RestoreError::Damaged), "change {at}");
    }
}

/// Takes a guard of each kind.
#[durable]
async fn holds() {
    let _guards = (
        clock().pause_guard(),
        clock().scaled(0.5),
        clock().scaled(0.25),
    );
    wait_frames(1).await;
}

#[test]
fn guards_that_no_clock_can_have_are_an_error() {
    let registry = || Registry::new().script(holds);
    let runtime = Runtime::new(registry());
    runtime.enter(|| ClockId::GAME.child());
    runtime.start(holds()).detach();
    let saved = serde_json::to_value(runtime.save_state().unwrap()).unwrap();
    let load = |json: &Json| {
        let save: SaveState = serde_json::from_value(json.clone()).unwrap();
        let mut runtime = Runtime::new(registry());
        runtime.restore(&save, Policy::Fail).map(|_| runtime)
    };
    assert!(load(&saved).is_ok());
    let damaged: [fn(&mut Json); 9] = [
        |guards| guards[0]["number"] = 9.into(),
        |guards| guards[1]["number"] = 1.into(),
        |guards| guards[0]["clock"] = 1.into(),
        |guards| guards[0]["clock"] = 3.into(),
        // The guards of another clock: then this one has another speed than its readings say.
        |guards| guards[0]["clock"] = 2.into(),
        |guards| guards[1]["factor"][0] = f64::NAN.to_bits().into(),
        |guards| guards[1]["factor"][0] = (-1.0_f64).to_bits().into(),
        |guards| guards[1]["factor"][1] = guards[2]["factor"][1].clone(),
        |guards| guards[1]["factor"][1] = u64::MAX.into(),
    ];
    for (number, change) in damaged.into_iter().enumerate() {
        let mut json = saved.clone();
        change(&mut json["guards"]);
        match load(&json) {
            Err(error) => assert_eq!(error, RestoreError::Damaged, "{number}"),
            Ok(mut runtime) => {
                assert_eq!(number, 4);
                runtime.run_frame(0.1);
                runtime.run_frame(0.1);
                assert!(runtime.save_state().is_ok());
            }
        }
    }
}
