//! Files of a build whose scripts wait for something else in the same place: an error that
//! names both waits, instead of a script that waits forever.

use framestep_durable::prelude::*;

#[derive(Serialize, Deserialize)]
struct Path;

impl Request for Path {
    const NAME: &'static str = "path";
    type Answer = u32;
}

#[derive(Serialize, Deserialize)]
struct Way;

impl Request for Way {
    const NAME: &'static str = "way";
    type Answer = u32;
}

/// Two scripts that another script can start.
macro_rules! idle {
    ($type:ident, $name:literal) => {
        #[derive(Serialize, Deserialize)]
        struct $type;

        impl DurableScript for $type {
            const NAME: &'static str = $name;
            type Output = ();

            async fn run(self) -> Chapter<Self> {
                wait_seconds(100).await;
                Chapter::Done(())
            }
        }
    };
}

idle!(Door, "door");
idle!(Gate, "gate");

/// Versions of one script, each with its code.
macro_rules! versions {
    ($($type:ident: $body:block)*) => {
        $(
            #[derive(Serialize, Deserialize)]
            struct $type;

            impl DurableScript for $type {
                const NAME: &'static str = "hero";
                type Output = ();

                async fn run(self) -> Chapter<Self> {
                    $body
                    Chapter::Done(())
                }
            }
        )*
    };
}

const KNOCK: Signal<()> = signal("knock");
const BELL: Signal<()> = signal("bell");
const GOLD: Watch<u32> = watch("gold", Default::default);
const COINS: Watch<u32> = watch("coins", Default::default);

versions! {
    AtEnd: { end_of_frame().await; }
    InStep: { fixed_update().await; }
    GoldChanges: { let _ = GOLD.changed().await; }
    Knock: { KNOCK.wait().await; }
    Bell: { BELL.wait().await; }
    Seconds: { wait_seconds(9).await; }
    OtherSeconds: { wait_seconds(4).await; }
    Frames: { wait_frames(9).await; }
    Gold: { GOLD.wait_for(|gold| *gold > 9).await; }
    Coins: { COINS.wait_for(|coins| *coins > 9).await; }
    AsksPath: { ask(|| Path).await; }
    AsksWay: { ask(|| Way).await; }
    Either: { select! { _ = KNOCK.wait() => {} _ = wait_seconds(9) => {} } }
    Swapped: { select! { _ = wait_seconds(9) => {} _ = KNOCK.wait() => {} } }
    Three: { select! { _ = KNOCK.wait() => {} _ = wait_seconds(9) => {} _ = BELL.wait() => {} } }
    StartsDoor: { let _ = start(Door).await; }
    StartsGate: { let _ = start(Gate).await; }
    With: { with(|(): &mut ()| ()); next_frame().await; }
    Waits: { wait_seconds(1).await; with(|(): &mut ()| ()); next_frame().await; }
}

fn saved<S: DurableScript>(script: S) -> SaveState {
    let registry = Registry::new().with::<S>().with::<Door>().with::<Gate>();
    let mut runtime = Runtime::new(registry);
    runtime.lend(&mut (), |runtime| runtime.start(script).detach());
    SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap()
}

/// Loads what `before` has saved in a build where the script is an `S`.
fn load_as<S: DurableScript>(before: impl DurableScript) -> Result<(), String> {
    let registry = Registry::new().with::<S>().with::<Door>().with::<Gate>();
    let mut runtime = Runtime::new(registry);
    let restored = runtime.restore(&saved(before), Policy::Fail);
    restored.map(drop).map_err(|error| error.to_string())
}

/// The message, without the places in this file.
fn message<S: DurableScript>(before: impl DurableScript) -> String {
    let text = load_as::<S>(before).unwrap_err();
    let text = text.split(". Either its code").next().unwrap().to_owned();
    let places = text.split(concat!(" at ", file!(), ":"));
    let places = places.map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
    let text: String = places.collect();
    text.replace("the script `hero` (#1) does not fit its save, at ", "")
}

#[test]
fn a_pending_wait_that_is_another_call_now_is_an_error() {
    assert_eq!(
        message::<Seconds>(Knock),
        "entry 1: the save has it awaiting `signal.wait()` for `knock`; now it awaits \
         `wait_seconds()`"
    );
    assert_eq!(
        message::<Frames>(Seconds),
        "entry 1: the save has it awaiting `wait_seconds()`; now it awaits `wait_frames()`"
    );
}

#[test]
fn a_pending_wait_for_a_named_phase_or_a_change_is_a_call_of_its_own() {
    assert_eq!(
        message::<InStep>(AtEnd),
        "entry 1: the save has it awaiting `end_of_frame()`; now it awaits `fixed_update()`"
    );
    assert_eq!(
        message::<GoldChanges>(Gold),
        "entry 1: the save has it awaiting `value.wait_for()` for `gold`; now it awaits \
         `value.changed()` for `gold`"
    );
}

#[test]
fn a_pending_wait_for_another_name_is_an_error() {
    assert_eq!(
        message::<Bell>(Knock),
        "entry 1: the save has it awaiting `signal.wait()` for `knock`; now it awaits \
         `signal.wait()` for `bell`"
    );
    assert_eq!(
        message::<Coins>(Gold),
        "entry 1: the save has it awaiting `value.wait_for()` for `gold`; now it awaits \
         `value.wait_for()` for `coins`"
    );
    assert_eq!(
        message::<AsksWay>(AsksPath),
        "entry 1: the save has it awaiting `ask()` for `path`; now it awaits `ask()` for `way`"
    );
}

#[test]
fn other_branches_of_a_select_are_an_error() {
    assert_eq!(
        message::<Swapped>(Either),
        "entry 1: the save has it awaiting `signal.wait()` for `knock` and `wait_seconds()`; now \
         it awaits `wait_seconds()` and `signal.wait()` for `knock`"
    );
    assert_eq!(
        message::<Three>(Either),
        "entry 1: the save has it awaiting `signal.wait()` for `knock` and `wait_seconds()`; now \
         it awaits `signal.wait()` for `knock` and `wait_seconds()` and `signal.wait()` for `bell`"
    );
}

#[test]
fn a_start_of_another_script_in_the_same_place_is_an_error() {
    assert_eq!(
        message::<StartsGate>(StartsDoor),
        "entry 1: the save has a `start` of `door`; now it does a `start` of `gate`"
    );
}

#[test]
fn a_new_wait_before_a_recorded_entry_is_an_error_that_names_it() {
    assert_eq!(
        message::<Waits>(With),
        "entry 1: the save has a `with`; now it awaits `wait_seconds()`"
    );
}

#[test]
fn an_error_says_what_the_host_can_do() {
    let text = load_as::<Seconds>(Knock).unwrap_err();
    let end = "`Policy::Restart` restarts its chapter, `Policy::Drop` drops it";
    assert!(text.ends_with(end), "{text}");
}

/// A pending wait keeps its start and its deadline.
#[test]
fn another_length_of_a_wait_is_not_an_error() {
    assert_eq!(load_as::<OtherSeconds>(Seconds), Ok(()));
}
