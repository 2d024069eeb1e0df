//! Rolling back to a save of the same run.

use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*};

use super::*;

/// What is not saved.
#[derive(Component)]
struct Sprite(u32);

#[test]
fn entities_that_exist_at_both_times_are_kept() {
    let mut app = app(registry());
    let world = app.world_mut();
    let kept = world.spawn((Health(9), Sprite(1))).id();
    let lost = world.spawn((Health(5), Sprite(2))).id();
    let plain = world.spawn(Sprite(3)).id();
    for goblin in [kept, lost] {
        world.entity_mut(goblin).start_durable_script(Poison);
    }
    app.update();
    let [kept_id, lost_id] = [kept, lost].map(|goblin| id(&app, goblin));
    let before = durable::save_state(app.world_mut()).unwrap();

    app.update();
    app.world_mut().despawn(lost);
    app.world_mut().entity_mut(kept).insert(Follows(kept_id));
    let late = app.world_mut().spawn(Health(1)).id();
    app.world_mut()
        .entity_mut(late)
        .start_durable_script(Poison);
    app.update();
    app.update();
    let lines = take_log(&mut app);
    assert_eq!(lines.len(), 4);

    durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(kept_id.find(app.world()), Some(kept));
    assert_eq!(health(&app, kept_id), 9);
    assert_eq!(app.world().get::<Sprite>(kept).unwrap().0, 1);
    assert!(app.world().get::<Follows>(kept).is_none());
    assert!(app.world().get_entity(late).is_err());
    assert_eq!(app.world().get::<Sprite>(plain).unwrap().0, 3);
    // Despawned entities come back, with their saved components.
    let found = lost_id.find(app.world()).unwrap();
    assert_eq!(health(&app, lost_id), 5);
    assert!(app.world().get::<Sprite>(found).is_none());

    app.update();
    assert_eq!(
        take_log(&mut app),
        ["#1 has 8 in frame 3", "#2 has 4 in frame 3"]
    );
    // The scripts of both end with them.
    app.world_mut().despawn(found);
    assert_eq!(alive(&app), 1);
    app.world_mut().despawn(kept);
    assert_eq!(alive(&app), 0);
}

#[test]
fn an_entity_whose_first_script_came_later_has_none_again() {
    let mut app = app(registry());
    let goblin = app.world_mut().spawn(Health(9)).id();
    let before = durable::save_state(app.world_mut()).unwrap();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    let owner = app.world().get::<Durable>(goblin).unwrap().owner();
    assert!(owner.is_some());
    durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(alive(&app), 0);
    assert_eq!(app.world().get::<Durable>(goblin).unwrap().owner(), None);
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    assert_eq!(alive(&app), 1);
}

/// As [`durable::load`] does with an entity that is despawned as its components are inserted.
#[test]
fn an_observer_may_despawn_an_entity_that_loses_components() {
    fn despawn(removed: On<Remove<Health>>, mut commands: Commands) {
        commands.entity(removed.entity).try_despawn();
    }
    let mut app = app(registry());
    let goblin = app.world_mut().spawn(Durable::default()).id();
    let before = durable::save_state(app.world_mut()).unwrap();
    let goblin_id = id(&app, goblin);
    // Both components go, in the order in which the app named them.
    let added = (Health(1), Follows(goblin_id));
    app.world_mut().entity_mut(goblin).insert(added);
    app.world_mut().add_observer(despawn);
    durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(goblin_id.find(app.world()), None);
    assert!(!app.world().resource::<DurableEntities>().is_loading());
}

#[test]
fn each_frame_of_the_past_is_the_same_when_it_is_played_again() {
    let mut app = app(registry());
    for health in 3..6 {
        app.world_mut()
            .spawn(Health(health))
            .start_durable_script(Poison);
        app.update();
    }
    let mut past = Vec::new();
    for _ in 0..40 {
        past.push(durable::save_state(app.world_mut()).unwrap());
        app.update();
    }
    for from in [33, 0, 21, 39] {
        durable::rollback(app.world_mut(), &past[from]).unwrap();
        for before in &past[from..] {
            let again = durable::save_state(app.world_mut()).unwrap();
            assert_eq!(again.checksum(), before.checksum());
            app.update();
        }
    }
}
