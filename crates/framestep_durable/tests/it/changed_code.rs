//! Files of a build with other code: an error with both lines, or a policy.

use framestep_durable::Divergence;
use framestep_durable::prelude::*;

/// The script at the time of the save.
mod before {
    use framestep_durable::prelude::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Quest {
        pub(super) gold: u32,
    }

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            wait_frames(2).await;
            let gold = self.gold;
            with(move |world: &mut Vec<u32>| world.push(gold));
            wait_seconds(100).await;
            Chapter::Done(gold)
        }
    }
}

/// Its new code.
mod after {
    use framestep_durable::prelude::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Quest {
        pub(super) gold: u32,
    }

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            wait_frames(2).await;
            next_frame().await;
            wait_frames(1).await;
            Chapter::Done(self.gold + 1)
        }
    }
}

/// Waits for the quest.
#[derive(Serialize, Deserialize)]
struct Town;

impl DurableScript for Town {
    const NAME: &'static str = "town";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let found = start(before::Quest { gold: 7 }).await;
        let found = found.unwrap_or(999);
        with(move |world: &mut Vec<u32>| world.push(found));
        wait_seconds(100).await;
        Chapter::Done(())
    }
}

fn saved() -> SaveState {
    saved_by("last week")
}

fn saved_by(build: &str) -> SaveState {
    let registry = Registry::new().with::<before::Quest>().with::<Town>();
    let mut runtime = Runtime::new(registry.for_build(build));
    runtime.spawn(Town).detach();
    let mut world: Vec<u32> = Vec::new();
    for _ in 0..4 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    assert_eq!(world, [7]);
    let file = runtime.save().unwrap().to_bytes();
    SaveState::from_bytes(&file).unwrap()
}

fn now() -> Runtime {
    let registry = Registry::new().with::<after::Quest>().with::<Town>();
    Runtime::new(registry.for_build("today"))
}

#[test]
fn a_changed_script_is_an_error_with_both_lines_and_nothing_else_happens() {
    let mut runtime = now();
    let kept = runtime.start(after::Quest { gold: 1 });
    let before = runtime.save_state().unwrap().checksum();
    let error = runtime.restore(&saved(), Policy::Fail).unwrap_err();
    let RestoreError::Diverged(divergence) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (divergence.name.as_str(), divergence.entry),
        ("quest", Some(2))
    );
    let text = error.to_string();
    for part in [
        "`quest`",
        "entry 2",
        concat!("a `with` at ", file!(), ":"),
        "now it",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(runtime.save_state().unwrap().checksum(), before);
    for _ in 0..4 {
        runtime.run_frame(0.1);
    }
    assert_eq!(runtime.take(kept), Some(Ok(2)));
}

#[test]
fn each_changed_script_can_have_its_own_policy() {
    let mut runtime = now();
    let mut asked = Vec::new();
    let restored = runtime.restore_with(&saved(), |divergence| {
        asked.push((divergence.name.clone(), divergence.entry));
        Policy::Restart
    });
    assert_eq!(restored.unwrap().restarted.len(), 1);
    assert_eq!(asked, [("quest".to_owned(), Some(2))]);

    // A script that is not in the registry cannot restart.
    let mut runtime = Runtime::new(Registry::new().with::<Town>());
    let restart = |divergence: &Divergence| match divergence.entry {
        Some(_) => Policy::Restart,
        None => Policy::Drop,
    };
    let restored = runtime.restore_with(&saved(), restart).unwrap();
    assert_eq!(restored.dropped[0].name, "quest");
}

#[test]
fn a_script_that_is_not_registered_any_more_is_named_or_dropped() {
    let registry = || Registry::new().with::<Town>();
    let mut runtime = Runtime::new(registry());
    let error = runtime.restore(&saved(), Policy::Fail).unwrap_err();
    assert!(matches!(&error, RestoreError::UnknownScript { name } if name == "quest"));
    assert!(error.to_string().contains("Registry::script"));
    assert!(runtime.restore(&saved(), Policy::Restart).is_err());
    let restored = runtime.restore(&saved(), Policy::Drop).unwrap();
    assert_eq!(restored.dropped[0].name, "quest");
}

#[test]
fn a_state_of_another_shape_is_an_error() {
    #[derive(Serialize, Deserialize)]
    struct Quest {
        gold: u32,
        name: String,
    }

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            wait_frames(2).await;
            Chapter::Done(self.gold + self.name.len() as u32)
        }
    }
    let mut runtime = Runtime::new(Registry::new().with::<Quest>().with::<Town>());
    let error = runtime.restore(&saved(), Policy::Fail).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("any more: its fields have changed, or it is of another type"),
        "{error}"
    );
}

/// The same code a few lines further down.
mod moved {
    use framestep_durable::prelude::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Quest {
        pub(super) gold: u32,
    }

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            wait_frames(2).await;
            let gold = self.gold;
            with(move |world: &mut Vec<u32>| world.push(gold));
            wait_seconds(100).await;
            Chapter::Done(gold)
        }
    }
}

#[test]
fn lines_are_compared_only_in_the_same_build() {
    let registry = || Registry::new().with::<moved::Quest>().with::<Town>();
    let mut other = Runtime::new(registry().for_build("today"));
    other.restore(&saved(), Policy::Fail).unwrap();
    let again = other.start(moved::Quest { gold: 1 });
    assert_eq!(again.id(), ScriptId::from_raw(3));

    assert!(registry().for_build("today").check(&saved()).is_empty());
    // Builds without a name are different ones.
    assert!(registry().check(&saved_by("")).is_empty());

    let found = registry().for_build("last week").check(&saved());
    assert!(found[0].to_string().contains("does so at"), "{found:?}");
    let mut same = Runtime::new(registry().for_build("last week"));
    let error = same
        .restore(&saved(), Policy::Fail)
        .unwrap_err()
        .to_string();
    let (recorded, found) = error.split_once("; now it").unwrap();
    assert!(
        recorded.contains("entry 1")
            && recorded.contains(concat!("the end of `wait_frames()` at ", file!()))
    );
    assert!(
        found.contains(concat!("does so at ", file!(), ":")),
        "{error}"
    );
}

#[test]
fn a_file_of_another_build_can_be_saved_and_loaded_again_after_a_load() {
    let today = || {
        let registry = Registry::new().with::<moved::Quest>().with::<Town>();
        Runtime::new(registry.for_build("today"))
    };
    let mut loaded = today();
    loaded.restore(&saved(), Policy::Fail).unwrap();
    let file = loaded.save_state().unwrap().to_bytes();
    let again = today().restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail);
    assert!(again.is_ok(), "{}", again.unwrap_err());
}
