//! Save states as text, and what differs between two of them.

use framestep_durable::prelude::*;

const KNOCK: Signal<String> = signal("knock");
const STAGE: Watch<u32> = watch("stage", Default::default);

struct World {
    random: u32,
}

#[derive(Serialize, Deserialize)]
struct Boss {
    lives: u8,
}

const WITH: u32 = line!() + 9;

impl DurableScript for Boss {
    const NAME: &'static str = "boss";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(0.5).await;
        // The line of the constant.
        let random = with(|world: &mut World| world.random);
        if random > 10 {
            end_of_frame().await;
        }
        STAGE.set(random);
        select! {
            _ = wait_seconds(3) => {}
            _ = wait_frames(9) => {}
            _ = KNOCK.wait() => {}
        }
        Chapter::Done(())
    }
}

fn save_with(lives: u8, random: u32, frames: u32) -> SaveState {
    let mut runtime = Runtime::new(Registry::new().with::<Boss>());
    let mut world = World { random };
    runtime.start(Boss { lives }).detach();
    for _ in 0..frames {
        runtime.run_frame_with(&mut world, 0.25);
    }
    runtime.save_state().unwrap()
}

fn differences(here: &SaveState, there: &SaveState) -> Vec<String> {
    let found = here.diff(there);
    assert_eq!(found.is_empty(), here.checksum() == there.checksum());
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn equal_states_have_no_difference() {
    assert_eq!(save_with(3, 5, 4).diff(&save_with(3, 5, 4)), []);
}

#[test]
fn a_step_that_returned_something_else_is_named_with_its_line() {
    let found = differences(&save_with(3, 5, 3), &save_with(3, 6, 3));
    let at = format!("{}:{WITH}", file!());
    assert_eq!(
        found,
        [
            format!("script `boss` (#1), entry 2: a `with` at {at} returned 5; there 6"),
            "the value `stage` is 5; there 6".to_owned(),
        ]
    );
}

#[test]
fn a_script_that_went_another_way_is_named_at_the_first_entry_of_it() {
    let (short, long) = (save_with(3, 5, 3), save_with(3, 11, 3));
    let first = &short.diff(&long)[0];
    assert_eq!(first.entry, Some(2));
    assert_eq!(first.script.as_ref().unwrap().1, "boss");
}

#[test]
fn one_that_has_come_further_is_named_with_what_the_other_has_not_done() {
    let (early, late) = (save_with(3, 5, 1), save_with(3, 5, 3));
    let first = early.diff(&late)[0].to_string();
    assert!(
        first.starts_with("script `boss` (#1), entry 1: it has not come so far; there the end"),
        "{first}"
    );
}

#[test]
fn a_script_that_only_one_has_and_another_beginning_are_named() {
    let alone = Runtime::new(Registry::new().with::<Boss>()).save_state();
    let found = differences(&save_with(3, 5, 0), &alone.unwrap());
    assert_eq!(found[0], "script `boss` (#1): it is alive; there it is not");
    let found = differences(&save_with(3, 5, 0), &save_with(4, 5, 0));
    assert_eq!(
        found,
        ["script `boss` (#1): its chapter began with 3; there 4"]
    );
}

#[test]
fn the_text_of_a_state_says_scripts_lines_waits_and_deadlines() {
    let text = save_with(3, 5, 3).to_string();
    let file = file!();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(lines[0], "frame 3, 750ms: 1 scripts");
    assert_eq!(lines[1], "script #1 `boss`, home Update");
    assert_eq!(lines[2], "its chapter began with 3");
    assert_eq!(lines[4], format!("2 a `with` at {file}:{WITH}: 5"));
    for awaited in [
        "`wait_seconds()` at",
        ", in Update, until 3.5s",
        "`wait_frames()` at",
        ", in Update, until frame 11",
        "`signal.wait()` for `knock` at",
        "value `stage`: 5, 0 waits",
        "signal `knock`: 1 waits",
    ] {
        assert!(text.contains(awaited), "{awaited}: {text}");
    }
}

#[test]
fn a_damaged_state_has_a_text_without_a_panic() {
    let bytes = save_with(3, 5, 3);
    let mut json = serde_json::to_value(&bytes).unwrap();
    json["waits"] = serde_json::json!([7, 7]);
    json["clocks"] = serde_json::json!([]);
    let damaged: SaveState = serde_json::from_value(json).unwrap();
    assert!(damaged.to_string().contains(", damaged"));
    assert!(!damaged.diff(&bytes).is_empty());
}
