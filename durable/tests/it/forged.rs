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
    let below = runtime.child_owner(top);
    runtime.owner();
    let clock = runtime.child_clock(ClockId::GAME);
    runtime.child_clock(clock);
    runtime.start_on(below, Counts).detach();
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

/// Takes a guard of each kind.
#[durable]
async fn holds() {
    let _guards = (clock().hold(), clock().scaled(0.5), clock().scaled(0.25));
    wait_frames(1).await;
}

#[test]
fn guards_that_no_clock_can_have_are_an_error() {
    let registry = || Registry::new().with::<Holds>();
    let runtime = Runtime::new(registry());
    runtime.child_clock(ClockId::GAME);
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
