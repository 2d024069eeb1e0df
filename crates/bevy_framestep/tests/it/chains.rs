//! Scripts that trigger events whose observers start scripts.

use std::sync::{Arc, Mutex};

use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;

use super::{alive, app_with, log, take_log};

#[derive(Event)]
struct Link(u32);

/// Starts a script for each link, which triggers the next one.
fn chain(link: On<Link>, mut commands: Commands) {
    let Link(number) = *link;
    if number == 0 {
        return;
    }
    commands.start_script(move || async move {
        trigger(Link(number - 1));
        log(format!("{number}"));
    });
}

/// Outside of an update, the whole chain runs at once, from wherever it begins. Starts nest 100 deep:
/// where a chain is longer, that is reported, and the rest follows when the first ones wait.
#[test]
fn a_long_chain_outside_of_an_update() {
    let begins: [fn(&mut World, u32); 4] = [
        |world, length| world.trigger(Link(length)),
        |world, length| world.commands().trigger(Link(length)),
        |world, length| drop(world.start_script(move || async move { trigger(Link(length)) })),
        |world, length| {
            let mut goblin = world.spawn_empty();
            goblin.start_script(move |_| async move { trigger(Link(length)) });
        },
    ];
    for begin in begins {
        for length in [10, 50, 400] {
            let reports = Arc::new(Mutex::new(Vec::new()));
            let hook = reports.clone();
            let plugin = FramestepPlugin::default()
                .on_report(move |report| hook.lock().unwrap().push(report.to_string()));
            let mut app = app_with(plugin);
            app.add_observer(chain);
            begin(app.world_mut(), length);
            app.world_mut().flush();
            assert_eq!(take_log(&mut app).len(), length as usize);
            assert_eq!(alive(&app), 0);
            let reports = reports.lock().unwrap();
            let expected = usize::from(length > 100);
            assert_eq!(reports.len(), expected, "{length}: {reports:?}");
        }
    }
}
