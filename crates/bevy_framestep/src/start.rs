//! Starting scripts from systems and the host.

use std::panic::Location;
use std::rc::Rc;

use bevy_ecs::error::{BevyError, ContextExt, ErrorContext, warn};
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommands;
use bevy_utils::prelude::DebugName;
#[cfg(feature = "state")]
use framestep::lend::defer;
use framestep::task::CoroutineId;
use framestep::{Coroutine, Handle};

use crate::borrow::Place;
use crate::executor::Shared;
use crate::link::{Link, ScriptHandle};
use crate::output::ScriptOutput;
use crate::script::{EntityScriptFn, ScriptFn, name_of, of_entity, unobserved};
use crate::scripts::{Scripts, nobody, owner_of};

/// Starts scripts that belong to no entity, on a `World`.
///
/// In a script, use [`start`](framestep::start).
///
/// # Examples
///
/// See [`FramestepPlugin`](crate::FramestepPlugin).
pub trait WorldScriptsExt {
    /// Starts the script that `script` makes, up to its first wait, with the world lent
    /// to it.
    ///
    /// A script that is started while another script borrows the world begins as soon as that
    /// borrow ends.
    ///
    /// An error that nothing reads from the handle goes to
    /// [Bevy's error handler](ScriptOutput).
    ///
    /// # Panics
    ///
    /// If the plugin is missing.
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: ScriptFn<F> + 'static,
        F: Future<Output: ScriptOutput> + 'static;
}

impl WorldScriptsExt for World {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: ScriptFn<F> + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let shared = Shared::of(self);
        shared.hear::<F::Output>();
        let place = Location::caller();
        start(self, &shared, name_of::<F>(), place, async {
            script().await
        })
    }
}

/// Starts scripts that belong to no entity, on `Commands`.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Startup};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// async fn intro() {
///     println!("long ago");
///     wait_seconds(2).await;
///     println!("there was a game engine");
/// }
///
/// fn begin(mut commands: Commands) {
///     commands.start_script(intro);
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.add_systems(Startup, begin);
/// app.update();
/// ```
pub trait CommandsScriptsExt {
    /// Starts the script that `script` makes when the commands are applied, up to its
    /// first wait, with the world lent to it.
    ///
    /// `script` moves to the thread of the app, so what it captures must be `Send`. The
    /// future that it makes need not be. An argument moves twice, first into the closure,
    /// then into the future: `move || async move { .. }`, or `move || intro(level)`.
    ///
    /// The handle can stop and pause the script, and says whether it has ended. Dropping it
    /// has no effect. An error of the script goes to [Bevy's error handler](ScriptOutput).
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> ScriptHandle
    where
        S: ScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static;
}

impl CommandsScriptsExt for Commands<'_, '_> {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> ScriptHandle
    where
        S: ScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let (link, handle) = Link::new();
        let place = Location::caller();
        self.queue(move |world: &mut World| {
            link.begin(world, |world, link| {
                let name = name_of::<F>();
                let script = link.around(async { script().await });
                let shared = shared_for(world, name, place);
                let script = unobserved(&shared, script, name, None);
                start(world, &shared, name, place, script)
            });
        });
        handle
    }
}

/// Starts scripts that belong to an entity, on an `EntityWorldMut`.
///
/// In a script, use [`ScriptEntity::start`](crate::ScriptEntity::start).
///
/// # Examples
///
/// See [`Scripts`].
pub trait EntityWorldScriptsExt {
    /// Starts the script that `script` makes for the entity, up to its first wait, with
    /// the world lent to it. It ends with the entity.
    ///
    /// If the entity does not exist any more, the script counts as stopped before it began.
    /// An error that nothing reads from the handle goes to [Bevy's error
    /// handler](ScriptOutput).
    ///
    /// # Panics
    ///
    /// If the plugin is missing.
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: EntityScriptFn<F> + 'static,
        F: Future<Output: ScriptOutput> + 'static;
}

impl EntityWorldScriptsExt for EntityWorldMut<'_> {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: EntityScriptFn<F> + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let entity = self.id();
        let place = Location::caller();
        self.world_scope(|world| {
            let shared = shared_for(world, name_of::<F>(), place);
            shared.hear::<F::Output>();
            let witness = F::Output::MAY_FAIL.then(|| shared.witness());
            let script = of_entity(script, entity, shared.speeds(), witness);
            start_on(world, &shared, entity, name_of::<F>(), place, script)
        })
    }
}

/// Starts scripts that belong to an entity, on `EntityCommands`.
///
/// # Examples
///
/// From an observer:
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(EntityEvent)]
/// struct Hit(Entity);
///
/// async fn flash(_enemy: Entity) {
///     wait_seconds(0.1).await;
/// }
///
/// fn on_hit(hit: On<Hit>, mut commands: Commands) {
///     commands.entity(hit.event_target()).start_script(flash);
/// }
/// ```
pub trait EntityCommandsScriptsExt {
    /// Starts the script that `script` makes for the entity when the commands are
    /// applied, up to its first wait, with the world lent to it. It ends with the entity.
    ///
    /// If the entity does not exist any more then, no script starts, and a warning is logged.
    /// An error of the script goes to [Bevy's error handler](ScriptOutput).
    ///
    /// `script` moves to the thread of the app, so what it captures must be `Send`. The
    /// future that it makes need not be. With an argument:
    /// `move |enemy| flash(enemy, colour)`.
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static;

    /// Does what [`start_script`](Self::start_script) does, without a warning if the entity
    /// does not exist any more.
    #[track_caller]
    fn try_start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static;

    /// Does what [`try_start_script`](Self::try_start_script) does, and returns a handle to
    /// the script, which can be kept in a component or a resource. It can stop and pause the
    /// script, and says whether it has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::ScriptHandle;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Casting(ScriptHandle);
    ///
    /// async fn cast(_mage: Entity) {
    ///     wait_seconds(2).await;
    /// }
    ///
    /// fn begin(mages: Query<Entity, Without<Casting>>, mut commands: Commands) {
    ///     for mage in &mages {
    ///         let mut mage = commands.entity(mage);
    ///         let casting = mage.start_script_handle(cast);
    ///         mage.insert(Casting(casting));
    ///     }
    /// }
    ///
    /// fn interrupt(casting: Query<&Casting>) {
    ///     for casting in &casting {
    ///         casting.0.stop();
    ///     }
    /// }
    /// ```
    #[track_caller]
    fn start_script_handle<S, F>(&mut self, script: S) -> ScriptHandle
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static;
}

impl EntityCommandsScriptsExt for EntityCommands<'_> {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let (entity, place) = (self.id(), Location::caller());
        self.commands()
            .queue(move |world: &mut World| match world.get_entity(entity) {
                Ok(_) => start_unobserved(world, entity, place, script),
                Err(error) => not_there(name_of::<F>(), place, error.into()),
            });
        self
    }

    #[track_caller]
    fn try_start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let place = Location::caller();
        self.queue_silenced(move |mut entity: EntityWorldMut<'_>| {
            let id = entity.id();
            entity.world_scope(|world| start_unobserved(world, id, place, script));
        })
    }

    #[track_caller]
    fn start_script_handle<S, F>(&mut self, script: S) -> ScriptHandle
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let (link, handle) = Link::new();
        let place = Location::caller();
        self.queue_silenced(move |mut entity: EntityWorldMut<'_>| {
            let id = entity.id();
            entity.world_scope(|world| {
                link.begin(world, |world, link| {
                    let name = name_of::<F>();
                    let shared = shared_for(world, name, place);
                    let script = link.around(of_entity(script, id, shared.speeds(), None));
                    let script = unobserved(&shared, script, name, Some(id));
                    start_on(world, &shared, id, name, place, script)
                });
            });
        });
        handle
    }
}

/// Starts scripts that end with a state of the app, on `Commands` and on a `World`.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_state::prelude::*;
///
/// #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// enum Screen {
///     #[default]
///     Menu,
///     Game,
/// }
///
/// async fn spawn_waves() {
///     loop {
///         wait_seconds(10).await;
///         println!("here they come");
///     }
/// }
///
/// // In `OnEnter(Screen::Game)`.
/// fn begin(mut commands: Commands) {
///     commands.start_script_in(Screen::Game, spawn_waves);
/// }
/// ```
#[cfg(feature = "state")]
pub trait StateScriptsExt {
    /// Starts a script that ends when the app leaves `state`.
    ///
    /// If the app is in another state when the commands are applied, no script starts, and
    /// Bevy's error handler gets a warning. That is also so in the frame in which the state is
    /// set: Bevy enters it at the next `StateTransition`. So start the script in
    /// `OnEnter(state)`. If the app has no such states at all, the handler gets an error.
    ///
    /// The script has its own entity, with Bevy's `DespawnOnExit`. The entity is despawned
    /// when the script ends in any way: at once, or, if the world is borrowed meanwhile or not
    /// lent, in the next run of scripts. For scripts of an entity that ends with a state, put
    /// both into its bundle: `(DespawnOnExit(Screen::Game), Scripts::of(boss))`.
    ///
    /// # Panics
    ///
    /// When the commands are applied, if the plugin is missing.
    #[track_caller]
    fn start_script_in<A, S, F>(&mut self, state: A, script: S) -> ScriptHandle
    where
        A: bevy_state::state::States,
        S: ScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static;

    /// Ends the scripts that end with `state` now, with their clean-up, or when the commands are
    /// applied: those of [`start_script_in`](Self::start_script_in), and those of entities with
    /// `DespawnOnExit(state)`. The entities stay.
    ///
    /// Without this call, Bevy ends them when it has run all exit schedules. So a script that
    /// gives something back when it ends comes after a system of `OnExit(state)` that removes it. Call this in that
    /// system first. Durable scripts are not concerned.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    /// # use bevy_state::prelude::*;
    ///
    /// # #[derive(States, Clone, Debug, PartialEq, Eq, Hash)]
    /// # enum Screen {
    /// #     Game,
    /// # }
    /// #[derive(Resource)]
    /// struct Level;
    ///
    /// // In `OnExit(Screen::Game)`.
    /// fn unload(mut commands: Commands) {
    ///     commands.end_scripts_in(Screen::Game);
    ///     commands.remove_resource::<Level>();
    /// }
    /// ```
    fn end_scripts_in<A: bevy_state::state::States>(&mut self, state: A);
}

#[cfg(feature = "state")]
impl StateScriptsExt for Commands<'_, '_> {
    #[track_caller]
    fn start_script_in<A, S, F>(&mut self, state: A, script: S) -> ScriptHandle
    where
        A: bevy_state::state::States,
        S: ScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let (link, handle) = Link::new();
        let place = Location::caller();
        self.queue(move |world: &mut World| start_in_state(world, link, state, place, script));
        handle
    }

    fn end_scripts_in<A: bevy_state::state::States>(&mut self, state: A) {
        self.queue(move |world: &mut World| world.end_scripts_in(state));
    }
}

#[cfg(feature = "state")]
impl StateScriptsExt for World {
    #[track_caller]
    fn start_script_in<A, S, F>(&mut self, state: A, script: S) -> ScriptHandle
    where
        A: bevy_state::state::States,
        S: ScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let (link, handle) = Link::new();
        start_in_state(self, link, state, Location::caller(), script);
        handle
    }

    fn end_scripts_in<A: bevy_state::state::States>(&mut self, state: A) {
        use bevy_ecs::entity_disabling::Disabled;
        use bevy_state::state_scoped::DespawnOnExit;

        let mut all =
            self.query_filtered::<(Entity, &DespawnOnExit<A>), (With<Scripts>, Allow<Disabled>)>();
        let all: Vec<Entity> = all
            .iter(self)
            .filter(|(_, exit)| exit.0 == state)
            .map(|(entity, _)| entity)
            .collect();
        for entity in all {
            // The clean-up of another one may have despawned it.
            if let Ok(mut entity) = self.get_entity_mut(entity) {
                entity.remove::<Scripts>();
            }
        }
    }
}

#[cfg(feature = "state")]
fn start_in_state<A, S, F>(world: &mut World, link: Link, state: A, place: Place, script: S)
where
    A: bevy_state::state::States,
    S: ScriptFn<F> + Send + 'static,
    F: Future<Output: ScriptOutput> + 'static,
{
    use bevy_state::state::State;
    use bevy_state::state_scoped::DespawnOnExit;

    let current = world.get_resource::<State<A>>();
    if current.is_none_or(|current| *current.get() != state) {
        refused_in_state(world, &state, name_of::<F>());
        return;
    }
    link.begin(world, |world, link| {
        let entity = world.spawn(DespawnOnExit(state)).id();
        let end = defer(move |world: &mut World| _ = world.try_despawn(entity));
        let name = name_of::<F>();
        let shared = shared_for(world, name, place);
        let script = link.around(async { script().await });
        let script = unobserved(&shared, script, name, None);
        start_on(world, &shared, entity, name, place, async move {
            let _end = end;
            script.await;
        })
    });
}

/// Says why a script does not start.
#[cfg(feature = "state")]
#[cold]
fn refused_in_state<A: bevy_state::state::States>(world: &World, state: &A, script: &'static str) {
    use bevy_ecs::message::Messages;
    use bevy_state::state::{State, StateTransitionEvent};

    use crate::output::hand_over;

    let states = std::any::type_name::<A>();
    let start = format!("the script `{script}` was not started: the app ");
    let error = match world.get_resource::<State<A>>() {
        Some(current) => BevyError::warning(format!(
            "{start}is in the state `{:?}`, and not in `{state:?}`. Start it in `OnEnter({state:?})`",
            current.get()
        )),
        // A substate, or a computed one, which does not exist now.
        None if world.contains_resource::<Messages<StateTransitionEvent<A>>>() => {
            BevyError::warning(format!(
                "{start}has no state of the type `{states}` at present. Start it in \
                 `OnEnter({state:?})`"
            ))
        }
        None => BevyError::error(format!(
            "{start}has no states of the type `{states}`: call `app.init_state::<{states}>()`"
        )),
    };
    hand_over(world, error, "start_script_in");
}

/// Says that the entity of a script does not exist any more.
#[cold]
fn not_there(script: &'static str, place: Place, error: BevyError) {
    let text = format!("the script `{script}` was not started, at {place}");
    let name = DebugName::borrowed("start_script");
    if let Err(error) = Err::<(), _>(error).context(text) {
        warn(error, ErrorContext::Command { name });
    }
}

/// The executor for a script that is started at `place`, even if the caller is a queued closure.
fn shared_for(world: &World, script: &'static str, place: Place) -> Rc<Shared> {
    match Shared::get(world) {
        Some(shared) => shared,
        None => panic!(
            "scripts need `FramestepPlugin`: add it to the app. The script `{script}` is started \
             at {place}"
        ),
    }
}

/// Starts a script of an entity whose output nothing reads.
pub(crate) fn start_unobserved<S, F>(world: &mut World, entity: Entity, place: Place, script: S)
where
    S: EntityScriptFn<F> + 'static,
    F: Future<Output: ScriptOutput> + 'static,
{
    let name = name_of::<F>();
    let shared = shared_for(world, name, place);
    let script = of_entity(script, entity, shared.speeds(), None);
    if F::Output::MAY_FAIL {
        let script = unobserved(&shared, script, name, Some(entity));
        start_on(world, &shared, entity, name, place, script);
    } else {
        start_on(world, &shared, entity, name, place, script);
    }
}

fn start<F>(
    world: &mut World,
    shared: &Shared,
    name: &'static str,
    place: Place,
    script: F,
) -> Coroutine<F::Output>
where
    F: Future + 'static,
{
    let started = shared.handle().lend(world, |handle| {
        handle.script(name).start_from(place, script)
    });
    started.expect("the world holds the executor")
}

fn start_on<F>(
    world: &mut World,
    shared: &Shared,
    entity: Entity,
    name: &'static str,
    place: Place,
    script: F,
) -> Coroutine<F::Output>
where
    F: Future + 'static,
{
    let handle = shared.handle();
    let owner = owner_of(world, shared, entity)
        .ok()
        .or_else(|| nobody(handle));
    let started = handle.lend(world, |_| {
        owner.map(|owner| owner.script(name).start_from(place, script))
    });
    let started = started.flatten().expect("the world holds the executor");
    if !started.is_finished() {
        note(world, entity, name, started.id(), handle);
    }
    started
}

/// Makes the script known by its name.
pub(crate) fn note(
    world: &mut World,
    entity: Entity,
    name: &'static str,
    id: CoroutineId,
    handle: &Handle,
) {
    if let Some(mut scripts) = world.get_mut::<Scripts>(entity) {
        let scripts = scripts.bypass_change_detection();
        scripts.note(name, id, handle);
    }
}
