//! Signals, values and permits with keys: which are the same, and what is kept for them.

use std::fmt;

use framestep_durable::Key;
use framestep_durable::prelude::*;

const KNOCK: Signal<u32> = signal("knock");
const STAGE: Watch<u32> = watch("stage", Default::default);
const SEATS: Semaphore = semaphore("seats", 1);
/// The stage in another build.
const NAMED_STAGE: Watch<String> = watch("stage", Default::default);

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Door(u64);

impl Key for Door {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        self.0.write(text)
    }
}

#[durable]
async fn listens(door: Door, seconds: f64) -> Option<u32> {
    select! {
        knock = KNOCK.keyed(door).wait() => Some(knock),
        knock = KNOCK.keyed((door, "loud")).wait_for(|knock| *knock > 0) => Some(knock),
        stage = STAGE.keyed(door).changed() => Some(stage),
        _ = wait_seconds(seconds) => None,
    }
}

fn registry() -> Registry {
    Registry::new().script(listens)
}

fn reloaded(runtime: &Runtime) -> Runtime {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = Runtime::new(registry());
    runtime.restore(&save, Policy::Fail).unwrap();
    runtime
}

#[test]
fn an_event_reaches_the_scripts_of_its_key_before_and_after_a_load() {
    let calls: [fn(&Runtime); 4] = [
        |host| host.named(&KNOCK.keyed(2)).emit(5),
        |host| host.named(&KNOCK.keyed(2_i8)).emit(5),
        |host| host.named(&KNOCK.keyed((Door(2), "loud"))).emit(5),
        |host| host.named(&STAGE.keyed(2_usize)).set(5),
    ];
    for call in calls {
        for loads in [false, true] {
            let mut runtime = Runtime::new(registry());
            let ids = [1, 2, 3].map(|door| runtime.start(listens(Door(door), 9.0)).id());
            runtime.named(&KNOCK).emit(1);
            runtime.named(&KNOCK.keyed("2")).emit(1);
            runtime.named(&KNOCK.keyed((2, "quiet"))).emit(1);
            if loads {
                runtime = reloaded(&runtime);
            }
            let handles = ids.map(|id| runtime.enter(|| id.handle::<Option<u32>>()).unwrap());
            call(&runtime);
            if loads {
                let handle = runtime.enter(|| ids[1].handle::<Option<u32>>()).unwrap();
                drop(handles);
                runtime.run_frame(0.1);
                assert_eq!(runtime.take(handle), Some(Ok(Some(5))));
            } else {
                runtime.run_frame(0.1);
                let results = handles.map(|handle| runtime.take(handle));
                assert_eq!(results, [None, Some(Ok(Some(5))), None]);
            }
        }
    }
}

#[test]
fn nothing_is_kept_for_a_key_that_no_script_waits_for() {
    let mut runtime = Runtime::new(registry());
    runtime.run_frame(0.1);
    let mut plain = Runtime::new(registry());
    for _ in 0..3 {
        plain.run_frame(0.1);
    }
    for door in 0..50 {
        runtime.start(listens(Door(door), 0.1)).detach();
        runtime.named(&KNOCK.keyed(door + 1_000)).emit(1);
        assert_eq!(runtime.named(&STAGE.keyed(door)).get(), 0);
        assert_eq!(runtime.named(&SEATS.keyed(door)).available(), 1);
        runtime.named(&STAGE.keyed(door)).remove();
    }
    let text = runtime.save().unwrap().to_string();
    assert!(text.contains("signal `knock[7]`: 1 waits"), "{text}");
    assert!(text.contains(", of `knock[7]`"), "{text}");
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    assert!(runtime.scripts().is_empty());
    let text = runtime.save().unwrap().to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_value_is_kept_until_it_is_removed() {
    let mut runtime = Runtime::new(registry());
    let handle = runtime.start(listens(Door(3), 9.0));
    assert!(!runtime.named(&STAGE.keyed(3)).remove(), "it is not set");
    runtime.run_frame(0.1);
    assert!(runtime.is_alive(handle.id()), "so nothing has changed");
    let other = runtime.start(listens(Door(4), 9.0));
    runtime.named(&STAGE.keyed(4)).set(1);
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(other), Some(Ok(Some(1))));
    let runtime = reloaded(&runtime);
    assert_eq!(runtime.named(&STAGE.keyed(4)).get(), 1);
    let waits = runtime.start(listens(Door(4), 9.0));
    assert!(runtime.named(&STAGE.keyed(4)).remove());
    assert_eq!(runtime.named(&STAGE.keyed(4)).get(), 0);
    let mut runtime = reloaded(&runtime);
    let waits = runtime
        .enter(|| waits.id().handle::<Option<u32>>())
        .unwrap();
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(waits), Some(Ok(Some(0))), "it is a change");
    let text = runtime.save().unwrap().to_string();
    assert!(!text.contains("stage[4]"), "{text}");
}

#[test]
fn a_difference_names_the_key() {
    let save_with = |stage: u32| {
        let runtime = Runtime::new(registry());
        runtime.named(&STAGE.keyed("dragon")).set(stage);
        runtime.named(&STAGE.keyed("gone")).set(7);
        runtime.named(&STAGE.keyed("gone")).remove();
        runtime.save().unwrap()
    };
    let found = save_with(1).diff(&save_with(2));
    assert_eq!(found.len(), 1);
    let text = found[0].to_string();
    assert_eq!(text, "the value `stage[\"dragon\"]` is 1; there 2");
    let none = Runtime::new(registry()).save().unwrap();
    let text = none.diff(&save_with(2))[0].to_string();
    assert_eq!(
        text,
        "the value `stage[\"dragon\"]` is its default; there 2"
    );
}

/// The registry knows the type of a value, and with it that of all its keys.
#[test]
fn a_described_save_has_the_values_of_all_keys() {
    let known = || registry().with_watch(&STAGE);
    let runtime = Runtime::new(known());
    runtime.named(&STAGE.keyed("dragon")).set(1);
    let described = runtime.save().unwrap().described(&known()).unwrap();
    let file = SaveState::from_bytes(&described.to_bytes()).unwrap();
    let mut loaded = Runtime::new(known());
    loaded.restore(&file, Policy::Fail).unwrap();
    assert_eq!(loaded.named(&STAGE.keyed("dragon")).get(), 1);
    let mut without = Runtime::new(registry().without_watch("stage"));
    without.restore(&file, Policy::Fail).unwrap();
    assert_eq!(without.named(&STAGE.keyed("dragon")).get(), 0);
    let text = without.save().unwrap().to_string();
    assert!(!text.contains("stage"), "{text}");
    let mut other = Runtime::new(registry().with_watch(&NAMED_STAGE));
    let error = other.restore(&file, Policy::Fail).unwrap_err().to_string();
    assert!(error.contains("stage[\"dragon\"]"), "{error}");
}
