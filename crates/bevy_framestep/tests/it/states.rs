//! Waits for states.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use bevy_app::App;
use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_framestep::ScriptHandle;
use bevy_framestep::prelude::*;
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_state::prelude::*;

use super::{app, log, take_log};

#[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Screen {
    #[default]
    Menu,
    Game,
    End,
}

fn app_with_states() -> App {
    let mut app = app();
    app.add_plugins(StatesPlugin).init_state::<Screen>();
    app
}

fn go_to(app: &mut App, screen: Screen) {
    app.world_mut()
        .resource_mut::<NextState<Screen>>()
        .set(screen);
}

#[test]
fn entered_and_exited() {
    let mut app = app_with_states();
    // The first transition, into the state that the app begins in.
    app.update();
    for screen in [Screen::Menu, Screen::Game, Screen::End] {
        let (entered, exited) = (screen.clone(), screen.clone());
        app.world_mut().start_script(|| async move {
            let name = format!("{screen:?}");
            wait_for_state(screen).await;
            log(format!("is in {name} in frame {}", time().frame));
        });
        app.world_mut().start_script(|| async move {
            let name = format!("{entered:?}");
            state_entered(entered).await;
            log(format!("entered {name} in frame {}", time().frame));
        });
        app.world_mut().start_script(|| async move {
            let name = format!("{exited:?}");
            state_exited(exited).await;
            log(format!("exited {name} in frame {}", time().frame));
        });
    }
    assert_eq!(take_log(&mut app), ["is in Menu in frame 1"]);
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    go_to(&mut app, Screen::Game);
    app.update();
    let expected = [
        "exited Menu in frame 3",
        "is in Game in frame 3",
        "entered Game in frame 3",
    ];
    assert_eq!(take_log(&mut app), expected);
    go_to(&mut app, Screen::End);
    app.update();
    let expected = [
        "exited Game in frame 4",
        "is in End in frame 4",
        "entered End in frame 4",
    ];
    assert_eq!(take_log(&mut app), expected);
}

/// A script asks for a state, and waits for it.
#[test]
fn set_by_a_script() {
    let mut app = app_with_states();
    app.world_mut().start_script(|| async {
        next_frame().await;
        resource_mut(|next: &mut NextState<Screen>| next.set(Screen::Game));
        let transition = next_transition::<Screen>().await;
        assert_eq!(transition.exited, Some(Screen::Menu));
        assert_eq!(transition.entered, Some(Screen::Game));
        log(format!("frame {}", time().frame));
    });
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["frame 2"]);
}

/// A script ends with the state in which it was started; its entity ends with either.
#[test]
fn scripts_that_end_with_a_state() {
    async fn music() {
        loop {
            next_frame().await;
            log("music");
        }
    }

    let mut app = app_with_states();
    app.add_systems(OnEnter(Screen::Game), |mut commands: Commands| {
        commands.start_script_in(Screen::Game, music);
        commands.start_script_in(Screen::Game, || async { log("begins and ends") });
        let refused = commands.start_script_in(Screen::Menu, || async { unreachable!() });
        commands.start_script(move || async move {
            assert!(refused.is_finished());
            log("refused");
        });
    });
    app.update();
    go_to(&mut app, Screen::Game);
    app.update();
    assert_eq!(take_log(&mut app), ["begins and ends", "refused"]);
    let mut scoped = app
        .world_mut()
        .query::<&bevy_state::state_scoped::DespawnOnExit<Screen>>();
    assert_eq!(scoped.iter(app.world()).count(), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["music"]);
    go_to(&mut app, Screen::Menu);
    app.update();
    assert_eq!(take_log(&mut app), [""; 0]);
    assert_eq!(super::alive(&app), 0);
    assert_eq!(scoped.iter(app.world()).count(), 0);
    let handle = app.world_mut().start_script_in(Screen::Menu, music);
    assert!(!handle.is_finished());
}

/// In whatever way it ends: nothing of it is left.
#[test]
fn the_entity_of_a_script_is_despawned_with_it() {
    type Start = fn(&mut Commands) -> ScriptHandle;
    type End = fn(&mut App, &ScriptHandle);

    async fn waves() {
        wait_seconds(60).await;
    }

    async fn panics_at_once() {
        panic!("no waves");
    }

    let by_handle: End = |_, handle| handle.stop();
    let stop_all: End = |app, _| {
        let mut scripts = app.world_mut().query::<&Scripts>();
        scripts.iter(app.world()).for_each(Scripts::stop_all);
    };
    let remove: End = |app, _| {
        let mut entities = app.world_mut().query_filtered::<Entity, With<Scripts>>();
        let entity = entities.single(app.world()).unwrap();
        app.world_mut().entity_mut(entity).remove::<Scripts>();
    };
    let by_itself: End = |_, _| ();

    for before_it_begins in [false, true] {
        let starts: [(Start, End); 6] = [
            (
                |commands| commands.start_script_in(Screen::Menu, waves),
                by_handle,
            ),
            (
                |commands| commands.start_script_in(Screen::Menu, waves),
                stop_all,
            ),
            (
                |commands| commands.start_script_in(Screen::Menu, waves),
                remove,
            ),
            (
                |commands| commands.start_script_in(Screen::Menu, panics_at_once),
                by_itself,
            ),
            (
                |commands| {
                    commands.start_script_in(Screen::Menu, || async {
                        next_frame().await;
                        panic!("no waves any more");
                    })
                },
                by_itself,
            ),
            (
                |commands| {
                    commands.start_script_in(Screen::Menu, || async {
                        next_frame().await;
                        stop(current());
                        waves().await;
                    })
                },
                by_itself,
            ),
        ];
        for (start, end) in starts {
            let mut app = app_with_states();
            app.update();
            let before = app.world().entities().count_spawned();
            let handle = start(&mut app.world_mut().commands());
            if before_it_begins {
                handle.stop();
            }
            app.update();
            if !before_it_begins {
                end(&mut app, &handle);
            }
            app.update();
            assert!(handle.is_finished());
            assert_eq!(super::alive(&app), 0);
            assert_eq!(app.world().entities().count_spawned(), before);
        }
    }
}

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A script that is asked for in a state that the app is not in does not start silently.
#[test]
fn a_script_that_does_not_start_in_a_state_says_why() {
    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Never {
        #[default]
        Added,
    }

    async fn waves() {
        unreachable!("it does not start")
    }

    let mut app = app_with_states();
    app.insert_resource(FallbackErrorHandler(|error, context| {
        let severity = error.severity();
        let heard = format!("{severity:?} in {}: {error}", context.name());
        HEARD.with_borrow_mut(|all| all.push(heard));
    }));
    app.update();
    // Set, but entered only by the next update.
    go_to(&mut app, Screen::Game);
    let handle = app.world_mut().start_script_in(Screen::Game, waves);
    assert!(handle.is_finished());
    let mut commands = app.world_mut().commands();
    commands.start_script_in(Never::Added, waves);
    app.world_mut().flush();
    let heard = HEARD.take();
    assert_eq!(heard.len(), 2, "{heard:#?}");
    let says = "waves` was not started: the app is in the state `Menu`, and not in `Game`. Start \
                it in `OnEnter(Game)`";
    assert!(
        heard[0].starts_with("Warning") && heard[0].contains(says),
        "{}",
        heard[0]
    );
    assert!(heard[1].starts_with("Error"), "{}", heard[1]);
    assert!(heard[1].contains("call `app.init_state::<"), "{}", heard[1]);
    assert_eq!(super::alive(&app), 0);
}

/// Bevy's handler, which panics for the error of a system, except that it collects what is lost.
fn collect_lost(app: &mut App) -> Arc<Mutex<Vec<String>>> {
    thread_local! {
        static LOST: RefCell<Option<Arc<Mutex<Vec<String>>>>> = const { RefCell::new(None) };
    }

    let lost = Arc::new(Mutex::new(Vec::new()));
    LOST.set(Some(lost.clone()));
    app.insert_resource(FallbackErrorHandler(|error, _| {
        let text = error.to_string();
        assert!(text.contains("is lost"), "{text}");
        // Scripts run on this thread.
        LOST.with_borrow(|lost| lost.as_ref().unwrap().lock().unwrap().push(text));
    }));
    lost
}

/// A script runs the transition, and a system of an enter schedule panics. Bevy has lost both
/// schedules, which is reported once; with the default handler, that ends the app.
#[test]
fn schedules_that_a_panic_has_lost_are_reported() {
    async fn hurry() {
        wait_frames(2).await;
        resource_mut(|next: &mut NextState<Screen>| next.set(Screen::Game));
        with(|world: &mut World| world.run_schedule(StateTransition));
    }

    let mut app = app_with_states();
    let lost = collect_lost(&mut app);
    app.add_systems(OnEnter(Screen::Game), || panic!("no such level"));
    app.world_mut().commands().start_script(hurry);
    for _ in 0..5 {
        app.update();
    }
    let mut lost = lost.lock().unwrap();
    lost.sort();
    assert_eq!(lost.len(), 2, "{lost:?}");
    for (text, label) in lost.iter().zip(["OnEnter(Game)", "StateTransition"]) {
        let begin = format!("the schedule `{label}` is lost, and its systems will not run again");
        assert!(text.starts_with(&begin), "{text}");
    }
}

/// In the first frame there is no earlier run to compare with: of the schedules of states, the
/// transition is told.
#[test]
fn a_transition_that_is_lost_before_the_first_frame_is_reported() {
    let mut app = app_with_states();
    let lost = collect_lost(&mut app);
    app.add_systems(OnEnter(Screen::Menu), || panic!("no menu"));
    app.world_mut().commands().start_script(|| async {
        with(|world: &mut World| world.run_schedule(StateTransition));
    });
    app.world_mut().flush();
    app.update();
    let lost = lost.lock().unwrap();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(
        lost[0].contains("the schedule `StateTransition` is lost"),
        "{lost:?}"
    );
}

/// The clean-up of a script runs the transition.
#[test]
fn schedules_that_a_panic_in_a_deferred_closure_has_lost_are_reported() {
    async fn leave() {
        let _end = defer(|world: &mut World| {
            world.resource_mut::<NextState<Screen>>().set(Screen::Game);
            world.run_schedule(StateTransition);
        });
        wait_frames(2).await;
    }

    let mut app = app_with_states();
    let lost = collect_lost(&mut app);
    app.add_systems(OnEnter(Screen::Game), || panic!("no such level"));
    app.world_mut().commands().start_script(leave);
    for _ in 0..5 {
        app.update();
    }
    let mut lost = lost.lock().unwrap();
    lost.sort();
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost[0].contains("`OnEnter(Game)`"), "{lost:?}");
    assert!(lost[1].contains("`StateTransition`"), "{lost:?}");
}

/// A panic of a script that runs no schedule loses none.
#[test]
fn a_panic_without_a_schedule_loses_none() {
    let mut app = app_with_states();
    app.insert_resource(FallbackErrorHandler(|error, _| panic!("{error}")));
    for _ in 0..3 {
        app.world_mut().commands().start_script(|| async {
            next_frame().await;
            panic!("just a script");
        });
        app.update();
    }
    go_to(&mut app, Screen::Game);
    app.update();
    let state = app.world().resource::<State<Screen>>();
    assert_eq!(*state.get(), Screen::Game);
}
