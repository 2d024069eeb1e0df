//! A loaded entity is whole before anybody hears of it.

use bevy_ecs::prelude::*;
use bevy_framestep::durable::prelude::*;
use bevy_framestep::{EntityCommandsScriptsExt, FramestepPlugin, Missing, ScriptEntity};

use super::*;

/// Neither `Clone` nor `Default`.
#[derive(Component, Serialize, Deserialize)]
#[require(Durable, Picture)]
struct Enemy;

#[derive(Component, Serialize, Deserialize)]
struct Speed(i32);

/// Not saved.
#[derive(Component, Default)]
struct Picture;

#[derive(Resource, Default)]
struct Heard(Vec<String>);

/// `Speed` is named before `Enemy`, `Health` and `Follows` are after it, or the other way round.
fn app_with_enemies(speed_first: bool) -> App {
    let mut app = App::new();
    app.add_plugins((
        TimePlugin,
        FramestepPlugin::default(),
        DurableScriptsPlugin::new(registry()),
    ));
    app.init_resource::<Heard>();
    app.init_resource::<Log>();
    if speed_first {
        app.save_component::<Speed>("speed");
        app.save_component::<Enemy>("enemy");
        app.save_component::<Health>("health");
        app.save_component::<Follows>("follows");
    } else {
        app.save_component::<Follows>("follows");
        app.save_component::<Health>("health");
        app.save_component::<Enemy>("enemy");
        app.save_component::<Speed>("speed");
    }
    app.save_resource::<Log>("log");
    app
}

fn heard(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Heard>().0)
}

fn hear_enemies(
    enemy: On<Add<Enemy>>,
    enemies: Query<(&Durable, &Health, &Speed, Has<Picture>)>,
    log: Res<Log>,
    mut heard: ResMut<Heard>,
) {
    let said = match enemies.get(enemy.entity) {
        Ok((durable, health, speed, has_picture)) => {
            let (id, log) = (durable.id(), &log.0);
            format!("{id}: {}, {}, {has_picture}, {log:?}", health.0, speed.0)
        }
        Err(_) => "not whole".to_owned(),
    };
    heard.0.push(said);
}

#[test]
fn an_observer_of_one_component_finds_the_others_and_the_resources() {
    for (here, there) in [(true, false), (false, true)] {
        let mut first = app_with_enemies(here);
        first.world_mut().resource_mut::<Log>().0.push("war".into());
        for number in 1..=2 {
            first.world_mut().spawn((Enemy, Health(number), Speed(7)));
        }
        let file = saved(&mut first);

        let mut second = app_with_enemies(there);
        second.add_observer(hear_enemies);
        load(&mut second, &file);
        let both = [r#"#1: 1, 7, true, ["war"]"#, r#"#2: 2, 7, true, ["war"]"#];
        assert_eq!(heard(&mut second), both);
    }
}

/// The pattern of the README.
#[test]
fn a_script_that_an_observer_starts_finds_its_entity_whole() {
    async fn aim(enemy: Entity) -> Result<(), Missing> {
        let speed = enemy.get(|speed: &Speed| speed.0)?;
        let health = enemy.get(|health: &Health| health.0)?;
        bevy_framestep::resource_mut(|heard: &mut Heard| {
            heard.0.push(format!("aims with {speed} and {health}"));
        });
        Ok(())
    }

    let mut first = app_with_enemies(true);
    first.world_mut().spawn((Enemy, Health(3), Speed(7)));
    let file = saved(&mut first);

    let mut second = app_with_enemies(true);
    second.add_observer(|enemy: On<Add<Enemy>>, mut commands: Commands| {
        commands.entity(enemy.entity).start_script(aim);
    });
    load(&mut second, &file);
    assert_eq!(heard(&mut second), ["aims with 7 and 3"]);
}

/// Also when a rollback gives a component back to an entity that stays.
#[test]
fn an_entity_that_a_rollback_keeps_is_whole() {
    let mut app = app_with_enemies(true);
    let enemy = app.world_mut().spawn((Enemy, Health(3), Speed(7))).id();
    let before = bevy_framestep::durable::save_state(app.world_mut()).unwrap();
    app.world_mut()
        .entity_mut(enemy)
        .remove::<(Enemy, Speed, Picture)>()
        .insert((Health(1), Follows(before_any())));
    app.add_observer(hear_enemies);
    bevy_framestep::durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(heard(&mut app), ["#1: 3, 7, true, []"]);
    assert!(!app.world().entity(enemy).contains::<Follows>());
}

fn before_any() -> DurableId {
    let mut app = app_with_enemies(true);
    let any = app.world_mut().spawn(Durable::default()).id();
    id(&app, any)
}

/// The observer of the first enemy despawns the second one, which has no component yet.
#[test]
fn an_entity_that_vanishes_before_its_turn_leaves_nothing() {
    let mut first = app_with_enemies(true);
    for number in 1..=2 {
        first
            .world_mut()
            .spawn((Enemy, Health(number), Speed(7)))
            .start_durable_script(Poison);
    }
    let file = saved(&mut first);

    let mut second = app_with_enemies(true);
    second.add_observer(|enemy: On<Add<Enemy>>, mut commands: Commands| {
        let other = enemy.entity;
        commands.queue(move |world: &mut World| {
            let all: Vec<_> = world.resource::<DurableEntities>().iter().collect();
            for (_, entity) in all {
                if entity != other {
                    world.despawn(entity);
                }
            }
        });
    });
    load(&mut second, &file);
    let left: Vec<_> = second
        .world()
        .resource::<DurableEntities>()
        .iter()
        .collect();
    assert_eq!(left.len(), 1);
    assert_eq!(alive(&second), 1);
    for _ in 0..8 {
        second.update();
    }
    // A save of what is left.
    let file = saved(&mut second);
    load(&mut second, &file);
    assert_eq!(alive(&second), 1);
}

/// An observer ends the load halfway; the next one finds nothing of it. From then on, components come
/// one by one: Bevy would insert the bundle without its values.
#[test]
fn a_load_that_a_panic_has_ended_leaves_no_number_taken() {
    let mut first = app_with_enemies(true);
    for number in 1..=3 {
        first.world_mut().spawn((Enemy, Health(number), Speed(7)));
    }
    let file = saved(&mut first);

    let mut second = app_with_enemies(true);
    let observer = second
        .world_mut()
        .add_observer(|_: On<Add<Enemy>>| panic!("a bad observer"))
        .id();
    let loaded =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| load(&mut second, &file)));
    assert!(loaded.is_err());
    second.world_mut().despawn(observer);
    load(&mut second, &file);
    let mut all = second
        .world_mut()
        .query::<(&Enemy, &Durable, &Health, &Speed)>();
    let all: Vec<_> = all
        .iter(second.world())
        .map(|(_, durable, health, speed)| (durable.id().to_string(), health.0, speed.0))
        .collect();
    let expected = [1, 2, 3].map(|number| (format!("#{number}"), number, 7));
    assert_eq!(all, expected);
}
