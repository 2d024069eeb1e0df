//! Scripts that belong to entities.

use std::fmt;

use bevy_ecs::prelude::*;
use framestep::{Clock, Handle, Owner, OwnerHandle, SendOwner};

use crate::error::Missing;
use crate::executor::Shared;

/// The scripts of an entity. They end with it: when it is despawned, or when this
/// component is removed.
///
/// It is added with the first script that is started on the entity. Add one by hand to
/// have the scripts count on a clock of their own.
///
/// The scripts end at once, destructors and all, before `despawn` returns. A script
/// that despawns its own entity goes on to its next wait. Destructors cannot borrow the
/// world then: they use [`with_soon`](framestep::with_soon()).
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// async fn patrol(_guard: Entity) {
///     loop {
///         wait_seconds(1).await;
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// let mut guard = app.world_mut().spawn_empty();
/// let patrol = guard.start_script(patrol);
/// // A menu: nobody moves.
/// guard.get::<Scripts>().unwrap().get().unwrap().pause();
/// guard.despawn();
/// assert!(patrol.is_finished());
/// ```
#[derive(Component)]
pub struct Scripts {
    owner: SendOwner,
}

impl Scripts {
    /// Scripts of an entity that has none yet. `None`: the app is gone.
    ///
    /// `handle` is that of [`Framestep`](crate::Framestep).
    pub fn new(handle: &Handle) -> Option<Self> {
        Some(Self::owned_by(handle.owner()?))
    }

    /// Scripts that count on `clock`: one that goes slower than the game, say. `None`:
    /// the app is gone.
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::Framestep;
    /// use bevy_framestep::prelude::*;
    ///
    /// fn spawn_enemy(scripts: NonSend<Framestep>, mut commands: Commands) {
    ///     let slow = scripts.handle().clock().unwrap().child();
    ///     slow.set_scale(0.5);
    ///     commands.spawn(Scripts::on_clock(scripts.handle(), &slow).unwrap());
    /// }
    /// ```
    #[track_caller]
    pub fn on_clock(handle: &Handle, clock: &Clock) -> Option<Self> {
        Some(Self::owned_by(handle.owner_on(clock)?))
    }

    fn owned_by(owner: Owner) -> Self {
        Scripts {
            owner: owner.into_send(),
        }
    }

    /// The owner of the scripts: to pause them, to stop all, to start one. `None`: this
    /// is another thread than the app's.
    pub fn get(&self) -> Option<&Owner> {
        self.owner.get()
    }
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scripts").field(&self.get()).finish()
    }
}

/// The owner of an entity's scripts, which is made if there is none.
pub(crate) fn owner_of(world: &mut World, entity: Entity) -> Result<OwnerHandle, Missing> {
    let shared = Shared::of(world);
    let missing = Missing::entity(entity);
    let mut entity = world.get_entity_mut(entity).map_err(|_| missing)?;
    if let Some(scripts) = entity.get::<Scripts>()
        && let Some(owner) = scripts.get()
    {
        return Ok(owner.handle());
    }
    let owner = shared.handle().owner().ok_or(missing)?;
    let handle = owner.handle();
    entity.insert(Scripts::owned_by(owner));
    Ok(handle)
}

/// A handle that refuses whatever is started on it.
pub(crate) fn nobody(handle: &Handle) -> Option<OwnerHandle> {
    Some(handle.owner()?.handle())
}
