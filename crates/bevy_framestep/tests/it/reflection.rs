//! Scenes: entities that are written down by reflection, despawned, and spawned anew.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::reflect::{AppTypeRegistry, ReflectComponent};
use bevy_framestep::prelude::*;
use bevy_reflect::{PartialReflect, Reflect};

use super::{alive, app, log, take_log};

#[derive(Component, Reflect, Clone)]
#[reflect(Component)]
struct Goblin {
    gold: u32,
}

/// What a scene holds of an entity: the components whose types are registered.
type Written = Vec<Box<dyn PartialReflect>>;

fn write(world: &World, entity: Entity) -> Written {
    let registry = world.resource::<AppTypeRegistry>().read();
    let entity = world.entity(entity);
    let components = entity.archetype().components();
    let types = components
        .iter()
        .filter_map(|&id| world.components().get_info(id)?.type_id());
    let reflected = types.filter_map(|of| registry.get(of)?.data::<ReflectComponent>());
    let components = reflected.filter_map(|of| of.reflect(entity));
    components
        .map(|of| of.reflect_clone().unwrap().into_partial_reflect())
        .collect()
}

fn spawn(world: &mut World, written: &Written) -> Entity {
    let registry = world.resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let mut entity = world.spawn_empty();
    for component in written {
        let of = component.get_represented_type_info().unwrap().type_id();
        let of = registry
            .get(of)
            .unwrap()
            .data::<ReflectComponent>()
            .unwrap();
        of.insert(&mut entity, &**component, &registry);
    }
    let entity = entity.id();
    world.flush();
    entity
}

async fn count(goblin: Entity) -> Result<(), Missing> {
    loop {
        let gold = goblin.get(|goblin: &Goblin| goblin.gold)?;
        log(format!("{gold} gold"));
        wait_seconds(0.5).await;
    }
}

/// An app whose goblins have a script, wherever they come from.
fn app_with_goblins() -> App {
    let mut app = app();
    app.init_resource::<AppTypeRegistry>();
    app.world_mut()
        .resource_mut::<AppTypeRegistry>()
        .write()
        .register::<Goblin>();
    app.add_observer(|goblin: On<Add<Goblin>>, mut commands: Commands| {
        commands.entity(goblin.entity).start_script(count);
    });
    app
}

/// A scene has no scripts: `Scripts` is not registered. The observer that starts them for all
/// goblins does so for those of the scene.
#[test]
fn a_scene_is_reloaded() {
    let mut app = app_with_goblins();
    let goblin = app.world_mut().spawn(Goblin { gold: 3 }).id();
    app.world_mut().flush();
    assert!(app.world().entity(goblin).contains::<Scripts>());
    let scene = write(app.world(), goblin);
    assert_eq!(scene.len(), 1, "only the goblin is written");
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["3 gold", "3 gold"]);
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 0);
    let goblins = [1, 2].map(|_| spawn(app.world_mut(), &scene));
    assert_eq!(alive(&app), 2);
    assert_eq!(take_log(&mut app), ["3 gold", "3 gold"]);
    for goblin in goblins {
        assert!(app.world().entity(goblin).contains::<Scripts>());
    }
}

/// A component that is written over by a scene is a change like any other, and the scripts of
/// the entity go on.
#[test]
fn a_scene_is_applied_to_an_entity_with_scripts() {
    let mut app = app_with_goblins();
    let goblin = app.world_mut().spawn(Goblin { gold: 3 }).id();
    app.world_mut().start_script(move || async move {
        goblin.changed::<Goblin>().await?;
        log("changed");
        Ok::<(), Missing>(())
    });
    app.update();
    let scene = write(app.world(), goblin);
    app.world_mut().get_mut::<Goblin>(goblin).unwrap().gold = 9;
    app.update();
    assert_eq!(take_log(&mut app), ["3 gold", "changed"]);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let registry = registry.read();
    let of = registry.get_type_data::<ReflectComponent>(std::any::TypeId::of::<Goblin>());
    let mut entity = app.world_mut().entity_mut(goblin);
    of.unwrap().apply(&mut entity, &*scene[0]);
    app.update();
    assert_eq!(take_log(&mut app), ["3 gold"]);
    assert_eq!(alive(&app), 1);
}

/// A component with a handle can be registered, and be part of a scene.
#[test]
fn a_handle_is_reflected() {
    use bevy_framestep::ScriptHandle;

    #[derive(Component, Reflect, Clone)]
    #[reflect(Component)]
    struct Casting(ScriptHandle);

    let mut app = app_with_goblins();
    app.world_mut()
        .resource_mut::<AppTypeRegistry>()
        .write()
        .register::<Casting>();
    let handle = app.world_mut().commands().start_script(|| wait_seconds(1));
    app.world_mut().flush();
    let mage = app.world_mut().spawn(Casting(handle.clone())).id();
    let scene = write(app.world(), mage);
    let mage = spawn(app.world_mut(), &scene);
    app.world().get::<Casting>(mage).unwrap().0.stop();
    app.update();
    assert!(handle.is_finished(), "it is a handle of the same script");
}
