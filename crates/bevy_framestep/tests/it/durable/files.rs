//! Saves that cannot be loaded: each is an error with a name, and nothing changes.

use std::error::Error;

use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*};

use super::*;

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
struct Mana(String);

#[derive(Resource, Serialize, Deserialize)]
struct Gold(String);

fn rich() -> App {
    let mut app = app(registry());
    app.save_component::<Mana>("mana");
    app.save_resource::<Gold>("gold");
    app.insert_resource(Gold("much".into()));
    app.world_mut()
        .spawn((Health(7), Mana("a lot".into())))
        .start_durable_script(Poison);
    app.update();
    app
}

/// An error of a load that has changed nothing.
#[track_caller]
fn refused(app: &mut App, save: &Save) -> LoadError {
    app.world_mut()
        .spawn(Health(1))
        .start_durable_script(Poison);
    let before = durable::save(app.world_mut()).unwrap().checksum();
    let error = durable::load(app.world_mut(), save, Policy::Fail).unwrap_err();
    let after = durable::save(app.world_mut()).unwrap().checksum();
    assert_eq!(before, after);
    error
}

#[test]
fn components_and_resources_that_the_app_does_not_know() {
    let save = durable::save(rich().world_mut()).unwrap();
    let mut second = app(registry());
    let error = refused(&mut second, &save);
    let name = "mana".to_owned();
    assert_eq!(error, LoadError::UnknownComponent { name });
    assert_eq!(
        error.to_string(),
        "the save has components named `mana`, which the app does not know: name them with \
         `app.save_component`"
    );
    second.save_component::<Mana>("mana");
    let error = refused(&mut second, &save);
    let name = "gold".to_owned();
    assert_eq!(error, LoadError::UnknownResource { name });
    second.save_resource::<Gold>("gold");
    durable::load(second.world_mut(), &save, Policy::Fail).unwrap();
    assert_eq!(second.world().resource::<Gold>().0, "much");
}

#[test]
fn a_component_that_no_entity_has_need_not_be_known() {
    let mut first = app(registry());
    first.save_component::<Mana>("mana");
    first.world_mut().spawn(Health(2));
    let file = saved(&mut first);
    let mut second = app(registry());
    load(&mut second, &file);
    assert_eq!(
        second.world().resource::<DurableEntities>().iter().count(),
        1
    );
}

#[test]
fn types_that_have_changed() {
    /// Shorter than what is saved.
    #[derive(Component, Serialize, Deserialize)]
    struct OtherMana(u8);
    /// Longer.
    #[derive(Resource, Serialize, Deserialize)]
    struct OtherGold([u64; 9]);

    let save = durable::save(rich().world_mut()).unwrap();
    let mut second = app(registry());
    second.save_component::<OtherMana>("mana");
    second.save_resource::<Gold>("gold");
    let error = refused(&mut second, &save);
    let LoadError::Component { entity, name } = &error else {
        panic!("{error}");
    };
    assert_eq!((entity.to_string(), name.as_str()), ("#1".into(), "mana"));

    let mut second = app(registry());
    second.save_component::<Mana>("mana");
    second.save_resource::<OtherGold>("gold");
    let error = refused(&mut second, &save);
    let name = "gold".to_owned();
    assert_eq!(error, LoadError::Resource { name });
}

#[test]
fn a_script_that_is_not_in_the_registry() {
    let save = durable::save(rich().world_mut()).unwrap();
    let mut second = app(Registry::new());
    second.save_component::<Mana>("mana");
    second.save_resource::<Gold>("gold");
    let error = durable::load(second.world_mut(), &save, Policy::Fail).unwrap_err();
    assert!(error.to_string().contains("`poison`"), "{error}");
    assert!(error.source().is_some());
    assert_eq!(
        second.world().resource::<DurableEntities>().iter().count(),
        0
    );
    assert!(!second.world().contains_resource::<Gold>());
}

#[test]
fn what_does_not_serialise() {
    /// Its length is unknown to serde.
    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            to.serialize_seq(None)?.end()
        }
    }

    impl<'de> Deserialize<'de> for Endless {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Ok(Endless)
        }
    }

    #[derive(Component, Serialize, Deserialize)]
    struct Tail(Endless);

    let mut app = app(registry());
    app.save_component::<Tail>("tail");
    app.world_mut().spawn((Health(1), Tail(Endless)));
    let error = durable::save(app.world_mut()).unwrap_err();
    let SaveError::Component { entity, name, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((entity.to_string(), name.as_str()), ("#1".into(), "tail"));
}

#[test]
fn a_truncated_or_changed_file_is_an_error() {
    let mut app = rich();
    let file = saved(&mut app);
    assert!(Save::from_bytes(&file).is_ok());
    for len in 0..file.len() {
        let error = Save::from_bytes(&file[..len]).unwrap_err();
        let expected = if len < 8 {
            LoadError::NotASave
        } else {
            LoadError::Damaged
        };
        assert_eq!(error, expected, "cut at {len}");
    }
    for at in 0..file.len() {
        let mut file = file.clone();
        file[at] ^= 1 << (at % 8);
        assert!(Save::from_bytes(&file).is_err(), "changed at {at}");
    }
    let mut newer = file.clone();
    newer[8] = 9;
    let error = Save::from_bytes(&newer).unwrap_err();
    assert_eq!(
        error,
        LoadError::Version {
            found: 9,
            expected: 1
        }
    );
}

#[test]
fn a_changed_save_without_a_checksum_is_loaded_or_refused() {
    let mut app = rich();
    let save = durable::save(app.world_mut()).unwrap();
    let whole = postcard::to_stdvec(&save).unwrap();
    let (mut loads, mut refusals) = (0, 0);
    // Without the checksum of a file, changed data can arrive.
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let Ok(changed) = postcard::from_bytes::<Save>(&bytes) else {
            continue;
        };
        // A change in numbers and texts cannot be noticed.
        if durable::load(app.world_mut(), &changed, Policy::Fail).is_ok() {
            loads += 1;
            durable::load(app.world_mut(), &save, Policy::Fail).unwrap();
        } else {
            refusals += 1;
        }
        let now = durable::save(app.world_mut()).unwrap();
        assert_eq!(now.checksum(), save.checksum(), "byte {at}");
    }
    assert!(
        loads > 50 && refusals > 50,
        "{loads} loads, {refusals} refusals"
    );
}

#[test]
#[should_panic(expected = "each type that is saved has one name, and each name one type")]
fn two_components_of_one_name() {
    let mut app = app(registry());
    app.save_component::<Mana>("health");
}

#[test]
#[should_panic(expected = "is not in the runtime's registry")]
fn a_script_that_was_not_registered_does_not_start() {
    let mut app = app(Registry::new());
    app.world_mut()
        .spawn(Health(1))
        .start_durable_script(Poison);
}

#[test]
#[should_panic(expected = "add it to the app")]
fn durable_entities_need_the_plugin() {
    World::new().spawn(Durable::default());
}
