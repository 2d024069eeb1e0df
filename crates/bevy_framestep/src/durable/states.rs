//! States in saves: they are restored without their enter schedules, and what belongs to a state is
//! bound to it again.

use std::any::{TypeId, type_name};
use std::fmt;

use bevy_app::App;
use bevy_ecs::error::BevyError;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_state::state::{FreelyMutableState, NextState, State, StateTransitionEvent, States};
use bevy_state::state_scoped::DespawnOnExit;
use framestep_durable::{DurableScript, ScriptId, WaitUntil, wait_until, with_ref};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::entity::{Durable, DurableId};
use super::start::EntityWorldDurableExt;
use super::types::{SaveResource, SavedTypes, component_as, read, types, write};
use crate::output::hand_over;
use crate::transitions::{has_entered, run_without_entering};

/// The schedule that runs when [`load`](super::load) or [`rollback`](super::rollback()) has restored a
/// state that the app was not in, after everything else of the save is in the world.
///
/// `OnEnter` does not run then: the save has what it has made, such as scripts and entities. What is
/// not saved is made here as well: a camera, the pictures of the level, music.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::{OnRestore, prelude::*};
/// use bevy_state::prelude::*;
///
/// # #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
/// # enum Screen {
/// #     #[default]
/// #     Menu,
/// #     Game,
/// # }
/// # #[durable]
/// # async fn director() {}
/// # fn show_level() {}
/// fn begin(mut commands: Commands) {
///     commands.start_durable_script_in(Screen::Game, director());
/// }
///
/// fn add_systems(app: &mut App) {
///     app.add_systems(OnEnter(Screen::Game), (show_level, begin));
///     app.add_systems(OnRestore(Screen::Game), show_level);
/// }
/// ```
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct OnRestore<S: States>(pub S);

/// Saves states, on an `App`.
pub trait SaveStateAppExt {
    /// Saves the state `S`, with a transition that is pending, and which [`Durable`] entities have a
    /// [`DespawnOnExit<S>`](DespawnOnExit), under a name that must not change as long as there are saves
    /// with it.
    ///
    /// When a save is loaded, the app leaves the present state as in any transition: `OnExit` runs,
    /// and what belongs to the state is despawned. It is then in the saved state, whose `OnEnter` does
    /// not run: [`OnRestore`] does. If it is in that state already, no schedule runs. Computed states
    /// follow. Name sub-states as well.
    ///
    /// # Panics
    ///
    /// If another state has this name, or the state has another name.
    ///
    /// # Examples
    ///
    /// See [the module](super#states).
    #[track_caller]
    fn save_state<S>(&mut self, name: &'static str) -> &mut Self
    where
        S: FreelyMutableState + Serialize + DeserializeOwned;
}

impl SaveStateAppExt for App {
    #[track_caller]
    fn save_state<S>(&mut self, name: &'static str) -> &mut Self
    where
        S: FreelyMutableState + Serialize + DeserializeOwned,
    {
        let state = SavedState {
            name,
            type_id: TypeId::of::<S>(),
            type_name: type_name::<S>(),
            save: |world, data| Now::<S>::of(world).map(|now| write(&now, data)),
            read: |data| {
                let saved: Now<S> = read(data)?;
                Some(Box::new(saved))
            },
        };
        let mut types = types(self);
        types.add_state(state);
        types.add(component_as(
            format!("{name}: despawned on exit").into(),
            |exit: &DespawnOnExit<S>, _: &World| Some(exit.0.clone()),
            |state: S, _: &World| Some(DespawnOnExit(state)),
        ));
        self
    }
}

/// A type of states that is saved.
#[derive(Clone, Copy)]
pub(super) struct SavedState {
    pub(super) name: &'static str,
    pub(super) type_id: TypeId,
    pub(super) type_name: &'static str,
    /// Writes the state. `None` if the app has no such states.
    pub(super) save: SaveResource,
    pub(super) read: fn(&[u8]) -> Option<Box<dyn ReadState>>,
}

/// A state of a save.
pub(super) trait ReadState {
    /// Has the next transition lead to it. Returns whether the app is in another one.
    fn ask(&self, world: &mut World) -> bool;

    /// Makes sure that the app is in it, whatever the transition has done.
    fn settle(&self, world: &mut World);

    /// Unbinds an entity that stays, so that it does not end with the state that is left.
    fn keep(&self, world: &mut World, entity: Entity);

    fn run_restored(&self, world: &mut World);
}

/// The state that an app is in, and the one that comes next.
#[derive(Serialize, Deserialize)]
struct Now<S> {
    /// `None` for a sub-state that does not exist.
    state: Option<S>,
    next: Next<S>,
}

#[derive(Clone, Serialize, Deserialize)]
enum Next<S> {
    Unchanged,
    Pending(S),
    PendingIfDifferent(S),
}

impl<S: FreelyMutableState> Now<S> {
    fn of(world: &World) -> Option<Self> {
        let next = match world.get_resource::<NextState<S>>()? {
            NextState::Unchanged => Next::Unchanged,
            NextState::Pending(state) => Next::Pending(state.clone()),
            NextState::PendingIfDifferent(state) => Next::PendingIfDifferent(state.clone()),
        };
        Some(Now {
            state: current(world).cloned(),
            next,
        })
    }
}

fn current<S: States>(world: &World) -> Option<&S> {
    world.get_resource::<State<S>>().map(State::get)
}

impl<S: FreelyMutableState> ReadState for Now<S> {
    fn ask(&self, world: &mut World) -> bool {
        let differs = current(world) != self.state.as_ref();
        world.insert_resource(match &self.state {
            Some(state) if differs => NextState::PendingIfDifferent(state.clone()),
            _ => NextState::Unchanged,
        });
        differs
    }

    fn settle(&self, world: &mut World) {
        if current(world) != self.state.as_ref() {
            // It was not left by a transition: the app has none, or one is under way.
            match &self.state {
                Some(state) => world.insert_resource(State::new(state.clone())),
                None => drop(world.remove_resource::<State<S>>()),
            }
            if let Some(mut events) = world.get_resource_mut::<Messages<StateTransitionEvent<S>>>()
            {
                events.clear();
            }
        }
        world.insert_resource(match self.next.clone() {
            Next::Unchanged => NextState::Unchanged,
            Next::Pending(state) => NextState::Pending(state),
            Next::PendingIfDifferent(state) => NextState::PendingIfDifferent(state),
        });
    }

    fn keep(&self, world: &mut World, entity: Entity) {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<DespawnOnExit<S>>();
        }
    }

    fn run_restored(&self, world: &mut World) {
        if let Some(state) = &self.state {
            _ = world.try_run_schedule(OnRestore(state.clone()));
        }
    }
}

/// What a load does to the states before the entities of the save are there.
pub(super) struct Restoring<'a> {
    states: &'a [Box<dyn ReadState>],
    /// Which of them the app was not in.
    are_entered: Vec<bool>,
}

impl<'a> Restoring<'a> {
    /// Leaves the present states for those of a save. `kept` are the entities that stay.
    pub(super) fn begin(
        world: &mut World,
        states: &'a [Box<dyn ReadState>],
        kept: &[Entity],
    ) -> Self {
        let is_fresh = !has_entered(world);
        let mut are_entered = Vec::with_capacity(states.len());
        for state in states {
            are_entered.push(state.ask(world) || is_fresh);
        }
        if are_entered.contains(&true) {
            for (state, _) in states
                .iter()
                .zip(&are_entered)
                .filter(|(_, enters)| **enters)
            {
                for &entity in kept {
                    state.keep(world, entity);
                }
            }
            run_without_entering(world);
        }
        for state in states {
            state.settle(world);
        }
        Restoring {
            states,
            are_entered,
        }
    }

    /// When everything else is in the world.
    pub(super) fn end(self, world: &mut World) {
        for (state, enters) in self.states.iter().zip(self.are_entered) {
            if enters {
                state.run_restored(world);
            }
        }
    }
}

/// Marks the entity that durable scripts of a state belong to. There is one for each state.
#[derive(Component)]
#[require(Durable)]
struct Scope;

/// The scopes of states are in every save.
pub(super) fn save_scopes(app: &mut App) {
    types(app).add(component_as(
        "framestep: scripts of a state".into(),
        |_: &Scope, _: &World| Some(()),
        |(): (), _: &World| Some(Scope),
    ));
}

/// Starts durable scripts that end with a state, on `Commands` and on a `World`.
pub trait StateDurableExt {
    /// Starts a durable script that ends when the app leaves `state`, also after a load. Nothing
    /// starts if the app is not in that state: Bevy's error handler gets a warning.
    ///
    /// The state must be named with [`save_state`](SaveStateAppExt::save_state). If it is not, the script
    /// would outlive its state in a game that is loaded: it does not start, and Bevy's error handler
    /// gets an error.
    ///
    /// # Panics
    ///
    /// If the plugin is missing, or the script is not in its registry.
    ///
    /// # Examples
    ///
    /// See [`OnRestore`].
    fn start_durable_script_in<A, S>(&mut self, state: A, script: S)
    where
        A: States,
        S: DurableScript + Send;
}

impl StateDurableExt for Commands<'_, '_> {
    fn start_durable_script_in<A, S>(&mut self, state: A, script: S)
    where
        A: States,
        S: DurableScript + Send,
    {
        self.queue(move |world: &mut World| world.start_durable_script_in(state, script));
    }
}

impl StateDurableExt for World {
    fn start_durable_script_in<A, S>(&mut self, state: A, script: S)
    where
        A: States,
        S: DurableScript + Send,
    {
        if let Err(error) = start_in(self, state, script) {
            hand_over(self, error, "start_durable_script_in");
        }
    }
}

fn start_in<A, S>(world: &mut World, state: A, script: S) -> Result<ScriptId, BevyError>
where
    A: States,
    S: DurableScript,
{
    let name = S::NAME;
    let types = world.get_resource::<SavedTypes>();
    if !types.is_some_and(|types| types.has_state(TypeId::of::<A>())) {
        let states = type_name::<A>();
        return Err(BevyError::error(format!(
            "the durable script `{name}` was not started: a save would not have the state that it \
             belongs to. Call `app.save_state::<{states}>(..)`"
        )));
    }
    match current::<A>(world) {
        Some(now) if *now == state => {}
        Some(now) => {
            return Err(BevyError::warning(format!(
                "the durable script `{name}` was not started: the app is in the state `{now:?}`, and \
                 not in `{state:?}`. Start it in `OnEnter({state:?})`"
            )));
        }
        None => {
            return Err(BevyError::warning(format!(
                "the durable script `{name}` was not started: the app has no state of the type `{}` \
                 at present. Start it in `OnEnter({state:?})`",
                type_name::<A>()
            )));
        }
    }
    let mut scopes = world.query_filtered::<(Entity, &DespawnOnExit<A>), With<Scope>>();
    let scope = scopes.iter(world).find(|(_, exit)| exit.0 == state);
    let scope = match scope {
        Some((entity, _)) => entity,
        None => world.spawn((Scope, DespawnOnExit(state))).id(),
    };
    Ok(world
        .entity_mut(scope)
        .start_durable_script(|_: DurableId| script))
}

/// Waits until the app is in `state`. This is checked once in each run of the home phase, from the next
/// frame on.
///
/// In a durable script, this function of the prelude is the wait for a state, and records it; the one of
/// [`bevy_framestep`](crate::wait_for_state) does not.
pub fn wait_for_state<S: States>(state: S) -> WaitUntil<impl Fn() -> bool> {
    wait_until(move || with_ref(|world: &World| current(world) == Some(&state)))
}

impl fmt::Debug for SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {:?}", self.type_name, self.name)
    }
}
