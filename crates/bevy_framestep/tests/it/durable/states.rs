//! States in saves: restored without their enter schedules, and what belongs to them is bound again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_app::Update;
use bevy_ecs::error::FallbackErrorHandler;
use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, OnRestore, prelude::*};
use bevy_state::app::{AppExtStates, StatesPlugin};
use bevy_state::prelude::*;
use bevy_state::state::FreelyMutableState;

use super::*;

#[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Screen {
    #[default]
    Menu,
    Game,
    Over,
}

#[derive(SubStates, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[source(Screen = Screen::Game)]
enum Mode {
    #[default]
    Peace,
    War,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InPlay;

impl ComputedStates for InPlay {
    type SourceStates = Screen;

    fn compute(screen: Screen) -> Option<Self> {
        (screen == Screen::Game).then_some(InPlay)
    }
}

/// What the schedules say. It is not saved.
#[derive(Resource, Default)]
struct Said(Vec<&'static str>);

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
struct Level;

#[derive(Component)]
struct Menu;

/// Says something in every frame.
#[derive(Serialize, Deserialize)]
struct Director;

impl DurableScript for Director {
    const NAME: &'static str = "director";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        next_frame().await;
        log(format!("directs in frame {}", time().frame));
        Chapter::Next(self)
    }
}

fn says(what: &'static str) -> impl Fn(ResMut<Said>) + Clone {
    move |mut said| said.0.push(what)
}

fn said(app: &mut App) -> Vec<&'static str> {
    std::mem::take(&mut app.world_mut().resource_mut::<Said>().0)
}

fn game() -> App {
    let mut app = App::new();
    app.add_plugins((
        TimePlugin,
        StatesPlugin,
        DurableScriptsPlugin::new(Registry::new().with::<Director>()),
    ));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        250,
    )));
    app.init_state::<Screen>();
    app.add_sub_state::<Mode>();
    app.add_computed_state::<InPlay>();
    app.init_resource::<Said>();
    app.init_resource::<Log>();
    app.save_state::<Screen>("screen");
    app.save_state::<Mode>("mode");
    app.save_component::<Level>("level");
    app.save_resource::<Log>("log");
    app.add_systems(OnEnter(Screen::Menu), |mut commands: Commands| {
        commands.spawn((Menu, DespawnOnExit(Screen::Menu)));
    });
    app.add_systems(OnEnter(Screen::Game), |mut commands: Commands| {
        commands.start_durable_script_in(Screen::Game, Director);
        commands.spawn((Level, DespawnOnExit(Screen::Game)));
    });
    app.add_systems(OnEnter(Screen::Game), says("enters the game"));
    app.add_systems(OnEnter(InPlay), says("is in play"));
    app.add_systems(OnEnter(Mode::War), says("goes to war"));
    app.add_systems(OnExit(Screen::Menu), says("leaves the menu"));
    app.add_systems(OnExit(Screen::Game), says("leaves the game"));
    app.add_systems(OnExit(InPlay), says("is out of play"));
    app.add_systems(OnRestore(Screen::Game), says("restores the game"));
    app.add_systems(OnRestore(Mode::War), says("restores the war"));
    app
}

fn go_to<S: FreelyMutableState>(app: &mut App, state: S) {
    app.world_mut().resource_mut::<NextState<S>>().set(state);
    app.update();
}

fn count<C: Component>(app: &mut App) -> usize {
    let mut all = app.world_mut().query::<&C>();
    all.iter(app.world()).count()
}

fn screen(app: &App) -> &Screen {
    app.world().resource::<State<Screen>>().get()
}

/// A game at war, in frame 3.
fn at_war() -> App {
    let mut app = game();
    app.update();
    go_to(&mut app, Screen::Game);
    go_to(&mut app, Mode::War);
    assert_eq!(take_log(&mut app), ["directs in frame 3"]);
    let all = [
        "leaves the menu",
        "enters the game",
        "is in play",
        "goes to war",
    ];
    assert_eq!(said(&mut app), all);
    app
}

#[test]
fn a_state_is_restored_without_its_enter_schedule() {
    let mut first = at_war();
    let file = saved(&mut first);

    let mut second = game();
    second.update();
    assert_eq!(count::<Menu>(&mut second), 1);
    load(&mut second, &file);
    let all = ["leaves the menu", "restores the game", "restores the war"];
    assert_eq!(said(&mut second), all);
    assert_eq!(*screen(&second), Screen::Game);
    let world = second.world();
    assert_eq!(*world.resource::<State<Mode>>().get(), Mode::War);
    assert!(world.contains_resource::<State<InPlay>>());
    // What belonged to the state that is left has gone with it.
    assert_eq!(count::<Menu>(&mut second), 0);
    assert_eq!(count::<Level>(&mut second), 1);
    // One director, which directs on.
    for _ in 0..2 {
        second.update();
    }
    assert_eq!(alive(&second), 1);
    assert_eq!(
        take_log(&mut second),
        ["directs in frame 4", "directs in frame 5"]
    );
    assert_eq!(said(&mut second), [""; 0]);
}

#[test]
fn what_belongs_to_a_state_ends_with_it_after_a_load() {
    let mut first = at_war();
    let file = saved(&mut first);

    let mut second = game();
    second.update();
    load(&mut second, &file);
    said(&mut second);
    go_to(&mut second, Screen::Over);
    assert_eq!(said(&mut second), ["is out of play", "leaves the game"]);
    assert_eq!(alive(&second), 0);
    assert_eq!(count::<Level>(&mut second), 0);
    assert_eq!(
        second.world().resource::<DurableEntities>().iter().count(),
        0
    );
    // Entered again, it begins as usual.
    go_to(&mut second, Screen::Game);
    assert_eq!(said(&mut second), ["enters the game", "is in play"]);
    assert_eq!(alive(&second), 1);
}

#[test]
fn a_load_into_the_same_state_runs_no_schedule() {
    let mut app = at_war();
    let file = saved(&mut app);
    app.update();
    load(&mut app, &file);
    assert_eq!(said(&mut app), [""; 0]);
    assert_eq!(alive(&app), 1);
    assert_eq!(count::<Level>(&mut app), 1);
    app.update();
    assert_eq!(said(&mut app), [""; 0]);
}

/// The state that an app begins in is entered in its first frame. It is not left before that, and not
/// entered after a load.
#[test]
fn an_app_that_has_not_begun_neither_leaves_nor_enters_a_state() {
    let mut first = game();
    first.update();
    let menu = saved(&mut first);
    let war = saved(&mut at_war());

    let mut second = game();
    load(&mut second, &war);
    assert_eq!(said(&mut second), ["restores the game", "restores the war"]);
    for _ in 0..3 {
        second.update();
    }
    assert_eq!(said(&mut second), [""; 0]);
    assert_eq!((count::<Menu>(&mut second), alive(&second)), (0, 1));

    let mut third = game();
    third.add_systems(OnRestore(Screen::Menu), says("restores the menu"));
    load(&mut third, &menu);
    assert_eq!(said(&mut third), ["restores the menu"]);
    third.update();
    assert_eq!(count::<Menu>(&mut third), 0);
}

#[test]
fn a_transition_that_is_pending_is_in_the_save() {
    let mut first = at_war();
    first
        .world_mut()
        .resource_mut::<NextState<Screen>>()
        .set(Screen::Over);
    let file = saved(&mut first);

    let mut second = game();
    second.update();
    load(&mut second, &file);
    said(&mut second);
    assert_eq!(*screen(&second), Screen::Game);
    second.update();
    assert_eq!(*screen(&second), Screen::Over);
    assert_eq!(said(&mut second), ["is out of play", "leaves the game"]);
    assert_eq!(alive(&second), 0);
}

/// The level stays the same entity, though the state that it belongs to is left and restored.
#[test]
fn a_rollback_over_a_transition_keeps_its_entities() {
    let mut app = at_war();
    let level = only::<Level>(&mut app);
    app.world_mut()
        .resource_mut::<NextState<Screen>>()
        .set(Screen::Over);
    let before = durable::save_state(app.world_mut()).unwrap();
    // Something else binds it to the next screen.
    app.world_mut()
        .entity_mut(level)
        .insert(DespawnOnExit(Screen::Over));
    app.update();
    assert_eq!(*screen(&app), Screen::Over);
    said(&mut app);

    durable::rollback(app.world_mut(), &before).unwrap();
    assert_eq!(*screen(&app), Screen::Game);
    assert_eq!(only::<Level>(&mut app), level);
    let exit = app.world().get::<DespawnOnExit<Screen>>(level).unwrap();
    assert_eq!(exit.0, Screen::Game);
    assert_eq!(said(&mut app), ["restores the game", "restores the war"]);
    assert_eq!(alive(&app), 1);
    app.update();
    assert_eq!(*screen(&app), Screen::Over);
    assert_eq!(alive(&app), 0);
}

/// Scripts of a state share one entity, so nothing piles up.
#[test]
fn scripts_of_a_state_that_end_leave_nothing() {
    #[derive(Serialize, Deserialize)]
    struct Flash;

    impl DurableScript for Flash {
        const NAME: &'static str = "flash";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            next_frame().await;
            Chapter::Done(())
        }
    }

    let mut app = game();
    app.world_mut()
        .non_send_mut::<DurableRuntime>()
        .with_runtime_mut(|runtime| {
            let registry = Registry::new().with::<Director>().with::<Flash>();
            runtime.reload(registry, Policy::Fail).unwrap();
        });
    app.add_systems(
        Update,
        |mut commands: Commands, screen: Res<State<Screen>>| {
            if *screen.get() == Screen::Over {
                commands.start_durable_script_in(Screen::Over, Flash);
            }
        },
    );
    app.update();
    go_to(&mut app, Screen::Over);
    for _ in 0..10 {
        app.update();
    }
    assert!(alive(&app) <= 2);
    assert_eq!(app.world().resource::<DurableEntities>().iter().count(), 1);
}

#[test]
fn a_durable_script_in_another_state_is_refused_with_what_to_do() {
    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct NotSaved;

    thread_local! {
        static ERRORS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    let mut app = game();
    app.insert_resource(FallbackErrorHandler(|error, _| {
        ERRORS.with_borrow_mut(|errors| errors.push(error.to_string()));
    }));
    app.init_state::<NotSaved>();
    app.update();
    let world = app.world_mut();
    world.start_durable_script_in(Screen::Game, Director);
    world.start_durable_script_in(Mode::War, Director);
    world.start_durable_script_in(NotSaved, Director);
    let errors = ERRORS.take();
    let said = |index: usize, what: &str| assert!(errors[index].contains(what), "{errors:?}");
    said(
        0,
        "the app is in the state `Menu`, and not in `Game`. Start it in `OnEnter(Game)`",
    );
    said(
        1,
        "has no state of the type `it::durable::states::Mode` at present",
    );
    said(2, "Call `app.save_state::<it::durable::states::");
    assert_eq!(alive(&app), 0);
}

/// The load passes the panic on; the enter schedules are there again.
#[test]
fn a_hook_that_panics_in_a_load_hides_no_schedule() {
    let war = saved(&mut at_war());
    let mut app = game();
    app.update();
    let observer = app
        .world_mut()
        .add_observer(|_: On<Add<Level>>| panic!("a bad observer"))
        .id();
    let save = Save::from_bytes(&war).unwrap();
    let loaded = catch_unwind(AssertUnwindSafe(|| {
        durable::load(app.world_mut(), &save, Policy::Fail)
    }));
    assert!(loaded.is_err());
    app.world_mut().despawn(observer);
    said(&mut app);
    go_to(&mut app, Screen::Over);
    go_to(&mut app, Screen::Game);
    assert!(said(&mut app).contains(&"enters the game"));
}

#[test]
fn a_save_with_a_state_that_the_app_does_not_know_is_refused() {
    let war = saved(&mut at_war());
    let mut app = app(registry());
    let save = Save::from_bytes(&war).unwrap();
    let error = durable::load(app.world_mut(), &save, Policy::Fail).unwrap_err();
    assert!(matches!(
        error,
        LoadError::UnknownComponent { .. } | LoadError::UnknownState { .. }
    ));
}
