//! Apps in thread-locals, which end with their thread: before or after the thread-locals that this package
//! has itself.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::thread;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy_framestep::clean_up_scripts;
use bevy_framestep::prelude::*;

use super::app;

type Lines = Arc<Mutex<Vec<String>>>;

/// Notes that it is dropped.
struct Noted(&'static str, Lines);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.to_owned());
    }
}

#[derive(Event, Clone)]
struct Alarm;

/// An app that the destructor of a thread-local uses.
struct Game {
    app: App,
    end: fn(&mut App),
}

impl Drop for Game {
    fn drop(&mut self) {
        (self.end)(&mut self.app);
    }
}

thread_local! {
    static GAME: RefCell<Option<Game>> = const { RefCell::new(None) };
}

/// Scripts of an entity, of a clock, of nobody; a wait for an event, a change and a condition.
fn full_app(lines: &Lines) -> App {
    let mut app = app();
    // The threads of Bevy's own executor cannot be used while a thread ends.
    let mut schedules = app.world_mut().resource_mut::<Schedules>();
    for (_, schedule) in schedules.iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    let sleeps = |what: &'static str| {
        let noted = Noted(what, lines.clone());
        async move {
            let _noted = noted;
            wait_seconds(1_000).await;
        }
    };
    let world = app.world_mut();
    let goblin = sleeps("of an entity");
    world.spawn(Name::new("Goblin")).start_script(|_| goblin);
    let clock = {
        let scripts = world.non_send::<bevy_framestep::Framestep>();
        let clock = scripts.handle().clock().unwrap().child();
        Scripts::on_clock(scripts.handle(), &clock).unwrap()
    };
    let slow = sleeps("on a clock");
    world.spawn(clock).start_script(|_| slow);
    let free = sleeps("of nobody");
    world.start_script(|| free);
    let noted = Noted("of an event", lines.clone());
    world.start_script(|| async move {
        let _noted = noted;
        next_event::<Alarm>().await;
    });
    app.update();
    app
}

/// What is noted when the thread ends that has the app. Before that, the app is used if `is_used`: then
/// the thread-locals of this package are made after that of the app, and end first.
fn noted(end: fn(&mut App), is_late: bool) -> Vec<String> {
    let lines = Lines::default();
    let noted = lines.clone();
    let thread = thread::spawn(move || {
        // Destructors of thread-locals run in the reverse order of their first use.
        if is_late {
            GAME.set(None);
        }
        let app = full_app(&noted);
        GAME.set(Some(Game { app, end }));
    });
    thread.join().unwrap();
    let mut lines = lines.lock().unwrap().clone();
    lines.sort();
    lines
}

const ALL: [&str; 4] = ["of an entity", "of an event", "of nobody", "on a clock"];

#[test]
fn scripts_end_with_the_app_of_a_thread_that_ends() {
    for is_late in [false, true] {
        assert_eq!(noted(|_| (), is_late), ALL);
    }
}

#[test]
fn entities_are_despawned_while_the_thread_ends() {
    for is_late in [false, true] {
        let despawns = |app: &mut App| {
            let mut all = app.world_mut().query_filtered::<Entity, With<Scripts>>();
            let all: Vec<Entity> = all.iter(app.world()).collect();
            assert_eq!(all.len(), 2);
            for entity in all {
                // Replaced, then removed.
                app.world_mut().entity_mut(entity).insert(Scripts::new());
                app.world_mut().despawn(entity);
            }
            clean_up_scripts(app.world_mut());
        };
        assert_eq!(noted(despawns, is_late), ALL);
    }
}

#[test]
fn frames_run_while_the_thread_ends() {
    for is_late in [false, true] {
        let runs = |app: &mut App| {
            app.world_mut().trigger(Alarm);
            app.update();
            let mut goblin = app.world_mut().spawn_empty();
            let script = goblin.start_script(|goblin| async move {
                next_frame().await;
                goblin.despawn().unwrap();
            });
            app.update();
            assert!(script.is_finished());
        };
        assert_eq!(noted(runs, is_late), ALL);
    }
}
