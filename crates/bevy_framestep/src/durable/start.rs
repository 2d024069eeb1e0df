//! Starting durable scripts from systems and the host.

use bevy_ecs::error::warn;
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommands;
use framestep_durable::{DurableScript, ScriptId};

use super::entity::{DurableId, owner_of};
use super::runtime::DurableRuntime;

/// Starts durable scripts that belong to no entity, on a `World`.
pub trait WorldDurableExt {
    /// Starts a script, up to its first wait, with the world lent to it.
    ///
    /// A script that is started in a `with` begins as soon as that `with` has returned.
    ///
    /// # Panics
    ///
    /// If the plugin is missing, or the script is not in its registry.
    #[track_caller]
    fn start_durable_script<S: DurableScript>(&mut self, script: S) -> ScriptId;
}

impl WorldDurableExt for World {
    #[track_caller]
    fn start_durable_script<S: DurableScript>(&mut self, script: S) -> ScriptId {
        let shared = DurableRuntime::of(self);
        shared.lend(self, |host| host.start(script).id())
    }
}

/// Starts durable scripts that belong to no entity, on `Commands`.
pub trait CommandsDurableExt {
    /// Starts a script when the commands are applied, up to its first wait, with the world lent
    /// to it.
    ///
    /// # Panics
    ///
    /// When the commands are applied, if the plugin is missing, or the script is not in its
    /// registry.
    fn start_durable_script<S: DurableScript + Send>(&mut self, script: S);
}

impl CommandsDurableExt for Commands<'_, '_> {
    fn start_durable_script<S: DurableScript + Send>(&mut self, script: S) {
        self.queue(move |world: &mut World| _ = world.start_durable_script(script));
    }
}

/// Starts durable scripts that belong to an entity, on an `EntityWorldMut`.
pub trait EntityWorldDurableExt {
    /// Starts the script that `script` makes for the entity, up to its first wait, with the
    /// world lent to it. It ends with the entity.
    ///
    /// The entity gets a number with its first script, and is [saved](super::Durable) from
    /// then on. A script with only that parameter is such a function:
    /// `goblin.start_durable_script(poison)`.
    ///
    /// # Panics
    ///
    /// If the plugin is missing, or the script is not in its registry.
    #[track_caller]
    fn start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S,
    ) -> ScriptId;
}

impl EntityWorldDurableExt for EntityWorldMut<'_> {
    #[track_caller]
    fn start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S,
    ) -> ScriptId {
        let entity = self.id();
        self.world_scope(|world| start_on(world, entity, script))
    }
}

/// Starts durable scripts that belong to an entity, on `EntityCommands`.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// #[durable]
/// async fn poison(goblin: DurableId, strength: u32) -> Chapter {
///     wait_seconds(1).await;
///     match goblin.get_mut(|health: &mut Health| health.0 -= strength) {
///         Ok(()) => Chapter::Next(poison(goblin, strength)),
///         Err(_) => Chapter::Done(()),
///     }
/// }
///
/// fn spawn_goblin(mut commands: Commands) {
///     let mut goblin = commands.spawn(Health(100));
///     goblin.start_durable_script(|goblin| poison(goblin, 3));
/// }
/// ```
pub trait EntityCommandsDurableExt {
    /// Starts the script that `script` makes for the entity when the commands are applied, up
    /// to its first wait, with the world lent to it. It ends with the entity.
    ///
    /// If the entity does not exist any more then, no script starts, and a warning is logged.
    ///
    /// # Panics
    ///
    /// When the commands are applied, if the plugin is missing, or the script is not in its
    /// registry.
    fn start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S + Send + 'static,
    ) -> &mut Self;

    /// Does what [`start_durable_script`](Self::start_durable_script) does, without a warning
    /// if the entity does not exist any more.
    fn try_start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S + Send + 'static,
    ) -> &mut Self;
}

impl EntityCommandsDurableExt for EntityCommands<'_> {
    fn start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S + Send + 'static,
    ) -> &mut Self {
        let start = move |mut entity: EntityWorldMut<'_>| {
            entity.start_durable_script(script);
        };
        self.queue_handled(start, warn)
    }

    fn try_start_durable_script<S: DurableScript>(
        &mut self,
        script: impl FnOnce(DurableId) -> S + Send + 'static,
    ) -> &mut Self {
        self.queue_silenced(move |mut entity: EntityWorldMut<'_>| {
            entity.start_durable_script(script);
        })
    }
}

#[track_caller]
fn start_on<S: DurableScript>(
    world: &mut World,
    entity: Entity,
    script: impl FnOnce(DurableId) -> S,
) -> ScriptId {
    let shared = DurableRuntime::of(world);
    let (id, owner) = owner_of(world, entity).expect("the entity is there");
    let script = script(id);
    let start = || owner.start(script).id();
    let started = shared.lend(world, |host| host.executor().enter(start));
    started.expect("the world holds the runtime")
}
