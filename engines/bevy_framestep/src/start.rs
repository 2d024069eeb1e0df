//! Starting scripts from outside of scripts.

use std::any::type_name;

use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommands;
use framestep::Coroutine;

use crate::executor::Shared;
use crate::scripts::{nobody, owner_of};

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
    /// What is started while a script borrows the world begins as soon as that has
    /// given it back.
    ///
    /// # Panics
    ///
    /// If the plugin is missing.
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: FnOnce() -> F + 'static,
        F: Future + 'static;
}

impl WorldScriptsExt for World {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: FnOnce() -> F + 'static,
        F: Future + 'static,
    {
        let handle = Shared::of(self).handle().clone();
        // The script is made inside, where the free functions work.
        let script = async move { script().await };
        let started = handle.lend(self, |handle| handle.start(script));
        let started = started.expect("the world holds the executor");
        started.named(name_of::<F>())
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
    /// `script` goes to the thread of the app, so what it captures must be `Send`. What
    /// it makes need not be.
    fn start_script<S, F>(&mut self, script: S)
    where
        S: FnOnce() -> F + Send + 'static,
        F: Future + 'static;
}

impl CommandsScriptsExt for Commands<'_, '_> {
    fn start_script<S, F>(&mut self, script: S)
    where
        S: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
    {
        self.queue(move |world: &mut World| {
            world.start_script(script);
        });
    }
}

/// Starts scripts that belong to an entity, on an `EntityWorldMut`.
///
/// In a script, use [`ScriptEntity::start`](crate::ScriptEntity::start).
///
/// # Examples
///
/// See [`Scripts`](crate::Scripts).
pub trait EntityWorldScriptsExt {
    /// Starts the script that `script` makes for the entity, up to its first wait, with
    /// the world lent to it. It ends with the entity.
    ///
    /// If the entity is gone, the handle is one of a script that was stopped before it
    /// began.
    ///
    /// # Panics
    ///
    /// If the plugin is missing.
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: FnOnce(Entity) -> F + 'static,
        F: Future + 'static;
}

impl EntityWorldScriptsExt for EntityWorldMut<'_> {
    #[track_caller]
    fn start_script<S, F>(&mut self, script: S) -> Coroutine<F::Output>
    where
        S: FnOnce(Entity) -> F + 'static,
        F: Future + 'static,
    {
        let entity = self.id();
        self.world_scope(|world| {
            let handle = Shared::of(world).handle().clone();
            let owner = owner_of(world, entity).ok().or_else(|| nobody(&handle));
            let script = async move { script(entity).await };
            let started = handle.lend(world, |_| owner.map(|owner| owner.start(script)));
            let started = started.flatten().expect("the world holds the executor");
            started.named(name_of::<F>())
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
    /// `script` goes to the thread of the app, so what it captures must be `Send`. What
    /// it makes need not be.
    fn start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: FnOnce(Entity) -> F + Send + 'static,
        F: Future + 'static;
}

impl EntityCommandsScriptsExt for EntityCommands<'_> {
    fn start_script<S, F>(&mut self, script: S) -> &mut Self
    where
        S: FnOnce(Entity) -> F + Send + 'static,
        F: Future + 'static,
    {
        self.queue(move |mut entity: EntityWorldMut<'_>| {
            entity.start_script(script);
        })
    }
}

/// By which a script goes in snapshots and reports: for an `async fn`, its path. The type
/// of the future around it would not say which script it is.
fn name_of<F>() -> &'static str {
    let name = type_name::<F>();
    name.strip_suffix("::{{closure}}").unwrap_or(name)
}
