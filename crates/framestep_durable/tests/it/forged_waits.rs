//! Files whose waits are not those of their scripts, or stand in lists of other waits: an error, or a runtime that works.

use framestep_durable::prelude::*;
use serde_json::{Value as Json, json};

#[durable]
async fn sleeps() {
    wait_seconds(5).await;
}

/// Waits for a wait of each kind of list.
#[durable]
async fn waits(sleeper: ScriptId, camp: OwnerId) {
    let _ = join!(
        stop_requested(),
        wait_seconds(0.2),
        wait_frames(3),
        next_frame(),
        sleeper.ended(),
        camp.ended(),
    );
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().script(sleeps).script(waits))
}

/// The first script waits for all of them, the second one for a time.
fn saved() -> Json {
    let runtime = blank();
    let camp = runtime.owner();
    let sleeper = runtime.enter(|| camp.start(sleeps())).id();
    runtime.start(waits(sleeper, camp));
    serde_json::to_value(runtime.save_state().unwrap()).unwrap()
}

fn restored(json: Json) -> Result<Runtime, RestoreError> {
    let save: SaveState = serde_json::from_value(json).map_err(|_| RestoreError::Damaged)?;
    let mut runtime = blank();
    runtime.restore(&save, Policy::Fail)?;
    Ok(runtime)
}

/// The states of the waits of `waits`.
fn slots(json: &mut Json) -> &mut Json {
    &mut json["scripts"][1]["waits"]
}

#[test]
fn numbers_behind_the_end_are_an_error() {
    assert!(restored(saved()).is_ok());
    for part in ["clocks", "waits", "lists"] {
        let mut json = saved();
        json[part].as_array_mut().unwrap().push(0.into());
        let error = restored(json).map(drop).unwrap_err();
        assert_eq!(error, RestoreError::Damaged, "{part}");
    }
}

#[test]
fn a_wait_that_is_for_an_end_on_one_side_only_is_an_error() {
    let (plain, join, owner_end) = (1, 4, 5);
    let is_kind = |json: &Json, at: usize, kind: &str| json[at]["slot"].to_string().contains(kind);
    let kinds = slots(&mut saved()).clone();
    assert!(is_kind(&kinds, plain, "Plain") && is_kind(&kinds, join, "Join"));
    assert!(is_kind(&kinds, owner_end, "OwnerEnd"));
    for (at, slot) in [
        (plain, json!({ "Join": 1 })),
        (plain, json!({ "OwnerEnd": 1 })),
        (join, json!("Plain")),
        (owner_end, json!("Plain")),
        (owner_end, kinds[join]["slot"].clone()),
        (join, kinds[owner_end]["slot"].clone()),
    ] {
        let mut json = saved();
        slots(&mut json)[at]["slot"] = slot.clone();
        let error = restored(json).map(drop).unwrap_err();
        assert_eq!(error, RestoreError::Damaged, "{at} as {slot}");
    }
}

#[test]
fn a_wait_in_a_list_of_others_is_an_error_or_a_runtime_that_works() {
    let count = saved()["lists"].as_array().unwrap().len();
    let waits = saved()["waits"].as_array().unwrap().len();
    let (mut errors, mut works) = (0, 0);
    let changes = (0..count).map(|at| ("lists", at));
    for (part, at) in changes.chain((0..waits).map(|at| ("waits", at))) {
        for number in 0..6 {
            let mut json = saved();
            json[part][at] = number.into();
            let Ok(mut runtime) = restored(json) else {
                errors += 1;
                continue;
            };
            works += 1;
            for _ in 0..8 {
                runtime.run_frame(0.1);
                let save = runtime.save_state().unwrap();
                assert_eq!(runtime.rollback(&save), Ok(()), "{part} {at} {number}");
            }
        }
    }
    assert!(errors > 100 && works > 50, "{errors} errors, {works} work");
}

#[test]
fn a_timer_without_a_deadline_or_on_another_clock_is_in_no_list_of_timers() {
    // The wait of `sleeps` comes first: its kind, when it has begun, the phase, five flags, whether it has a deadline,
    // the clock, the deadline.
    let timer = saved()["waits"].as_array().unwrap()[..11].to_vec();
    assert_eq!((&timer[0], &timer[8]), (&2.into(), &1.into()), "{timer:?}");
    let mut never = saved();
    never["waits"][8] = 0.into();
    never["waits"].as_array_mut().unwrap().drain(9..11);
    assert_eq!(restored(never).map(drop), Err(RestoreError::Damaged));
    let mut elsewhere = saved();
    let clock = timer[9].as_u64().unwrap();
    elsewhere["waits"][9] = (1 - clock).into();
    assert_eq!(restored(elsewhere).map(drop), Err(RestoreError::Damaged));
}

#[test]
fn a_wait_that_gets_the_state_of_another_one_sleeps_and_can_be_saved() {
    let mut json = saved();
    let all = slots(&mut json);
    let (stop, plain) = (all[0]["slot"].clone(), all[1]["slot"].clone());
    (all[0]["slot"], all[1]["slot"]) = (plain, stop);
    let mut runtime = restored(json).unwrap();
    for _ in 0..8 {
        runtime.run_frame(0.1);
        let save = runtime.save_state().unwrap();
        assert_eq!(runtime.rollback(&save), Ok(()));
    }
}
