//! Entities that are despawned in the middle of a call about them, by an observer or by the script that
//! the call starts.

use bevy_ecs::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use super::{alive, app, log, take_log};

/// Its entity is despawned as soon as it has one.
#[derive(Component)]
struct Cursed;

/// Its entity is despawned as soon as it has lost it.
#[derive(Component)]
struct Ward;

#[derive(EntityEvent, Clone)]
struct Poked(Entity);

fn cursed_app() -> bevy_app::App {
    let mut app = app();
    app.add_observer(|cursed: On<Add<Cursed>>, mut commands: Commands| {
        commands.entity(cursed.entity).despawn();
    });
    app.add_observer(|ward: On<Remove<Ward>>, mut commands: Commands| {
        commands.entity(ward.entity).try_despawn();
    });
    app.add_observer(|poked: On<Poked>, mut commands: Commands| {
        commands.entity(poked.event_target()).despawn();
    });
    app
}

type Named<F> = (&'static str, F);

/// What a script does with its entity, which is gone when the call returns.
const CALLS: [Named<fn(Entity)>; 9] = [
    ("insert", |me| me.insert(Cursed).unwrap()),
    ("remove", |me| me.remove::<Ward>().unwrap()),
    ("despawn", |me| me.despawn().unwrap()),
    ("commands", |me| {
        commands(|commands| _ = commands.entity(me).insert(Cursed));
    }),
    ("system", |me| {
        system(|mut commands: Commands| _ = commands.entity(me).insert(Cursed));
    }),
    ("with", |me| {
        with(|world: &mut World| _ = world.entity_mut(me).insert(Cursed));
    }),
    ("trigger", |me| trigger(Poked(me))),
    ("start", |me| {
        let child = me.start(async move { me.insert(Cursed) });
        assert!(child.take_output().unwrap().is_ok());
    }),
    ("start of a child that waits", |me| {
        let child = me.start(async move {
            me.insert(Cursed).unwrap();
            next_frame().await;
        });
        assert!(child.take_output().unwrap().unwrap_err().is_stopped());
    }),
];

#[test]
fn the_entity_of_the_calling_script() {
    for (name, call) in CALLS {
        let mut app = cursed_app();
        app.world_mut()
            .spawn(Ward)
            .start_script(move |me| async move {
                let _end = defer(|world: &mut World| {
                    world.resource_mut::<super::Log>().0.push("ends".to_owned());
                });
                next_frame().await;
                call(me);
                assert_eq!(me.has::<Ward>(), me.exists());
                assert_eq!(me.exists(), me.get(|_: &Ward| ()).is_ok());
                log(format!("exists: {}", me.exists()));
                next_frame().await;
                log("goes on");
            });
        // Another script waits for everything of it.
        let me = app
            .world_mut()
            .query_filtered::<Entity, With<Ward>>()
            .single(app.world())
            .unwrap();
        app.world_mut().start_script(move || async move {
            let (changed, event, ()) = join!(
                me.changed::<Ward>(),
                me.next_event::<Poked>(),
                me.despawned()
            );
            assert!(changed.is_err());
            assert_eq!(event.is_ok(), name == "trigger");
        });
        for _ in 0..3 {
            app.update();
        }
        assert_eq!(take_log(&mut app), ["exists: false", "ends"], "{name}");
        assert_eq!(alive(&app), 0, "{name}");
    }
}

/// In the call that starts its first script.
#[test]
fn an_entity_that_a_script_is_started_for() {
    async fn never(_: Entity) {
        log("begins");
        next_frame().await;
        log("goes on");
    }

    const STARTS: [Named<fn(&mut World)>; 4] = [
        ("on the world", |world| {
            let script = world.spawn(Cursed).start_script(never);
            assert!(script.take_output().unwrap().unwrap_err().is_stopped());
        }),
        ("on commands", |world| {
            world.commands().spawn(Cursed).try_start_script(never);
            world.flush();
        }),
        ("with a handle", |world| {
            let handle = world.commands().spawn(Cursed).start_script_handle(never);
            world.flush();
            assert!(handle.is_finished());
        }),
        ("in a bundle", |world| {
            world.spawn((Cursed, Scripts::of(never)));
        }),
    ];
    for (name, start) in STARTS {
        let mut app = cursed_app();
        start(app.world_mut());
        app.update();
        assert_eq!(alive(&app), 0, "{name}");
        assert!(
            !take_log(&mut app).contains(&"goes on".to_owned()),
            "{name}"
        );
    }
}

/// A component that is neither `Clone` nor `Default`, in each call that has one.
#[test]
fn components_need_neither_clone_nor_default() {
    #[derive(Component, PartialEq)]
    struct Health(u32);

    async fn check(me: Entity) -> Result<(), Missing> {
        assert!(!me.has::<Health>());
        me.insert(Health(3))?;
        assert_eq!(me.get(|health: &Health| health.0)?, 3);
        me.get_mut(|health: &mut Health| health.0 += 1)?;
        me.with(|health: &mut Health| health.0 += 1)?;
        assert!(me.set_if_neq(Health(6))?);
        assert!(!me.set_if_neq(Health(6))?);
        start(async move {
            next_frame().await;
            me.get_mut(|health: &mut Health| health.0 = 9)
        });
        me.changed::<Health>().await?;
        me.wait_until(|health: &Health| health.0 == 9).await?;
        system(|mut all: Query<&mut Health>| all.iter_mut().for_each(|mut health| health.0 = 1));
        query::<&Health>().for_each(|health| assert_eq!(health.0, 1));
        me.remove::<Health>()?;
        me.removed::<Health>().await?;
        log("done");
        Ok(())
    }

    let mut app = app();
    app.world_mut().spawn_empty().start_script(check);
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["done"]);
}
