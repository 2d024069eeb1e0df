//! Saves that describe themselves: later builds read them although types have changed.

#![allow(clippy::option_option, reason = "what other formats lose")]

use std::collections::HashMap;

use framestep_durable::OldState;
use framestep_durable::prelude::*;
use serde_json::{Value as Json, json};

type Log = Vec<String>;

fn say(line: String) {
    with(move |log: &mut Log| log.push(line));
}

/// The first release.
mod first {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Stage {
        pub(crate) number: u32,
        pub(crate) hero: String,
    }

    pub(crate) const STAGE: Watch<Stage> = watch("stage", Default::default);

    #[durable]
    pub(crate) async fn shop(coins: u32, owner: String, is_open: bool) {
        say(format!("{owner} has {coins}, {is_open}"));
        wait_seconds(1).await;
        say("closes".to_owned());
    }

    #[durable]
    pub(crate) mod dragon {
        use super::*;

        #[chapter]
        pub(crate) async fn sleeps() -> Chapter {
            wait_seconds(1).await;
            Chapter::Next(fights(3))
        }

        #[chapter]
        pub(crate) async fn fights(lives: u8) -> Chapter {
            wait_seconds(1).await;
            say(format!("{lives} lives"));
            Chapter::Done(())
        }
    }

    pub(crate) fn registry() -> Registry {
        let registry = Registry::new().script(shop).script(dragon::fights);
        registry.with_watch(&STAGE)
    }
}

/// The second release, with the same waits.
#[allow(dead_code, reason = "its scripts are only loaded")]
mod second {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Stage {
        #[serde(alias = "hero")]
        pub(crate) name: Option<String>,
        #[serde(default)]
        pub(crate) deaths: Vec<u8>,
        pub(crate) number: f64,
    }

    pub(crate) const STAGE: Watch<Stage> = watch("stage", Default::default);

    // A field was added, one was removed, one renamed; and one has another size.
    #[durable]
    pub(crate) async fn shop(
        #[serde(default)] guests: Vec<String>,
        #[serde(alias = "owner")] keeper: String,
        coins: u64,
    ) {
        say(format!("{keeper} has {coins}, {guests:?}"));
        wait_seconds(1).await;
        say(format!("{keeper} closes with {coins} for {guests:?}"));
    }

    #[durable]
    pub(crate) mod dragon {
        use super::*;

        #[chapter]
        async fn hatches() -> Chapter {
            Chapter::Next(sleeps(0))
        }

        #[chapter]
        pub(crate) async fn sleeps(#[serde(default)] dreams: u8) -> Chapter {
            wait_seconds(1).await;
            Chapter::Next(fights(dreams, dreams.into()))
        }

        #[chapter]
        async fn fights(#[serde(default)] fire: u8, lives: u64) -> Chapter {
            wait_seconds(1).await;
            say(format!("{lives} lives, {fire} fire"));
            Chapter::Done(())
        }
    }

    pub(crate) fn registry() -> Registry {
        let registry = Registry::new().script(shop).script(dragon::sleeps);
        registry.with_watch(&STAGE)
    }
}

/// A save of the first release in the middle of all that it has.
fn saved() -> (SaveState, Log) {
    let mut runtime = Runtime::new(first::registry());
    let mut log = Log::new();
    let stage = first::Stage {
        number: 2,
        hero: "Anna".into(),
    };
    runtime.named(&first::STAGE).set(stage);
    runtime.spawn(first::shop(3, "Ben".into(), true)).detach();
    runtime.spawn(first::dragon::fights(3)).detach();
    runtime.run_frame_with(&mut log, 0.25);
    (runtime.save().unwrap(), log)
}

fn in_file(save: &SaveState) -> SaveState {
    SaveState::from_bytes(&save.to_bytes()).unwrap()
}

fn in_json(save: &SaveState) -> SaveState {
    serde_json::from_str(&serde_json::to_string(save).unwrap()).unwrap()
}

fn described() -> (SaveState, Log) {
    let (save, log) = saved();
    (save.described(&first::registry()).unwrap(), log)
}

fn end(mut runtime: Runtime, mut log: Log) -> Log {
    for _ in 0..6 {
        runtime.run_frame_with(&mut log, 0.25);
    }
    assert!(runtime.scripts().is_empty());
    log
}

#[test]
fn a_described_save_goes_on_like_the_save_itself() {
    let (save, log) = saved();
    let described = described().0;
    for loaded in [
        in_file(&save),
        described.clone(),
        in_file(&described),
        in_json(&described),
    ] {
        assert!(first::registry().check(&loaded).is_empty());
        let mut runtime = Runtime::new(first::registry());
        runtime.restore(&loaded, Policy::Fail).unwrap();
        let again = runtime.save_state().unwrap();
        assert_eq!(again.to_bytes(), in_file(&save).to_bytes());
        assert_eq!(again.diff(&save), []);
        assert_eq!(again.checksum(), save.checksum());
        let log = end(runtime, log.clone());
        assert_eq!(log, ["Ben has 3, true", "closes", "3 lives"]);
    }
    // It keeps its own form.
    assert_eq!(in_file(&described).checksum(), described.checksum());
    assert_eq!(in_json(&described).checksum(), described.checksum());
    assert_eq!(in_file(&described).to_bytes(), described.to_bytes());
    assert_ne!(described.checksum(), save.checksum());
}

#[test]
fn a_later_build_reads_fields_that_were_added_removed_renamed_and_resized() {
    let (described, log) = described();
    for loaded in [in_file(&described), in_json(&described)] {
        assert!(second::registry().check(&loaded).is_empty());
        let mut runtime = Runtime::new(second::registry());
        let restored = runtime.restore(&loaded, Policy::Fail).unwrap();
        assert!(restored.restarted.is_empty());
        let stage = second::Stage {
            name: Some("Anna".into()),
            deaths: vec![],
            number: 2.0,
        };
        assert_eq!(runtime.named(&second::STAGE).get(), stage);
        let log = end(runtime, log.clone());
        let expected = [
            "Ben has 3, true",
            "Ben closes with 3 for []",
            "3 lives, 0 fire",
        ];
        assert_eq!(log, expected);
    }
    // The compact save does not fit, or would be read as something else.
    let errors = second::registry().check(&in_file(&saved().0));
    assert!(errors.len() >= 2, "{errors:?}");
}

#[test]
fn a_chapter_without_fields_gains_one() {
    let runtime = Runtime::new(first::registry());
    runtime.start(first::dragon::sleeps()).detach();
    let save = runtime.save().unwrap();
    let described = save.described(&first::registry()).unwrap();
    let mut runtime = Runtime::new(second::registry());
    runtime.restore(&in_file(&described), Policy::Fail).unwrap();
    let mut log = Log::new();
    for _ in 0..8 {
        runtime.run_frame_with(&mut log, 0.25);
    }
    assert_eq!(log, ["0 lives, 0 fire"]);
}

#[test]
fn json_has_fields_that_can_be_read_and_changed() {
    let (described, log) = described();
    let mut json = serde_json::to_value(&described).unwrap();
    let state = json["scripts"][0]["state"]["Described"].clone();
    assert_eq!(state, json!({"coins": 3, "owner": "Ben", "is_open": true}));
    let dragon = &json["scripts"][1]["state"]["Described"];
    assert_eq!(*dragon, json!({"Fights": {"lives": 3}}));
    let value = &json["values"][0][1]["Described"];
    assert_eq!(*value, json!({"number": 2, "hero": "Anna"}));

    json["scripts"][1]["state"]["Described"]["Fights"]["lives"] = 9.into();
    let changed: SaveState = serde_json::from_value(json.clone()).unwrap();
    let mut runtime = Runtime::new(first::registry());
    runtime.restore(&changed, Policy::Fail).unwrap();
    assert_eq!(end(runtime, log).pop(), Some("9 lives".to_owned()));

    let text = described.to_string();
    let shown = "its chapter began with {coins: 3, owner: \"Ben\", is_open: true}\n";
    assert!(text.contains(shown), "{text}");
    let shown = "value `stage`: {number: 2, hero: \"Anna\"}, 0 waits";
    assert!(text.contains(shown), "{text}");
    let differences = changed.diff(&described);
    let expected = "script `dragon` (#2): its chapter began with {Fights: {lives: 9}}; there \
                    {Fights: {lives: 3}}";
    assert!(
        differences.iter().any(|it| it.to_string() == expected),
        "{differences:?}"
    );
}

fn refused(change: impl Fn(&mut Json)) -> String {
    let mut json = serde_json::to_value(described().0).unwrap();
    change(&mut json);
    let save: SaveState = serde_json::from_value(json).unwrap();
    let errors = first::registry().check(&save);
    let mut runtime = Runtime::new(first::registry());
    let error = runtime.restore(&in_file(&save), Policy::Fail).unwrap_err();
    let [found] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert_eq!(*found, error, "found without a runtime, too");
    assert!(runtime.scripts().is_empty());
    error.to_string()
}

#[test]
fn a_state_or_a_value_of_another_type_is_an_error_that_says_what_does_not_fit() {
    let state = |content: Json| {
        refused(move |json| json["scripts"][0]["state"]["Described"] = content.clone())
    };
    let missing = state(json!({"coins": 3}));
    let says = "the script `shop` (#1) does not fit its save: the save has a state with which its \
                chapter began, and that is not a `it::described::first::shop` any more: missing \
                field `owner`. `Policy::Drop` drops it, and `Policy::Restart` would need that \
                state, too";
    assert_eq!(missing, says);
    let large = state(json!({"coins": 1_u64 << 40, "owner": "", "is_open": false}));
    assert!(
        large.contains("invalid value: integer `1099511627776`, expected u32"),
        "{large}"
    );
    let list = state(json!([3, "Ben", true]));
    assert!(list.contains("invalid type: sequence"), "{list}");

    let value = refused(|json| json["values"][0][1]["Described"] = json!({"number": "two"}));
    let says = "the value `stage` in the save is not a `it::described::first::Stage`: invalid type: \
                string \"two\", expected u32";
    assert_eq!(value, says);
}

#[test]
fn a_value_that_the_registry_does_not_know_is_an_error_or_forgotten() {
    let without = || {
        Registry::new()
            .script(first::shop)
            .script(first::dragon::fights)
    };
    let (described, _) = described();
    let error = Runtime::new(without())
        .restore(&described, Policy::Fail)
        .unwrap_err();
    let says = "the save has a value named `stage`, which the registry does not know: add it with \
                `Registry::with_watch`, or forget it with `Registry::without_watch`";
    assert_eq!(error.to_string(), says);
    for save in [described, saved().0] {
        let mut runtime = Runtime::new(without().without_watch("stage"));
        runtime.restore(&in_file(&save), Policy::Fail).unwrap();
        assert_eq!(runtime.named(&first::STAGE).get(), first::Stage::default());
    }
    // Without a description of it, a save keeps what nobody knows.
    let mut runtime = Runtime::new(without());
    runtime.restore(&in_file(&saved().0), Policy::Fail).unwrap();
    assert_eq!(runtime.named(&first::STAGE).get().number, 2);
}

#[test]
#[should_panic(
    expected = "the value `stage` is a `it::described::first::Stage` and a \
                           `it::described::second::Stage`"
)]
fn values_of_two_types_with_one_name_are_refused() {
    let _ = first::registry().with_watch(&second::STAGE);
}

mod third {
    use super::*;

    #[durable(name = "shop", version = 1, migrate = migrate, state = Shop)]
    pub(crate) async fn shop(owner: String) {
        say(format!("{owner} begins anew"));
        wait_seconds(1).await;
    }

    #[derive(Deserialize)]
    struct Old {
        coins: u32,
        owner: String,
        is_open: bool,
    }

    fn migrate(old: OldState<'_>) -> Option<Shop> {
        // Both ways to read it, of both forms.
        let by_name: Old = old.read()?;
        let (coins, owner, is_open): (u32, String, bool) = old.read()?;
        assert_eq!((by_name.coins, by_name.is_open), (coins, is_open));
        assert_eq!(by_name.owner, owner);
        assert!(old.read::<(u32,)>().is_none());
        Some(shop(format!("{owner} ({coins})")))
    }
}

#[test]
fn a_migration_reads_both_forms_by_names_and_by_their_order() {
    let registry = || {
        let registry = Registry::new().script(third::shop);
        registry
            .script(first::dragon::fights)
            .with_watch(&first::STAGE)
    };
    for save in [described().0, in_json(&described().0), saved().0] {
        let mut runtime = Runtime::new(registry());
        let restored = runtime.restore(&in_file(&save), Policy::Restart).unwrap();
        assert_eq!(restored.restarted.len(), 1);
        let mut log = Log::new();
        runtime.run_frame_with(&mut log, 0.25);
        assert_eq!(log, ["Ben (3) begins anew"]);
    }
}

mod worlds {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct First {
        pub(crate) gold: u32,
        pub(crate) items: HashMap<u32, Option<String>>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Second {
        #[serde(default)]
        pub(crate) level: u8,
        pub(crate) items: HashMap<u32, Option<String>>,
        #[serde(rename = "gold")]
        pub(crate) coins: u64,
    }
}

/// A world whose length nobody knows before it is written.
struct Unmeasured;

impl Serialize for Unmeasured {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde::ser::SerializeSeq::end(serializer.serialize_seq(None)?)
    }
}

#[test]
fn a_world_that_cannot_be_written_is_an_error_that_names_its_type() {
    let runtime = Runtime::new(Registry::new());
    let compact = runtime.save().unwrap();
    let described = compact.described(&runtime.registry()).unwrap();
    let nested = (0..1_000).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
    let error = described.try_to_bytes_with(&nested).unwrap_err();
    let begins = format!(
        "a world of type `{}` cannot be described: ",
        std::any::type_name::<serde_json::Value>()
    );
    assert!(error.to_string().starts_with(&begins), "{error}");
    let error = compact.try_to_bytes_with(&Unmeasured).unwrap_err();
    let begins = "a world of type `it::described::Unmeasured` cannot be saved: ";
    assert!(error.to_string().starts_with(begins), "{error}");
    let write = std::panic::AssertUnwindSafe(|| compact.to_bytes_with(&Unmeasured));
    let panic = std::panic::catch_unwind(write).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>(), Some(&error.to_string()));
    // The other form can have it.
    described.try_to_bytes_with(&Unmeasured).unwrap();
}

#[test]
fn the_world_beside_a_described_save_is_described() {
    let world = worlds::First {
        gold: 7,
        items: HashMap::from([(1, None), (2, Some("sword".into()))]),
    };
    let (compact, described) = (saved().0, described().0);
    for save in [&compact, &described] {
        let file = save.to_bytes_with(&world);
        let (read, again) = SaveState::from_bytes_with::<worlds::First>(&file).unwrap();
        assert_eq!((read.checksum(), &again), (save.checksum(), &world));
        assert_eq!(
            SaveState::from_bytes(&file).unwrap_err(),
            RestoreError::HasWorld
        );
        let alone = SaveState::from_bytes_without_world(&file).unwrap();
        assert_eq!(alone.checksum(), save.checksum());
        let none = SaveState::from_bytes_with::<worlds::First>(&save.to_bytes());
        assert_eq!(none.unwrap_err(), RestoreError::NoWorld);
    }
    let file = described.to_bytes_with(&world);
    let (_, later) = SaveState::from_bytes_with::<worlds::Second>(&file).unwrap();
    assert_eq!((later.level, later.coins), (0, 7));
    assert_eq!(later.items, world.items);
    let error = SaveState::from_bytes_with::<first::Stage>(&file).unwrap_err();
    let says =
        "the world in the file is not a `it::described::first::Stage`: missing field `number`";
    assert_eq!(error.to_string(), says);
}

/// Writes what it does not read.
#[derive(Deserialize)]
struct Liar {
    #[expect(dead_code, reason = "it is only read")]
    coins: u32,
}

impl Serialize for Liar {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (3_u32,).serialize(serializer)
    }
}

impl DurableScript for Liar {
    const NAME: &'static str = "liar";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(9).await;
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Bag {
    items: HashMap<u32, Option<Option<()>>>,
}

impl DurableScript for Bag {
    const NAME: &'static str = "bag";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(9).await;
        Chapter::Done(())
    }
}

#[test]
fn what_cannot_be_described_is_an_error_with_the_script() {
    let runtime = Runtime::new(Registry::new().with::<Liar>().with::<Bag>());
    let items = (0..20).map(|at| (at, [None, Some(None), Some(Some(()))][at as usize % 3]));
    let items = items.collect();
    runtime.start(Bag { items }).detach();
    let registry = Registry::new().with::<Bag>();
    // A `HashMap` has another order each time.
    let described = runtime.save().unwrap().described(&registry).unwrap();
    Runtime::new(registry.clone())
        .restore(&in_json(&described), Policy::Fail)
        .unwrap();

    runtime.start(Liar { coins: 3 }).detach();
    let save = runtime.save().unwrap();
    let error = save.described(&registry).unwrap_err().to_string();
    let says = "the state of the script `liar` cannot be described: the registry does not know it: \
                add it with `Registry::script`";
    assert_eq!(error, says);
    let error = save
        .described(&registry.with::<Liar>())
        .unwrap_err()
        .to_string();
    let says = "the state of the script `liar` cannot be described: ";
    assert!(error.starts_with(says), "{error}");
    let error = save.described(&second::registry()).unwrap_err().to_string();
    assert!(error.contains("`bag`"), "{error}");
    let save = saved().0;
    let later = Registry::new().script(third::shop);
    let error = save.described(&later).unwrap_err().to_string();
    assert!(
        error.contains("the save has version 0 of it, and the registry 1"),
        "{error}"
    );
}
