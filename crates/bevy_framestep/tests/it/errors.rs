//! Errors that nothing reads go to Bevy's handler.

use std::cell::RefCell;
use std::fmt;

use bevy_app::App;
use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_framestep::Missing;
use bevy_framestep::prelude::*;

use super::app_with;

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// An app that notes errors.
fn app_that_hears(plugin: FramestepPlugin) -> App {
    let mut app = app_with(plugin);
    app.insert_resource(FallbackErrorHandler(|error, _| {
        HEARD.with_borrow_mut(|all| all.push(error.to_string()));
    }));
    app
}

/// What it has heard in some frames.
fn heard(app: &mut App) -> Vec<String> {
    for _ in 0..4 {
        app.update();
    }
    HEARD.take()
}

#[derive(Debug)]
struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lost")
    }
}

impl std::error::Error for Lost {}

async fn child() -> Result<(), Lost> {
    next_frame().await;
    Err(Lost)
}

async fn parent() -> Result<(), Lost> {
    start(child());
    wait_frames(2).await;
    Ok(())
}

async fn parent_of(_: Entity) -> Result<(), Lost> {
    parent().await
}

/// It returns something besides.
async fn counts() -> Result<u32, Lost> {
    parent().await?;
    Ok(3)
}

/// The errors of children are those of a script that the app has started, in whatever way.
#[test]
fn of_a_child_of_every_script() {
    let starts: [fn(&mut World); 8] = [
        |world| _ = world.commands().start_script(parent),
        |world| _ = world.commands().start_script(counts),
        |world| _ = world.commands().spawn_empty().start_script(parent_of),
        |world| {
            let mut commands = world.commands();
            commands.spawn_empty().start_script_handle(parent_of);
        },
        |world| _ = world.spawn(Scripts::of(parent_of)),
        |world| _ = world.start_script(parent),
        |world| _ = world.start_script(counts),
        |world| _ = world.spawn_empty().start_script(parent_of),
    ];
    for (at, start) in starts.into_iter().enumerate() {
        let mut app = app_that_hears(FramestepPlugin::default());
        start(app.world_mut());
        app.world_mut().flush();
        let heard = heard(&mut app);
        assert_eq!(heard.len(), 1, "{at}: {heard:#?}");
        assert!(heard[0].contains("::child`: lost"), "{at}: {heard:#?}");
    }
}

/// Those of which the plugin is told, where only children return them.
#[test]
fn of_a_child_that_the_app_does_not_start() {
    for is_told in [false, true] {
        let mut plugin = FramestepPlugin::default();
        if is_told {
            plugin = plugin.hear_errors_of::<Result<u32, Lost>>();
        }
        let mut app = app_that_hears(plugin);
        app.world_mut().start_script(|| async {
            start(child());
            start(counts());
            start(async { Err::<u32, _>(Lost) });
            wait_frames(2).await;
        });
        let expected = if is_told { 3 } else { 0 };
        assert_eq!(heard(&mut app).len(), expected);
    }
}

#[cfg(feature = "state")]
#[test]
fn of_a_child_of_a_script_in_a_state() {
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::state::States;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
    }

    let mut app = app_that_hears(FramestepPlugin::default());
    app.add_plugins(StatesPlugin).init_state::<Screen>();
    app.update();
    app.world_mut().start_script_in(Screen::Menu, parent);
    let heard = heard(&mut app);
    assert_eq!(heard.len(), 1, "{heard:#?}");
}

#[derive(Component)]
struct Purse(u32);

async fn steal(goblin: Entity) -> Result<(), Missing> {
    next_frame().await;
    goblin.get(|purse: &Purse| assert_eq!(purse.0, 1))
}

/// With the line and the entity, also if a script has started it on that.
#[test]
fn with_the_line_and_the_entity() {
    let starts: [fn(&mut World, Entity); 4] = [
        |world, goblin| _ = world.commands().entity(goblin).start_script(steal),
        |world, goblin| _ = world.entity_mut(goblin).start_script(steal),
        |world, goblin| {
            world.start_script(move || async move {
                goblin.start(steal(goblin));
            });
        },
        |world, goblin| {
            world.start_script(move || async move {
                next_frame().await;
                goblin.start(async move { goblin.get(|_: &Purse| ()) });
            });
        },
    ];
    for (at, start) in starts.into_iter().enumerate() {
        let mut app = app_that_hears(FramestepPlugin::default());
        let goblin = app.world_mut().spawn(Name::new("Goblin")).id();
        start(app.world_mut(), goblin);
        app.world_mut().flush();
        let heard = heard(&mut app);
        assert_eq!(heard.len(), 1, "{at}: {heard:#?}");
        let of = format!("` of Goblin ({goblin}): entity {goblin} has no ");
        assert!(heard[0].contains(&of), "{at}: {heard:#?}");
        assert!(heard[0].contains("Purse, at "), "{at}: {heard:#?}");
        assert!(heard[0].contains("errors.rs:"), "{at}: {heard:#?}");
    }
}
