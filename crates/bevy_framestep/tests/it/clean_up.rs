//! When the clean-up of a script runs, as seen from Bevy's schedules: one test for each row of
//! the table in the README.
//!
//! A diagram is one update from left to right: the schedules, and what happens between them.
//! `drop` is the destructor of a local variable, `defer` a closure that borrows the world.

use std::future::pending;
use std::sync::{Arc, Mutex};

use bevy_app::{App, AppExit, Last, PostUpdate, PreUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::{ScriptHandle, clean_up_scripts};
use framestep::inspect::Report;
use framestep::task::SendOwner;

use super::{alive, app};

/// What happens, in order: noted with and without a world, on any thread.
#[derive(Resource, Clone, Default)]
struct Happens(Arc<Mutex<Vec<String>>>);

impl Happens {
    fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    /// Compares what has happened since the last call. Spaces do not count.
    #[track_caller]
    fn check(&self, diagram: &str) {
        let happened = std::mem::take(&mut *self.0.lock().unwrap());
        let expected: Vec<&str> = diagram.split_whitespace().collect();
        assert_eq!(happened, expected);
    }
}

/// Notes that it is dropped.
struct Noted(Happens);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.note("drop");
    }
}

/// A script that ends only from outside.
async fn script(happens: Happens) {
    let note = happens.clone();
    let _defer = defer(move |_: &mut World| note.note("defer"));
    let _drop = Noted(happens);
    pending::<()>().await;
}

fn mark(what: &'static str) -> impl Fn(Res<Happens>) + Clone + Send + Sync + 'static {
    move |happens: Res<Happens>| happens.note(what)
}

/// An app that notes its schedules, after an update.
fn marked() -> (App, Happens) {
    let (mut app, happens) = (app(), Happens::default());
    app.insert_resource(happens.clone());
    app.add_systems(PreUpdate, mark("PreUpdate"));
    app.add_systems(Update, mark("Update"));
    app.add_systems(PostUpdate, mark("PostUpdate"));
    app.add_systems(Last, mark("Last"));
    #[cfg(feature = "state")]
    states::mark_transitions(&mut app);
    app.update();
    happens.0.lock().unwrap().clear();
    (app, happens)
}

/// The entity of a test.
#[derive(Resource)]
struct Goblin(Entity);

/// A marked app with an entity that has the script.
fn with_goblin() -> (App, Happens) {
    let (mut app, happens) = marked();
    let script = {
        let happens = happens.clone();
        move |_: Entity| script(happens)
    };
    let goblin = app.world_mut().spawn(Scripts::of(script)).id();
    app.insert_resource(Goblin(goblin));
    app.update();
    happens.check("PreUpdate Update PostUpdate Last");
    assert_eq!(alive(&app), 1);
    (app, happens)
}

/// Runs a system in `PreUpdate` of the next update, followed by another one that notes its place.
fn update_with<M>(app: &mut App, system: impl IntoSystem<(), (), M> + 'static) {
    let id = app.world_mut().register_system(system);
    let once = move |mut commands: Commands, mut done: Local<bool>| {
        if !std::mem::replace(&mut *done, true) {
            commands.run_system(id);
        }
    };
    app.add_systems(PreUpdate, (once, mark("then")).chain().after(Marked));
    app.configure_sets(PreUpdate, Marked);
    app.update();
}

#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Marked;

#[test]
fn an_entity_is_despawned_by_a_command() {
    let (mut app, happens) = with_goblin();
    let despawn = |mut commands: Commands, goblin: Res<Goblin>, happens: Res<Happens>| {
        commands.entity(goblin.0).despawn();
        let happens = happens.clone();
        commands.queue(move |_: &mut World| happens.note("next-command"));
    };
    update_with(&mut app, despawn);
    happens.check("PreUpdate drop defer next-command then Update PostUpdate Last");
}

#[test]
fn an_entity_is_despawned_on_the_world() {
    let (mut app, happens) = with_goblin();
    let goblin = app.world().resource::<Goblin>().0;
    app.world_mut().despawn(goblin);
    happens.check("drop defer");
}

#[test]
fn the_component_is_removed() {
    let (mut app, happens) = with_goblin();
    let remove = |mut commands: Commands, goblin: Res<Goblin>| {
        commands.entity(goblin.0).remove::<Scripts>();
    };
    update_with(&mut app, remove);
    happens.check("PreUpdate drop defer then Update PostUpdate Last");
}

#[test]
fn the_component_is_assigned() {
    let (mut app, happens) = with_goblin();
    let assign = |mut scripts: Query<&mut Scripts>| *scripts.single_mut().unwrap() = Scripts::new();
    update_with(&mut app, assign);
    happens.check("PreUpdate drop then defer Update PostUpdate Last");
}

#[test]
fn the_scripts_of_an_entity_are_stopped_in_a_system() {
    let (mut app, happens) = with_goblin();
    // On the app's thread, where it takes effect at once.
    let stop =
        |scripts: Query<&Scripts>, _here: NonSend<Framestep>| scripts.single().unwrap().stop_all();
    update_with(&mut app, stop);
    happens.check("PreUpdate drop then defer Update PostUpdate Last");
}

#[test]
fn a_script_is_stopped_by_its_name() {
    let (mut app, happens) = with_goblin();
    let stop = |scripts: Query<&Scripts>| assert!(scripts.single().unwrap().stop("script"));
    update_with(&mut app, stop);
    happens.check("PreUpdate then drop defer Update PostUpdate Last");
}

/// A script that belongs to no entity, and its handle as a resource.
#[derive(Resource)]
struct Free(ScriptHandle);

fn with_free() -> (App, Happens) {
    let (mut app, happens) = marked();
    let note = happens.clone();
    let free = app
        .world_mut()
        .commands()
        .start_script(move || script(note));
    app.insert_resource(Free(free));
    app.update();
    happens.check("PreUpdate Update PostUpdate Last");
    (app, happens)
}

#[test]
fn a_script_is_stopped_by_its_handle() {
    let (mut app, happens) = with_free();
    update_with(&mut app, |free: Res<Free>| free.0.stop());
    happens.check("PreUpdate then drop defer Update PostUpdate Last");
}

#[test]
fn the_resource_with_its_owner_is_removed() {
    #[derive(Resource)]
    struct Wave {
        _owner: SendOwner,
    }

    let (mut app, happens) = marked();
    let owner = app
        .world()
        .non_send::<Framestep>()
        .handle()
        .owner()
        .unwrap();
    owner.start(script(happens.clone()));
    app.insert_resource(Wave {
        _owner: owner.into_send(),
    });
    update_with(&mut app, |mut commands: Commands| {
        commands.remove_resource::<Wave>();
    });
    happens.check("PreUpdate drop then defer Update PostUpdate Last");
}

#[test]
fn a_script_ends_by_itself() {
    let (mut app, happens) = marked();
    let note = happens.clone();
    app.world_mut().start_script(move || async move {
        let defers = note.clone();
        let _defer = defer(move |_: &mut World| defers.note("defer"));
        let _drop = Noted(note.clone());
        next_frame().await;
        note.note("ends");
    });
    app.update();
    happens.check("PreUpdate Update ends drop defer PostUpdate Last");
}

#[test]
fn a_script_panics() {
    let (mut app, happens) = marked();
    let note = happens.clone();
    drop(app.world_mut().start_script(move || async move {
        let defers = note.clone();
        let _defer = defer(move |_: &mut World| defers.note("defer"));
        let _drop = Noted(note.clone());
        next_frame().await;
        with(|_: &mut World| panic!("in a borrow of the world"));
    }));
    app.update();
    happens.check("PreUpdate Update drop defer PostUpdate Last");
}

/// What follows in the closure sees the clean-up, as it sees that of Bevy's hooks and observers.
#[test]
fn a_script_ends_others_while_it_borrows_the_world() {
    let (mut app, happens) = with_goblin();
    let note = happens.clone();
    app.world_mut().start_script(move || async move {
        next_frame().await;
        with(|world: &mut World| {
            let goblin = world.resource::<Goblin>().0;
            world.despawn(goblin);
            note.note("despawned");
        });
    });
    app.update();
    happens.check("PreUpdate Update drop defer despawned PostUpdate Last");
}

#[test]
fn the_app_exits() {
    let (mut app, happens) = with_goblin();
    update_with(&mut app, |mut exits: MessageWriter<AppExit>| {
        _ = exits.write(AppExit::Success);
    });
    happens.check("PreUpdate then Update PostUpdate Last drop defer");
    assert_eq!(app.should_exit(), Some(AppExit::Success));
}

#[test]
fn the_app_is_dropped_without_an_exit() {
    let (app, happens) = with_goblin();
    drop(app);
    happens.check("drop");
}

/// Nothing else happens in the executor after the script has begun and ended.
#[test]
fn the_last_script_ends_between_two_schedules_of_a_frame() {
    let (mut app, happens) = marked();
    let note = happens.clone();
    app.add_systems(PostUpdate, move |world: &mut World| {
        let note = note.clone();
        let script = world.start_script(move || script(note));
        script.stop();
    });
    app.update();
    happens.check("PreUpdate Update PostUpdate drop defer Last");
}

#[test]
fn a_clean_up_that_panics_is_reported_and_the_next_one_runs() {
    let heard = Happens::default();
    let note = heard.clone();
    let plugin = FramestepPlugin::default().on_report(move |report| {
        assert!(matches!(report, Report::WithDeferredPanicked { .. }));
        note.note("reported");
    });
    let mut app = super::app_with(plugin);
    app.insert_resource(heard.clone());
    let note = heard.clone();
    let goblin = app.world_mut().spawn(Scripts::of(move |_| async move {
        let _other = defer(move |_: &mut World| note.note("defer"));
        let _panics = defer(|_: &mut World| panic!("the pool is gone"));
        pending::<()>().await;
    }));
    let goblin = goblin.id();
    app.update();
    app.world_mut().despawn(goblin);
    heard.check("reported defer");
}

/// The next state of a game's own state machine must see what the last one cleaned up.
#[test]
fn a_transition_of_the_games_own_cleans_up_by_hand() {
    let (mut app, happens) = with_free();
    app.world().resource::<Free>().0.stop();
    happens.check("");
    clean_up_scripts(app.world_mut());
    happens.check("drop defer");
    clean_up_scripts(app.world_mut());
    happens.check("");
}

#[cfg(feature = "durable")]
mod durable {
    use bevy_ecs::prelude::*;
    use bevy_framestep::durable::prelude::*;

    use super::{Goblin, Happens, marked, update_with};

    #[durable]
    async fn guard(_goblin: DurableId) -> Chapter {
        let _defer = defer(|world: &mut World| world.resource::<Happens>().note("defer"));
        wait_seconds(60).await;
        Chapter::Done(())
    }

    #[test]
    fn a_durable_script_ends_with_its_entity() {
        let (mut app, happens) = marked();
        app.add_plugins(DurableScriptsPlugin::new(Registry::new().script(guard)));
        let mut goblin = app.world_mut().spawn_empty();
        goblin.start_durable_script(guard);
        let goblin = goblin.id();
        app.insert_resource(Goblin(goblin));
        app.update();
        happens.check("PreUpdate Update PostUpdate Last");
        let despawn = |mut commands: Commands, goblin: Res<Goblin>| {
            commands.entity(goblin.0).despawn();
        };
        update_with(&mut app, despawn);
        happens.check("PreUpdate defer then Update PostUpdate Last");
    }
}

#[cfg(feature = "state")]
mod states {
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::prelude::*;
    use bevy_state::state::StateTransition;

    use super::*;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }

    /// Exists in the game alone.
    #[derive(SubStates, Clone, Debug, Default, PartialEq, Eq, Hash)]
    #[source(Screen = Screen::Game)]
    struct Fight;

    /// Exists in the game alone, and cannot be set.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Music;

    impl ComputedStates for Music {
        type SourceStates = Screen;

        fn compute(screen: Screen) -> Option<Self> {
            (screen == Screen::Game).then_some(Music)
        }
    }

    pub(super) fn mark_transitions(app: &mut App) {
        app.add_plugins(StatesPlugin).init_state::<Screen>();
        app.add_sub_state::<Fight>();
        app.add_computed_state::<Music>();
        app.add_systems(OnExit(Fight), mark("OnExit(Fight)"));
        app.add_systems(OnExit(Screen::Game), mark("OnExit"));
        let transition = OnTransition {
            exited: Screen::Game,
            entered: Screen::Menu,
        };
        app.add_systems(transition, mark("OnTransition"));
        app.add_systems(OnEnter(Screen::Menu), mark("OnEnter"));
    }

    fn go_to(app: &mut App, screen: Screen) {
        app.world_mut()
            .resource_mut::<NextState<Screen>>()
            .set(screen);
    }

    /// A marked app in the game, where `begin` has run.
    fn in_game(begin: impl FnOnce(&mut World, Happens)) -> (App, Happens) {
        let (mut app, happens) = marked();
        go_to(&mut app, Screen::Game);
        app.update();
        begin(app.world_mut(), happens.clone());
        app.update();
        happens.0.lock().unwrap().clear();
        assert!(alive(&app) > 0);
        (app, happens)
    }

    fn leave(app: &mut App) {
        go_to(app, Screen::Menu);
        app.update();
    }

    const LEFT: &str = "PreUpdate  OnExit(Fight) OnExit  drop defer  OnTransition  OnEnter  Update PostUpdate Last";

    #[test]
    fn a_script_ends_with_a_state() {
        let (mut app, happens) = in_game(|world, happens| {
            world.start_script_in(Screen::Game, move || script(happens));
        });
        leave(&mut app);
        happens.check(LEFT);
        assert_eq!(alive(&app), 0);
    }

    #[test]
    fn an_entity_ends_with_a_state() {
        let (mut app, happens) = in_game(|world, happens| {
            world.spawn((
                DespawnOnExit(Screen::Game),
                Scripts::of(move |_| script(happens)),
            ));
        });
        leave(&mut app);
        happens.check(LEFT);
    }

    #[test]
    fn a_script_ends_with_a_sub_state() {
        let (mut app, happens) = in_game(|world, happens| {
            world.start_script_in(Fight, move || script(happens));
        });
        leave(&mut app);
        happens.check(LEFT);
    }

    #[test]
    fn a_script_ends_with_a_computed_state() {
        let (mut app, happens) = in_game(|world, happens| {
            world.start_script_in(Music, move || script(happens));
        });
        leave(&mut app);
        happens.check(LEFT);
    }

    #[test]
    fn an_entity_is_despawned_in_an_exit_schedule() {
        let (mut app, happens) = in_game(|world, happens| {
            let goblin = world.spawn(Scripts::of(move |_| script(happens))).id();
            world.insert_resource(Goblin(goblin));
        });
        app.add_systems(
            OnExit(Fight),
            |mut commands: Commands, goblin: Res<Goblin>| {
                commands.entity(goblin.0).despawn();
            },
        );
        leave(&mut app);
        let order = "PreUpdate  OnExit(Fight) drop defer OnExit  OnTransition  OnEnter  Update PostUpdate Last";
        happens.check(order);
    }

    /// No hook hears of it: the clean-up waits for the end of the exit schedules.
    #[test]
    fn a_script_is_stopped_in_an_exit_schedule() {
        let (mut app, happens) = in_game(|world, happens| {
            let free = world.commands().start_script(move || script(happens));
            world.insert_resource(Free(free));
        });
        app.add_systems(OnExit(Fight), |free: Res<Free>| free.0.stop());
        leave(&mut app);
        happens.check(LEFT);
    }

    #[test]
    fn the_resource_with_its_owner_is_removed_in_an_exit_schedule() {
        #[derive(Resource)]
        struct Wave {
            _owner: SendOwner,
        }

        let (mut app, happens) = in_game(|world, happens| {
            let owner = world.non_send::<Framestep>().handle().owner().unwrap();
            owner.start(script(happens));
            world.insert_resource(Wave {
                _owner: owner.into_send(),
            });
        });
        app.add_systems(OnExit(Screen::Game), |mut commands: Commands| {
            commands.remove_resource::<Wave>();
        });
        leave(&mut app);
        happens.check(LEFT);
    }

    /// The music of the menu is not silenced by the clean-up of the battle.
    #[test]
    fn the_next_state_sees_the_clean_up_of_the_last_one() {
        #[derive(Resource, Default)]
        struct Plays(&'static str);

        let (mut app, _) = in_game(|world, _| {
            world.insert_resource(Plays("battle"));
            world.start_script_in(Screen::Game, || async {
                let _silence = defer(|world: &mut World| world.resource_mut::<Plays>().0 = "");
                pending::<()>().await;
            });
        });
        app.add_systems(OnEnter(Screen::Menu), |mut plays: ResMut<Plays>| {
            assert_eq!(plays.0, "");
            plays.0 = "menu";
        });
        leave(&mut app);
        assert_eq!(app.world().resource::<Plays>().0, "menu");
    }

    /// It takes effect in the next transition, as in an exit schedule.
    #[test]
    fn a_clean_up_sets_a_state() {
        let (mut app, happens) = in_game(|world, _| {
            world.start_script_in(Screen::Game, || async {
                let _back = defer(|world: &mut World| {
                    world.resource::<Happens>().note("sets-it");
                    world.resource_mut::<NextState<Screen>>().set(Screen::Game);
                });
                pending::<()>().await;
            });
        });
        leave(&mut app);
        let left = "PreUpdate  OnExit(Fight) OnExit  sets-it  OnTransition  OnEnter  Update PostUpdate Last";
        happens.check(left);
        assert_eq!(app.world().resource::<State<Screen>>().get(), &Screen::Menu);
        app.update();
        assert_eq!(app.world().resource::<State<Screen>>().get(), &Screen::Game);
    }

    /// What an exit schedule removes is there for the clean-up that runs before.
    #[test]
    fn scripts_end_before_an_exit_schedule_removes_what_they_need() {
        #[derive(Resource)]
        struct Level(u32);

        let (mut app, happens) = in_game(|world, happens| {
            world.insert_resource(Level(5));
            let note = happens.clone();
            world.start_script_in(Screen::Game, || async move {
                let _defer = defer(move |world: &mut World| {
                    world.resource_mut::<Level>().0 += 1;
                    note.note("gives-back");
                });
                pending::<()>().await;
            });
            let entity = (
                DespawnOnExit(Screen::Game),
                Scripts::of(move |_| script(happens)),
            );
            world.spawn(entity);
            world.spawn((
                DespawnOnExit(Screen::Menu),
                Scripts::of(|_| pending::<()>()),
            ));
        });
        app.add_systems(OnExit(Screen::Game), |mut commands: Commands| {
            commands.end_scripts_in(Screen::Game);
            commands.remove_resource::<Level>();
        });
        let others = alive(&app) - 2;
        leave(&mut app);
        let mut happened = happens.0.lock().unwrap().clone();
        happened.retain(|what| !what.starts_with("OnExit"));
        let order = "PreUpdate gives-back drop defer OnTransition OnEnter Update PostUpdate Last";
        assert_eq!(happened.join(" "), order);
        assert_eq!(alive(&app), others);
    }

    /// A script that runs a schedule borrows the world meanwhile.
    #[test]
    fn a_script_runs_the_transition() {
        let (mut app, happens) = in_game(|world, happens| {
            world.start_script_in(Screen::Game, move || script(happens));
            world.start_script(|| async {
                next_frame().await;
                next_frame().await;
                resource_mut(|next: &mut NextState<Screen>| next.set(Screen::Menu));
                with(|world: &mut World| world.run_schedule(StateTransition));
            });
        });
        app.update();
        happens.check(
            "PreUpdate Update  OnExit(Fight) OnExit  drop defer  OnTransition  OnEnter  PostUpdate Last",
        );
    }

    /// The plugin of the states may come before that of the scripts, and after it.
    #[test]
    fn in_either_order_of_the_plugins() {
        for states_first in [false, true] {
            let mut app = App::new();
            app.add_plugins(bevy_time::TimePlugin);
            if states_first {
                app.add_plugins((StatesPlugin, FramestepPlugin::default()));
            } else {
                app.add_plugins((FramestepPlugin::default(), StatesPlugin));
            }
            app.init_state::<Screen>();
            let happens = Happens::default();
            app.insert_resource(happens.clone());
            let note = happens.clone();
            let free = app
                .world_mut()
                .commands()
                .start_script(move || script(note));
            app.insert_resource(Free(free));
            app.add_systems(OnExit(Screen::Menu), |free: Res<Free>| free.0.stop());
            app.add_systems(OnEnter(Screen::Game), mark("OnEnter"));
            app.update();
            go_to(&mut app, Screen::Game);
            app.update();
            happens.check("drop defer OnEnter");
        }
    }
}

/// Each row of the table names the test that shows it.
#[cfg(all(feature = "state", feature = "durable"))]
#[test]
fn the_table_of_the_readme_names_a_test_in_each_row() {
    let readme = include_str!("../../README.md");
    let section = readme
        .split("\n## ")
        .find(|section| section.starts_with("What ends a script"));
    let section = section.expect("the README says what ends a script");
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() > 10, "{rows:#?}");
    let tests = include_str!("clean_up.rs");
    for row in rows {
        let test = row
            .trim_end_matches(" |")
            .rsplit("| ")
            .next()
            .unwrap()
            .trim_matches('`');
        assert!(
            !test.is_empty() && tests.contains(&format!("fn {test}()")),
            "no test `{test}`: {row}"
        );
    }
}
