//! Durable scripts hear messages, events and changes, also across a save and a rollback.

use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, Missing, prelude::*};

use super::*;

#[derive(Message)]
struct Hit {
    target: Entity,
    points: i32,
}

impl Heard for Hit {
    const NAME: &'static str = "hit";
    type Record = (DurableId, i32);

    fn record(&self, entities: &DurableEntities) -> Option<Self::Record> {
        Some((entities.id(self.target)?, self.points))
    }
}

#[derive(Event)]
struct Quake(u32);

impl Heard for Quake {
    const NAME: &'static str = "quake";
    type Record = u32;

    fn record(&self, _: &DurableEntities) -> Option<u32> {
        (self.0 > 0).then_some(self.0)
    }
}

#[derive(EntityEvent)]
struct Poked(Entity);

impl Heard for Poked {
    const NAME: &'static str = "poked";
    type Record = ();

    fn record(&self, _: &DurableEntities) -> Option<()> {
        Some(())
    }
}

/// Nothing passes it on.
#[derive(Event)]
struct Unheard;

impl Heard for Unheard {
    const NAME: &'static str = "unheard";
    type Record = ();

    fn record(&self, _: &DurableEntities) -> Option<()> {
        Some(())
    }
}

macro_rules! script {
    ($script:ident($($field:ident: $type:ty),*) $body:block) => {
        #[derive(Serialize, Deserialize)]
        struct $script { $($field: $type),* }

        impl DurableScript for $script {
            const NAME: &'static str = stringify!($script);
            type Output = ();

            async fn run(self) -> Chapter<Self> {
                $(let $field = self.$field;)*
                $body
                Chapter::Next($script { $($field),* })
            }
        }
    };
}

script!(Counts() {
    let (target, points) = next_message::<Hit>().await;
    log(format!("{target} loses {points} in frame {}", time().frame));
});

script!(Trembles() {
    let strength = next_event::<Quake>().await;
    log(format!("quake {strength} in frame {}", time().frame));
});

script!(Feels(goblin: DurableId) {
    match goblin.next_event::<Poked>().await {
        Ok(()) => log(format!("{goblin} feels it in frame {}", time().frame)),
        Err(Missing::Entity { .. }) => {
            log(format!("{goblin} is gone in frame {}", time().frame));
            return Chapter::Done(());
        }
        Err(other) => log(other.to_string()),
    }
});

script!(Watches(goblin: DurableId) {
    match goblin.changed::<Health>().await {
        Ok(()) => log(format!("{goblin} has changed in frame {}", time().frame)),
        Err(missing) => {
            log(format!("{missing} in frame {}", time().frame));
            return Chapter::Done(());
        }
    }
});

script!(Waits(goblin: DurableId) {
    let removed = goblin.removed::<Health>().await;
    log(format!("without health: {removed:?} in frame {}", time().frame));
    if goblin.has::<Durable>() || removed.is_err() {
        return Chapter::Done(());
    }
});

script!(Deaf() {
    next_event::<Unheard>().await;
});

fn hearing() -> App {
    let registry = Registry::new()
        .with::<Counts>()
        .with::<Trembles>()
        .with::<Feels>();
    let registry = registry.with::<Watches>().with::<Waits>().with::<Deaf>();
    let mut app = app(registry);
    app.hear_messages::<Hit>().hear_messages::<Hit>();
    app.hear_events::<Quake>();
    app.hear_entity_events::<Poked>();
    app
}

fn goblin(app: &mut App) -> (Entity, DurableId) {
    let entity = app.world_mut().spawn(Health(9)).id();
    (entity, id(app, entity))
}

#[test]
fn messages_and_events_reach_durable_scripts() {
    let mut app = hearing();
    let (entity, id) = goblin(&mut app);
    let world = app.world_mut();
    world.start_durable_script(Counts {});
    world.start_durable_script(Trembles {});
    world.start_durable_script(Feels { goblin: id });
    app.update();
    let world = app.world_mut();
    world.write_message(Hit {
        target: entity,
        points: 3,
    });
    world.trigger(Quake(7));
    world.trigger(Quake(0)); // not heard
    world.trigger(Poked(entity));
    app.update();
    let expected = [
        "quake 7 in frame 3",
        "#1 feels it in frame 3",
        "#1 loses 3 in frame 3",
    ];
    assert_eq!(take_log(&mut app), expected);
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(take_log(&mut app), ["#1 is gone in frame 4"]);
}

/// An entity that does not exist any more, and one that has no such component.
#[test]
fn waits_for_entities_that_are_gone_end_with_an_error() {
    let mut app = hearing();
    let (entity, id) = goblin(&mut app);
    app.world_mut().despawn(entity);
    app.world_mut().start_durable_script(Feels { goblin: id });
    app.world_mut().start_durable_script(Watches { goblin: id });
    app.world_mut().start_durable_script(Waits { goblin: id });
    let bare = app.world_mut().spawn(Durable::default()).id();
    let bare = super::id(&app, bare);
    app.world_mut()
        .start_durable_script(Watches { goblin: bare });
    assert_eq!(take_log(&mut app), [""; 0]);
    app.update();
    let mut log = take_log(&mut app);
    log.sort();
    let expected = [
        "#1 is gone in frame 2".to_owned(),
        "the durable entity #2 has no it::durable::Health in frame 2".to_owned(),
        "there is no durable entity #1 in frame 2".to_owned(),
        "without health: Err(Entity { entity: DurableId(1) }) in frame 2".to_owned(),
    ];
    assert_eq!(log, expected);
}

#[test]
fn waits_go_on_after_a_load() {
    let mut first = hearing();
    let (_, id) = goblin(&mut first);
    let world = first.world_mut();
    world.start_durable_script(Counts {});
    world.start_durable_script(Feels { goblin: id });
    world.start_durable_script(Watches { goblin: id });
    first.update();
    let file = saved(&mut first);

    let mut second = hearing();
    second.world_mut().spawn_batch([(), ()]);
    // A message of the time before the load, which is not of this game.
    let (stranger, _) = goblin(&mut second);
    second.world_mut().write_message(Hit {
        target: stranger,
        points: 1,
    });
    load(&mut second, &file);
    // The load changes no value, and triggers nothing that scripts hear.
    second.update();
    assert_eq!(take_log(&mut second), [""; 0]);
    let entity = id.find(second.world()).unwrap();
    let world = second.world_mut();
    world.write_message(Hit {
        target: entity,
        points: 2,
    });
    world.trigger(Poked(entity));
    world.get_mut::<Health>(entity).unwrap().0 = 1;
    second.update();
    let mut log = take_log(&mut second);
    log.sort();
    let expected = [
        "#1 feels it in frame 4",
        "#1 has changed in frame 4",
        "#1 loses 2 in frame 4",
    ];
    assert_eq!(log, expected);
}

/// The frames after a rollback are the same as those before it.
#[test]
fn a_rollback_hears_the_same_again() {
    let mut app = hearing();
    let (entity, id) = goblin(&mut app);
    let world = app.world_mut();
    world.start_durable_script(Counts {});
    world.start_durable_script(Watches { goblin: id });
    world.start_durable_script(Feels { goblin: id });
    app.update();
    let before = durable::save_state(app.world_mut()).unwrap();
    let frames = |app: &mut App| {
        for points in 1..=3 {
            let world = app.world_mut();
            world.write_message(Hit {
                target: entity,
                points,
            });
            world.trigger(Poked(entity));
            world.get_mut::<Health>(entity).unwrap().0 -= points - 1;
            app.update();
        }
        take_log(app)
    };
    let once = frames(&mut app);
    assert_eq!(once.len(), 8);
    // One more, which does not belong to the past.
    app.world_mut().write_message(Hit {
        target: entity,
        points: 9,
    });
    durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(frames(&mut app), once);
}

#[test]
fn a_component_is_removed() {
    let mut app = hearing();
    let (entity, id) = goblin(&mut app);
    app.world_mut().start_durable_script(Waits { goblin: id });
    app.update();
    app.world_mut().entity_mut(entity).remove::<Health>();
    app.update();
    assert_eq!(take_log(&mut app), ["without health: Ok(()) in frame 3"]);
}

#[test]
fn what_the_app_does_not_hear_panics_in_the_line_of_the_script() {
    let mut app = hearing();
    app.world_mut().start_durable_script(Deaf {});
    assert_eq!(alive(&app), 0);
}
