//! Scripts of several versions, and looks at old saves without a runtime.

use framestep_durable::OldState;
use framestep_durable::prelude::*;

type Log = Vec<String>;

/// The shop of the first release.
mod first {
    use super::*;

    #[durable(name = "shop")]
    pub(crate) async fn shop(coins: u32) {
        with(move |log: &mut Log| log.push(format!("opens with {coins}")));
        wait_seconds(1).await;
        with(|log: &mut Log| log.push("closes".to_owned()));
    }
}

/// The shop of the second release: guests, and a price that is another one.
mod second {
    use super::*;

    #[durable(name = "shop", version = 1, migrate = from_first, state = Shop)]
    pub(crate) async fn shop(coins: u32, guests: Vec<String>) {
        with(move |log: &mut Log| log.push(format!("opens with {coins} for {guests:?}")));
        wait_seconds(1).await;
        with(|log: &mut Log| log.push("closes".to_owned()));
    }

    fn from_first(old: OldState<'_>) -> Option<Shop> {
        let coins = match old.version() {
            0 => old.read::<(u32,)>()?.0,
            _ => return None,
        };
        (coins < 100).then(|| shop(coins, vec!["Anna".to_owned()]))
    }
}

/// A save of the first release, after the shop has opened.
fn old_save(coins: u32) -> SaveState {
    let mut runtime = Runtime::new(Registry::new().script(first::shop));
    let mut log = Log::new();
    runtime.spawn(first::shop(coins)).detach();
    runtime.run_frame_with(&mut log, 0.25);
    let file = runtime.save().unwrap().to_bytes();
    SaveState::from_bytes(&file).unwrap()
}

fn second() -> Registry {
    Registry::new().script(second::shop)
}

#[test]
fn a_save_of_another_version_does_not_continue_without_a_word() {
    let mut runtime = Runtime::new(second());
    let error = runtime.restore(&old_save(3), Policy::Fail).unwrap_err();
    let RestoreError::Diverged(divergence) = &error else {
        panic!("{error}");
    };
    assert_eq!(divergence.entry, Some(0));
    let says = "the script `shop` (#1) does not fit its save: the save has version 0 of it; now it is \
                version 1";
    assert!(error.to_string().starts_with(says), "{error}");
    assert!(runtime.scripts().is_empty());
}

#[test]
fn a_chapter_restarts_with_the_state_that_migrates() {
    let mut runtime = Runtime::new(second());
    let restored = runtime.restore(&old_save(3), Policy::Restart).unwrap();
    assert_eq!(restored.restarted.len(), 1);
    let mut log = Log::new();
    for _ in 0..6 {
        runtime.run_frame_with(&mut log, 0.25);
    }
    assert_eq!(log, ["opens with 3 for [\"Anna\"]", "closes"]);
}

#[test]
fn what_has_been_migrated_is_saved_as_of_today() {
    let mut runtime = Runtime::new(second());
    runtime.restore(&old_save(3), Policy::Restart).unwrap();
    runtime.run_frame_with(&mut Log::new(), 0.25);
    let file = runtime.save().unwrap().to_bytes();
    let save = SaveState::from_bytes(&file).unwrap();
    assert!(save.to_string().contains("`shop`, home Update, version 1"));
    let restored = Runtime::new(second()).restore(&save, Policy::Fail).unwrap();
    assert!(restored.restarted.is_empty());
}

#[test]
fn a_state_that_does_not_migrate_is_refused_or_dropped() {
    let rich = old_save(100);
    let mut runtime = Runtime::new(second());
    assert!(runtime.restore(&rich, Policy::Restart).is_err());
    let restored = runtime.restore(&rich, Policy::Drop).unwrap();
    assert_eq!(restored.dropped.len(), 1);
    assert!(runtime.scripts().is_empty());
}

#[test]
fn a_registry_says_what_does_not_fit_without_a_runtime() {
    let save = old_save(3);
    assert_eq!(Registry::new().script(first::shop).check(&save), []);
    let errors = second().check(&save);
    assert!(matches!(&errors[..], [RestoreError::Diverged(it)] if it.entry == Some(0)));
    let errors = Registry::new().check(&save);
    assert!(matches!(&errors[..], [RestoreError::UnknownScript { name }] if name == "shop"));
}
