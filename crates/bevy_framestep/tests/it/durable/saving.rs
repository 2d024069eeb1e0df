//! Saved in one app, loaded in another one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use bevy_framestep::durable::{self, prelude::*};
use bevy_time::{Fixed, Time, Virtual};

use super::*;

#[test]
fn a_script_in_the_middle_of_a_wait_continues_in_a_fresh_app() {
    let mut first = app(registry());
    let goblin = first.world_mut().spawn(Health(9)).id();
    let goblin = id(&first, goblin);
    let entity = goblin.find(first.world()).unwrap();
    first
        .world_mut()
        .entity_mut(entity)
        .start_durable_script(Poison);
    for _ in 0..3 {
        first.update();
    }
    assert_eq!(health(&first, goblin), 8);
    let file = saved(&mut first);

    let mut second = app(registry());
    // Entities have other ids than in the app that was saved.
    second.world_mut().spawn_batch([(), (), ()]);
    load(&mut second, &file);
    assert_eq!(health(&second, goblin), 8);
    for _ in 0..6 {
        first.update();
        second.update();
        assert_eq!(health(&first, goblin), health(&second, goblin));
    }
    assert_eq!(lines(&first), lines(&second));
    assert_eq!(
        lines(&second),
        [
            "#1 has 8 in frame 3",
            "#1 has 7 in frame 5",
            "#1 has 6 in frame 7",
            "#1 has 5 in frame 9"
        ]
    );
}

#[test]
fn loaded_over_a_game_that_has_continued() {
    let mut app = app(registry());
    app.world_mut()
        .spawn(Health(9))
        .start_durable_script(Poison);
    app.update();
    let file = saved(&mut app);
    let goblin = only::<Health>(&mut app);
    let goblin = id(&app, goblin);
    for _ in 0..4 {
        app.update();
    }
    let late = app.world_mut().spawn(Health(3)).id();
    assert_eq!(health(&app, goblin), 7);
    let late = id(&app, late);
    let before = take_log(&mut app);

    load(&mut app, &file);
    assert_eq!(late.find(app.world()), None);
    assert_eq!((health(&app, goblin), alive(&app)), (9, 1));
    for _ in 0..4 {
        app.update();
    }
    assert_eq!(take_log(&mut app), before);

    // And its scripts end with it, as before.
    let entity = goblin.find(app.world()).unwrap();
    app.world_mut().despawn(entity);
    assert_eq!(alive(&app), 0);
}

#[test]
fn entities_refer_to_each_other_by_number() {
    let mut first = app(registry());
    let leader = first.world_mut().spawn(Health(1)).id();
    let leader = id(&first, leader);
    first.world_mut().spawn((Health(2), Follows(leader)));
    first.world_mut().spawn(Health(3));
    let file = saved(&mut first);

    let mut second = app(registry());
    load(&mut second, &file);
    let follower = only::<Follows>(&mut second);
    let follows = *second.world().get::<Follows>(follower).unwrap();
    assert_eq!(health(&second, follows.0), 1);
    // Numbers are not used twice.
    let new = second.world_mut().spawn(Health(4)).id();
    assert_eq!(id(&second, new).to_string(), "#4");
}

#[test]
fn a_hierarchy_is_saved_by_numbers() {
    let new = || {
        let mut app = app(registry());
        app.save_component_as(
            "parent",
            |child: &ChildOf, world| DurableId::of(world, child.parent()),
            |parent: DurableId, world| parent.find(world).map(ChildOf),
        );
        app
    };
    let mut first = new();
    // The child has the smaller number.
    let turret = first.world_mut().spawn(Health(1)).id();
    let tank = first.world_mut().spawn(Health(2)).id();
    let scenery = first.world_mut().spawn_empty().id();
    first.world_mut().entity_mut(turret).insert(ChildOf(tank));
    first.world_mut().entity_mut(tank).insert(ChildOf(scenery));
    let (turret, tank) = (id(&first, turret), id(&first, tank));
    let file = saved(&mut first);

    let mut second = new();
    load(&mut second, &file);
    let entity = turret.find(second.world()).unwrap();
    let parent = second.world().get::<ChildOf>(entity).unwrap().parent();
    assert_eq!(Some(parent), tank.find(second.world()));
    // An entity that is not saved is not a parent after the load.
    assert!(second.world().get::<ChildOf>(parent).is_none());
    second.world_mut().despawn(parent);
    assert_eq!(turret.find(second.world()), None);

    // A parent is replaced together with its children.
    load(&mut first, &file);
    assert_eq!(
        first.world().resource::<DurableEntities>().iter().count(),
        2
    );
}

#[test]
fn a_resource_that_did_not_exist_is_removed() {
    #[derive(Resource, Serialize, Deserialize)]
    struct Alarm(u8);

    let mut app = app(registry());
    app.save_resource::<Alarm>("alarm");
    let file = saved(&mut app);
    app.insert_resource(Alarm(7));
    let ringing = saved(&mut app);
    load(&mut app, &file);
    assert!(!app.world().contains_resource::<Alarm>());
    load(&mut app, &ringing);
    assert_eq!(app.world().resource::<Alarm>().0, 7);
}

#[test]
fn paused_scripts_are_paused_after_a_load() {
    let mut first = app(registry());
    let goblin = first.world_mut().spawn(Health(9)).id();
    first
        .world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    first.update();
    let owner = first.world().get::<Durable>(goblin).unwrap().owner();
    let host = first.world().non_send::<DurableRuntime>().host().clone();
    assert!(host.executor().enter(|| owner.unwrap().pause()).unwrap());
    let goblin = id(&first, goblin);
    let file = saved(&mut first);

    let mut second = app(registry());
    load(&mut second, &file);
    for _ in 0..5 {
        second.update();
    }
    assert_eq!(health(&second, goblin), 9);
    let entity = goblin.find(second.world()).unwrap();
    let owner = second.world().get::<Durable>(entity).unwrap().owner();
    let host = second.world().non_send::<DurableRuntime>().host().clone();
    assert!(host.executor().enter(|| owner.unwrap().resume()).unwrap());
    second.update();
    // A quarter of a second had passed before the pause, and another quarter now.
    assert_eq!(lines(&second), ["#1 has 8 in frame 8"]);
}

#[test]
fn bevys_clocks_are_as_they_were() {
    let mut first = app(registry());
    first
        .world_mut()
        .spawn(Health(9))
        .start_durable_script(Poison);
    first.update();
    first.update();
    let mut clock = first.world_mut().resource_mut::<Time<Virtual>>();
    clock.set_relative_speed(0.5);
    clock.pause();
    first.update();
    let file = saved(&mut first);

    let mut second = app(registry());
    for _ in 0..7 {
        second.update();
    }
    load(&mut second, &file);
    let clock = second.world().resource::<Time<Virtual>>();
    assert_eq!(clock.elapsed_secs(), 0.5);
    assert!(clock.is_paused());
    assert_eq!(second.world().resource::<Time>().elapsed_secs(), 0.5);
    let goblin = only::<Health>(&mut second);
    let goblin = id(&second, goblin);
    second.update();
    assert_eq!(health(&second, goblin), 8);
    for app in [&mut first, &mut second] {
        let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
        clock.unpause();
        for _ in 0..4 {
            app.update();
        }
    }
    // At half the speed.
    assert_eq!(health(&second, goblin), 7);
    assert_eq!(health(&first, goblin), 7);
    let elapsed = |app: &App| app.world().resource::<Time<Fixed>>().elapsed();
    assert_eq!(elapsed(&first), elapsed(&second));
}

#[test]
fn a_script_that_is_not_in_the_registry_can_be_dropped() {
    let mut first = app(registry());
    first
        .world_mut()
        .spawn(Health(9))
        .start_durable_script(Poison);
    let save = durable::save(first.world_mut()).unwrap();

    let mut second = app(Registry::new());
    let error = durable::load(second.world_mut(), &save, Policy::Fail).unwrap_err();
    let name = "poison".to_owned();
    let unknown = RestoreError::UnknownScript { name };
    assert_eq!(error, LoadError::Scripts(unknown));
    assert_eq!(
        second.world().resource::<DurableEntities>().iter().count(),
        0
    );

    let restored = durable::load(second.world_mut(), &save, Policy::Drop).unwrap();
    assert_eq!(restored.dropped[0].name, "poison");
    assert_eq!(alive(&second), 0);
    assert_eq!(
        second.world().resource::<DurableEntities>().iter().count(),
        1
    );
}

#[test]
fn an_observer_knows_that_a_save_is_loaded() {
    fn poison(added: On<Add<Health>>, entities: Res<DurableEntities>, mut commands: Commands) {
        if !entities.is_loading() {
            commands.entity(added.entity).start_durable_script(Poison);
        }
    }
    let mut app = app(registry());
    app.world_mut().add_observer(poison);
    app.world_mut().spawn(Health(5));
    app.world_mut().flush();
    assert_eq!(alive(&app), 1);
    let file = saved(&mut app);
    load(&mut app, &file);
    assert_eq!(alive(&app), 1);
    assert!(!app.world().resource::<DurableEntities>().is_loading());
    app.world_mut().spawn(Health(6));
    app.world_mut().flush();
    assert_eq!(alive(&app), 2);
}

/// While there is one, the hooks of bombs panic.
#[derive(Resource)]
struct Fuse;

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
#[component(on_insert = light, on_remove = light)]
struct Bomb;

fn light(world: DeferredWorld<'_>, _: HookContext) {
    assert!(world.get_resource::<Fuse>().is_none(), "a hook panics");
}

/// Loads with a hook that panics.
fn load_and_blow_up(app: &mut App, save: &Save) {
    app.insert_resource(Fuse);
    let load = || durable::load(app.world_mut(), save, Policy::Fail);
    let payload = catch_unwind(AssertUnwindSafe(load)).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"a hook panics"));
    app.world_mut().remove_resource::<Fuse>();
}

#[test]
fn a_hook_that_panics_ends_the_load() {
    let mut app = app(registry());
    app.save_component::<Bomb>("bomb");
    app.world_mut().spawn(Bomb);
    let save = durable::save(app.world_mut()).unwrap();
    let bomb = only::<Bomb>(&mut app);
    app.world_mut().despawn(bomb);
    load_and_blow_up(&mut app, &save);
    assert!(!app.world().resource::<DurableEntities>().is_loading());
    // Nothing is in the way of another load.
    durable::load(app.world_mut(), &save, Policy::Fail).unwrap();
    only::<Bomb>(&mut app);
}

#[test]
fn scripts_end_with_their_entities_after_a_hook_has_panicked_in_a_load() {
    let mut app = app(registry());
    app.save_component::<Bomb>("bomb");
    let save = durable::save(app.world_mut()).unwrap();
    app.world_mut().spawn((Health(1), Bomb));
    load_and_blow_up(&mut app, &save);
    let goblin = app.world_mut().spawn(Health(1)).id();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    assert_eq!(alive(&app), 1);
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 0);
}

/// Entities that the load despawns have owners whose numbers may belong to other entities
/// now.
#[test]
fn entities_that_a_load_despawns_end_no_scripts_of_the_save() {
    let mut app = app(registry());
    app.save_component::<Bomb>("bomb");
    for _ in 0..2 {
        app.world_mut()
            .spawn(Health(5))
            .start_durable_script(Poison);
    }
    let save = durable::save(app.world_mut()).unwrap();
    let first = goblins(&mut app)[0];
    app.world_mut().entity_mut(first).insert(Bomb);
    load_and_blow_up(&mut app, &save);
    assert_eq!(alive(&app), 2);
    for goblin in goblins(&mut app) {
        app.world_mut().despawn(goblin);
    }
    assert_eq!(alive(&app), 2);
    durable::load(app.world_mut(), &save, Policy::Fail).unwrap();
    assert_eq!((alive(&app), goblins(&mut app).len()), (2, 2));
}

fn goblins(app: &mut App) -> Vec<Entity> {
    let mut query = app.world_mut().query_filtered::<Entity, With<Health>>();
    query.iter(app.world()).collect()
}
